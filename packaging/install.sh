#!/bin/sh
# Installs precis @{version}@ for Linux or macOS into ~/.local/bin, or into the folder PRECIS_BIN.
# PRECIS_URL is where the archives are; the checksums are in this file, so that only it is trusted.
set -eu

url=${PRECIS_URL:-@{home}@}
bin=${PRECIS_BIN:-$HOME/.local/bin}

fail() {
  echo "install.sh: error: $*" >&2
  exit 1
}

case $(uname -s) in
Linux) os=linux ;;
Darwin) os=darwin ;;
*) fail "there is no program for $(uname -s) here; for Windows see the README" ;;
esac
case $(uname -m) in
x86_64 | amd64) arch=amd64 ;;
aarch64 | arm64) arch=arm64 ;;
*) fail "there is no program for $(uname -m)" ;;
esac
case $os-$arch in
linux-amd64) file=@{archive "linux" "amd64"}@ sum=@{sum "linux" "amd64"}@ ;;
linux-arm64) file=@{archive "linux" "arm64"}@ sum=@{sum "linux" "arm64"}@ ;;
darwin-amd64) file=@{archive "darwin" "amd64"}@ sum=@{sum "darwin" "amd64"}@ ;;
darwin-arm64) file=@{archive "darwin" "arm64"}@ sum=@{sum "darwin" "arm64"}@ ;;
esac

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
if command -v curl >/dev/null; then
  curl -fsSL -o "$dir/$file" "$url/$file" || fail "$url/$file cannot be read"
elif command -v wget >/dev/null; then
  wget -q -O "$dir/$file" "$url/$file" || fail "$url/$file cannot be read"
else
  fail "neither curl nor wget is here"
fi
if command -v sha256sum >/dev/null; then
  got=$(sha256sum "$dir/$file")
else
  got=$(shasum -a 256 "$dir/$file")
fi
[ "${got%% *}" = "$sum" ] || fail "$file has the checksum ${got%% *}, and should have $sum; nothing was installed"

tar -xzf "$dir/$file" -C "$dir" precis
mkdir -p "$bin"
mv "$dir/precis" "$bin/precis.new"
mv "$bin/precis.new" "$bin/precis" # a program that runs keeps its file
echo "precis @{version}@ is $bin/precis"
case :$PATH: in
*:"$bin":*) echo "Next: precis install" ;;
*) echo "Next: put $bin into your PATH, then: precis install" ;;
esac
