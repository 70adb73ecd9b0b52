package precis_test

import (
	"fmt"
	"strings"
	"testing"

	"precis"
	"precis/preset"
)

// A run over some of the messages leaves all others as they are, whatever earlier runs hid
// of them.
func TestOnlyARangeIsReduced(t *testing.T) {
	m, err := preset.New(preset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	conv := &precis.Conversation{Transcript: &precis.Transcript{}}
	conv.Transcript.Append(precis.NewText(precis.RoleUser, "Never touch main.go. Read the files."))
	for n := range 30 {
		conv.Transcript.Append(precis.NewText(precis.RoleAssistant, strings.Repeat(fmt.Sprintf("File %d says what it has to say about itself. ", n), 30)))
		conv.Transcript.Append(precis.NewText(precis.RoleUser, fmt.Sprintf("Go on with file %d, please.", n+1)))
	}
	hidden := func(i int) bool {
		look := precis.ShownBy(conv.Transcript, conv.Edits).Message(i)
		return look.Hidden || look.Changed
	}
	run := func(from, to int, target precis.Tokens) precis.Result {
		t.Helper()
		res, err := m.Manage(t.Context(), precis.Request{Conversation: conv, Window: window(20_000), Manual: true, From: from, To: to, Target: target})
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	if res := run(1, 12, 0); len(res.Edits) == 0 || res.Report.After.Tokens > res.Report.Before.Tokens-1000 {
		t.Fatalf("the range is not reduced: %s", res.Report.Outcome)
	}
	for i := range conv.Transcript.Len() {
		if is, in := hidden(i), i >= 1 && i < 12; is && !in {
			t.Errorf("message %d is touched", i)
		}
	}
	if !hidden(3) {
		t.Error("nothing of the range is hidden")
	}
	if res := run(30, 50, 0); len(res.Edits) == 0 {
		t.Fatalf("a second range is not reduced: %s", res.Report.Outcome)
	}
	for i := range conv.Transcript.Len() {
		if is, in := hidden(i), i >= 1 && i < 12 || i >= 30 && i < 50; is && !in {
			t.Errorf("message %d is touched", i)
		}
	}
	if !hidden(3) || !hidden(35) {
		t.Error("one of the ranges is shown again")
	}
	before := len(conv.Edits)
	if res := run(59, 61, 0); len(conv.Edits) != before {
		t.Errorf("the newest messages are reduced: %s", res.Report.Outcome)
	}
}
