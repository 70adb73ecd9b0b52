package digest_test

import (
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/digest"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/verify"
)

// workday is a conversation in which something of every kind happened that summaries get
// wrong.
func workday() *session {
	s := newSession(7)
	s.user("Make the cart round to cents. We said \"money is never a float in this house\" last week, so keep it an integer.")
	s.call("Read", map[string]any{"file_path": root + "internal/cart/total.go"}, s.source("total.go", 3))
	s.call("Edit", map[string]any{"file_path": root + "internal/cart/total.go", "old_string": "a", "new_string": "func roundToCents(total int64) int64 { return total }"}, "The file has been updated.")
	s.call("Write", map[string]any{"file_path": root + "internal/cart/scratch.go", "content": "package cart"}, "File created successfully")
	s.call("Bash", map[string]any{"command": "rm " + root + "internal/cart/scratch.go"}, "")
	s.call("Edit", map[string]any{"file_path": root + "internal/ship/ship.go", "old_string": "x", "new_string": "y"}, "Error: string to replace not found in file")
	s.call("Write", map[string]any{"file_path": root + "docs/plan.md", "content": "plan"},
		"The user doesn't want to proceed with this tool use. The tool use was rejected. "+stop)
	last := &s.msgs[len(s.msgs)-1]
	r := last.Content[0].(precis.ToolResult)
	r.IsError, r.Refused = true, true
	last.Content[0] = r
	s.call("Bash", map[string]any{"command": "go test ./..."}, "Exit code 1\n--- FAIL: TestRounding (0.00s)\n    cart_test.go:41: got 1204, want 1205\nFAIL")
	s.call("Bash", map[string]any{"command": "golangci-lint run"}, "")
	s.call("Bash", map[string]any{"command": "git push origin main"}, "Exit code 1\nremote: Permission to shop.git denied")
	s.call("Bash", map[string]any{"command": "git commit -m \"round to cents\""}, "[main 4f2a91c] round to cents")
	s.says("TestRounding fails: it wants 1,205. See https://example.com/rounding and issue #4711.")
	return s
}

func doubtsOf(s *session, summary string) []verify.Doubt {
	return digest.Repair(policy.SummaryRequest{Messages: s.msgs, Previous: summary}, digest.RepairOptions{}).Doubts
}

// TestDoubts plants false statements, one at a time, in a summary that is true.
func TestDoubts(t *testing.T) {
	s := workday()
	for statement, want := range map[string]struct{ kind, why string }{
		"All tests pass.":                                               {"outcome", "`go test ./...`, failed, exit code 1"},
		"- The whole test suite is green":                               {"outcome", "go test"},
		"`go test ./...` passes":                                        {"outcome", "the newest run, `go test ./...`, failed, exit code 1"},
		"`golangci-lint run` still fails":                               {"outcome", "did not fail"},
		"The change has been pushed to main.":                           {"outcome", "git push"},
		"Created internal/cart/scratch.go for the helpers.":             {"file", "removed since"},
		"Updated internal/ship/ship.go":                                 {"file", "no change of internal/ship/ship.go succeeded"},
		"Wrote docs/plan.md":                                            {"file", "the user refused"},
		"The rounding is in internal/cart/rounding.go":                  {"path", "nowhere"},
		"The rounding is in `internal/money/total.go`":                  {"path", "internal/cart/total.go"},
		"The function is `computeGrandTotal()`":                         {"identifier", "nowhere"},
		"It got 120417 in the second run.       ":                       {"number", "nowhere"},
		"See https://example.com/cents for the rule.":                   {"url", "nowhere"},
		"The commit is 9c3e55ab17.":                                     {"hash", "nowhere"},
		"The user said \"money is always kept as a decimal in euros\".": {"quote", "word for word"},
	} {
		found := doubtsOf(s, "## Work so far\n"+statement+"\n")
		if len(found) != 1 || found[0].Kind != want.kind || !strings.Contains(found[0].Why, want.why) {
			t.Errorf("%q: %+v, want %s: %s", statement, found, want.kind, want.why)
		}
		if len(found) == 1 && (want.kind == "outcome" || want.kind == "file") && found[0].Handle == nil {
			t.Errorf("%q: no handle shows it", statement)
		}
	}
}

