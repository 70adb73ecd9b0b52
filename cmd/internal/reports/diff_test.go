package reports

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/cmd/internal/console"
	"github.com/precis-dev/precis/conversation/diff"
	"github.com/precis-dev/precis/policy"
)

// What is printed is plain, whatever a recording holds, and as wide as it may be.
func TestPrintDiff(t *testing.T) {
	var b bytes.Buffer
	p := New(console.New(console.Streams{Out: &b}))
	long := strings.Repeat("界", 200)
	var changes []diff.Part
	for i := range 12 {
		changes = append(changes, diff.Part{Kind: diff.PartPreview, Handle: precis.BlockHandle(i, 0), Before: 100 + i, After: 9, By: precis.KindPruning, What: long,
			Was: "same\nold", Text: "same\n\x1b[31mnew\x1b[0m " + long + "\n\n2\n[… 3 lines]\n3\nfour"})
	}
	changes = append(changes, diff.Part{Kind: diff.PartHidden, Handle: precis.SpanHandle(12, 1000), Before: 1_234_567, By: precis.KindCondensation},
		diff.Part{Kind: diff.PartInserted, Handle: precis.SpanHandle(12, 1000), After: 7, By: precis.KindCondensation, Text: strings.Repeat("line\n", 50)})
	p.diff(changes, false)
	out := b.String()
	for line := range strings.Lines(out) {
		if n := len([]rune(line)) + strings.Count(line, "界"); n > 101 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	if strings.Contains(out, "\x1b") {
		t.Error("escape codes")
	}
	for text, want := range map[string]int{"│ new": mostShown, "│ same": 0, "│ 3": mostShown, "four": 0, "│ line\n": mostInserted, "… 10 more lines; --full": 1, "instead: a summary": 1, "988 messages hidden by condensation": 1, "1,234,567": 1} {
		if n := strings.Count(out, text); n != want {
			t.Errorf("%q is there %d times, want %d", text, n, want)
		}
	}
	if t.Failed() {
		t.Log(out)
	}
	b.Reset()
	p.diff(changes, true)
	if out := b.String(); strings.Count(out, "four") != 12 || strings.Count(out, "│ line\n") != 50 || strings.Contains(out, "--full") {
		t.Errorf("not all of it:\n%s", out)
	}
}

func TestLossReport(t *testing.T) {
	k := &policy.Retention{Anchors: 300, Kept: 200, Repaired: 20, Typed: 4120, TypedKept: 4000, Rules: 3, RulesLost: []policy.LostAnchor{{Text: "Never\nguess.", Kind: "rule", Handle: precis.MessageHandle(4)}}}
	for i := range policy.MaxLost {
		k.Lost = append(k.Lost, policy.LostAnchor{Text: fmt.Sprint("fact", i), Kind: "path", Handle: precis.MessageHandle(i)})
	}
	r := policy.Report{Retention: k, Edits: []policy.EditSummary{{Kind: precis.KindCondensation, Rung: "digest"}}}
	if got, want := keptText(new(console.Words), r), "4,000 of 4,120 characters that the user typed; 200 of 300 facts likely to be needed again, 20 of them through the digest"; got != want {
		t.Errorf("%s", got)
	}
	if got := keptText(new(console.Words), policy.Report{}); got != "" {
		t.Errorf("nothing is known: %q", got)
	}
	var b bytes.Buffer
	p := New(console.New(console.Streams{Out: &b}))
	p.printLosses(k)
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	if len(lines) != 1+mostLost+1 || !strings.Contains(lines[1], "m4    rule  Never guess.") || !strings.Contains(lines[11], "and 91 more") {
		t.Errorf("%s", b.String())
	}
	b.Reset()
	if p.printLosses(&policy.Retention{Anchors: 1, Kept: 1}); b.Len() > 0 {
		t.Errorf("nothing is lost: %s", b.String())
	}
}

func TestBlankLines(t *testing.T) {
	for text, want := range map[string]string{"": "", " \n ": "", "a\n\nb": "a|b", "a\n\n# b\n\nc": "a||# b|c"} {
		if got := strings.Join(withoutBlankLines(lines(text)), "|"); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}
