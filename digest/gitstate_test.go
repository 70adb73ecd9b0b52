package digest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/precis-dev/precis/digest/effects"
)

// told writes the state of git on one line.
func told(g *effects.GitState) string {
	if g == nil {
		return "none"
	}
	var out []string
	add := func(is bool, text string) {
		if is {
			out = append(out, text)
		}
	}
	add(g.Folder != "", "in "+g.Folder)
	add(g.Branch != "", "on "+g.Branch)
	add(g.Detached, "detached")
	if u := g.Unknown; u != nil {
		out = append(out, "unknown since "+u.Command)
	}
	if c := g.Commit; c != nil {
		out = append(out, strings.Join(strings.Fields("commit "+c.Hash+" "+c.Subject), " "))
	}
	add(g.Changed > 0, fmt.Sprintf("%d changed", g.Changed))
	add(g.Staged > 0, fmt.Sprintf("%d staged", g.Staged))
	add(g.Clean, "clean")
	if o := g.Operation; o != nil {
		out = append(out, o.Kind+" under way: "+strings.Join(o.Files, " "))
	}
	return strings.Join(out, ", ")
}

const stopped = "Auto-merging a.go\nCONFLICT (content): Merge conflict in a.go\nCONFLICT (modify/delete): lib/b.go deleted in HEAD and modified in topic.  Version topic of lib/b.go left in tree.\nAutomatic merge failed; fix conflicts and then commit the result.\n"

