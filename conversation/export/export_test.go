package export_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/conversation/block"
	"github.com/precis-dev/precis/conversation/export"
)

const hostile = "<script>alert(1)</script> & \"quotes\" ```` \x00\x1b[31m \u202e end"

func sample() conversation.Exported {
	msg := func(i int, role precis.Role, state conversation.State, blocks ...block.Content) conversation.ExportedMessage {
		m := conversation.ExportedMessage{Content: blocks}
		m.Handle, m.Role, m.State, m.Tokens = precis.MessageHandle(i), role, state, 7
		m.Time = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		if state == conversation.Hidden {
			m.Kind = precis.KindCondensation
		}
		m.Blocks = make([]conversation.BlockInfo, len(blocks))
		for b := range blocks {
			m.Content[b].Handle = precis.BlockHandle(i, b).String()
		}
		return m
	}
	var c conversation.Exported
	c.Conversation.ID, c.Conversation.Title = "c-1", "A title\nof two lines"
	c.Messages = []conversation.ExportedMessage{
		msg(0, precis.RoleUser, conversation.Hidden, block.Content{Type: "text", Text: hostile}),
		msg(1, precis.RoleAssistant, conversation.Shown, block.Content{Type: "thinking", Text: "hm\nhm"}, block.Content{Type: "tool_use", Name: "read", Input: json.RawMessage(`{"path":"a.go"}`)}),
		msg(2, precis.RoleUser, conversation.Shown, block.Content{Type: "tool_result", IsError: true, Content: []block.Content{{Type: "text", Text: "=SUM(A1)"}}}),
	}
	c.Edits = []conversation.EditInfo{{ID: "e", Kind: precis.KindCondensation, InForce: true, Changes: []conversation.EditChange{{Messages: []block.Message{{Role: precis.RoleUser, Blocks: []block.Content{{Type: "text", Text: "the summary"}}}}}}}}
	return c
}

func write(t *testing.T, format string) string {
	t.Helper()
	var b bytes.Buffer
	if err := export.Write(&b, sample(), format); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestEveryFormatHoldsEverything(t *testing.T) {
	for _, format := range export.Formats() {
		out := write(t, format)
		for _, want := range []string{"m0", "hm", "a.go", "SUM(A1)", "alert(1)"} {
			if !strings.Contains(out, want) {
				t.Errorf("%s lacks %q", format, want)
			}
		}
		if format != "csv" && !strings.Contains(out, "the summary") {
			t.Errorf("%s lacks what the edit shows", format)
		}
	}
}

func TestReadBack(t *testing.T) {
	var c conversation.Exported
	if err := json.Unmarshal([]byte(write(t, "json")), &c); err != nil || len(c.Messages) != 3 || c.Messages[0].Content[0].Text == "" {
		t.Errorf("JSON: %v, %d messages", err, len(c.Messages))
	}
	d := xml.NewDecoder(strings.NewReader(write(t, "xml")))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("XML: %v", err)
		}
	}
	rows, err := csv.NewReader(strings.NewReader(write(t, "csv"))).ReadAll()
	if err != nil || len(rows) != 5 {
		t.Fatalf("CSV: %v, %d rows", err, len(rows))
	}
	if got := rows[4][8]; got != "'=SUM(A1)" {
		t.Errorf("a formula is written as %q", got)
	}
}

func TestPageIsHarmless(t *testing.T) {
	out := write(t, "html")
	if strings.Contains(out, "<script") || strings.Contains(out, "http-equiv=\"refresh\"") {
		t.Error("the page holds a script of the conversation")
	}
	if !strings.Contains(out, "&lt;script&gt;") || !strings.Contains(out, "default-src 'none'") {
		t.Error("the page does not escape, or has no policy")
	}
}

func TestFences(t *testing.T) {
	c := sample()
	c.Messages[2].Content[0].Content[0].Text = "a\n`````\nb"
	var b bytes.Buffer
	if err := export.Write(&b, c, "markdown"); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "\n``````\na\n`````\nb\n``````\n") {
		t.Errorf("the fence is too short:\n%s", b.String())
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("full") }

func TestErrors(t *testing.T) {
	if err := export.Write(io.Discard, sample(), "pdf"); precis.CodeOf(err) != precis.CodeInvalid {
		t.Errorf("unknown format: %v", err)
	}
	for _, format := range export.Formats() {
		if err := export.Write(failing{}, sample(), format); precis.CodeOf(err) != precis.CodeInternal {
			t.Errorf("%s on a full disk: %v", format, err)
		}
	}
	if export.FormatOf("a/b.HTML") != "html" || export.FormatOf("b") != "" {
		t.Error("formats by name")
	}
}
