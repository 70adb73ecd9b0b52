# Homebrew formula; make release fills in the version and the checksums.
class Precis < Formula
  desc "Keeps the conversation of an LLM agent inside the context window and loses none of it"
  homepage "https://github.com/precis-dev/precis"
  version "@{version}@"
  license "Apache-2.0"

  on_macos do
    on_arm do
      url "@{home}@/@{archive "darwin" "arm64"}@"
      sha256 "@{sum "darwin" "arm64"}@"
    end
    on_intel do
      url "@{home}@/@{archive "darwin" "amd64"}@"
      sha256 "@{sum "darwin" "amd64"}@"
    end
  end

  on_linux do
    on_arm do
      url "@{home}@/@{archive "linux" "arm64"}@"
      sha256 "@{sum "linux" "arm64"}@"
    end
    on_intel do
      url "@{home}@/@{archive "linux" "amd64"}@"
      sha256 "@{sum "linux" "amd64"}@"
    end
  end

  def install
    bin.install "precis"
    generate_completions_from_executable(bin/"precis", "completion")
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/precis version")
  end
end