func TestStateOfGit(t *testing.T) {
	const first = "$ git commit -m one -> [main 1a2b3c4] one\n 1 file changed"
	rebase := "! git fetch && git rebase origin/main -> Rebasing (1/3)\rRebasing (2/3)\rerror: could not apply ad0c095... faster\nCould not apply ad0c095... faster\nAuto-merging a.go\nCONFLICT (content): Merge conflict in a.go"
	for _, tt := range []struct {
		steps []string
		want  string
	}{
		{[]string{"edit a.go", "$ go test ./... -> ok"}, "none"},
		{[]string{"edit a.go", "$ git status -> fatal: not a git repository (or any of the parent directories): .git"}, "none"},
		{[]string{"$ git log --oneline -3 -> 1a2b3c4 one", "edit a.go", "edit b.go"}, "2 changed"},
		{[]string{"$ git log --oneline -3 -> 1a2b3c4 one", "edit /w/dig/a.go", "edit /w/dig/b.go", "edit /opt/well.ini", "edit ../spade.go"}, "2 changed"},
		{[]string{"$ git log --oneline -3 -> 1a2b3c4 one", "edit /ann/src/dig/cmd/a.go", "edit /ann/src/dig/cmd/b.go", "edit /ann/src/dig/README.md", "edit /ann/notes.md"}, "3 changed"},
		// The branch.
		{[]string{"$ git checkout -b topic -> Switched to a new branch 'topic'"}, "on topic"},
		{[]string{"$ git checkout -q -b topic"}, "on topic"},
		{[]string{"$ git switch -c fix/x"}, "on fix/x"},
		{[]string{"$ git switch main"}, "on main"},
		{[]string{"! git switch main -> fatal: invalid reference: main"}, "none"},
		{[]string{"$ git status -> On branch main\nYour branch is up to date with 'origin/main'.\n\nChanges not staged for commit:\n\tmodified:   z.go"}, "on main"},
		{[]string{"$ git status -sb -> ## fix/v2...origin/fix/v2 [ahead 1]\n M z.go"}, "on fix/v2"},
		{[]string{"$ git branch --show-current -> topic"}, "on topic"},
		{[]string{"$ git rev-parse --abbrev-ref HEAD -> HEAD"}, "detached"},
		{[]string{"$ git branch -a -> * topic\n  main\n  remotes/origin/main"}, "on topic"},
		{[]string{"$ git checkout -b topic", "$ git checkout main -> Switched to branch 'main'"}, "on main"},
		{[]string{"$ git switch -c a", "$ git switch -c b", "$ git checkout -q a"}, "on a"},
		{[]string{"$ git switch -c a", "$ git branch -m b"}, "on b"},
		{[]string{"$ git checkout -b $NAME", "$ git status -> On branch x"}, "on x"},
		{[]string{"$ git switch -c a", "$ git checkout 1a2b3c4 -> Note: switching to '1a2b3c4'.\n\nHEAD is now at 1a2b3c4 one"}, "detached"},
		{[]string{"$ git switch -c a", "$ git show HEAD:notes -> On branch other\n## other"}, "on a"},
		{[]string{"$ git switch -c a", "$ git switch b || git switch -c c -> Switched to a new branch 'c'"}, "on c"},
		{[]string{"$ git switch -c a", "$ git sync --all -> done"}, "on a, unknown since git sync"},
		{[]string{"$ git switch -c a", "$ git bisect start", "$ git sync", "$ git switch b"}, "on b"},
		{[]string{"$ git switch -c a", "! git sync -> git: 'sync' is not a git command. See 'git --help'."}, "on a"},
		{[]string{"$ git switch -c a", "$ git frob && git status -> On branch b"}, "on b"},
		// Commits, and what is in none.
		{[]string{"edit a.go", first}, "on main, commit 1a2b3c4 one"},
		{[]string{"edit a.go", first, "edit b.go", "edit c.go", "$ git add b.go"}, "on main, commit 1a2b3c4 one, 2 changed, 1 staged"},
		{[]string{"edit a.go", "! git commit -m one -> On branch main\nnothing to commit, working tree clean"}, "on main, clean"},
		{[]string{"edit a.go", "$ git status -> On branch main\nnothing to commit, working tree clean", "edit a.go"}, "on main, 1 changed"},
		{[]string{"edit a.go", "$ git status --short -> (no output)"}, "clean"},
		{[]string{"edit a.go", first, "$ git status -> On branch main\nnothing to commit, working tree clean", "$ git reset --soft HEAD~1"}, "on main, 1 changed, 1 staged"},
		{[]string{"edit a.go", first, "edit a.go", "$ git commit -qam two"}, "on main, commit two"},
		{[]string{"edit a.go", first, "edit a.go", "$ git commit -a --amend --no-edit -> [main 5d6e7f8] one"}, "on main, commit 5d6e7f8 one"},
		{[]string{"edit a.go", first, "edit a.go", "$ git commit -am two -> [main 5d6e7f8] two", "$ git reset --soft HEAD~1"}, "on main, commit 1a2b3c4 one, 1 changed, 1 staged"},
		{[]string{"edit a.go", "$ git add -A && git commit -q -m \"$(cat <<'EOF'\nfix: one\n\nBody.\nEOF\n)\""}, "commit fix: one"},
		{[]string{"edit a.go", "edit .git/hooks/pre-commit", "$ git status -> On branch main"}, "on main, 1 changed"},
		{[]string{"edit a.go", "! make && git commit -m one && git push -> [main 1a2b3c4] one\n 1 file changed\nerror: failed to push some refs"}, "on main, commit 1a2b3c4 one"},
		{[]string{"edit a.go", "edit b.go", "! git add a.go && git commit -m one && git push -> [main 1a2b3c4] one\n 1 file changed\nfatal: The current branch main has no upstream branch."}, "on main, commit 1a2b3c4 one, 1 changed"},
		{[]string{"$ git status -> On branch main", "$ git commit -m one 2>&1 | tail -3 -> husky - pre-commit script ended\nlint found 3 problems"}, "on main"},
		{[]string{"$ git commit -m one 2>&1 | tail -1 -> create mode 100644 a.go"}, "commit one"},
		{[]string{"edit a.go", first, "$ git rm --cached a.go", "edit a.go"}, "on main, commit 1a2b3c4 one, 1 changed"},
		{[]string{"edit a.go", first, "$ git rebase --continue -> [detached HEAD 5d6e7f8] one\n 1 file changed\nSuccessfully rebased and updated refs/heads/t."}, "on t, commit 5d6e7f8 one"},
		{[]string{"$ git cherry-pick abc1234 -> [main 1a2b3c4] Cut it\n 1 file changed"}, "on main, commit 1a2b3c4 Cut it"},
		{[]string{"$ git -C /a commit -m x && git -C /b commit -m y -> [main 1a2b3c4] x\n[main 5d6e7f8] y"}, "in /b, commit 5d6e7f8 y"},
		// What is under way.
		{[]string{"$ git switch -c t", rebase}, "on t, rebase under way: a.go"},
		{[]string{"$ git switch -c t", rebase, "edit a.go", "$ git add a.go"}, "on t, 1 changed, 1 staged, rebase under way: "},
		{[]string{"$ git switch -c t", rebase, "$ git add a.go && git rebase --continue -> Successfully rebased and updated refs/heads/t."}, "on t"},
		{[]string{"$ git switch -c t", rebase, "edit a.go", "edit b.go", "$ git add a.go && git rebase --continue -> Successfully rebased and updated refs/heads/t."}, "on t, 1 changed"},
		{[]string{"$ git switch -c t", rebase, "! git add a.go && git rebase --continue -> error: could not apply bbb2222... b\nCONFLICT (content): Merge conflict in b.go"}, "on t, rebase under way: b.go"},
		{[]string{"$ git switch -c t", rebase, "$ git rebase --abort"}, "on t"},
		{[]string{"$ git switch -c t", rebase, "! git rebase --continue -> a.go: needs merge\nYou must edit all merge conflicts and then\nmark them as resolved using git add"}, "on t, rebase under way: a.go"},
		{[]string{"$ git switch -c t", rebase, "$ git status -> interactive rebase in progress; onto 1a2b3c4\nYou are currently rebasing branch 't' on '1a2b3c4'.\n\nUnmerged paths:\n\tboth modified:   c.go"}, "on t, rebase under way: c.go"},
		{[]string{"$ git switch -c t", rebase, "$ git status -> On branch t\nnothing to commit, working tree clean"}, "on t, clean"},
		{[]string{"! git merge topic -> " + stopped}, "merge under way: a.go lib/b.go"},
		{[]string{"! git merge topic -> " + stopped, "$ git rm lib/b.go"}, "1 changed, 1 staged, merge under way: a.go"},
		{[]string{"! git merge topic -> " + stopped, "$ git add . && git commit --no-edit -> [main 1a2b3c4] Merge branch 'topic'"}, "on main, commit 1a2b3c4 Merge branch 'topic'"},
		{[]string{"! git merge topic -> " + stopped, "$ git merge --abort"}, "none"},
		{[]string{"! git merge topic -> " + stopped, "$ git reset --hard"}, "none"},
		{[]string{"! git cherry-pick abc1234 -> error: could not apply abc1234... x\nCONFLICT (content): Merge conflict in a.go"}, "cherry-pick under way: a.go"},
		{[]string{"edit a.go", first, "$ git rebase main -> Successfully rebased and updated refs/heads/t."}, "on t, commit one"},
		{[]string{"edit a.go", first, "$ git filter-repo --path src"}, "on main, commit one"},
		// Several repositories.
		{[]string{"$ cd /r && git status -> On branch main", "$ git switch -c t"}, "on t"},
		{[]string{"$ cd /r && git switch -c t", "$ cd /other && git switch -c o", "edit a.go"}, "in /other, on o"},
		{[]string{"$ git -C /r switch -c t", "$ git -C /r/sub status -> On branch u"}, "on u"},
		{[]string{"$ git -C /r switch -c t", "$ git -C /r/.worktrees/1 switch -c w"}, "in /r/.worktrees/1, on w"},
		{[]string{"$ git switch -c t", "$ cd /tmp && mkdir try && cd try && git init && git commit --allow-empty -m x -> [master (root-commit) 9a9a9a9] x"}, "on t"},
		{[]string{"$ git -C /r switch -c t", "$ git -C /other switch -c o", "$ git -C /r log -> x"}, "in /other, on o"},
		{[]string{"$ git switch -c t", "$ cd ../copy && git switch -c c"}, "in ../copy, on c"},
	} {
		if got := told(stateOf(worker(tt.steps...)).Git); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", strings.Join(tt.steps, "; "), got, tt.want)
		}
	}
}

