package reduce_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/reduce"
)

// summarized is a conversation of which the first six messages are shown as a summary.
func summarized(summary string) *policy.Situation {
	msgs := []precis.Message{text("user", "Never touch legacy.go.")}
	for n := range 6 {
		msgs = append(msgs, text("assistant", fmt.Sprint("step ", n)), text("user", fmt.Sprint("go on with ", n)))
	}
	s := situation(0, 1, msgs...)
	e := precis.Edit{ID: "d", Kind: precis.KindCondensation, Replace: []precis.Replacement{{To: 6, With: []precis.Message{text("user", summary)}}}}
	s.Edits = []precis.Edit{e}
	s.Units = precis.Units(s.Transcript, s.Edits)
	s.Used = s.Meter.View(precis.View(s.Transcript, s.Edits))
	return s
}

func lines(form string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, form+"\n", i)
	}
	return b.String()
}

// TestClipTakesDigestsApart cuts a digest, of which the rest is too little to cut, by its sections.
func TestClipTakesDigestsApart(t *testing.T) {
	const requests, rules = "## The user's requests, newest first, word for word\n- m0: Never touch legacy.go.\n", "\n## Rules the user set\n- m0: Never touch legacy.go.\n"
	digest := "[Digest of messages m0-m5, written from the conversation without a model.]\n\n" + requests + rules +
		"\n## Files written\n" + lines("- part%d/file.go edited", 40) + "\n## Lines most likely to be needed again\n" + lines("- m3: the line %d of a file", 200) + "\n## Also mentioned\n" + lines("name%d", 400)
	s := summarized(digest)
	var sizes []int
	for _, share := range []int{90, 60, 40, 20} {
		s.Target = s.Used * share / 100
		s.Limit = s.Target
		view := apply(t, reduce.Clip{}, s)
		got := view[0].PlainText()
		if !strings.Contains(got, requests) || !strings.Contains(got, rules) && share > 20 {
			t.Errorf("%d %%: the user's words are gone:\n%.600s", share, got)
		}
		if !strings.HasSuffix(got, "left out: m0-m5.]") || strings.Count(got, "left out: m0-m5.]") != 1 || strings.Contains(got, "name399") {
			t.Errorf("%d %%: %.300s", share, got)
		}
		n := s.Meter.View(view)
		if n > s.Limit {
			t.Errorf("%d %%: %d tokens of %d", share, n, s.Limit)
		}
		if n < s.Limit*9/10 && share > 20 {
			t.Errorf("%d %%: of %d tokens only %d are used", share, s.Limit, n)
		}
		sizes = append(sizes, n)
	}
	if sizes[0] == sizes[3] {
		t.Errorf("it is always cut to the same: %v", sizes)
	}
}

