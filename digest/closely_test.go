package digest_test

import "testing"

// harbor is a conversation on a harbor's gauges in which plans, comments of code and runs are worded as a summary may repeat them.
func harbor() *session {
	s := newSession(5)
	s.user("The tide board shows stale depths at the cold dock. Find out why, and mend it.")
	s.says("The signal relay doesn't wake the pilots properly in foggy weather. All four gauges fail as expected at the cold dock.")
	s.says("// Fall back to the paper chart if the depth lookup fails (shouldn't happen in calm weather)")
	s.says("We defer the depth reckoning until the evening bell. The beacon was lit at dusk, and the harbor master's ledger is invalid after the fire, although the berth table is full.")
	s.says("Let me see which mooring line is being tightened by the winch.")
	s.call("Bash", map[string]any{"command": "golangci-lint run ./..."}, "0 issues.")
	s.call("Edit", map[string]any{"file_path": root + "dock/board.go", "old_string": "a", "new_string": "b"}, "The file has been updated.")
	s.call("Bash", map[string]any{"command": "golangci-lint run ./... 2>&1 | tail -5"}, "dock/board.go:31:7: string `fathom` has 4 occurrences, make it a constant (goconst)\n1 issues:\n* goconst: 1")
	return s
}

// TestTheNewestRunOfLint holds what a summary says of the linter against its newest run.
func TestTheNewestRunOfLint(t *testing.T) {
	holdTurned(t, harbor(), "## Work so far\nThe tide board shows stale depths.\n", []turned{
		{"Lint passing with 1 goconst issue in `dock/board.go`.\nLater on, lint is failing.", "outcome", "newest run", "Lint passes with 0 issues before the edit.\nLater on, lint is failing."},
	})
}

// TestContraryDeeds holds what a summary denies, chooses or confirms against calls, results and words that show the contrary.
func TestContraryDeeds(t *testing.T) {
	s := harbor()
	s.says("The keeper should log a warning instead of closing the lock, like the ferry does. The stale cache of tides seems to be working correctly in my trials.")
	s.says("- Removed the allowlist of foreign flags")
	s.call("Write", map[string]any{"file_path": root + "check.py", "content": "print(\"FAIL: mixed anchors were not weighed\")\nprint(\"PASS: mixed anchors are weighed\")\n"}, "File created successfully at: check.py")
	s.call("Bash", map[string]any{"command": "python check.py"}, "✅ PASS: mixed anchors are weighed by the crane")
	s.call("Bash", map[string]any{"command": "git commit -am 'mend the board'"}, "[harbor 4f2a91c] mend the board\n 1 file changed, 1 insertion(+)")
	s.call("Bash", map[string]any{"command": "git push origin harbor"}, "To example.com:port.git\n   51b1093..4f2a91c  harbor -> harbor")
	holdTurned(t, s, "## Work so far\nThe tide board shows stale depths.\n", []turned{
		{"Looked at `dock/board.go`, which was left unchanged.", "file", "was changed", "Looked at `dock/board.go`, whose public names were left unchanged."},
		{"Left `dock/board.go` untouched.", "file", "was changed", "Left the rest of `dock/board.go` out."},
	})
}
