package toolcall_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/precis-dev/precis/internal/toolcall"
)

func TestEffects(t *testing.T) {
	for _, tt := range []struct{ command, want string }{
		{"ls -la && cat a.go", ""},
		{"echo hi > out.txt", "out.txt"},
		{"echo hi >>logs/out.txt 2>/dev/null", "logs/out.txt"},
		{"go test ./... 2>&1 | tee test.log", "test.log"},
		{"sed -i 's/a > b/c/' src/x.py", "src/x.py"},
		{"sed 's/a/b/' x.py", ""},
		{"rm -rf build/old.js", "-build/old.js"},
		{"rm -rf build && mkdir -p build && cd build", "-build"}, {"mkdir build; rm -rf ./build", "-build"}, {"rm a b; mkdir a", "-a -b"},
		{"git mv a.go b.go", "-a.go b.go"},
		{"cat > src/app.ts <<'EOF'\nif (a > b) { x >> 2 }\nrm -f y\nEOF\necho done", "src/app.ts"},
		{"cat <<EOF | tee conf.yaml\nkey: v\nEOF", "conf.yaml"},
		{"apply_patch <<'X'\n*** Begin Patch\n*** Update File: a/b.go\n+x\n*** Delete File: c.go\n*** End Patch\nX", "a/b.go -c.go"},
		{`python -c "print(1 > 0)"`, ""},
		{"echo $HOME > $OUT", ""},
		{"FOO=1 touch a b", "a b"},
		{"echo 'unclosed", ""},
	} {
		if got := effects(tt.command); got != tt.want {
			t.Errorf("%q: %s, want %s", tt.command, got, tt.want)
		}
	}
}

// effects writes the effects of a command as words, with "-" before what it
// removes.
func effects(command string) string {
	var out []string
	for _, e := range toolcall.Effects(command) {
		if e.Removed {
			e.Path = "-" + e.Path
		}
		out = append(out, e.Path)
	}
	return strings.Join(out, " ")
}