// TestStateOfGitInADigest: briefly, and what is under way first.
func TestStateOfGitInADigest(t *testing.T) {
	msgs := worker("$ git switch -c topic", "edit a.go", "$ git commit -am 'Cut it' -> [topic 1a2b3c4] Cut it", "edit b.go", "edit c.go", "$ git add b.go", "! git merge main -> "+stopped)
	want := "- m13: a merge is under way, stopped by conflicts in a.go, lib/b.go\n" +
		"- m13: branch topic; last commit 1a2b3c4 \"Cut it\" (m5)"
	if got := strings.TrimSpace(section(digested(t, 2000, msgs...), "Git")); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	got := section(digested(t, 2000, worker("$ go build -> ok", "$ git log --oneline -3 -> 1a2b3c4 one", "edit a.go")...), "Git")
	lacks(t, "where it is only looked at", got, "- m3: no commit was made here\n")
	got = section(digested(t, 2000, worker("$ git -C /r status -> On branch main", "! git -C /other merge topic -> "+stopped)...), "Git")
	lacks(t, "of several", got, "- m3: a merge is under way in /other, stopped by conflicts in a.go, lib/b.go")
	got = section(digested(t, 2000, worker("$ git -C /r status -> On branch main", "$ git -C /other switch -c o")...), "Git")
	lacks(t, "of several", got, "- m3 in /other: branch o")
	got = section(digested(t, 2000, worker("$ git switch -c o", "$ git sync")...), "Git")
	lacks(t, "an unknown command", got, "- m3: branch o (unknown since m3, git sync)")
	if got := section(digested(t, 150, msgs...), "Git"); got != "" {
		t.Errorf("a very small digest tells %q", got)
	}
	if got := section(digested(t, 2000, worker("edit a.go", "$ go vet ./... -> ok")...), "Git"); got != "" {
		t.Errorf("without git: %q", got)
	}
	got = section(digested(t, 2000, worker("$ git status -> On branch main", "edit a.go")...), "Git")
	lacks(t, "without a commit", got, "branch main; no commit was made here")
}

