package digest_test

import "testing"

// harvest is a conversation with a plan, commits, options and lines of code, of which a careless summary tells something else.
func harvest() *session {
	s := newSession(9)
	s.user("Implement the following plan: weigh each crate twice at the scale and write the mean into crates.csv. This is now the 3rd bug with crates.csv.")
	for _, step := range []string{"read the scale", "weigh twice", "write the mean", "test it"} {
		s.call("TaskCreate", map[string]any{"subject": step, "description": step}, "Task created")
	}
	s.call("Grep", map[string]any{"pattern": "readScale", "output_mode": "content"}, "scale/reader.go:140:func readScale(port string) (float64, error) {\nscale/reader.go:152:\treturn readScale(port)")
	s.says("A crate label is a 12-character code. Exact matching of crate labels never succeeds: the scanner pads them, so labels with blanks do not match the table. `plausibleWeight` doesn't exist in the scale package.")
	s.says("Several scales may share one port. The tare is lowered from 3.5 to 3.0 kilograms, and `keepsTare()` returns false.")
	s.call("Bash", map[string]any{"command": "git status"}, "On branch harvest\nYour branch is ahead of 'origin/harvest' by 2 commits.")
	s.says("How shall the mean be rounded?\n\nOption 1: to grams.\nOption 2: to ten grams.\nOption 3: not at all.")
	s.call("Bash", map[string]any{"command": "ls labels"}, "Exit code 1\nls: cannot access 'labels'")
	s.user("isn't it weighing the crate three times now?")
	s.says("Right, the loop ran once too often. Fixed. Phase 1 weighs, phase 2 writes.")
	s.call("Edit", map[string]any{"file_path": root + "scale/mean.go", "old_string": "a", "new_string": "b"}, "The file has been updated.")
	s.call("Bash", map[string]any{"command": "make lint && make crates"}, "0 issues.\nok  \tscale\t0.2s")
	s.call("Bash", map[string]any{"command": "git commit -am 'weigh twice'"}, "[harvest 4f2a91c] weigh twice\n 1 file changed, 1 insertion(+)")
	s.call("Bash", map[string]any{"command": "git pull origin main"}, "Already up to date.")
	s.call("Bash", map[string]any{"command": "git push origin harvest"}, "To example.com:farm.git\n   51b1093..4f2a91c  harvest -> harvest")
	s.call("Edit", map[string]any{"file_path": root + "scale/label.go", "old_string": "a", "new_string": "b"}, "The file has been updated.")
	s.call("Bash", map[string]any{"command": "go build ./... 2>&1 | head -50"}, "# farm/scale\nscale/label.go:31:7: undefined: trimLabel")
	s.user("please make the label tests run without the scanner, and don't touch the scanner's driver")
	return s
}

// TestCarelessStatements holds what a careless summary says in its own words, and the true statements beside it.
func TestCarelessStatements(t *testing.T) {
	s := harvest()
	holdTurned(t, s, "## Work so far\nThe crates are weighed twice.\n", []turned{
		{"A crate label is a 16-character code.", "number", "16 stands nowhere", "A crate label is a 12-character code."},
		{"Checked git status (branch ahead by 5 commits, nothing staged)", "number", "by 2 commits", "Checked git status (branch ahead by 2 commits, nothing staged)"},
		{"The loop of phase 4 is fixed.", "number", "\"phase 2\", and never 4", "The loop of phase 2 is fixed.\nPhase 4: none."},
		{"The reader of the scale - 58 bytes", "number", "58 stands", "The reader of the scale - at line 140"},
		{"The tare is lowered by 71 kilograms.", "number", "71", "Commit 51b1093 was the newest before it."},
		{"make: all crates are weighed, lint failed at first.", "outcome", "did not fail", "make: all crates are weighed, lint passed at once."},
		{"Ran the linter over the scale - all failed", "outcome", "did not fail", "Ran the linter over the scale - all passed"},

		{"The last `go build ./...` came back without errors.", "outcome", "undefined: trimLabel", "The last `go build ./...` came back with an error."},

		{"Force pushed to the branch, tags included.", "outcome", "made a force push", "Pushed to the branch."},

		{"The reader is in **`scale/dispatcher.go`**", "path", "nowhere", "The reader is in **`scale/reader.go`**"},
	})
}

// TestTrueStatementsInOtherWords: what only looks like a contradiction is doubted by no rule.
func TestTrueStatementsInOtherWords(t *testing.T) {
	s := harvest()
	s.says("Removed the second buffer: keeping it would need a lock. The importer reads crates.csv, and a report that imports nothing is empty.")
	s.says("The port shows up in the list, but lsof can't find the process of the port.")
	s.says("Findings went from 16,684 to 392. The archive shrank to 784K, from 9.0M (84% of the images alone).")
	for _, statement := range []string{
		"Findings: 392 (reduced from 16,684 - 97.65% reduction)",
		"The archive is 91% smaller (9.0M → 784K).",
		"A third approach involves keeping the second buffer.",
		"Why weigh twice? If labels with blanks did match the table, we'd need no trimming.",
		"Function signature with error return: the user noted that it was weighing the crate three times.",
		"The port shows up in the list, and lsof finds no process of the port.",
		"`make crates` was run, and the tests were not run again since.",
		"The last build ended in FAIL for scale/label.go, although the build of the reader passes.",
		"At first I suspected that labels with blanks do match the table.",
		"I found the port in the manual, and realized that the scale pads its lines.",
	} {
		if found := doubtsOf(s, "## Work so far\nThe crates are weighed twice.\n"+statement+"\n"); len(found) > 0 {
			t.Errorf("%q: %+v", statement, found)
		}
	}
}