func TestEffectsByConstruct(t *testing.T) {
	for name, cases := range map[string][]struct{ command, want string }{
		"redirections": {
			{"echo hi>out.txt", "out.txt"},
			{"echo hi >| out.txt", "out.txt"},
			{"make 1>build.log 2>&1", "build.log"},
			{"make &>build.log", "build.log"},
			{"make &>> build.log", "build.log"},
			{"make >&build.log", "build.log"},
			{"make > build.log 2>&1 &", "build.log"},
			{"echo oops >&2", ""},
			{"echo oops 1>&2 && touch a", "a"},
			{"make 2>err.log", ""},
			{"make 2>>err.log >out.log", "out.log"},
			{"make &>/dev/null", ""},
			{"exec 3>&1 4<&0 5>&-", ""},
			{"sort < in.txt > out.txt", "out.txt"},
			{"sort <in.txt >out.txt", "out.txt"},
			{"> empty.txt", "empty.txt"},
			{"echo a > b > c", "b c"},
			{"echo a >", ""},
			{"cat a12>b", "b"},
			{"tee >(grep x) < y", ""},
			{"diff <(ls a) <(ls b)", ""},
		},
		"quotes": {
			{"grep '>' in.txt", ""},
			{`grep ">out" in.txt`, ""},
			{`echo "say \"x > y\" now" > out.txt`, "out.txt"},
			{`echo 'it'"'"'s' > 'my file.txt'`, "my file.txt"},
			{`echo a\ b > out\ file.txt`, "out file.txt"},
			{`echo a \> b`, ""},
			{`grep "2" >out.txt`, "out.txt"},
			{`echo "2">out.txt`, "out.txt"},
			{`echo "" > ""`, ""},
			{"echo > ' '", ""},
			{"echo \"unclosed > x", ""},
			{"awk '$1 > 5 { print }' f > g", "g"},
		},
		"here-documents": {
			{"cat <<'A' > x\nrm y\nA\nrm z", "x -z"},
			{"cat <<-\"A\" >> x\n\tz > w\n\tA\ntouch b", "x b"},
			{"cat <<A\nnever closed > x\nrm y", ""},
			{"grep a <<< \"text\"\nrm b.txt", "-b.txt"},
			{"python3 - <<'PY'\nopen('x').write('>')\nif a > b: pass\nPY", ""},
			{"bash -lc \"cat > a.txt <<'EOF'\nx > y\nrm -f q\nEOF\ntouch b.txt\"", "a.txt b.txt"},
			{"bash -lc 'cat <<EOF > a.txt\nsay \"x > y\"\nEOF'", "a.txt"},
		},
		"shells in shells": {
			{"cd /w && (cd sub && touch a) && touch b", "/w/sub/a /w/b"},
			{"cd a && cd - && touch x", "x"}, {"cd \"$HOME\" && touch x", "x"}, {"pushd 'my dir'; touch x; popd; touch y", "my dir/x y"},
			{"bash -lc 'echo hi > out.txt && rm old.txt'", "out.txt -old.txt"},
			{"bash -lc rm a.txt", "-a.txt"}, // a list of words, joined
			{"bash -lc sed -i s/a/b/ x.py", "x.py"},
			{"/bin/sh -c \"sed -i 's/a > b/c/' x.py\"", "x.py"},
			{"sudo bash -e -c 'touch a'", "a"},
			{"bash -c \"bash -c 'touch a'\"", "a"},
			{"bash script.sh > log.txt", "log.txt"},
			{"bash -c", ""},
			{"bash -lc \"apply_patch <<'X'\n*** Begin Patch\n*** Add File: a.go\n+x\n*** End Patch\nX\"", "a.go"},
		},
		"lists": {
			{"cd src && touch a.go; rm b.go || cp c.go d.go", "src/a.go -src/b.go src/d.go"},
			{"cat a | sed 's/x/y/' | tee b c > /dev/null", "b c"},
			{"tee -a log.txt", "log.txt"},
			{"if true; then rm a; else touch b; fi", "-a b"},
			{"for f in a b; do rm $f; done", "-a -b"},
			{"ls # list > all.txt\ntouch b", "b"},
			{"# touch a\n#rm b", ""},
			{"echo a#b > c#d", "c#d"},
			{"touch a \\\n  b", "a b"},
			{"touch a\r\ntouch b\r\n", "a b"},
		},
		"programs": {
			{"cp -r src dst", "dst"},
			{"cp a b c dir/", "dir/a dir/b dir/c"},
			{"mv -f a.go pkg/b.go", "-a.go pkg/b.go"},
			{"mv a b dir", "-a dir/a -b dir/b"},
			{"git rm -r old/x.go old/y.go", "-old/x.go -old/y.go"},
			{"git rm --cached a.txt", ""},
			{"git diff > fix.patch", "fix.patch"},
			{"git commit -m 'touch a > b'", ""},
			{"rm", ""}, {"rm -rf", ""},
			{"git -C sub mv a.go b.go", "-sub/a.go sub/b.go"},
			{"git -c core.pager=cat -C /w rm 'my file.txt'", "-/w/my file.txt"},
			{"mv a.go .", "-a.go a.go"}, {"mv x/a.go .", "-x/a.go a.go"},
			{"/bin/rm -f a.txt", "-a.txt"},
			{`Remove-Item -Recurse -Force .\\src\\old.go`, "-src/old.go"},
			{`Move-Item -Path a.txt -Destination b.txt`, "-a.txt b.txt"}, {"ren a.txt b.txt", "-a.txt b.txt"},
			{`Set-Content -Path conf\\app.json -Value '{"a":1}'`, "conf/app.json"}, {"'x' | Out-File -FilePath log.txt -Append", "log.txt"},
			{"New-Item -ItemType Directory -Path out", ""}, {"New-Item out.txt", "out.txt"},
			{"sed -i '' 's/a/b/' x.py", "x.py"},
			{"sed -i.bak s/a/b/ x.py y.py", "x.py y.py"},
			{"sed -E -i -e s/a/b/ -e s/c/d/ x.py", "x.py"},
			{"sed -Ei s/a/b/ x.py", "x.py"},
			{"sed --in-place=.bak s/a/b/ x.py", "x.py"},
			{"sed -n -e 1,5p x.py", ""},
			{"sed -i s/a/b/", ""},
			{"perl -pi -e 's/a/b/' x.pl y.pl", "x.pl y.pl"},
			{"perl -i.bak -pe 's/a/b/' x.pl", "x.pl"},
			{"perl -Mstrict -e 'print 1' x.pl", ""},
			{"FOO=bar BAZ=1 tee out.txt", "out.txt"},
			{"time touch a", "a"},
			{"rmdir x; touchy y; cpp z", ""},
		},
		"paths of Windows": {
			{`echo hi > C:\Users\me\out.txt`, "C:/Users/me/out.txt"},
			{`echo hi > "C:\Users\me\my out.txt"`, "C:/Users/me/my out.txt"},
			{`cp a.ts .\src\b.ts`, "src/b.ts"},
			{`rm 'src\old.cs'`, "-src/old.cs"},
			{`\rm -f a`, "-a"},
		},
		"patches": {
			{"apply_patch <<'X'\n*** Begin Patch\n*** Add File: a.go\n+*** b\n*** Update File: ./b/c.go \n@@\n-x > y\n*** Delete File: src\\d.go\n*** End Patch\nX", "a.go b/c.go -src/d.go"},
			{"echo '*** Add File: a'", ""},
		},
	} {
		for _, tt := range cases {
			if got := effects(tt.command); got != tt.want {
				t.Errorf("%s: %q\n got %q\nwant %q", name, tt.command, got, tt.want)
			}
		}
	}
}

