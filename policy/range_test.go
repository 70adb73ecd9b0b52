package policy_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/preset"
)

// TestExactlyARangeIsCondensed: what is asked for is hidden, all of it and nothing else, behind
// one digest, whatever the window; the newest messages and the user's last turn too.
func TestExactlyARangeIsCondensed(t *testing.T) {
	for _, name := range preset.Names() {
		settings, err := preset.Settings(name)
		if err != nil {
			t.Fatal(err)
		}
		m, err := preset.New(preset.Options{Settings: settings})
		if err != nil {
			t.Fatal(err)
		}
		for _, tt := range []struct{ window, from, to int }{
			{100_000, 1, 13}, {100_000, 31, 51}, {100_000, 0, 21}, {100_000, 91, 122}, {100_000, 0, 122}, {8000, 1, 13}, {2000, 31, 51},
		} {
			conv := &precis.Conversation{Transcript: precis.NewTranscript(precis.NewText(precis.RoleUser, "Never touch main.go. Read the files."))}
			for n := range 30 {
				id := fmt.Sprint("t", n)
				conv.Transcript.Append(
					precis.Message{Role: precis.RoleAssistant, Content: []precis.Block{precis.ToolUse{ID: id, Name: "read", Input: fmt.Appendf(nil, `{"path":"f%d.txt"}`, n)}}},
					precis.Message{Role: precis.RoleUser, Content: []precis.Block{precis.ToolResult{ToolUseID: id, Content: []precis.Block{precis.Text{Text: strings.Repeat(fmt.Sprintf("File %d says what it has to say about itself. ", n), 20)}}}}},
					precis.NewText(precis.RoleAssistant, fmt.Sprintf("File %d is read.", n)),
					precis.NewText(precis.RoleUser, fmt.Sprintf("Go on with file %d, please.", n+1)))
			}
			conv.Transcript.Append(precis.NewText(precis.RoleAssistant, "All are read."))
			res, err := m.Manage(t.Context(), policy.Request{Conversation: conv, Window: window(tt.window), TriggeredBy: precis.TriggeredManual, From: tt.from, To: tt.to})
			if err != nil {
				t.Fatalf("%s, %+v: %v: %+v", name, tt, err, res.Report.Steps)
			}
			shown := precis.ShownBy(conv.Transcript, conv.Edits)
			for i := range conv.Transcript.Len() {
				look := shown.Message(i)
				if in := i >= tt.from && i < tt.to; look.Hidden != in || look.Changed && !in {
					t.Errorf("%s, %+v: message %d: hidden %v, changed %v", name, tt, i, look.Hidden, look.Changed)
				}
			}
			if len(res.Edits) != 1 || len(res.Edits[0].Replace) != 1 || precis.Check(res.View) != nil {
				t.Errorf("%s, %+v: %d edits: %v", name, tt, len(res.Edits), precis.Check(res.View))
			}
			if tt.to > 120 && !strings.Contains(textOf(res.View), "Go on with file 30, please.") {
				t.Errorf("%s, %+v: what the user said last is gone", name, tt)
			}
		}
	}
}

func textOf(msgs []precis.Message) string {
	var out strings.Builder
	for _, m := range msgs {
		out.WriteString(m.PlainText() + "\n")
	}
	return out.String()
}

// TestARangeThatCannotBeKeptTo: nothing is done, and the error says what could be.
func TestARangeThatCannotBeKeptTo(t *testing.T) {
	m, err := preset.New(preset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	conv := &precis.Conversation{Transcript: precis.NewTranscript(precis.NewText(precis.RoleUser, "Read the files."))}
	for n := range 20 {
		id := fmt.Sprint("t", n)
		conv.Transcript.Append(
			precis.Message{Role: precis.RoleAssistant, Content: []precis.Block{precis.ToolUse{ID: id, Name: "read", Input: []byte(`{}`)}}},
			precis.Message{Role: precis.RoleUser, Content: []precis.Block{precis.ToolResult{ToolUseID: id, Content: []precis.Block{precis.Text{Text: strings.Repeat(fmt.Sprintf("%d: a line of it\n", n), 100)}}}}})
	}
	ask := func(from, to int) error {
		_, err := m.Manage(t.Context(), policy.Request{Conversation: conv, Window: window(100_000), TriggeredBy: precis.TriggeredManual, From: from, To: to})
		return err
	}
	if err := ask(5, 11); err != nil {
		t.Fatal(err)
	}
	pin := precis.Edit{ID: "p", Kind: precis.KindPin, Pins: []precis.Handle{precis.MessageHandle(16)}}
	if err := pin.Identify(conv.Transcript); err != nil {
		t.Fatal(err)
	}
	conv.Edits = append(conv.Edits, pin)
	for _, tt := range []struct {
		from, to  int
		err, hint string
	}{
		{2, 5, "parts calls from their results", "condense m1-m4"},
		{1, 4, "parts calls from their results", "condense m1-m4"},
		{7, 13, "m5-m10 is hidden as a whole", "take all of it"},
		{13, 21, "m16 is pinned", "unpin it"},
		{19, 50, "the conversation has 41 messages", ""},
		{0, 1, "a digest would be no shorter", ""},
	} {
		had := len(conv.Edits)
		err := ask(tt.from, tt.to)
		if precis.CodeOf(err) != precis.CodeInvalid || !strings.Contains(fmt.Sprint(err), tt.err) || len(conv.Edits) != had {
			t.Errorf("%d to %d: %v", tt.from, tt.to, err)
		}
		if e, ok := errors.AsType[*precis.Error](err); ok && !strings.Contains(e.Hint, tt.hint) {
			t.Errorf("%d to %d: hint %q, want %q", tt.from, tt.to, e.Hint, tt.hint)
		}
	}
	if err := ask(5, 11); err == nil || len(conv.Edits) != 2 {
		t.Errorf("a digest of a digest: %v", err)
	}
	if err := ask(1, 11); err != nil {
		t.Errorf("a digest within the range: %v", err)
	}
}
