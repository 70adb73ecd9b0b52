package find

import (
	"slices"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/precistest"
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
	if _, n := q.in("well, never\u00a0mind that"); n != 1 {
		t.Error("a no-break space is no white space")
	}
	if line, _ := q.line("well,\nnever\n  mind that"); line != "never" {
		t.Errorf("line %q", line)
	}
}

func TestQueryPlaces(t *testing.T) {
	q, _ := NewQuery([]string{"abc", "bcd", "x"}, false)
	got := q.Matches("ABCD x abc")
	if want := [][]int{{0, 4}, {5, 6}, {7, 10}}; !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("%v, want %v", got, want)
	}
	empty, _ := NewQuery([]string{"z*"}, true)
	if got := empty.Matches("abc"); len(got) != 0 {
		t.Errorf("matches of nothing: %v", got)
	}
}

// Matches of the widened query alone come last, with the words that matched.
func TestFindByRelatedWords(t *testing.T) {
	conv := &precis.Conversation{Transcript: precis.NewTranscript(
		precis.NewText("user", "the login failed"), precis.NewText("assistant", "auth it is\nso far"), precis.NewText("user", "authenticating"), precis.NewText("user", "authors"),
		precis.NewText("assistant", "fixed\nthe credentials"))}
	for _, tt := range []struct {
		words, want string
		wide        bool
	}{
		{"auth", "m3 m2 m1 m4 auth=credentials m0 auth=login", true},
		{"auth", "m3 m2 m1", false},
		{"fix auth", "m4 auth=credentials", true},
		{"the login", "m0 m4 login=credentials m2 login=authenticating", true},
	} {
		q, err := NewQuery(strings.Fields(tt.words), false)
		if err != nil {
			t.Fatal(err)
		}
		if tt.wide {
			q = q.Widen()
		}
		places, err := find(t.Context(), conv, q)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range places {
			got = append(got, strings.TrimSuffix(p.Handle.String(), ".b0"))
			for _, r := range p.Related {
				got = append(got, r.Asked+"="+r.Found)
			}
			if len(q.Matches(p.Line)) == 0 {
				t.Errorf("nothing on the line %q", p.Line)
			}
		}
		if got := strings.Join(got, " "); got != tt.want {
			t.Errorf("%q: %s, want %s", tt.words, got, tt.want)
		}
	}
	phrase, _ := NewQuery([]string{"login failure"}, false)
	if _, err := find(t.Context(), conv, phrase.Widen()); err == nil {
		t.Error("a phrase was answered by another")
	}
}

// A character in several code points, as macOS writes the names of files, is found
// by the same one in one, and the other way round.
func TestFindOneCharacterInSeveralCodePoints(t *testing.T) {
	apart, whole := "Cafe\u0301 \u1112\u1161\u11ab\u1100\u1173\u11af.txt", "Caf\u00e9 \ud55c\uae00.txt"
	for _, text := range []string{apart, whole} {
		conv := &precis.Conversation{Transcript: precis.NewTranscript(precis.NewText("user", "one\n"+text))}
		for _, asked := range []string{apart, whole} {
			q, err := NewQuery(strings.Fields(asked), false)
			if err != nil {
				t.Fatal(err)
			}
			places, err := find(t.Context(), conv, q)
			if err != nil || len(places) != 1 || places[0].Line != whole || len(q.Matches(places[0].Line)) != 2 {
				t.Errorf("%+q in %+q: %+v, %v", asked, text, places, err)
			}
		}
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

// Texts outside of messages are found, too, each with its own name; a search of precis comes last.
func TestFindBesideMessages(t *testing.T) {
	transcript := precistest.Talk()
	transcript = precis.NewTranscript(append(transcript.Messages(),
		precis.Message{Role: "assistant", Content: []precis.Block{precis.ToolUse{ID: "1", Name: "mcp__precis__search", Input: []byte(`{"query":"wick of lamp"}`)}}},
		precis.Message{Role: "user", Content: []precis.Block{precis.ToolResult{ToolUseID: "1", Content: []precis.Block{precis.Text{Text: "nothing found"}}}}})...)
	condense := func(id string, from, to int, text string) precis.Edit {
		e := precistest.Hide(id, from, to, precis.NewText("user", text))
		e.Kind = precis.KindCondensation
		return e
	}
	conv := &precis.Conversation{
		Transcript: transcript,
		Edits: []precis.Edit{
			condense("a", 1, 3, "older: the oil of the lamp"), condense("b", 1, 5, "newer: the wick of the lamp"),
			precistest.Shorten("c", transcript, 8, 0, precis.Text{Text: "8 word [rest of the lamp: m8]"}),
		},
		Branches: []*precis.Conversation{{ID: "side", Transcript: precis.NewTranscript(precis.NewText("user", "measure the wall"), precis.NewText("assistant", "4711 mm of wick"))}},
	}
	for words, want := range map[string][]string{
		"oil":        {"m1-m2 summary hidden"},
		"wick":       {"m1-m4 summary shown", "m1.b0 text hidden side", "m10.b0 tool use shown"},
		"rest lamp":  {"m8.b0 note shown"},
		"8 word":     {"m8.b0 text shortened", "m8.b0 note shown"},
		"wall":       {"m0.b0 text hidden side"},
		"kerosene 9": nil,
	} {
		q, err := NewQuery(strings.Fields(words), false)
		if err != nil {
			t.Fatal(err)
		}
		places, err := find(t.Context(), conv, q)
		var got []string
		for _, p := range places {
			got = append(got, strings.TrimSpace(strings.Join([]string{p.Handle.String(), p.Kind, string(p.View), p.In}, " ")))
		}
		if !slices.Equal(got, want) || (err == nil) != (want != nil) {
			t.Errorf("%s: %q (%v), want %q", words, got, err, want)
		}
	}
}
