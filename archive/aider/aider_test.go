package aider

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/archive/archivetest"
)

// lines writes a history as aider does: what ends in | ends in two spaces.
func lines(s string) string { return strings.ReplaceAll(strings.TrimPrefix(s, "\n"), "|", "  ") }

var history = lines(`
stray words

# aider chat started at 2024-08-05 19:33:02

> /usr/bin/aider --lint|
> Models: claude-3-5-sonnet-20240620 with diff edit format, weak model small|

# aider chat started at 2024-08-05 20:40:10

> Main model: gpt-4o⚡ with diff edit format|

#### Fix the bug|
#### in a.go|

Here is the fix:

#### A heading of the model

> A quotation
# a comment

> Tokens: 5k sent|
> Run shell command?|
emacs a.go|

Did that help?

#### /test|
> === test session
platform

one failed|

I see.
`)

var samples = map[string][]byte{".aider.chat.history.md": []byte(history)}

func FuzzRead(f *testing.F) { archivetest.Fuzz(f, Format{}, samples) }

// said writes a message in one line: role, then its blocks.
func said(m precis.Message) string {
	s := string(m.Role)
	for _, b := range m.Content {
		s += " | " + b.(precis.Text).Text
	}
	return s
}

func TestRead(t *testing.T) {
	r, err := archive.Read(archive.Source{Path: ".aider.chat.history.md", Data: []byte(history)}, []archive.Format{Format{}})
	if err != nil {
		t.Fatal(err)
	}
	if err := archivetest.Check(r); err != nil {
		t.Error(err)
	}
	want := []string{
		"user | stray words",
		"user | /usr/bin/aider --lint\nModels: claude-3-5-sonnet-20240620 with diff edit format, weak model small",
		"user | Main model: gpt-4o⚡ with diff edit format | Fix the bug\nin a.go",
		"assistant | Here is the fix:\n\n#### A heading of the model\n\n> A quotation\n# a comment",
		"user | Tokens: 5k sent\nRun shell command?\nemacs a.go  ",
		"assistant | Did that help?",
		"user | /test | === test session\nplatform\n\none failed  ",
		"assistant | I see.",
	}
	c := r.Conversation
	for i, m := range c.Transcript.Messages() {
		if i >= len(want) || said(m) != want[i] {
			t.Errorf("message %d: %q, want %q", i, said(m), want[min(i, len(want)-1)])
		}
	}
	if c.Transcript.Len() != len(want) || c.Model != "gpt-4o" {
		t.Errorf("%d messages, model %q", c.Transcript.Len(), c.Model)
	}
	if at := c.Transcript.At(2).Time; !at.Equal(time.Date(2024, 8, 5, 20, 40, 10, 0, time.UTC)) || !c.Transcript.At(3).Time.IsZero() {
		t.Errorf("time %v", at)
	}
}

func TestTrimmedSpaces(t *testing.T) {
	data := "# aider chat started at 2024-01-01 00:00:00\n\n#### Hi\n\nHello\n\n> Tokens: 1\n\n#### Bye\n"
	r, err := Format{}.Read(archive.Source{Data: []byte(data)})
	if err != nil {
		t.Fatal(err)
	}
	if n := r.Conversation.Transcript.Len(); n != 3 || said(r.Conversation.Transcript.At(2)) != "user | Tokens: 1 | Bye" {
		t.Errorf("%d messages, the last %q", n, said(r.Conversation.Transcript.At(n-1)))
	}
}

func TestDetect(t *testing.T) {
	for name, want := range map[string]bool{"notes.md": false, ".aider.chat.history.md": true} {
		if got := (Format{}).Detect(name, []byte("#### Hi\n\nHello\n")); got != want {
			t.Errorf("Detect(%q) = %v", name, got)
		}
	}
	for data, want := range map[string]bool{
		history: true, history[:80]: true, "": false, "# Notes\n\nPlain text.": false,
		`{"text": "# aider chat started at 2024"}`: false, "say # aider chat started at 2024": false,
	} {
		if got := (Format{}).Detect("", []byte(data)); got != want {
			t.Errorf("Detect of %.30q = %v", data, got)
		}
	}
}

// TestWhoseLines: the marks of the lines say who wrote them.
func TestWhoseLines(t *testing.T) {
	r, err := Format{}.Read(archive.Source{Data: []byte("\n# aider chat started at 2026-03-01 10:00:00\n\n> Aider v1\n> Warning: you must never use this model\n\n#### > rename it, keep the tests\n\nI did.\n\n> Applied edit to a.go\n\n#### and the docs\n")})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range r.Conversation.Transcript.Messages() {
		for b := range m.Content {
			got = append(got, string(m.AttributionOf(b).Author))
		}
		if m.Role == precis.RoleUser && len(m.UserBlocks()) != 1 {
			t.Errorf("%d blocks of %v are the user's", len(m.UserBlocks()), m.Content)
		}
	}
	if strings.Join(got, " ") != "program person  program person" {
		t.Errorf("authors %q", got)
	}
}

func TestRecordings(t *testing.T) {
	dir := os.Getenv("PRECIS_TRANSCRIPTS")
	if dir == "" {
		t.Skip("PRECIS_TRANSCRIPTS names no directory of recordings")
	}
	files, _ := filepath.Glob(filepath.Join(dir, "aider", "*.md"))
	for _, path := range files {
		r, err := archive.Open(path, []archive.Format{Format{}})
		if err != nil {
			t.Error(err)
			continue
		}
		if err := archivetest.Check(r); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		if b := precis.Check(r.Conversation.Transcript.Messages()); len(b) > 0 {
			t.Errorf("%s: %v", path, b)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	data := []byte(strings.Repeat(history, 4<<20/len(history)))
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := (Format{}).Read(archive.Source{Data: data}); err != nil {
			b.Fatal(err)
		}
	}
}
