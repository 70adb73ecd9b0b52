package conversation

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
		q, err := NewQuery(strings.Fields(tt.words), false)
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
	q, _ := NewQuery([]string{"never  Mind"}, false)
	if _, n := q.in("well,\nnever\n  mind that"); n != 1 {
		t.Fatal("not found")
	}
	if line, _ := q.line("well,\nnever\n  mind that"); line != "never" {
		t.Errorf("line %q", line)
	}
}

func TestQueryPlaces(t *testing.T) {
	q, _ := NewQuery([]string{"abc", "bcd", "x"}, false)
	got := q.Places("ABCD x abc")
	if want := [][]int{{0, 4}, {5, 6}, {7, 10}}; !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("%v, want %v", got, want)
	}
	empty, _ := NewQuery([]string{"z*"}, true)
	if got := empty.Places("abc"); len(got) != 0 {
		t.Errorf("matches of nothing: %v", got)
	}
}

// The words of a message may stand in several of its blocks.
func TestFindWholeMessage(t *testing.T) {
	conv := &precis.Conversation{Transcript: precis.NewTranscript(
		precis.NewText("user", "one two"),
		precis.Message{Role: "assistant", Content: []precis.Block{
			precis.Text{Text: "one"}, precis.ToolUse{ID: "1", Name: "run", Input: []byte(`{"list":["two","three"],"n":4}`)},
		}},
	)}
	for words, want := range map[string]string{"one two": "m0.b0 m1.b0", "two three": "m1.b1", "run three": "m1.b1", "one two three": "m1.b1", "4": "m1.b1", "list": ""} {
		q, err := NewQuery(strings.Fields(words), false)
		if err != nil {
			t.Fatal(err)
		}
		places, err := find(t.Context(), conv, q)
		var got []string
		for _, h := range places {
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
func TestFindSaysHowAPlaceIsShown(t *testing.T) {
	tr := precis.NewTranscript(
		precis.NewText("user", "word a"), precis.NewText("assistant", "word b"), precis.NewText("user", "word c"),
		precis.Message{Role: "assistant", Content: []precis.Block{precis.Thinking{Text: "word t"}, precis.Text{Text: "word d"}}},
	)
	edits := []precis.Edit{
		{ID: "1", Kind: precis.KindTruncation, Replace: []precis.Replacement{{From: 0, To: 2}}},
		{ID: "2", Kind: precis.KindPruning, Replace: []precis.Replacement{precis.ReplaceBlock(tr, 2, 0, precis.Text{Text: "…"})}},
		{ID: "3", Kind: precis.KindThinking, Replace: []precis.Replacement{precis.ReplaceBlock(tr, 3, 0, nil)}},
	}
	q, _ := NewQuery([]string{"word"}, false)
	places, err := find(t.Context(), &precis.Conversation{Transcript: tr, Edits: edits}, q)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range places {
		got = append(got, strings.TrimSpace(p.Handle.String()+" "+string(p.View)+" "+string(p.By)))
	}
	want := "m3.b0 hidden thinking|m3.b1 shown|m2.b0 shortened pruning|m1.b0 hidden truncation|m0.b0 hidden truncation"
	if s := strings.Join(got, "|"); s != want {
		t.Errorf("got  %s\nwant %s", s, want)
	}
}