// TestDoubtsOfTrueStatements holds what may be said of the same work without being doubted: what
// is true, planned, roughly counted, shortened, translated, an example or not known.
func TestDoubtsOfTrueStatements(t *testing.T) {
	s := workday()
	for _, statement := range []string{
		"TestRounding fails: got 1204, want 1205.",
		"The tests do not pass yet: TestRounding fails.",
		"All tests should pass before the push.",
		"`go test ./...` fails, `golangci-lint run` is clean.",
		"Pushing to main was denied.",
		"Not pushed yet.",
		"Committed as 4f2a91c.",
		"internal/cart/scratch.go was created and later removed.",
		"Editing internal/ship/ship.go failed.",
		"The user refused docs/plan.md.",
		"Changed cart/total.go: roundToCents is an int64.",
		"`roundToCents(total)` is called for each of them, about 4000 times.",
		"The user said \"money is never a float\".",
		"The user said \"money … in this house\".",
		"L'utilisateur dit « l'argent n'est jamais un nombre à virgule ».",
		"Next: create internal/cart/rounding.go with computeGrandTotal().",
		"## Next steps\n- internal/money/money.go gets `NewMoney()`\n- measure 250000 carts",
		"It could live in internal/money/money.go, for example.",
		"Files match internal/**/*.go and *_test.go.",
		"See https://example.com/rounding and issue #4711.",
		"```\nvar invented = neverSeen(123456)\n```",
		"[… 198 lines left out …]",
		"[m4.b0: Go source, 868 lines; shown in part]",
		"[m11-m662: see the digest above.]",
		"I'm about to change docs/plan.md: it has the changes of the rules.",
		"We plan to have docs/plan.md updated.",
		"Now let me implement the changes of docs/plan.md.",
		"3. Update internal/cart/scratch.go, then mark it complete.",
	} {
		if found := doubtsOf(s, statement+"\n"); len(found) > 0 {
			t.Errorf("%q: %+v", statement, found)
		}
	}
}

// TestDoubtsAreShownOnce gates a summary that the gate has marked, and one that is made
// from it.
func TestDoubtsAreShownOnce(t *testing.T) {
	s := workday()
	const summary = "## Work so far\nAll tests pass.\nThe function is `computeGrandTotal()`.\n"
	r := digest.Repair(policy.SummaryRequest{Messages: s.msgs, Previous: summary}, digest.RepairOptions{})
	marked := section(r.Text, "Not borne out by the conversation")
	lacks(t, "the text", marked, `- "All tests pass.`, `- "computeGrandTotal": it stands nowhere`, "(m1")
	lacks(t, "what was added", strings.Join(r.Added, "\n"), "2 statements are not borne out")
	if again := digest.Repair(policy.SummaryRequest{Messages: s.msgs, Previous: r.Text}, digest.RepairOptions{}); again.Text != r.Text {
		t.Errorf("marked again: %q", strings.TrimPrefix(again.Text, r.Text))
	}
	next := newSession(1)
	next.msgs = append([]precis.Message{precis.NewText(precis.RoleUser, r.Text)}, s.msgs...)
	if found := doubtsOf(next, summary); len(found) != 2 {
		t.Errorf("a list of doubts bears out what it doubts: %+v", found)
	}
	beside := digest.Repair(policy.SummaryRequest{Messages: s.msgs, Previous: "It goes on."}, digest.RepairOptions{Beside: summary})
	if len(beside.Doubts) > 0 {
		t.Errorf("what stands beside a summary is doubted: %+v", beside.Doubts)
	}
}

// TestDoubtsNeedASource reads a summary of a conversation of which little is left.
func TestDoubtsNeedASource(t *testing.T) {
	s := newSession(1)
	s.user("go on")
	if found := doubtsOf(s, "## Work so far\nThe function is `computeGrandTotal()` in internal/money/money.go.\n"); len(found) > 0 {
		t.Errorf("%+v", found)
	}
}

// TestDigestsAreNotDoubted checks digests as though a model had written them.
func TestDigestsAreNotDoubted(t *testing.T) {
	seeds := uint64(20)
	if testing.Short() {
		seeds = 4
	}
	for seed := range seeds {
		s := long(seed)
		for _, size := range []int{800, 3500} {
			if found := doubtsOf(s, digested(t, size, s.msgs...)); len(found) > 0 {
				t.Errorf("seed %d, %d tokens: %+v", seed, size, found)
			}
		}
	}
}

