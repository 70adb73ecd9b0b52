package digest_test

import (
	"strings"
	"testing"
)

// weekend is a conversation in which much was said and seen that a careless summary turns round.
func weekend() *session {
	s := newSession(7)
	s.user("Our booking page shows the wrong prices on weekends. Can you not commit the price tables? Find out why first.")
	s.says("The surcharge table is empty on Saturdays, and the cache keeps the old prices. Option 1: drop the cache. Option 2: refill the table at night.")
	s.user("take option 2")
	s.says("The nightly job doesn't refresh the surcharge table when the hotel has no rooms. The price cache is present in the current release.")
	s.call("Bash", map[string]any{"command": "git diff --stat"}, " prices.py | 12 +++---\n 5 files changed, 61 insertions(+), 18 deletions(-)")
	s.call("Bash", map[string]any{"command": "pytest tests/test_prices.py -v"}, "tests/test_prices.py::test_weekend_rate PASSED\ntests/test_prices.py::test_empty_table FAILED\n1 failed, 1 passed in 0.12s\nExit code 1")
	s.call("Bash", map[string]any{"command": "loadctl --profile weekend"}, "Exit code 1\nloadctl: a password is needed")
	s.call("Bash", map[string]any{"command": "ruff check . 2>&1 | tail -3"}, "All checks passed!")
	s.says("The linter is quiet now. I found that the refund list skips guests who paid at the desk.")
	s.user("hm, didn't we forget the summer rates?")
	s.says("Right, the summer rates were never loaded. I will load them next.")
	return s
}

// TestTurnedStatements holds statements that say the opposite of what was said or seen, and the true ones beside them.
func TestTurnedStatements(t *testing.T) {
	s := weekend()
	holdTurned(t, s, "## Work so far\nThe prices on weekends are wrong.\n", []turned{
		{"## All user messages\n1. \"take option 2 and delete the backups afterwards\"", "quote", "word for word", "## All user messages\n1. \"Our booking page shows the wrong prices on weekends...\""},
		{"`test_empty_table` passes.", "outcome", "the newest run of test_empty_table, failed", "`test_empty_table` fails."},
		{"test_weekend_rate still fails.", "outcome", "the newest run of test_weekend_rate, did not fail", "test_weekend_rate passes."},
		{"Lint (run over all folders) still reports problems.", "outcome", "did not fail", "Lint (run over all folders) passes."},
		{"The tests were run and the prices folder came out green.", "outcome", "failed", "The tests were run and one of them failed."},
		{"The tests were read, and all tests are green with the table in place.", "outcome", "failed", "The tests were read, and one of them fails."},
		{"The suite is passing as expected.", "outcome", "failed", "The suite is failing because of the table."},
		{"Currently passing with the old table.", "outcome", "failed", "Currently failing with the old table."},
		{"Found two runs of the loader, all tests passing, lint clean.", "outcome", "failed", "Found two runs of the loader, lint clean."},
		{"At first the tests passed with the old table.", "outcome", "failed", "At first the linter was not run."},
		{"The price tables were committed on `main`.", "outcome", "no call", "The price tables were not committed."},
		{"Merged the PR with the summer rates.", "outcome", "no call", "The PR with the summer rates is to be merged."},
		{"Branch cleaned, tags force-pushed.", "outcome", "push", "The branch is to be force-pushed later."},
	})
}

// turned is a statement that the conversation does not bear out, how it is doubted, and the true one beside it.
type turned struct{ untrue, kind, why, honest string }

// holdTurned holds statements behind the beginning of a summary: the untrue ones are doubted, the others are not.
func holdTurned(t *testing.T, s *session, before string, all []turned) {
	t.Helper()
	for _, c := range all {
		found := doubtsOf(s, before+c.untrue+"\n")
		if len(found) != 1 || found[0].Kind != c.kind || !strings.Contains(found[0].Why, c.why) {
			t.Errorf("%q: %+v, want %s: %s", c.untrue, found, c.kind, c.why)
		}
		if found := doubtsOf(s, before+c.honest+"\n"); len(found) > 0 {
			t.Errorf("%q: %+v", c.honest, found)
		}
	}
}

// TestWhatAgentsHandInIsTheirWords: what is said by the call with which an agent ends its task counts as the agent's words.
func TestWhatAgentsHandInIsTheirWords(t *testing.T) {
	s := newSession(7)
	s.user("Why are the weekend prices wrong?")
	s.call("attempt_completion", map[string]any{"result": "I decided to keep the nightly cache because refilling the surcharge table costs forty minutes. The price cache is present in the current release."}, "")
	lacks(t, "words", section(digested(t, 900, s.msgs...), "Where the work stands"), "- m1: I decided to keep the nightly cache")
}

// TestAPartOfAChainFailed: of a line that runs checks of several kinds, the exit code is that of all of them; what passed in its
// output is not doubted. Where nothing passed it is.
func TestAPartOfAChainFailed(t *testing.T) {
	for output, want := range map[string]int{
		"Exit code 1\nok  \tshop/cart\t0.1s\ncart.go:7:2: unused variable (lint)": 0,
		"Exit code 1\n--- FAIL: TestCart (0.00s)\nFAIL":                           1,
	} {
		s := newSession(3)
		s.user("Check the cart.")
		s.call("Bash", map[string]any{"command": "go test ./... && golangci-lint run"}, output)
		if found := doubtsOf(s, "## Work so far\nAll tests pass.\n"); len(found) != want {
			t.Errorf("%q: doubts %v, want %d", output, found, want)
		}
	}
}
