package prose

import (
	"slices"
	"strings"
	"testing"

	"github.com/precis-dev/precis/internal/table"
	"github.com/precis-dev/precis/internal/table/tabletest"

	"pgregory.net/rapid"
)

// TestWeights runs the examples of weights.txt, and holds it to its size.
func TestWeights(t *testing.T) {
	tabletest.Examples(t, weights(), func(row table.Row, example string) bool {
		w := &weighing{words: map[string][]string{}, first: map[rune]bool{}}
		w.add(row)
		return w.in(example)
	})
	const most = 60
	of := map[string]int{}
	for _, row := range weights().Rows {
		of[row.Get("language")]++
	}
	for language, n := range of {
		if n > most {
			t.Errorf("%s has %d words, at most %d are weighed", language, n, most)
		}
	}
	for _, text := range []string{"", "The nevertheless interesting mustang.", "这个函数返回什么类别的值？", "notable onlys"} {
		if Weighs(text) {
			t.Errorf("%q weighs", text)
		}
	}
}

// TestAbbreviations: the example of each short form is one sentence.
func TestAbbreviations(t *testing.T) {
	tabletest.Examples(t, abbreviations(), func(row table.Row, example string) bool {
		return len(Sentences(example)) == 1 && strings.Contains(strings.ToLower(example), row.Get("word")+". ")
	})
}

// TestUnits divides texts as people type them.
func TestUnits(t *testing.T) {
	for text, want := range map[string][]string{
		"":                                nil,
		"Fix it. never touch v1.2! ok":    {"Fix it.", "never touch v1.2!", "ok"},
		"Ask me, e.g. before a push. Go.": {"Ask me, e.g. before a push.", "Go."},
		"先看。然后改！":                         {"先看。", "然后改！"},
		"He said \"no.\" Then \"yes!\"":   {"He said \"no.\"", "Then \"yes!\""},
		"Do NOT:\n- start the server\n- delete routes\n\nNow look.": {"Do NOT:\n- start the server\n- delete routes", "Now look."},
		"## Limits\n\n1. two tries\n   each\n2. no net\nGo.":        {"## Limits\n\n1. two tries\n   each\n2. no net", "Go."},
		"- one\n- two. three": {"one", "two.", "three"},
		"This sentence is broken by its writer near the\nend of the line. The next.":  {"This sentence is broken by its writer near the\nend of the line.", "The next."},
		"A note without a stop that is as long as a line is\nAnother one begins here": {"A note without a stop that is as long as a line is", "Another one begins here"},
		"Look at this:\nno list": {"Look at this:", "no list"},
		"1. only Go\n2.只用标准库":    {"only Go", "只用标准库"},
	} {
		var got []string
		for _, u := range Units(text) {
			got = append(got, u.Of(text))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q\n got %q\nwant %q", text, got, want)
		}
	}
}

// TestALongListIsCutAtAnEntry: further entries are units of their own.
func TestALongListIsCutAtAnEntry(t *testing.T) {
	text := "Never:\n" + strings.Repeat("- push to the branch of somebody else\n", 60)
	all := Units(text)
	if n := all[0].End - all[0].Start; n > mostList || n < mostList/2 || all[1].Of(text) != "push to the branch of somebody else" {
		t.Errorf("%d bytes, then %q", n, all[1].Of(text))
	}
}

// TestUnitsAreTheText: units are in order, overlap nowhere, and hold every letter.
func TestUnitsAreTheText(t *testing.T) {
	parts := []string{"never", "must", "不要", "é", "’", ".", ". ", "。", "!", "\n", "\n\n", " ", "- ", "1. ", "12", "(", "\xff", "file.go", ":", ":\n", "#", "•", "\r"}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 60).Draw(t, "parts"), "")
		at := 0
		for _, u := range Units(text) {
			if u.Start < at || u.End <= u.Start || strings.ContainsAny(text[at:u.Start], "nevrmust不要éilg") {
				t.Fatalf("%q: %q behind %d", text, u.Of(text), at)
			}
			at = u.End
		}
		if strings.ContainsAny(text[at:], "nevrmust不要éilg") {
			t.Fatalf("%q: %q is left", text, text[at:])
		}
		Typed(text)
	})
}

func TestWords(t *testing.T) {
	got := Words("Fix src/main.go, line 42: the parser (v1.2) of 数据库 is OK.")
	if want := []string{"src/main.go", "line", "42", "parser", "v1.2", "数据", "据库"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
