package digest_test

import (
	"strings"
	"testing"

	"precis"
)

func whereItStands(t *testing.T, size int, msgs ...precis.Message) string {
	t.Helper()
	return section(digested(t, size, msgs...), "Where the work stands")
}

// TestEntriesStandBelowTheirTitle: what is told of an option or of a state before stands below the words that say so, once; an
// entry without a title has none.
func TestEntriesStandBelowTheirTitle(t *testing.T) {
	const filler = "The harbor office answers its mail slowly, and the ledger of the lock keeper has a page for each of the nine tides. "
	choice := "I read both packages.\n\n**Option 1: `session/` package**\n" + strings.Repeat(filler, 12) + "\n- It manages the identity of a session and its lifecycle.\n\n**Option 2: `strategy/` package** (current)\n" +
		strings.Repeat(filler, 12) + "\n- Works but is conceptually wrong, since strategies only use sessions.\n\n" + strings.Repeat(filler, 12)
	got := whereItStands(t, 900, precis.NewText("user", "Where should it live?"), precis.NewText("assistant", choice), precis.NewText("user", "hm"), precis.NewText("assistant", "Done, the tests are next."))
	for _, pair := range [][2]string{{"It manages the identity", "Option 1"}, {"conceptually wrong", "Option 2"}} {
		at := strings.Index(got, pair[0])
		if at < 0 {
			t.Fatalf("%q is not told:\n%s", pair[0], got)
		}
		if title := strings.LastIndex(got[:at], "Option"); title < 0 || !strings.HasPrefix(got[title:], pair[1]) {
			t.Errorf("%q does not stand below %q:\n%s", pair[0], pair[1], got)
		}
	}
	if strings.Count(got, "Option 2") != 1 {
		t.Errorf("a title is told more than once:\n%s", got)
	}
}

// TestWhatIsHandedInIsSaid: the result by which an agent of Cline's ends its turn, and the plan that it proposes, are its words; the
// steps of the plan stand in the plan, and its questions are none.
func TestWhatIsHandedInIsSaid(t *testing.T) {
	msgs := []precis.Message{precis.NewText("user", "Finish the export.")}
	msgs = append(msgs, announcedCall("1", "attempt_completion", `{"result":"# Export complete\n\nThe CSV export handles quoted commas now, and the nightly import was left alone because its schema is owned by the bank."}`, "[attempt_completion] Result:\n<feedback>\nplan the next part\n</feedback>", false)...)
	msgs = append(msgs, announcedCall("2", "plan_mode_respond", `{"response":"Here is what I propose, in this order:\n1. Profile the importer on both platforms\n2. Replace the ring buffer by an arena\n3. Write the integration guide\n\nBefore that I have to know:\n1. Which profiler do you prefer?\n2. Is the arena allowed to grow?"}`, "[The user has switched to ACT MODE, so you may now proceed with the task.]", false)...)
	got := digested(t, 3000, msgs...)
	lacks(t, "what was handed in", section(got, "Where the work stands"), "its schema is owned by the bank", "Which profiler do you prefer?")
	plan := section(got, "Plan")
	lacks(t, "the plan", plan, "Profile the importer on both platforms", "Write the integration guide")
	if strings.Contains(plan, "?") {
		t.Errorf("a question is told as a step:\n%s", plan)
	}
	if strings.Count(got, "Replace the ring buffer by an arena") != 1 {
		t.Errorf("a step is told twice:\n%s", got)
	}
}

// TestProposalsAreToldWithTheirAnswer: what an agent put to the user has the beginning of what the user said to it, and not where
// that no longer holds.
func TestProposalsAreToldWithTheirAnswer(t *testing.T) {
	msgs := func(reply string, more ...precis.Message) []precis.Message {
		return append([]precis.Message{
			precis.NewText("user", "How do we start the browser?"),
			precis.NewText("assistant", "I would suggest to start it on the host first, since containers cost us a day. Should we do that?"),
			precis.NewText("user", reply),
			precis.NewText("assistant", "Then I write the Containerfile. The build of the image is prepared, and the tests are next."),
		}, more...)
	}
	lacks(t, "a proposal", whereItStands(t, 2000, msgs("no, we do container-first\nand that is final")...), "Should we do that? [the user, m2: no, we do container-first]")
	if got := whereItStands(t, 2000, precis.NewText("user", "go"), precis.NewText("assistant", "The parser reads the port now, and all callers of it were changed."), precis.NewText("user", "thanks"), precis.NewText("assistant", "Welcome, the branch is ready.")); strings.Contains(got, "[the user") {
		t.Errorf("nothing was put to the user:\n%s", got)
	}
	got := whereItStands(t, 2000, msgs("The budget is $500.", precis.NewText("user", "The budget is $750."))...)
	if strings.Contains(got, "$500") {
		t.Errorf("a value that was replaced is told as if it held:\n%s", got)
	}
}
