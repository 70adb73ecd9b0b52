package digest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/digest"
	"github.com/precis-dev/precis/digest/effects"
)

// TestAFolderIsThereAgain: a folder that was removed is there again when anything is made, changed or read in it.
func TestAFolderIsThereAgain(t *testing.T) {
	for _, tt := range []struct {
		after string
		want  string // of the files
	}{
		{"$ cd /r && ls", "parts deleted"},
		{"$ cd /r && mkdir -p parts/small", ""},
		{"$ cd /r && git mv old.c parts/new.c", "old.c deleted, parts/new.c written"},
		{"$ cd /r && New-Item -ItemType Directory parts", ""},
		{"$ cd /r && pwsh -Command \"New-Item -ItemType Directory -Path parts\"", ""},
		{"$ cd /r && python3 -c \"open('parts/a.txt','w').write('x')\"", "parts/a.txt created"},
		{"$ cd /r && mv other/* parts/", "parts written"},
		{"new parts/deep/a.c", "parts/deep/a.c created"},
		{"edit parts/a.c", "parts/a.c written"},
		{"read parts/a.c", "parts/a.c read"},
		{"$ cd /r && mv parts2 parts", "parts written, parts2 deleted"},
		{"! cd /r && make && mkdir parts -> make: *** [all] Error 1", "parts deleted"},
	} {
		if got := fatesOf(worker("$ cd /r && rm -rf parts", tt.after)); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.after, got, tt.want)
		}
	}
}

// TestAMoveIsOneEntry: the digest names a moved file where it is, with its path before and what was done to it on either.
func TestAMoveIsOneEntry(t *testing.T) {
	for _, tt := range []struct {
		steps []string
		want  string // lines of the files, in the order of their paths
	}{
		{[]string{"read a.c", "edit a.c", "$ cd /r && mv a.c b.c", "edit b.c"}, "b.c moved from a.c, read, edited ×2"},
		{[]string{"edit a.c", "$ cd /r && git mv a.c b.c"}, "b.c moved from a.c, edited"},
		{[]string{"new a.c", "$ cd /r && mv a.c lib/"}, "lib/a.c created, moved from a.c"},
		{[]string{"$ cd /r && mkdir -p lib && mv a.c lib"}, "lib/a.c moved from a.c"},
		{[]string{"$ cd /r && mkdir lib", "$ cd /r && mv a.c lib"}, "lib/a.c moved from a.c"},
		{[]string{"read lib/x.c", "$ cd /r && mv a.c lib"}, "lib/a.c moved from a.c"},
		{[]string{"$ cd /r && mv a.c b.c lib/"}, "lib/a.c moved from a.c; lib/b.c moved from b.c"},
		{[]string{"$ cd /r && Move-Item -Path a.c -Destination b.c"}, "b.c moved from a.c"},
		{[]string{"$ cd /r && python3 -c \"import os; os.rename('a.c', 'b.c')\""}, "b.c moved from a.c"},
		{[]string{"$ cd /r && python3 - <<'E'\nimport shutil\nshutil.move('a.c', 'lib/')\nE"}, "lib/a.c moved from a.c"},
		{[]string{"$ cd /r && node -e \"require('fs').renameSync('a.c', 'b.c')\""}, "b.c moved from a.c"},
		{[]string{"$ cd /r && for f in a.c b.c; do git mv \"$f\" lib/; done"}, "lib/a.c moved from a.c; lib/b.c moved from b.c"},
		{[]string{"$ cd /r && for f in a.js b.js; do mv $f ${f%.js}.ts; done"}, "a.ts moved from a.js; b.ts moved from b.js"},
		{[]string{"edit theme/x.c", "read theme/y.c", "$ cd /r && mkdir -p ui/theme && mv theme/* ui/theme/"}, "ui/theme moved from theme/*; ui/theme/x.c edited"},
		{[]string{"edit x.c", "edit y.c", "$ cd /r && for f in *.c; do [ \"$f\" != \"y.c\" ] && mv \"$f\" lib/; done"}, "lib moved from *.c; lib/x.c edited; y.c edited"},
		{[]string{"$ ls /r/skin/ -> dark.json\nlight.json\nnotes.md", "$ cd /r && mv skin/*.json ui/"}, "ui moved from skin/*.json"},
		{[]string{"edit lib/x.c", "edit lib/y.go", "$ cd /r && rm -rf lib", "$ cd /r && mkdir lib && mv old/*.c lib/"}, "lib moved from old/*.c; lib/y.go edited, DELETED since"},
		{[]string{"edit tools/x.c", "new tools/sub/y.c", "$ cd /r && mv tools core/", "edit core/tools/x.c"}, "core/tools moved from tools; core/tools/sub/y.c created; core/tools/x.c edited ×2"},
		{[]string{"read a.c", "new a2.c", "$ cd /r && rm a.c && mv a2.c a.c"}, "a.c moved from a2.c, edited, deleted and made again"},
		{[]string{"$ cd /r && mv a.c b.c", "$ cd /r && mv b.c c.c"}, "c.c moved from a.c"},
		{[]string{"edit a.c", "$ cd /r && mv a.c b.c", "$ cd /r && mv b.c a.c"}, "a.c edited"},
		{[]string{"read a.c", "$ cd /r && sed s/x/y/ a.c > a.tmp && mv a.tmp a.c"}, "a.c read, edited"},
		{[]string{"$ cd /r && git mv a.c b.c", "$ cd /r && rm b.c"}, "b.c DELETED since"},
		{[]string{"$ cd /r && mv old/a.c a.c"}, "a.c moved from old/a.c"},
		{[]string{"edit old/a.c", "$ cd /r && mv old/a.c a.c"}, "a.c moved from old/a.c, edited"},
		{[]string{"$ cd /r && mkdir d && echo x > d/a.c && mv d e"}, "e moved from d; e/a.c created"},
		{[]string{"edit a.c", "! cd /r && make && mv a.c b.c -> make: *** [all] Error 1"}, "a.c edited, not known whether its newest change was made; b.c not known whether its newest change was made"},
	} {
		if got := toldOf(t, worker(tt.steps...)); got != tt.want {
			t.Errorf("%q\n got %s\nwant %s", tt.steps, got, tt.want)
		}
	}
}

