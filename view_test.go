package precis_test

import (
	"errors"
	"fmt"
	"github.com/precis-dev/precis/internal/precistest"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/precis-dev/precis"
)

func TestViewWithoutEditsIsTheTranscript(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		msgs := precistest.Conversation(t)
		view := precis.View(precis.NewTranscript(msgs...), nil)
		if !reflect.DeepEqual(view, msgs) {
			t.Fatalf("view %v, want the messages", view)
		}
		if b := precis.Check(view); len(b) > 0 {
			t.Fatalf("a valid conversation has breaches: %v", b)
		}
	})
}

func TestEditsNest(t *testing.T) {
	tr := precistest.Numbered(6)
	a, b := precistest.Span("a", 1, 3, "A"), precistest.Span("b", 1, 5, "B")
	undo := precis.Edit{ID: "u", Kind: precis.KindUndo, Undoes: []string{"b"}}
	redo := precis.Edit{ID: "v", Kind: precis.KindUndo, Undoes: []string{"u"}}
	for _, tt := range []struct {
		edits []precis.Edit
		want  []string
	}{
		{nil, []string{"0", "1", "2", "3", "4", "5"}},
		{[]precis.Edit{a}, []string{"0", "A", "3", "4", "5"}},
		{[]precis.Edit{a, b}, []string{"0", "B", "5"}},
		{[]precis.Edit{a, b, undo}, []string{"0", "A", "3", "4", "5"}},
		{[]precis.Edit{a, b, undo, redo}, []string{"0", "B", "5"}},
	} {
		if got := precistest.Texts(precis.View(tr, tt.edits)); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%d edits: %v, want %v", len(tt.edits), got, tt.want)
		}
	}
	crossing := precistest.Span("c", 2, 4, "C")
	if err := precis.CheckEdit(tr, []precis.Edit{a}, crossing); precis.CodeOf(err) != precis.CodeConflict {
		t.Errorf("crossing edit: %v, want a conflict", err)
	}
	if err := precis.CheckEdit(tr, []precis.Edit{a}, a); precis.CodeOf(err) != precis.CodeConflict {
		t.Errorf("the same ID twice: %v", err)
	}
	both := precistest.Span("d", 1, 4, "D")
	both.Replace = append(both.Replace, precis.Replacement{From: 3, To: 5})
	if err := precis.CheckEdit(tr, nil, both); precis.CodeOf(err) != precis.CodeConflict {
		t.Errorf("an edit that crosses itself: %v", err)
	}
	if got := precistest.Texts(precis.View(tr, []precis.Edit{a, crossing})); got[1] != "A" {
		t.Errorf("a crossing edit changed the view: %v", got)
	}
}

func TestRestoreSplitsASpan(t *testing.T) {
	tr := precistest.Numbered(8)
	a := precistest.Span("a", 1, 7, "A")
	restore := func(from, to int) precis.Edit {
		return precis.Edit{ID: "r", Kind: precis.KindRestore, Replace: []precis.Replacement{{From: from, To: to, Restore: true}}}
	}
	for _, tt := range []struct {
		from, to int
		want     []string
	}{
		{3, 5, []string{"0", "A", "3", "4", "7"}},
		{1, 3, []string{"0", "1", "2", "A", "7"}},
		{5, 7, []string{"0", "A", "5", "6", "7"}},
		{1, 7, []string{"0", "1", "2", "3", "4", "5", "6", "7"}},
	} {
		edits := []precis.Edit{a, restore(tt.from, tt.to)}
		if got := precistest.Texts(precis.View(tr, edits)); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("restore %d to %d: %v, want %v", tt.from, tt.to, got, tt.want)
		}
		last := 0
		for _, u := range precis.Units(tr, edits) {
			if u.From != last {
				t.Errorf("restore %d to %d: units leave a gap at %d", tt.from, tt.to, last)
			}
			last = u.To
		}
	}
}

func TestBlockEditFollowsTheHash(t *testing.T) {
	m := precis.Message{Role: precis.RoleUser, Content: []precis.Block{precis.Text{Text: "a"}, precis.Text{Text: "b"}}}
	tr := precis.NewTranscript(m)
	r := precis.ReplaceBlock(tr, 0, 1, precis.Text{Text: "B"})
	moved := precis.NewTranscript(precis.Message{Role: precis.RoleUser, Content: m.Content[1:]})
	for _, tt := range []struct {
		tr   *precis.Transcript
		want string
	}{{tr, "a\nB"}, {moved, "B"}} {
		got := precis.View(tt.tr, []precis.Edit{{ID: "x", Replace: []precis.Replacement{r}}})
		if got[0].PlainText() != tt.want {
			t.Errorf("got %q, want %q", got[0].PlainText(), tt.want)
		}
	}
	if tr.At(0).PlainText() != "a\nb" {
		t.Error("the transcript was altered")
	}
}

func TestFingerprintIgnoresWhatIsNotSaid(t *testing.T) {
	use := func(input string) precis.Message {
		return precis.Message{Role: precis.RoleAssistant, Content: []precis.Block{precis.ToolUse{ID: "1", Name: "n", Input: []byte(input)}}}
	}
	same := [][2]precis.Message{
		{use(`{"a":1,"b":[1.0]}`), use(`{ "b": [1.0], "a": 1 }`)},
		{precis.NewText("user", "x"), {Role: "user", ID: "7", Content: []precis.Block{precis.Text{}, precis.Text{Text: "x"}}}},
	}
	for i, p := range same {
		if precis.HashMessage(p[0]) != precis.HashMessage(p[1]) {
			t.Errorf("pair %d differs", i)
		}
	}
	different := [][2]precis.Message{
		{use(`{"a":1}`), use(`{"a":1.0}`)},
		{precis.NewText("user", "x"), precis.NewText("user", "x ")},
		{precis.NewText("user", "x"), precis.NewText("assistant", "x")},
		{{Role: "user", Content: []precis.Block{precis.Text{Text: "ab"}}}, {Role: "user", Content: []precis.Block{precis.Text{Text: "a"}, precis.Text{Text: "b"}}}},
	}
	for i, p := range different {
		if precis.HashMessage(p[0]) == precis.HashMessage(p[1]) {
			t.Errorf("pair %d is the same", i)
		}
	}
}

func TestFingerprintIsAPrefixChain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tr := precis.NewTranscript(precistest.Conversation(t)...)
		n := rapid.IntRange(0, tr.Len()).Draw(t, "n")
		want := tr.Prefix(n).Fingerprint(n)
		if tr.Fingerprint(n) != want {
			t.Fatal("the fingerprint of a prefix differs from the prefix's own")
		}
		if n < tr.Len() && tr.Fingerprint(n) == tr.Fingerprint(n+1) {
			t.Fatal("two positions share a fingerprint")
		}
	})
}

func TestErrorNamesThePlace(t *testing.T) {
	err := error(&precis.Error{Code: precis.CodeInvalid, Op: "read", Place: "f: line 3", Err: errors.New("no role")})
	if got := err.Error(); got != "read: f: line 3: no role" {
		t.Errorf("got %q", got)
	}
	if precis.CodeOf(fmt.Errorf("more: %w", err)) != precis.CodeInvalid || precis.CodeOf(nil) != "" || precis.CodeOf(errors.New("x")) != precis.CodeInternal {
		t.Error("CodeOf does not find the code")
	}
}
