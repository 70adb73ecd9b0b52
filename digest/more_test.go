package digest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/digest"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/preset"
)

// What previews cannot shorten joins a digest: no marker hides the user's words.
func TestMoreKeepsTheUsersWords(t *testing.T) {
	tr := precis.NewTranscript(precis.NewText("user", "Book the flight to Lisbon."))
	for i := range 150 {
		id := fmt.Sprint("c", i)
		tr.Append(
			precis.Message{Role: "assistant", Content: []precis.Block{precis.ToolUse{ID: id, Name: "update_reservation", Input: fmt.Appendf(nil, `{"a":%d,"b":%d,"c":%d,"d":%d,"e":%d,"f":%d}`, i*7919, i*104729, i*1299709, i+9000, i+7000, i+5000)}}},
			precis.Message{Role: "user", Content: []precis.Block{precis.ToolResult{ToolUseID: id, Content: []precis.Block{precis.Text{Text: fmt.Sprint("status ", i)}}}}},
		)
		if i%30 == 10 {
			tr.Append(precis.NewText("assistant", "Is that right?"), precis.NewText("user", fmt.Sprintf("No, seat %d is nicer.", i)))
		}
	}
	s, err := preset.Settings(preset.Frugal)
	if err != nil {
		t.Fatal(err)
	}
	s.Rungs = []string{"prune", "squeeze", digest.MoreRung{}.Name(), "truncate", "clip"}
	m, err := preset.New(preset.Options{Settings: s})
	if err != nil {
		t.Fatal(err)
	}
	res, err := m.Manage(context.Background(), policy.Request{Conversation: &precis.Conversation{Transcript: tr}, Window: precis.Window{Tokens: 6000}, MaxOutput: 500})
	if err != nil {
		t.Fatal(err)
	}
	var view strings.Builder
	for _, msg := range res.View {
		view.WriteString(msg.PlainText())
	}
	for _, want := range []string{"Book the flight to Lisbon.", "seat 10 ", "seat 40 ", "seat 70 ", "seat 100 ", "seat 130 "} {
		if !strings.Contains(view.String(), want) {
			t.Errorf("%q is not in the view: %s\n%+v", want, res.Report.Outcome, res.Report.Steps)
		}
	}
	if n := res.Report.After.Tokens; n > 5000 {
		t.Errorf("%d tokens", n)
	}
}
