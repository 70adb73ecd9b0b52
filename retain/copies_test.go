package retain

import (
	"math"
	"strings"
	"testing"

	"github.com/precis-dev/precis"

	"pgregory.net/rapid"
)

func TestNumberColumn(t *testing.T) {
	for _, tt := range []struct {
		line, bare string
		n          int
	}{
		{"  12→\tfoo := 1", "foo := 1", 7},
		{"12\tfoo", "foo", 3},
		{"12 | foo", "foo", 5},
		{"12 |", "", 4},
		{"12: foo", "foo", 4},
		{"12:\tfoo", "foo", 4},
		{"12:foo", "12:foo", 0},
		{"12 foo", "12 foo", 0},
		{"foo: 12", "foo: 12", 0},
		{"", "", 0},
		{"      ", "", 0},
		{"123", "123", 0},
		{"1234567\tx", "x", 8},
		{"12345678\tx", "12345678\tx", 0},
		{"            1\tx", "x", 14},
		{"             1\tx", "1\tx", 0},
		{"\t12\tx", "12\tx", 0},
		{"12→", "", 5},
		{"12\xe2\x86", "12\xe2\x86", 0},
		{"2025-01-02 x", "2025-01-02 x", 0},
		{"  foo  \r\n", "foo", 0},
	} {
		if n := NumberColumn(tt.line); n != tt.n || TrimLineNumber(tt.line) != tt.bare {
			t.Errorf("%q: column %d, bare %q; want %d, %q", tt.line, n, TrimLineNumber(tt.line), tt.n, tt.bare)
		}
	}
}

func TestBareIsPartOfTheLine(t *testing.T) {
	parts := []string{" ", "1", "234", "→", "\t", "|", ": ", "x", "é", "\n", "\xff"}
	rapid.Check(t, func(t *rapid.T) {
		line := strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 20).Draw(t, "line"), "")
		n := NumberColumn(line)
		if n < 0 || n > len(line) || strings.Trim(line[:n], " 0123456789→\t|:") != "" {
			t.Fatalf("%q: column %d", line, n)
		}
		if b := TrimLineNumber(line); !strings.Contains(line, b) || b != strings.TrimSpace(b) || len(b) > len(line)-n {
			t.Fatalf("%q: bare %q", line, b)
		}
	})
}

func TestCopies(t *testing.T) {
	c := NewLineSet()
	if got := c.NewShare("a line that is new\n"); got != 1 {
		t.Errorf("a new line: %v", got)
	}
	c.Add("  12→\treturn handler(w, r)\nshort\nanother line here\r\n")
	for _, tt := range []struct {
		text string
		want float64
	}{
		{"return handler(w, r)", 0},
		{"99 | \t\treturn handler(w, r)   \n", 0},
		{"another line here", 0},
		{"short", 0},      // too short to be told from others
		{"never said", 1}, // 10 bytes: long enough
		{"nine byte", 0},  // 9
		{"", 0},           // nothing is fresh in nothing
		{"\n \n\t", 0},    // nor in white space
		{"another line here\nanother line herf\n", 0.5},
		{"RETURN handler(w, r)", 1},
	} {
		if got := c.NewShare(tt.text); math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("%q: %v, want %v", tt.text, got, tt.want)
		}
	}
}

func TestMessagesAreNotedWithoutReasoning(t *testing.T) {
	msgs := []precis.Message{
		precis.NewText("user", "the user said this line"),
		{Role: "assistant", Content: []precis.Block{
			precis.Thinking{Text: "a line of secret thought"},
			precis.ToolUse{ID: "1", Name: "Write", Input: []byte(`{"content":"the first line\nsecond line of it\n"}`)},
		}},
		{Role: "user", Content: []precis.Block{precis.ToolResult{ToolUseID: "1", Content: []precis.Block{precis.Text{Text: "the result's own line"}}}}},
	}
	c := NewLineSet()
	c.AddMessages(msgs)
	for line, want := range map[string]float64{
		"the user said this line": 0, "second line of it": 0, "the result's own line": 0, "a line of secret thought": 1, "the second line": 1,
	} {
		if got := c.NewShare(line); got != want {
			t.Errorf("%q: %v, want %v", line, got, want)
		}
	}
}

func TestWhatWasAddedIsNoLongerFresh(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.String().Draw(t, "a"), rapid.StringN(0, 200, -1).Draw(t, "b")
		c := NewLineSet()
		before := c.NewShare(b)
		c.Add(a)
		after := c.NewShare(b)
		if after > before || after < 0 || before > 1 {
			t.Fatalf("%q after %q: %v, before %v", b, a, after, before)
		}
		if c.Add(b); c.NewShare(b) != 0 {
			t.Fatalf("%q: %v of it is fresh though it was added", b, c.NewShare(b))
		}
	})
}