// TestDoubtsBehindACopiedList checks what a summary says behind a list of doubts that its model has copied from
// an earlier summary.
func TestDoubtsBehindACopiedList(t *testing.T) {
	const copied = "## Work so far\nIt goes on.\n\n## Not borne out by the conversation\n- \"fooBarBaz\": it stands nowhere in the conversation\n"
	found := doubtsOf(workday(), copied+"\n## State\nAll tests pass.\nThe function is `computeGrandTotal()`.\n")
	if len(found) != 2 {
		t.Errorf("%+v", found)
	}
	if found := doubtsOf(workday(), copied+"\n## Next steps\n- `computeGrandTotal()` is to be written\n"); len(found) > 0 {
		t.Errorf("the title behind the list is not read: %+v", found)
	}
}

// TestQuotesInTranslationAreNotDoubted reads an English summary of what was said in Russian.
func TestQuotesInTranslationAreNotDoubted(t *testing.T) {
	s := newSession(3)
	s.says("The total in cents never was a float; the rounding of money is fixed in the house.")
	for range 5 {
		s.user(strings.Repeat("Исправь округление корзины, деньги никогда не дробные. ", 20))
	}
	if found := doubtsOf(s, "The user said: \"the money must never be fixed as float rounding\" and more."); len(found) > 0 {
		t.Errorf("%+v", found)
	}
}

// TestQuestionsAndRoundedNumbersDenyNothing: "can we not" asks for something, and 97.6 % are 98 %.
func TestQuestionsAndRoundedNumbersDenyNothing(t *testing.T) {
	s := workday()
	s.user("ehh, can we not round the coupons of a cart to cents, too?")
	s.says("Wrong totals found: 16,684 before, 392 now (98% reduction of wrong totals).")
	s.user("I moved the coupons into a file of their own.")
	for _, statement := range []string{
		"The user asked if we can round the coupons of a cart to cents.",
		"97.6% reduction of wrong totals.",
		"The user moved the coupons into a file of their own.",
	} {
		if found := doubtsOf(s, statement+"\n"); len(found) > 0 {
			t.Errorf("%q: %+v", statement, found)
		}
	}
}

// TestDoubtsOfNumbers looks up numbers with their units and names. Those of one digit are looked up between the words of the
// statement only: a summary counts itself.
func TestDoubtsOfNumbers(t *testing.T) {
	s := workday()
	s.user("Please set the request timeout to 45 seconds and keep at most 3 retries, the budget for this is 20 dollars.")
	s.call("Edit", map[string]any{"file_path": root + "internal/ship/conf.go", "old_string": "Timeout = 10", "new_string": "Timeout = 45 * time.Second\nRetries = 3"}, "ok")
	s.says("The request timeout is 45 seconds now, with 3 retries. There are 12 callers in 4 packages, and 30 files.")
	s.call("Bash", map[string]any{"command": "grep -n Timeout -r ."}, "internal/ship/conf.go:88:Timeout = 45 * time.Second\ninternal/ship/http.go:120:func withTimeout(c Conf) {")
	for statement, why := range map[string]string{
		"The user wants the request timeout to be 45 s.": "",
		"The request timeout is 35 s.":                   "35",
		"The request timeout is 45s.":                    "",
		"There are 21 callers in 4 packages.":            "21 stands nowhere in the conversation beside any",
		"There are 12 callers in 4 packages.":            "",
		"At most 5 retries are made.":                    "most 3 retries\", and never 5",
		"At most 3 retries are made.":                    "",
		"There are 12 callers in 7 packages.":            "in 4 packages\", and never 7",
		"The agent mended 7 typos.":                      "",
		"The timeout is set at line 88.":                 "",
		"The timeout is set at line 188.":                "188 stands nowhere",
		"The budget is $35.":                             "35",
		"The budget is $20.":                             "",
	} {
		found := doubtsOf(s, statement+"\n")
		if why == "" && len(found) > 0 || why != "" && (len(found) != 1 || !strings.Contains(found[0].Why, why)) {
			t.Errorf("%q: %+v, want %q", statement, found, why)
		}
	}
}
