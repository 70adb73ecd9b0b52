package main

import (
	"slices"
	"strings"
	"testing"

	"precis"
)

func TestQueryLine(t *testing.T) {
	for _, tt := range []struct {
		words, text, want string
		on                int
	}{
		{"b", "a\nb\nc b", "b", 1},
		{"a c", "a\nb\r\nc A\nc", "c A", 2},
		{"a zz", "x\na\n", "a", 1},
		{"İstanbul", "die\nistanbul İstanbul\n", "istanbul İstanbul", 1},
		{"straße", "die Straße", "die Straße", 1},
	} {
		q, err := newQuery(strings.Fields(tt.words), false)
		if err != nil {
			t.Fatal(err)
		}
		if line, on := q.line(tt.text); line != tt.want || on != tt.on {
			t.Errorf("%q in %q: %q with %d, want %q with %d", tt.words, tt.text, line, on, tt.want, tt.on)
		}
	}
}

// A phrase over a line end is found, on the line where it begins.
func TestQueryPhraseOverLines(t *testing.T) {
	q, _ := newQuery([]string{"never  Mind"}, false)
	if _, n := q.in("well,\nnever\n  mind that"); n != 1 {
		t.Fatal("not found")
	}
	if line, _ := q.line("well,\nnever\n  mind that"); line != "never" {
		t.Errorf("line %q", line)
	}
}

func TestQueryPlaces(t *testing.T) {
	q, _ := newQuery([]string{"abc", "bcd", "x"}, false)
	got := q.places("ABCD x abc")
	if want := [][]int{{0, 4}, {5, 6}, {7, 10}}; !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("%v, want %v", got, want)
	}
	empty, _ := newQuery([]string{"z*"}, true)
	if got := empty.places("abc"); len(got) != 0 {
		t.Errorf("matches of nothing: %v", got)
	}
}

// The words of a message may stand in several of its blocks.
func TestSearchWholeMessage(t *testing.T) {
	conv := &precis.Conversation{Transcript: precis.NewTranscript(
		precis.NewText("user", "one two"),
		precis.Message{Role: "assistant", Content: []precis.Block{
			precis.Text{Text: "one"}, precis.ToolUse{ID: "1", Name: "run", Input: []byte(`{"list":["two","three"],"n":4}`)},
		}},
	)}
	for words, want := range map[string]string{"one two": "m0.b0 m1.b0", "two three": "m1.b1", "run three": "m1.b1", "one two three": "m1.b1", "4": "m1.b1", "list": ""} {
		q, err := newQuery(strings.Fields(words), false)
		if err != nil {
			t.Fatal(err)
		}
		hits, err := searchConversation(t.Context(), conv, q)
		var got []string
		for _, h := range hits {
			got = append(got, h.Handle.String())
		}
		slices.Sort(got)
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s: %q, want %q", words, s, want)
		}
		if want == "" && precis.CodeOf(err) != precis.CodeNotFound {
			t.Errorf("%s: %v", words, err)
		}
	}
}

// What an edit hides or shortens is said by its kind.
func TestSight(t *testing.T) {
	tr := precis.NewTranscript(
		precis.NewText("user", "a"), precis.NewText("assistant", "b"), precis.NewText("user", "c"),
		precis.Message{Role: "assistant", Content: []precis.Block{precis.Thinking{Text: "t"}, precis.Text{Text: "d"}}},
	)
	edits := []precis.Edit{
		{ID: "1", Kind: precis.KindTruncation, Replace: []precis.Replacement{{From: 0, To: 2}}},
		{ID: "2", Kind: precis.KindPruning, Replace: []precis.Replacement{precis.ReplaceBlock(tr, 2, 0, precis.Text{Text: "…"})}},
		{ID: "3", Kind: precis.KindThinking, Replace: []precis.Replacement{precis.ReplaceBlock(tr, 3, 0, nil)}},
	}
	s := newSight(tr, edits)
	for handle, want := range map[string]string{
		"m0.b0": "hidden by truncation", "m1.b0": "hidden by truncation", "m2.b0": "preview by pruning", "m3.b0": "hidden by thinking", "m3.b1": "shown by ",
	} {
		h, _ := precis.ParseHandle(handle)
		if state, by := s.of(h); state+" by "+string(by) != want {
			t.Errorf("%s: %s by %s, want %s", handle, state, by, want)
		}
	}
}