// What a command does does not change when it is one of several, or a shell is
// given it.
func TestEffectsOfPartsAddUp(t *testing.T) {
	commands := []string{"touch a", "rm -f b/c", "echo x > d", "ls -l 2>&1", "cat <<E > f\nx > y\nE", "sed -i s/a/b/ g", "make &>log", "grep '>' h", "mv i j"}
	rapid.Check(t, func(t *rapid.T) {
		some := rapid.SliceOfN(rapid.SampledFrom(commands), 1, 6).Draw(t, "commands")
		var want []string
		for _, c := range some {
			if e := effects(c); e != "" {
				want = append(want, e)
			}
		}
		all := strings.Join(some, "\n")
		if got := effects(all); got != strings.Join(want, " ") {
			t.Fatalf("%q: %q, want %q", all, got, want)
		}
		shell := `bash -lc "` + all + `"`
		if got := effects(shell); got != strings.Join(want, " ") {
			t.Fatalf("%q: %q, want %q", shell, got, want)
		}
	})
}

// Megabytes of what looks like much must end.
func TestHostileCommandsEnd(t *testing.T) {
	for _, unit := range []string{"'", "\"", "\\", ">", "<", "<<a\n", "<<<", "&", "bash -c ", "bash -c '", "bash ", "-c ", "\n", "#", "a=b ", "sed -i ", "*** Add File: a\n", "2>&1 "} {
		for _, e := range toolcall.Effects(strings.Repeat(unit, 300_000/len(unit))) {
			if e.Path == "" {
				t.Fatalf("%q: an empty path", unit)
			}
		}
	}
}

func FuzzEffects(f *testing.F) {
	for _, s := range []string{
		"cat > a <<'E'\nx\nE\nsed -i s/a/b/ c", "bash -lc \"cat <<'E'\nx\nE\"", "a 2>&1 &> b >&2 >& c", "<<", "<<<", "\\", "'", "\"\\", ">", "2>", "&>", ">&", "<&", "#",
		"bash -c", "bash -c bash -c 'x", "sed -i ''", "sed -i -e", "perl -", "*** Add File: ", "cp \x00 \xff", "a|b;c&d&&e||f", "C:\\a\\b > d\\e",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, command string) {
		for _, e := range toolcall.Effects(command) {
			if e.Path == "" {
				t.Fatalf("%q: an empty path", command)
			}
		}
	})
}

// A command of more words than anybody writes is read at its beginning alone; the
// bodies of here-documents do not count.
func TestLongCommandsAreBounded(t *testing.T) {
	body := "cat > a.txt <<EOF\n" + strings.Repeat("word ", 200_000) + "\nEOF\nrm b.txt\n"
	if got := toolcall.Effects(body); len(got) != 2 {
		t.Errorf("a long here-document: %v", got)
	}
	for _, unit := range []string{"> a ", "rm a; ", "< "} {
		if got := toolcall.Effects(strings.Repeat(unit, 400_000)); len(got) > 50_000 {
			t.Errorf("%q: %d effects", unit, len(got))
		}
	}
}