// TestOpenFailures: a failure is told with its place, and with what was edited since.
func TestOpenFailures(t *testing.T) {
	results := func(steps ...string) string {
		return section(digested(t, 3000, worker(steps...)...), "Last results of commands")
	}
	got := results("edit a.go", "! go test ./... -> --- FAIL: TestA (0.00s)\n    a_test.go:12: got 1, want 2\nFAIL\nFAIL\texample.com/mod/pkg\t0.3s", "edit a.go", "edit b.go")
	lacks(t, "a failed test", got, "--- FAIL: TestA (0.00s); a_test.go:12: got 1, want 2; edited since: /r/b.go, /r/a.go\n")
	got = results("edit a.go", "! go test ./... -> --- FAIL: TestA (0.00s)", "edit a.go", "! go test ./... -run A -> --- FAIL: TestA (0.00s)")
	if strings.Contains(got, "-run A` → FAILED, exit code 1: --- FAIL: TestA (0.00s); edited") || !strings.Contains(got, "`go test ./...` → FAILED") {
		t.Errorf("nothing was edited since the second run:\n%s", got)
	}
	got = results("! git merge topic -> Automatic merge failed; fix conflicts and then commit the result.\nCONFLICT (content): Merge conflict in a.go")
	lacks(t, "a conflict", got, "FAILED, exit code 1: CONFLICT (content): Merge conflict in a.go")
}

// TestQueriesAreNoResults: unless there is nothing else.
func TestQueriesAreNoResults(t *testing.T) {
	all := []string{"$ make -> built", "$ gh api repos/a/b/pulls/1 --jq .x", "$ gh api repos/a/b -X PATCH -f x=y", "$ mkdir -p a/b -> (no output)", "$ mv a b -> (no output)", "! gh api repos/none -> gh: Not Found (HTTP 404)"}
	got := section(digested(t, 2000, worker(all...)...), "Last results of commands")
	lacks(t, "results", got, "`make` → ok: built", "-X PATCH -f x=y` → ok", "`mv a b` → ok\n", "HTTP 404")
	for _, no := range []string{"mkdir", "no output"} {
		if strings.Contains(got, no) {
			t.Errorf("%q is told:\n%s", no, got)
		}
	}
	lacks(t, "nothing else", section(digested(t, 2000, worker(all[3])...), "Last results of commands"), "mkdir")
}
