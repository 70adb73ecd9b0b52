package words

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/precis-dev/precis"
)

func TestDistinct(t *testing.T) {
	for text, want := range map[string]string{
		"":                            "",
		" \xff ,;\x00":                "",
		"Fix parser.go, FIX it":       "fix parser go it",
		"snake_case camelCase x2":     "snake case camelcase x2",
		"ΟΔΥΣΣΕΥΣ οδυσσευς":           "οδυσσευσ",
		"日本語abc한국어":                   "日 本 語 abc 한 국 어",
		"हिन्दी e\u0301":              "हिन्दी é",
		"ที่นี่ \u0e35x":              "ที่ นี่ x",
		"실패했습니다":                      "실 패 했 습 니 다",
		"\u1112\u1161\u11ab글 か\u3099": "한 글 が", // as macOS writes names of files
		"a\xffb":                      "a b",
		"ok 🚀✅ \u2500\u2192":          "ok \ue0011f680 \ue0012705",
		"👩\u200d💻":                    "\ue0011f469 \ue0011f4bb",
		"\ue0000":                     "0",
		strings.Repeat("é", 100):      strings.Repeat("é", 64),
		"x" + strings.Repeat("é", 64): "x" + strings.Repeat("é", 63),
	} {
		if got := strings.Join(Distinct(text), " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestScore(t *testing.T) {
	q := NewQuery("needle HAY", false)
	score := func(text string) float64 {
		score, _ := q.Score(text)
		return score
	}
	one, more, long := score("needle hay"), score("needle needle hay"), score("needle hay"+strings.Repeat(" x", 1000))
	if score("needle") != 0 || score("") != 0 {
		t.Error("a text without all words has a score")
	}
	if !(more > one && one > long && long > 0) {
		t.Errorf("scores %v, %v, %v", more, one, long)
	}
}

func FuzzSnippet(f *testing.F) {
	f.Add("some needle here", "needle")
	f.Add("\xff\xffneedle\xff", "NEEDLE")
	f.Add(strings.Repeat("日本", 200)+"needle", "needle 本")
	f.Add(strings.Repeat("x", 500), strings.Repeat("x", 500))
	f.Add(strings.Repeat("filler ", 100)+"the login failed", "auth failing")
	f.Fuzz(func(t *testing.T, text, query string) {
		q := NewQuery(query, false)
		got := q.Show(text).Snippet
		if len(got) > snippetBytes || !utf8.ValidString(got) {
			t.Fatalf("snippet %q", got)
		}
		if score, _ := q.Score(text); score == 0 {
			return
		}
		shown := Fold(got)
		for word := range q.answers {
			if strings.Contains(shown, word) {
				return
			}
		}
		t.Fatalf("%q does not show a word of %q", got, query)
	})
}

func TestText(t *testing.T) {
	m := precis.Message{Content: []precis.Block{
		precis.Text{Text: "first"}, precis.Thinking{Text: "hidden"},
		precis.ToolUse{Input: []byte(`{"k":["v\n1",2,true,null]}`)}, precis.ToolUse{Input: []byte("{cut")}, precis.ToolUse{},
		precis.ToolResult{Content: []precis.Block{precis.Text{Text: "result"}, precis.Image{URL: "hidden"}}},
	}}
	if got, want := Text(m), "first\nk\nv\n1\n2\n{cut\nresult"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for _, text := range []string{strings.Repeat("é", textBytes), "x" + strings.Repeat("é", textBytes)} {
		m.Content[0] = precis.Text{Text: text}
		if got := Text(m); len(got) > textBytes || !utf8.ValidString(got) {
			t.Errorf("%d bytes", len(got))
		}
	}
}

func BenchmarkDistinct(b *testing.B) {
	var text strings.Builder
	for i := range 300 {
		fmt.Fprintf(&text, "func f%d(x int) { return x + %d }\n", i, i)
	}
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		Distinct(text.String())
	}
}