func TestReadsAndNewFilesOfTheShell(t *testing.T) {
	for command, want := range map[string]string{
		"cat a.go b.go": "a.go b.go", "cat < a.go > b.go": "", "head -n 20 a.go": "a.go", "sed -n '1,20p' src/a.go": "src/a.go", "sed -i s/a/b/ a.go": "", "cat > a.go <<'E'\nx\nE": "",
		"cd /w && tail -5 'b c.txt' | grep x": "/w/b c.txt", "Get-Content -Path a.txt": "a.txt", `type src\\a.go`: "src/a.go", "cat *.go": "", "type ls": "",
	} {
		if got := strings.Join(toolcall.Reads(command), " "); got != want {
			t.Errorf("%s: read %q, want %q", command, got, want)
		}
	}
	for command, want := range map[string]toolcall.Effect{
		"echo x > a": {Path: "a", Whole: true}, "echo x >> a": {Path: "a"}, "make &>> a": {Path: "a"}, "tee a": {Path: "a", Whole: true}, "tee -a a": {Path: "a"}, "touch a": {Path: "a", Touched: true},
		"cp b a": {Path: "a", Whole: true}, "mv ../b a": {Path: "a", Whole: true, MovedFrom: "../b"}, "sed -i s/a/b/ a": {Path: "a"}, "Add-Content a -Value x": {Path: "a"}, "Set-Content a x": {Path: "a", Whole: true},
	} {
		all := toolcall.Effects(command)
		if len(all) == 0 || all[len(all)-1] != want {
			t.Errorf("%s: %+v, want %+v", command, all, want)
		}
	}
}

func TestEffectsOfCodeAndOfWhatIsFetched(t *testing.T) {
	for command, want := range map[string]string{
		`python3 -c "open('a.ini','w').write('x')"`: "a.ini", `python3 -c "print(open('a.ini').read())"`: "", `python -c "import os; os.remove('a.ini')"`: "-a.ini",
		"cd conf && python3 - <<'PY'\nfrom pathlib import Path\np = Path('a.ini')\np.write_text(p.read_text().replace('a', 'b'))\nPY": "conf/a.ini",
		"python3 <<'PY' | tee log\np='a.ini'\ns=open(p).read()\nopen(p, 'w').write(s)\nPY":                                            "a.ini log",
		"python3 - <<'PY'\nopen(name, 'w')\nPY\ncat > b.txt <<'E'\nopen('c.txt', 'w')\nE":                                             "b.txt",
		`node -e "const fs=require('fs'); fs.writeFileSync('a.json', '{}'); fs.unlinkSync('b.json')"`:                                 "a.json -b.json",
		`node -e "console.log(fs.readFileSync('a.json'))"`:                                                                            "", `ruby -e 'File.write("a.rb", "x")'`: "a.rb", "python3 make.py": "",
		"git apply <<'E'\n--- a/x.go\n+++ b/x.go\n@@ -1 +1 @@\n-a\n+b\n--- a/y.go\n+++ /dev/null\n--- /dev/null\n+++ b/z.go\nE": "x.go -y.go z.go",
		"patch -p1 <<'E'\n--- x.go\t2026-01-01\n+++ x.go\t2026-01-01\nE":                                                        "x.go", "git apply --check <<'E'\n--- a/x.go\n+++ b/x.go\nE": "", "git apply fix.diff": "",
		"curl -sSfLo a.tgz https://x/y": "a.tgz", "curl --output a.tgz https://x/y": "a.tgz", "curl -sO https://x/y.gz?a=b": "", "curl -o": "", "wget -qO a.tgz https://x/y": "a.tgz", "wget -O - https://x/y": "",
		"dd if=/dev/zero of=a.img bs=1": "a.img", "dd if=a of=/dev/sda": "", "install -m 755 a.sh bin/b": "bin/b", "install -d bin": "", "install a.sh bin/": "bin/a.sh", "fish -c 'echo a > a.txt'": "a.txt",
		"D=conf; echo a > $D/a.ini": "", "D=a rm $D/b": "", "touch '$D.md'": "$D.md", "rm {a,b}.log": "-a.log -b.log", "rm '{a,b}.log'": "-{a,b}.log",
		"ln -s ../a.sh b.sh": "b.sh", "yq -i '.a = 1' a.yaml": "a.yaml", "yq '.a' a.yaml": "", "ruby -i -pe 'x' a.rb": "a.rb", "gawk -i inplace '{print}' a.csv": "a.csv", "gsed -i 's/a/b/' a": "a",
		"truncate -s 0 a.log": "a.log", "jq .a b.json | sponge b.json": "b.json",
	} {
		if got := effects(command); got != want {
			t.Errorf("%q: %s, want %s", command, got, want)
		}
	}
}
