package texts_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/texts"
	"github.com/precis-dev/precis/policy"
)

func sentencesOf(t *testing.T, lang string) *texts.Sentences {
	t.Helper()
	s, err := texts.ReadSentences(lang)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// What the engine has written is translated with its values; what is not one of its
// sentences stays as it is.
func TestSentencesOfTheEngine(t *testing.T) {
	fr, ja, zh := sentencesOf(t, "fr"), sentencesOf(t, "ja"), sentencesOf(t, "zh")
	for _, tt := range []struct {
		s             *texts.Sentences
		english, want string
	}{
		{fr, "the oldest 1,300 messages became a digest", "les 1\u202f300 messages les plus anciens remplacés par un condensé"},
		{zh, "the oldest 130 messages became a digest", "最早的 130 条消息变为摘录"},
		{ja, "3 old blocks shortened to previews", "古いブロック 3 件をプレビューに短縮"}, // a sentence within
		{ja, "2 identical reads, 1 outdated read point to the newest copy", "同一の読み取り 2 件、古くなった読み取り 1 件を最新の写しへの参照に置き換え"},
		{fr, "nothing to do: 4.6 % of the window is used", "rien à faire\u00a0: 4,6 % de la fenêtre sont utilisés"},
		{fr, "20% or 0.2 is a share of the context window; 20k, or a number from 1,000 on, is tokens", "20% ou 0.2 est une part de la fenêtre\u00a0; 20k, ou un nombre à partir de 1\u202f000, des tokens"},
		{zh, "the oldest many messages became a digest", "the oldest many messages became a digest"}, // no number
		{fr, "the user in the house of cards", "the user in the house of cards"},
		{fr, "no message holds a, b", "aucun message ne contient a, b"},
		{fr, "", ""},
		{nil, "no old images", "no old images"},
		{fr, strings.Repeat("x", 5000) + " is free", strings.Repeat("x", 5000) + " is free"},
	} {
		got, ok := tt.s.Translate(tt.english)
		if got != tt.want || ok != (tt.english != tt.want) {
			t.Errorf("%q: %q, %v; want %q", tt.english, got, ok, tt.want)
		}
	}
}

func TestSentencesInCode(t *testing.T) {
	fr, ja := sentencesOf(t, "fr"), sentencesOf(t, "ja")
	for got, want := range map[string]string{
		fr.Text("… and %d more", 35434):                     "… et 35\u202f434 de plus",
		ja.Text("%s in %s", "a", "b"):                       "bに a",
		fr.Text("nobody has translated %s", "this"):         "nobody has translated this",
		fr.Text("100% of it"):                               "100% of it",
		(*texts.Sentences)(nil).Text("… and %d more", 1234): "… and 1,234 more",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// An error is named by its kind and its cause; a cause that nobody has translated is English.
func TestProblems(t *testing.T) {
	all, err := texts.Read()
	if err != nil {
		t.Fatal(err)
	}
	fr := sentencesOf(t, "fr")
	for _, tt := range []struct {
		err  error
		want string
	}{
		{&precis.Error{Code: precis.CodeNotFound, Op: "undo", Err: errors.New("no edit is in force")}, "cela n’existe pas (aucune modification n’est en vigueur)"},
		{&precis.Error{Code: precis.CodeInvalid, Op: "read", Place: "a.json", Err: errors.New("this is no UTF-8 text")}, "l’entrée n’est pas comprise (a.json: ce n’est pas du texte UTF-8)"},
		{&precis.Error{Code: precis.CodeNotFound, Op: "open", Place: "a", Err: errors.New("no such file")}, "cela n’existe pas (open: a: no such file)"},
		{errors.New("unknown flag: --x"), "la ligne de commande est incorrecte (option inconnue\u00a0: --x)"},
	} {
		if got := all.Problem("fr", fr, tt.err); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
		if got := all.Problem("en", nil, tt.err); got != tt.err.Error() {
			t.Errorf("%q, want the error as it is", got)
		}
	}
}

// A reason is its sentence, else what its code means.
func TestReasons(t *testing.T) {
	all, err := texts.Read()
	if err != nil {
		t.Fatal(err)
	}
	fr := sentencesOf(t, "fr")
	for _, tt := range []struct {
		step precis.RungResult
		want string
	}{
		{precis.RungResult{Code: policy.ReasonNothing, Reason: "no old images"}, "aucune ancienne image"},
		{precis.RungResult{Code: policy.ReasonVetoed, Reason: "hook: no"}, "un hook a refusé (hook: no)"},
		{precis.RungResult{Code: policy.ReasonBudget}, "le budget prévu est épuisé"},
		{precis.RungResult{Code: "new_one", Reason: "a new one"}, "a new one"},
	} {
		if got := all.Reason("fr", fr, tt.step); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
		if got := all.Reason("en", nil, tt.step); got != tt.step.Reason {
			t.Errorf("in English %q, want %q", got, tt.step.Reason)
		}
	}
}
