package digest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/digest"
	"github.com/precis-dev/precis/policy"
)

// worker plays an agent that edits files and runs commands, in short words: "edit a.go", "read a.go", "new a.go",
// "$ command", "! command" for one that fails; what the command prints stands behind " -> ".
func worker(steps ...string) []precis.Message {
	k := &talker{}
	k.user("Work on it.")
	for _, s := range steps {
		verb, rest, _ := strings.Cut(s, " ")
		line, output, _ := strings.Cut(rest, " -> ")
		switch verb {
		case "edit":
			k.call("Edit", map[string]any{"file_path": "/r/" + rest, "old_string": "old_" + rest, "new_string": fmt.Sprint("text_", k.n, "_of_", rest)})
			k.result("The file has been updated.", false)
		case "new":
			k.call("Write", map[string]any{"file_path": "/r/" + rest, "content": fmt.Sprint("text_", k.n, "_of_", rest)})
			k.result("File created successfully", false)
		case "read":
			k.call("Read", map[string]any{"file_path": "/r/" + rest})
			k.result("1\told_"+rest, false)
		case "$":
			k.bash(line, output, false)
		case "!":
			k.bash(line, "Exit code 1\n"+output, true)
		}
	}
	return k.msgs
}

func TestWhatGitTakesBackDoesNotStand(t *testing.T) {
	for _, tt := range []struct {
		steps []string
		want  string // the files with their states
	}{
		{[]string{"read a.go", "edit a.go", "$ git checkout -- a.go"}, "a.go reverted by git checkout"},
		{[]string{"edit a.go", "$ git checkout a.go -> Updated 1 path from the index"}, "a.go reverted by git checkout"},
		{[]string{"edit a.go", "edit b.go", "$ git checkout ."}, "a.go reverted by git checkout, b.go reverted by git checkout"},
		{[]string{"edit a.go", "$ cd /r && git checkout HEAD -- a.go && go test ./..."}, "a.go reverted by git checkout"},
		{[]string{"edit a.go", "! cd /r && git checkout -- a.go && go test ./... -> --- FAIL: TestA"}, "a.go reverted by git checkout"},
		{[]string{"edit a.go", "! git checkout -- a.go -> error: pathspec 'a.go' did not match"}, "a.go written"},
		{[]string{"edit a.go", "! go test ./... && git checkout -- a.go -> --- FAIL: TestA"}, "a.go written"},
		{[]string{"edit a.go", "$ git checkout main"}, "a.go written"},
		{[]string{"edit a.go", "$ git checkout -b topic"}, "a.go written"},
		{[]string{"edit a.go", "$ git restore a.go"}, "a.go reverted by git restore"},
		{[]string{"edit a.go", "$ git restore --staged a.go"}, "a.go written"},
		{[]string{"edit a.go", "$ git add a.go", "$ git checkout -- a.go"}, "a.go written"}, // as it is in the index
		{[]string{"edit a.go", "$ git add a.go", "edit a.go", "$ git restore a.go"}, "a.go written by git restore"},
		{[]string{"edit a.go", "$ git add a.go", "$ git restore -SW a.go"}, "a.go reverted by git restore"},
		{[]string{"edit my file.go", "$ git -C /r restore 'my file.go'"}, "my file.go reverted by git restore"},
		{[]string{"edit a.go", "$ git -C /other restore a.go"}, "a.go written"},
		{[]string{"edit a.go", "$ cd /other && git reset --hard"}, "a.go written"},
		{[]string{"edit a.go", "$ git reset --hard"}, "a.go reverted by git reset --hard"},
		{[]string{"edit a.go", "$ git reset"}, "a.go written"},
		{[]string{"new a.go", "$ git reset --hard"}, "a.go created"},
		{[]string{"new a.go", "$ git add -A", "$ git reset --hard"}, "a.go deleted by git reset --hard"},
		{[]string{"new a.go", "$ git clean -fd -> Removing a.go"}, "a.go deleted by git clean"},
		{[]string{"new a.go", "new b.go", "$ git clean -f -> Removing b.go"}, "a.go created, b.go deleted by git clean"},
		{[]string{"new a.go", "$ git clean -nd -> Would remove a.go"}, "a.go created"},
		{[]string{"edit a.go", "$ git stash"}, "a.go reverted by git stash"},
		{[]string{"edit a.go", "$ git stash && go test ./... ; git stash pop"}, "a.go written"},
		{[]string{"edit a.go", "! git stash && make lint | tail -20; git stash pop -> Saved working directory and index state WIP on main: 6a794a1 Base\n[lint] ERROR task failed\nDropped refs/stash@{0} (224ab3565dbd)"}, "a.go written"},
		{[]string{"edit a.go", "! git stash && make lint; git stash pop -> Saved working directory and index state WIP on main: 6a794a1 Base\n[lint] ERROR task failed"}, "a.go unknown by git stash pop"},
		{[]string{"edit a.go", "! git stash -q && make lint; git stash pop -q -> [lint] ERROR task failed"}, "a.go unknown by git stash pop"},
		{[]string{"edit a.go", "$ git stash", "! git stash pop -> error: Your local changes to the following files would be overwritten"}, "a.go reverted by git stash"},
		{[]string{"edit a.go", "$ git stash", "edit a.go", "! git stash pop -> CONFLICT (content): Merge conflict in a.go"}, "a.go unknown by git stash pop"},
		{[]string{"edit a.go", "$ git stash", "$ git stash drop", "$ git stash pop -> No stash entries found."}, "a.go reverted by git stash"},
		{[]string{"edit a.go", "edit b.go", "$ git stash push -- b.go"}, "a.go written, b.go reverted by git stash"},
		{[]string{"new a.go", "$ git stash"}, "a.go created"}, {[]string{"new a.go", "$ git stash -u"}, "a.go deleted by git stash"},
		{[]string{"edit a.go", "$ git checkout -- a.go", "edit a.go"}, "a.go written"},
		{[]string{"read a.go", "$ rm a.go", "$ git checkout -- a.go"}, "a.go reverted by git checkout"},
		{[]string{"edit a.go", "$ git commit -am x -> [main 1a2b3c4] x", "$ git checkout -- a.go"}, "a.go written"},
		{[]string{"edit a.go", "$ git commit -am x -> [main 1a2b3c4] x", "edit a.go", "$ git checkout -- a.go"}, "a.go written by git checkout"},
		{[]string{"edit a.go", "$ git commit -am x -> [main 1a2b3c4] x", "$ git reset --hard HEAD~1"}, "a.go reverted by git reset --hard"},
		{[]string{"edit a.go", "$ git commit -am x -> [main 1a2b3c4] x", "$ git reset --hard 7777777 -> HEAD is now at 7777777 base"}, "a.go reverted by git reset --hard"},
		{[]string{"edit a.go", "$ git commit -am x", "$ git reset --hard 7777777"}, "a.go unknown by git reset --hard"},
		{[]string{"edit a.go", "$ git commit -am x -> [main 1a2b3c4] x", "$ git reset --soft HEAD~1"}, "a.go written"},
		{[]string{"edit a.go", "$ git commit -am x -> [main 1a2b3c4] x", "edit b.go", "$ git commit -am y -> [main 5d6e7f8] y", "$ git reset --hard 1a2b3c4"}, "a.go written, b.go reverted by git reset --hard"},
		{[]string{"edit a.go", "$ git add a.go && git commit -m x -> [main 1a2b3c4] x", "$ git revert --no-edit HEAD -> [main 9a9a9a9] Revert"}, "a.go reverted by git revert"},
		{[]string{"edit a.go", "$ git commit -am x -> [main 1a2b3c4] x", "edit a.go", "$ git commit -am y -> [main 5d6e7f8] y", "$ git revert 5d6e7f8"}, "a.go written by git revert"},
		{[]string{"edit a.go", "$ git commit -am x -> [main 1a2b3c4] x", "$ git reset --hard origin/main"}, "a.go unknown by git reset --hard"},
		{[]string{"new a.go", "$ git add -A && git commit -m x -> [main 1a2b3c4] x", "$ git reset --hard HEAD^"}, "a.go deleted by git reset --hard"},
		{[]string{"edit a.go", "$ git commit -am x -> [main 1a2b3c4] x", "edit b.go", "$ git commit -am y -> [main 5d6e7f8] y", "edit c.go", "$ git commit -am z -> [main 9a9a9a9] z", "$ git reset --hard 9a9a9a9~2"}, "a.go written, b.go reverted by git reset --hard, c.go reverted by git reset --hard"},
		{[]string{"edit a.go", "$ git commit -am one && echo x > b.go && git add b.go && git commit -m two -> [main 1a2b3c4] one\n[main 5d6e7f8] two", "$ git reset --hard 1a2b3c4"}, "a.go written, b.go deleted by git reset --hard"},
		{[]string{"edit a.go", "$ git commit -am one 2>&1 | tail -3 -> husky - pre-commit script ended\nlint found 3 problems", "$ git checkout -- a.go"}, "a.go reverted by git checkout"},
		{[]string{"edit a.go", "$ git checkout -p"}, "a.go unknown by git checkout"},
		{[]string{"edit a.go", "edit b.go", "$ git checkout --theirs a.go"}, "a.go unknown by git checkout, b.go written"},
		{[]string{"edit a.go", "$ git checkout --theirs a.go && git add a.go", "$ git commit --no-edit", "$ git checkout -- ."}, "a.go unknown by git checkout"},
		{[]string{"edit a.go", "$ git stash push --keep-index"}, "a.go unknown by git stash"},
		{[]string{"edit a.go", "$ git commit -am x -> [main 1a2b3c4] x", "edit a.go", "$ git sync", "$ git reset --hard HEAD~1"}, "a.go unknown by git reset --hard"},
		{[]string{"edit a.go", "$ git mv a.go b.go"}, "a.go deleted, b.go written"}, {[]string{"new a.go", "$ git rm --cached a.go"}, "a.go created"},
		{[]string{"edit src/a.go", "edit b.go", "$ git checkout -- src"}, "src/a.go reverted by git checkout, b.go written"},
		{[]string{"edit src/a.go", "edit b.go", "$ git restore '*.go'"}, "src/a.go reverted by git restore, b.go reverted by git restore"},
		// Files of folders, and what only may be a file's path.
		{[]string{"edit src/a.go", "$ cd /r && rm -rf src", "$ cd /r && git checkout -- src"}, "src/a.go reverted by git checkout, src reverted by git checkout"},
		{[]string{"edit d/a.go", "$ cd /r && git mv d e && git commit -m x", "$ git checkout ."}, "d/a.go deleted, e/a.go written, d deleted, e written"},
		{[]string{"edit a.go", "$ cd /r && git rm -f a.go", "$ cd /r && git checkout HEAD -- a.go"}, "a.go reverted by git checkout"},
		{[]string{"$ echo x > b.go", "$ git add -A && git commit -m x", "$ echo y > b.go", "$ cd /r && git checkout -- other.go"}, "b.go created"},
		{[]string{"edit a.go", "$ cd /r && git mv a.go b.go", "edit b.go", "$ git reset --hard"}, "a.go reverted by git reset --hard, b.go deleted by git reset --hard"},
		{[]string{"edit a.go", "$ cd /r && mkdir d && mv a.go d && git checkout -- a.go"}, "a.go reverted by git checkout, d/a.go written"},
		// What was taken back and given back, and what is not known any more.
		{[]string{"edit a.go", "$ git commit -am x", "$ git revert --no-edit HEAD", "$ git revert --no-edit HEAD"}, "a.go written"},
		{[]string{"edit a.go", "$ git commit -am x", "$ git revert --no-edit HEAD", "$ git reset --hard HEAD~1"}, "a.go written"},
		{[]string{"edit a.go", "$ git commit -am x", "edit a.go", "$ git commit -am y", "$ git revert --no-edit HEAD~1"}, "a.go unknown by git revert"},
		{[]string{"edit a.go", "$ git commit -am x", "edit b.go", "$ git commit -am y", "$ git revert --no-edit HEAD~1"}, "a.go reverted by git revert, b.go written"},
		{[]string{"edit a.go", "$ git commit -am x", "edit b.go", "$ git revert --no-edit HEAD~1..HEAD"}, "a.go unknown by git revert, b.go written"},
		{[]string{"edit a.go", "$ git commit -am x", "$ git reset --hard origin/main", "$ git checkout -- a.go"}, "a.go unknown by git reset --hard"},
		{[]string{"edit a.go", "$ git stash", "edit a.go", "$ git commit -am x", "$ git stash pop"}, "a.go unknown by git stash pop"},
		{[]string{"read a.go", "$ cd /r && git status && echo x >> a.go -> nothing to commit, working tree clean", "$ git checkout -- a.go"}, "a.go reverted by git checkout"},
		{[]string{"edit a.go", "$ git status -> nothing to commit, working tree clean", "$ git checkout -- a.go"}, "a.go written"},
		{[]string{"read a.go", "$ cd /r && git mv a.go b.go && git commit -m x", "$ cd /r && echo x > a.go", "$ git reset --hard"}, "a.go written, b.go written"},
		{[]string{"edit a.go", "$ git stash", "! git stash pop -> a.go: needs merge"}, "a.go reverted by git stash"},
		{[]string{"edit a.go", "$ git stash", "edit b.go", "$ git stash", "$ git stash pop stash@{1}"}, "a.go written, b.go reverted by git stash"},
		{[]string{"edit a.go", "$ git stash", "$ git stash pop $NAME"}, "a.go unknown by git stash pop"},
		{[]string{"edit a.go", "$ git commit -am x", "$ git commit --amend -am y", "$ git reset --hard HEAD~1"}, "a.go reverted by git reset --hard"},
		{[]string{"$ cat <<'E' > gen.py\nx\nE"}, "gen.py created"},
		{[]string{"read gen.py", "$ cat > gen.py <<E\nx\nE"}, "gen.py written"},
		{[]string{"$ cat gen.py -> print()", "$ cat > gen.py <<E\nx\nE"}, "gen.py written"},
		{[]string{"$ ls tools -> gen.py", "$ echo x > tools/gen.py"}, "tools/gen.py written"},
		{[]string{"$ ls lib -> gen.py", "$ echo x > tools/gen.py"}, "tools/gen.py created"},
		{[]string{"! cat gen.py -> cat: gen.py: No such file or directory", "$ echo x | tee gen.py"}, "gen.py created"},
		{[]string{"! ls tools/gen.py -> ls: cannot access 'tools/gen.py': No such file or directory", "$ echo x > tools/gen.py"}, "tools/gen.py created"},
		{[]string{"$ echo x >> log.txt"}, "log.txt written"}, {[]string{"$ touch a.txt"}, "a.txt created"}, {[]string{"read a.go", "$ touch a.go"}, "a.go read"},
		{[]string{"read a.go", "$ cp a.go b.go"}, "a.go read, b.go created"}, {[]string{"new a.go", "$ rm -f a.go"}, "a.go deleted"},
	} {
		msgs := worker(tt.steps...)
		var got []string
		for _, f := range stateOf(msgs).Files {
			s := strings.TrimPrefix(f.Path, "/r/") + " " + string(f.State)
			if f.By != "" {
				s += " by " + f.By
			}
			got = append(got, s)
		}
		want := strings.Split(tt.want, ", ")
		for _, w := range want {
			if !strings.Contains(", "+strings.Join(got, ", ")+", ", ", "+w+", ") || len(got) != len(want) {
				t.Errorf("%q\n got %s\nwant %s", tt.steps, strings.Join(got, ", "), tt.want)
				break
			}
		}
	}
}

func TestADigestTellsWhatGitTookBack(t *testing.T) {
	msgs := worker("read a.go", "edit a.go", "$ git commit -am one -> [main 1a2b3c4] one", "$ git reset --hard HEAD~1 -> HEAD is now at 0f0f0f0 base", "edit b.go", "$ git checkout -- b.go", "edit b.go")
	text := summarize(t, digest.Writer{}, policy.SummaryRequest{Messages: msgs, MaxTokens: 3000})
	for _, want := range []string{"a.go read, reverted (git reset --hard)", "b.go edited (m13)", "+ text_6_of_b.go", "`git commit -am one` → ended: [main 1a2b3c4] one; the commit is undone since (git reset --hard)", "- m3 (reverted since, git reset --hard):", "- m9 (reverted since, git checkout):"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if strings.Contains(text, "+ text_1_of_a.go") {
		t.Errorf("an edit that was taken back is told as made\n%s", text)
	}
	for _, c := range stateOf(msgs).Commands {
		if by := c.UndoneBy; (by == "git reset --hard") != strings.HasPrefix(c.Command, "git commit") {
			t.Errorf("%s is undone by %q", c.Command, by)
		}
	}
}