// toldOf returns the lines that a digest has of the files that were written, without handles and names, in the order of their paths.
func toldOf(t *testing.T, msgs []precis.Message) string {
	t.Helper()
	var out []string
	text := digested(t, 6000, msgs...)
	_, root, _ := strings.Cut(text, "## Files written (paths are under ")
	if root, _, _ = strings.Cut(root, ")\n"); root != "" {
		root += "/"
	}
	for line := range strings.Lines(section(text, "Files written")) {
		line, ok := strings.CutPrefix(line, "- ")
		if !ok {
			continue
		}
		line, _, _ = strings.Cut(line, " (m")
		out = append(out, strings.ReplaceAll(root+strings.TrimSpace(line), "/r/", ""))
	}
	slices.Sort(out)
	return strings.Join(out, "; ")
}

// TestTheStateSaysWhereAFileWent: the path before is deleted, and both paths name each other.
func TestTheStateSaysWhereAFileWent(t *testing.T) {
	files := map[string]effects.FileState{}
	for _, f := range stateOf(worker("new a.c", "read dir/x.c", "$ cd /r && mv a.c b.c && mv dir into")).Files {
		files[strings.TrimPrefix(f.Path, "/r/")] = f
	}
	for path, want := range map[string][3]string{
		"a.c": {"deleted", "", "/r/b.c"}, "b.c": {"created", "/r/a.c", ""}, "into/x.c": {"read", "/r/dir/x.c", ""}, "dir": {"deleted", "", "/r/into"}, "into": {"written", "/r/dir", ""},
	} {
		f := files[path]
		if got := [3]string{string(f.State), f.MovedFrom, f.MovedTo}; got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

// TestWhatWasThereIsNotCreated: a result before shows that a file was there when a call says that it adds it.
func TestWhatWasThereIsNotCreated(t *testing.T) {
	add := "$ apply_patch <<'P'\n*** Begin Patch\n*** Add File: app/(in)/[id]/page.tsx\n+x\n*** End Patch\nP"
	cat := "$ cat > 'app/(in)/[id]/page.tsx' <<'E'\nx\nE"
	const path = "app/(in)/[id]/page.tsx "
	for _, tt := range []struct {
		steps []string
		want  string
	}{
		{[]string{add}, "created"},
		{[]string{cat}, "created"},
		{[]string{"$ git ls-files app -> app/(in)/[id]/page.tsx\napp/layout.tsx", add}, "overwritten"},
		{[]string{"$ rg --files app -> app/(in)/[id]/page.tsx", cat}, "overwritten"},
		{[]string{"$ git status --short ->  M app/(in)/[id]/page.tsx", cat}, "overwritten"},
		{[]string{"$ sed -n '1,20p' 'app/(in)/[id]/page.tsx' -> old", cat}, "read, overwritten"},
		{[]string{"$ cat docs/plan.md -> Write the new page app/(in)/[id]/page.tsx next.", cat}, "created"},
		{[]string{add, "$ git diff -> diff --git a/app/(in)/[id]/page.tsx b/app/(in)/[id]/page.tsx\nnew file mode 100644\n--- /dev/null\n+++ b/app/(in)/[id]/page.tsx"}, "created"},
		{[]string{add, "$ git status --short -> ?? app/(in)/[id]/page.tsx"}, "created"},
		{[]string{add, "$ git add -A && git commit -m x", "$ git status --short ->  M app/(in)/[id]/page.tsx"}, "created"},
		{[]string{add, "$ git commit -am x", "$ git status --short -> M  app/(in)/[id]/page.tsx"}, "created"},
		{[]string{add, "$ git add -A", "$ git diff -> --- a/app/(in)/[id]/page.tsx\n+++ b/app/(in)/[id]/page.tsx"}, "created"},
		{[]string{add, "$ git add -A", "$ git status --short -> AM app/(in)/[id]/page.tsx"}, "created"},
		{[]string{add, "$ ls 'app/(in)/[id]' -> page.tsx"}, "created"},
	} {
		if got := toldOf(t, worker(tt.steps...)); got != path+tt.want {
			t.Errorf("%q\n got %s\nwant %s", tt.steps, got, path+tt.want)
		}
	}
	if got := toldOf(t, worker("$ ls /r -> a.c", "new a.c")); got != "a.c created" {
		t.Errorf("the tool says that it created the file: %s", got)
	}
}

// TestOneCallIsOneEdit: however many commands of a script touch a file.
func TestOneCallIsOneEdit(t *testing.T) {
	for steps, want := range map[string]string{
		"$ cd /r && sed -i s/a/b/ a.c && sed -i s/c/d/ a.c && echo x >> a.c": "a.c edited",
		"$ cd /r && for i in 1 2 3; do echo $i >> a.c; done":                 "a.c edited",
		"$ cd /r && cat a.c && sed -n 1,5p a.c && sed -i s/a/b/ a.c -> one":  "a.c read, edited",
		"$ cd /r && rm a.c && echo x > a.c && echo y >> a.c":                 "a.c edited, deleted and made again",
	} {
		if got := toldOf(t, worker(steps)); got != want {
			t.Errorf("%s: %s, want %s", steps, got, want)
		}
	}
	runs := digested(t, 3000, worker("! make all -> make: *** [all] Error 1", "! make all -> make: *** [all] Error 1", "edit a.c", "$ make all -> done", "$ ls -la -> a.c", "! make lint -> bad", "! make lint -> bad")...)
	for _, want := range []string{"`make all` ×3 → ok (2 of 3 runs failed)", "`make lint` ×2 → FAILED"} {
		if !strings.Contains(runs, want) {
			t.Errorf("no %q in\n%s", want, runs)
		}
	}
}

// TestAFailedEditThatWasMadeGoodIsNotTold: and one that was not has its own place.
func TestAFailedEditThatWasMadeGoodIsNotTold(t *testing.T) {
	failing := func(k *talker) {
		k.call("Edit", map[string]any{"file_path": "/r/a.c", "old_string": "no", "new_string": "x"})
		k.result("<tool_use_error>String to replace not found in file.</tool_use_error>", true)
	}
	good := func(k *talker) {
		k.call("Edit", map[string]any{"file_path": "/r/a.c", "old_string": "yes", "new_string": "y"})
		k.result("The file has been updated.", false)
	}
	for _, tt := range []struct {
		calls []func(*talker)
		want  string
	}{
		{[]func(*talker){failing, good}, "a.c edited (m3)"},
		{[]func(*talker){good, failing}, "a.c edited (m1), edit failed (m3)"},
		{[]func(*talker){good, failing, failing}, "a.c edited (m1), edit failed ×2 (m5)"},
		{[]func(*talker){failing}, "a.c edit failed (m1)"},
	} {
		k := &talker{}
		k.user("Work.")
		for _, call := range tt.calls {
			call(k)
		}
		if got := section(digested(t, 3000, k.msgs...), "Files written"); !strings.Contains(got+"\n", tt.want+"\n") && !strings.Contains(got, tt.want+":") {
			t.Errorf("no %q in %s", tt.want, got)
		}
	}
}

// TestScratchFilesTakeNoLines: files in a temporary folder are only named, those that are kept first.
func TestScratchFilesTakeNoLines(t *testing.T) {
	got := section(digested(t, 3000, worker("$ echo x > /tmp/probe.txt && cat /tmp/probe.txt", "$ echo x > /tmp/gone.txt; rm /tmp/gone.txt", "edit a.c", "$ Set-Content /tmp/other.txt x")...), "Files written")
	if !strings.Contains(got, "\n/tmp/other.txt, /tmp/probe.txt, /tmp/gone.txt (deleted)") || strings.Contains(got, "- /tmp") || !strings.HasPrefix(got, "- ") {
		t.Error(got)
	}
	got = section(digested(t, 3000, worker("$ cd /tmp/shop && echo x > a.c", "$ cd /tmp/shop && echo x > b.c")...), "Files written")
	if !strings.Contains(got, "- a.c created") && !strings.Contains(got, "- shop/a.c created") && !strings.Contains(got, "- /tmp/shop/a.c created") {
		t.Errorf("the work is in a temporary folder: %s", got)
	}
}

// TestMovedAwayAndBack: what stands where it stood has a fate, too.
func TestMovedAwayAndBack(t *testing.T) {
	k := &talker{}
	k.user("Rename the folder.")
	k.call("Edit", map[string]any{"file_path": "/w/parts/slate/a.md", "old_string": "a", "new_string": "b"})
	k.result("The file has been updated.", false)
	k.bash("git mv parts/slate parts/zima", "", false)
	k.bash("git mv parts/zima parts/slate", "", false)
	lacks(t, "files", section(digested(t, 1500, k.msgs...), "Files written"), "parts/slate moved away and back (m5)")
}

// Where not all files have room for a line, the rest are named.
func TestManyFilesAreNamed(t *testing.T) {
	k := &talker{}
	k.user("Copy the parts.")
	k.call("Write", map[string]any{"file_path": "/w/shop/main.go", "content": "package main"})
	k.result("File created successfully", false)
	k.bash("touch /w/shop/parts/a.go /w/shop/parts/b.go /w/shop/parts/c.go /w/shop/parts/d.go", "", false)
	k.bash("rm /w/shop/old/x.go /w/shop/old/y.go", "", false)
	k.assistant("They are copied.")
	got := section(digested(t, 1500, k.msgs...), "Files written")
	lacks(t, "files", got, "- parts/a.go created (m3)\n", "- main.go created (m1)")
	for i := range 50 {
		k.bash(fmt.Sprintf("touch /w/shop/parts/more%d.go", i), "", false)
	}
	if got := digested(t, 400, k.msgs...); digest.EstimateTokens(got) > 400 || !strings.Contains(got, "more49.go") {
		t.Error(got)
	}
}

// On a drive of Windows the ways of writing a path name one file.
func TestOneFileOnADriveIsOneFile(t *testing.T) {
	s := newSession(1)
	s.user("Mend the parser.")
	s.call("Read", map[string]any{"file_path": `C:\Users\me\app\src\Parser.go`}, "package app")
	for _, path := range []string{`c:\Users\me\app\src\parser.go`, "/c/Users/me/app/src/Parser.go", "/mnt/c/users/me/app/src/Parser.go", `\\?\C:\Users\me\app\src\Parser.go`, `src\Parser.go`} {
		s.call("Edit", map[string]any{"file_path": path, "old_string": "a", "new_string": path}, "ok")
	}
	s.call("Edit", map[string]any{"file_path": "/srv/app/src/parser.go", "old_string": "a", "new_string": "b"}, "ok")
	files := stateOf(s.msgs).Files
	if len(files) != 2 || files[0].Path != "C:/Users/me/app/src/Parser.go" && files[1].Path != "C:/Users/me/app/src/Parser.go" {
		t.Errorf("%+v", files)
	}
}
