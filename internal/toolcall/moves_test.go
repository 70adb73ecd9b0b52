package toolcall_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/precis-dev/precis/internal/toolcall"
)

// TestQuotedNamesStandForThemselves: a shell expands nothing in quotes, so brackets in them are part of a name.
func TestQuotedNamesStandForThemselves(t *testing.T) {
	for command, want := range map[string]string{
		"sed -n '1,200p' 'web/(in)/teams/[id]/Sheet.tsx'": "web/(in)/teams/[id]/Sheet.tsx", `cat "a b.txt" 'c (1).md'`: "a b.txt c (1).md",
		`bash -lc sed -n '1,20p' 'web/(in)/[id].ts'`: "web/(in)/[id].ts", `bash -lc "nl -ba 'web/(in)/[id].ts'"`: "web/(in)/[id].ts",
		`cat web/\(in\)/\[id\].ts`: "web/(in)/[id].ts", `head -5 "web/$X/(in).ts"`: "", "cat *.go": "", "cat 'a*.go' b?.go": "a*.go", `cat "$(ls)"`: "", "cat `ls`": "",
		"Get-Content -LiteralPath 'web/[id]/p.ts'": "web/[id]/p.ts", "cd 'app/(in)' && cat page.tsx": "app/(in)/page.tsx", "cat <(ls)": "",
	} {
		if got := strings.Join(toolcall.Reads(command), " "); got != want {
			t.Errorf("%s: read %q, want %q", command, got, want)
		}
	}
	for command, want := range map[string]string{
		"echo x > 'app/(in)/[id].ts'": "app/(in)/[id].ts", "rm 'a[1].ts'": "-a[1].ts", "rm a[1].ts": "", "mv 'a[1].ts' 'b (2)/'": "-a[1].ts b (2)/a[1].ts", `echo x > "$D/(in).ts"`: "",
		"git mv 'app/(in)/p.ts' 'app/(out)/p.ts'": "-app/(in)/p.ts app/(out)/p.ts", "sed -i 's/(a)/b/' 'app/(in)/p.ts'": "app/(in)/p.ts", "echo 'f(x)' | grep '[a]'": "",
	} {
		if got := effects(command); got != want {
			t.Errorf("%q: %s, want %s", command, got, want)
		}
	}
}

// TestMovesOfPatternsAndLoops: what a pattern moves is told as the pattern, and loops over words are read word by word.
func TestMovesOfPatternsAndLoops(t *testing.T) {
	for command, want := range map[string]string{
		"mv theme/* ui/theme/": "theme/*→ui/theme", "cd src && mv *.ts ../lib": "src/*.ts→lib", "mv a.ts b*.ts lib/": "b*.ts→lib", "git mv a/*.c b/": "a/*.c→b", "Move-Item 'a/*.c' b": "a/*.c→b", `Move-Item -Path a\*.c -Destination b\c`: "a/*.c→b/c", `move a\*.c b`: "a/*.c→b", `mv a\*.c b`: "",
		`for f in *.ts; do [ "$f" != "keep.ts" ] && mv "$f" lib/; done`: "*.ts→lib but keep.ts", `for f in *.ts; do if [ "$f" = x.ts ]; then continue; fi; mv $f lib/; done`: "",
		"mv *.ts $LIB": "", "mv 'a*.ts' lib/": "",
	} {
		var out []string
		for _, c := range carried(command) {
			s := c.Pattern + "→" + c.Into
			if len(c.Except) > 0 {
				s += " but " + strings.Join(c.Except, " ")
			}
			out = append(out, s)
		}
		if got := strings.Join(out, ", "); got != want {
			t.Errorf("%q: %s, want %s", command, got, want)
		}
	}
	for command, want := range map[string]string{
		"for f in a b; do mv $f lib/; done; touch $f": "-a lib/a -b lib/b", `for f in 'x y' "z"; do rm -- "$f"; done`: "-x y -z", "for f in a.js b; do git mv ${f} ${f%.js}.ts; done": "-a.js a.ts -b b.ts",
		"for f in a b c; do [ $f = b ] && continue; rm $f; done": "", "for f in a b; do case $f in a) rm $f;; esac; done": "", "for f in d/a; do cp $f e/${f##*/}; done": "e/a", "for f in $LIST; do rm $f; done": "",
		"for f in a b; do [ -f $f ] && sed -i s/x/y/ $f; done": "a b", "for f in a b; do if grep -q x; then rm $fx; fi; done": "", "for f in a b; do\n  echo x > $f.md\ndone": "a.md b.md",
		"for f in a b; do if ! grep -q x $f; then rm $f; fi; echo y >> $f; done": "a b", "for f in a b; do grep -q x $f && rm $f; touch $f; done": "", "for f in a b; do if [ -f $f ]; then rm $f; fi; done": "-a -b",
		fmt.Sprint("for f in ", strings.Repeat("a ", 5000), "; do rm $f; done; touch z"): strings.Repeat("-a ", 200) + "z",
		`python3 -c "import shutil; shutil.move('a.c', 'b/')"`:                           "-a.c b/a.c", `ruby -e "File.rename('a.c', 'b.c')"`: "-a.c b.c", `python3 -c "from pathlib import Path; Path('a.c').rename('b.c')"`: "-a.c b.c",
		"mkdir -p lib && mv a.c lib": "-a.c lib/a.c", "mkdir lib; rmdir lib; mkdir x; rm -r x; mv a.c x": "-x -a.c x",
	} {
		if got := effects(command); got != want {
			t.Errorf("%.100q: %.200s, want %.200s", command, got, want)
		}
	}
}

func carried(command string) []toolcall.PatternMove {
	c := toolcall.Find(native("shell", fmt.Sprintf(`{"command":%q}`, command)))
	if len(c) != 1 {
		return nil
	}
	return c[0].Carried
}

// TestToolsThatMove: a tool that is given where from and where to moves a file.
func TestToolsThatMove(t *testing.T) {
	c := toolcall.Find(native("move_file", `{"source":"a\\b.c","destination":"d/b.c"}`))
	if len(c) != 1 || c[0].Kind != toolcall.Write || len(c[0].Effects) != 2 || c[0].Effects[0] != (toolcall.Effect{Path: "a/b.c", Removed: true}) || c[0].Effects[1] != (toolcall.Effect{Path: "d/b.c", MovedFrom: "a/b.c"}) {
		t.Errorf("%+v", c)
	}
}