// TestClipTrimsLargeDigestsBeforeTheAgentsWords: names and lines of a large digest go before what the agent
// said last, and those of a small one do not.
func TestClipTrimsLargeDigestsBeforeTheAgentsWords(t *testing.T) {
	const answer = "The cause is the third entry of the table: its key is read before the lock is taken. "
	const read = "Files as they were read last, newest first"
	for _, tt := range []struct {
		lines, words, share int
		title               string
	}{{300, 20, 90, "Lines most likely to be needed again"}, {300, 60, 70, "Lines most likely to be needed again"}, {30, 60, 80, "Lines most likely to be needed again"}, {300, 20, 90, read}} {
		s := summarized("[Digest of messages m0-m5, written from the conversation without a model.]\n\n## Files written\n- a.go edited\n" +
			"\n## " + tt.title + "\n" + lines("- m3: the line %d of a file", tt.lines) + "\n## Also mentioned\nname1, name2\n")
		s.Transcript.Append(text("assistant", strings.Repeat(answer, tt.words)), text("user", "Why?"))
		s.Units = precis.Units(s.Transcript, s.Edits)
		s.Used = s.Meter.View(precis.View(s.Transcript, s.Edits))
		s.Kept = policy.Keep(s.Transcript, s.Edits, s.Meter, 2, 10_000)
		s.Target = s.Used * tt.share / 100
		s.Limit = s.Target
		e, err := reduce.Clip{}.Propose(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		view := precis.View(s.Transcript, append(s.Edits, e))
		digest, said := view[0].PlainText(), view[len(view)-2].PlainText()
		large := tt.lines > 100
		if large { // once more, and it says once that something is left out
			s.Edits = append(s.Edits, e)
			s.Units = precis.Units(s.Transcript, s.Edits)
			s.Used = s.Meter.View(view)
			s.Target = s.Used * 9 / 10
			s.Limit = s.Target
			if e, err = (reduce.Clip{}).Propose(t.Context(), s); err != nil {
				t.Fatal(err)
			}
			again := precis.View(s.Transcript, append(s.Edits, e))[0].PlainText()
			if n := strings.Count(again, "left out: m0-m5.]"); n != 1 || len(again) >= len(digest) {
				t.Errorf("%+v: trimmed again it says %d times that something is left out\n%s", tt, n, again[max(0, len(again)-300):])
			}
			s.Limit = s.Used
		}
		if whole := strings.Count(said, answer) == tt.words; whole != large {
			t.Errorf("%+v: what the agent said is whole: %v\n%.300s", tt, whole, said)
		}
		if all := strings.Contains(digest, fmt.Sprintf("the line %d of", tt.lines-1)); all == large || !strings.Contains(digest, "a.go edited") {
			t.Errorf("%+v: the digest has all lines: %v\n%.300s", tt, all, digest)
		}
		if n := s.Meter.View(view); n > s.Limit {
			t.Errorf("%+v: %d tokens of %d", tt, n, s.Limit)
		}
	}
}

// TestClipCutsASummaryOfAModelFromItsMiddle: headings of a text that precis did not write are no sections of a digest.
func TestClipCutsASummaryOfAModelFromItsMiddle(t *testing.T) {
	s := summarized("The state of the work\n\n## Done\n" + lines("- part%d/file.go edited", 100) + "\n## Open\n" + lines("- step %d", 100) + "- the last step\n")
	s.Target = s.Used * 3 / 5
	s.Limit = s.Target
	view := apply(t, reduce.Clip{}, s)
	if got := view[0].PlainText(); !strings.Contains(got, "- the last step") || !strings.HasPrefix(got, "The state of the work") || strings.Contains(got, "What else stood here") {
		t.Errorf("%s", got)
	}
	if n := s.Meter.View(view); n > s.Limit {
		t.Errorf("%d tokens of %d", n, s.Limit)
	}
}

// TestClipKeepsTheUsersSections cuts a digest that begins with a workflow, whose text has headings, and to which
// the gate has added what it lacked.
func TestClipKeepsTheUsersSections(t *testing.T) {
	const rule, last = "- m2: Never touch legacy.go.", "- m4: Mend the parser of dates."
	digest := "[Digest of messages m0-m5, written from the conversation without a model.]\n\n## Active workflows, to be followed further\n<command name=\"release\">\n## Steps\n1. build\n</command>\n" +
		"\n## The user's requests, newest first, word for word\n- m0: Release it.\n" +
		"\n## Files written\n" + lines("- part%d/file.go edited", 200) + "\n## Also mentioned\n" + lines("name%d", 400) +
		"\n[Added from the conversation itself, because the text above lacks it:]\n\n## Rules the user set\n" + rule + "\n\n## The user's last request\n" + last
	for share, want := range map[int][]string{60: {"Release it.", rule, last}, 30: {"Release it.", rule, last}, 10: {"Release it.", last}} {
		s := summarized(digest)
		s.Target = s.Used * share / 100
		s.Limit = s.Target
		got := apply(t, reduce.Clip{}, s)[0].PlainText()
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("%d %%: %q is gone:\n%.900s", share, w, got)
			}
		}
		if !strings.Contains(got, "left out: m0-m5.]") {
			t.Errorf("%d %%: no handle in %.900s", share, got)
		}
	}
}

// TestClipShortensSummaries cuts a model's summary, whose rules stay, in place of hiding it.
func TestClipShortensSummaries(t *testing.T) {
	s := summarized("## Work so far\n" + lines("Paragraph %d says what was done to one of the files, and why it had to be.", 200) + "\nNever touch legacy.go, the user said.\n" + lines("Paragraph %d goes on about the rest.", 200))
	s.Target = s.Used / 2
	s.Limit = s.Target
	view := apply(t, reduce.Clip{}, s)
	got := view[0].PlainText()
	if n := s.Meter.View(view); n > s.Limit || n < s.Limit/2 {
		t.Errorf("%d tokens are left of %d", n, s.Limit)
	}
	for _, want := range []string{"## Work so far", "Never touch legacy.go", "m0-m5"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%.500s", want, got)
		}
	}
}

// TestTruncateLeavesADigestToBeCut: where little is too much, and a digest is most of what there is, it is not hidden for that;
// where far too much is, it is.
func TestTruncateLeavesADigestToBeCut(t *testing.T) {
	for share, hidden := range map[int]bool{97: false, 80: false, 30: true} {
		s := summarized("[Digest of messages m0-m5, written from the conversation without a model.]\n\n## Files written\n" + lines("- part%d/file.go edited", 400))
		s.Edits[0].Replace[0].From = 1 // behind the first message, which stays
		s.Units = precis.Units(s.Transcript, s.Edits)
		s.Target = s.Used * share / 100
		s.Limit = s.Target
		e, err := reduce.Truncate{}.Propose(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(e.Replace) > 0 && e.Replace[0].From == 1; got != hidden {
			t.Errorf("at %d %% the digest is hidden: %v (%s)", share, got, e.Report.Reason)
		}
	}
}
