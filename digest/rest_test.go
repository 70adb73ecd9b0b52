package digest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/tokens"
)

// TestTheRoomThatADigestLeavesGoesToWholeMessages: where a digest alone brings the view down, the next group of messages
// would seldom have fit beside it. It may, since the digest is written again once only.
func TestTheRoomThatADigestLeavesGoesToWholeMessages(t *testing.T) {
	m := manager(t, tokens.NameChars4, nil)
	meter, seen, wasted := m.NewMeter(), 0, 0
	for seed := range uint64(40) {
		s := newSession(seed)
		for range 14 {
			s.turn()
		}
		conv := &precis.Conversation{Transcript: precis.NewTranscript(s.msgs...)}
		res, err := m.Manage(t.Context(), policy.Request{Conversation: conv, Window: window(40_000), TriggeredBy: precis.TriggeredManual})
		if err != nil {
			t.Fatal(err)
		}
		if n := len(conv.Edits); n == 0 || conv.Edits[n-1].Report.Rung != "digest" {
			continue // later rungs have shortened the rest
		}
		seen++
		last := 0 // message after the newest that the digest hides
		for _, u := range precis.Units(conv.Transcript, conv.Edits) {
			if !u.Original() {
				last = max(last, u.To)
			}
		}
		keep := policy.Keep(conv.Transcript, nil, meter, 0, 0)
		from, to := keep.Group(last - 1)
		whole := meter.View(conv.Transcript.Messages()[from:to])
		if left := res.Report.Decision.Target - res.Report.After.Tokens; whole < left && left > res.Report.Decision.Target/16 {
			t.Logf("seed %d: %d tokens are left, messages %d to %d of %d tokens are hidden", seed, left, from, to-1, whole)
			wasted++
		}
	}
	if seen < 5 || wasted > seen/4 {
		t.Errorf("%d of 40 conversations end with a digest, %d of them with room for more", seen, wasted)
	}
}

// TestWhatTheNewestEditsWroteIsWhole: also prose without a single name, in the middle of results that are full of them.
func TestWhatTheNewestEditsWroteIsWhole(t *testing.T) {
	s := newSession(3)
	var prose []string
	for i := range 9 {
		prose = append(prose, fmt.Sprintf("%s and the %s walked home slowly after the long day of work", [...]string{"one", "two", "three", "four", "five", "six", "seven", "eight", "nine"}[i], [...]string{"baker", "miller", "tailor", "sailor", "weaver", "mason", "cook", "smith", "judge"}[i]))
	}
	s.user("Write the story.")
	s.call("Write", map[string]any{"file_path": root + "story.md", "content": strings.Join(prose, "\n")}, "File created successfully")
	for range 300 {
		f := s.file()
		s.call("Read", map[string]any{"file_path": root + f}, s.source(f, 60))
	}
	got := strings.Join(strings.Fields(digested(t, 6000, s.msgs...)), " ")
	for _, line := range prose {
		if !strings.Contains(got, line) {
			t.Errorf("the digest does not say %q", line)
		}
	}
}

// TestACallIsNotParted: the end of a call on one line says nothing without its tool, where its beginning is known already.
// A short digest has no room for calls.
func TestACallIsNotParted(t *testing.T) {
	s := newSession(3)
	where := "/home/ann/shop/" + strings.Repeat("deeply_nested/", 8) + "checkout_flow.ts"
	s.user("Look into " + where + " for what is slow.")
	s.call("Grep", map[string]any{"path": where, "pattern": "computeShippingEstimate"}, "nothing")
	s.says("Done.")
	got := digested(t, 6000, s.msgs...)
	if !strings.Contains(got, "computeShippingEstimate") {
		t.Fatalf("the call is not told:\n%s", got)
	}
	if want := "Grep " + where + " computeShippingEstimate"; !strings.Contains(got, want) {
		t.Errorf("the digest does not say %q:\n%s", want, got)
	}
}

// TestAPathBelowHomeStaysOne: "./" in front of a tilde would name another file.
func TestAPathBelowHomeStaysOne(t *testing.T) {
	k := &talker{}
	k.user("Compare the notes.")
	for _, p := range []string{"~/notes.md", "/srv/app/wick/a.go", "/srv/app/wick/b.go", "/srv/app/lens/c.go", "wick.md"} {
		k.call("Read", map[string]any{"file_path": p})
		k.result("1\tHello, keeper.", false)
	}
	got := digested(t, 900, k.msgs...)
	if !strings.Contains(got, " ~/notes.md") && !strings.Contains(got, "\n~/notes.md") ||
		strings.Contains(got, "./~") || !strings.Contains(got, "./wick.md") {
		t.Error(got)
	}
}
