package console

import (
	"strings"
	"sync"
	"time"

	"precis"
	"precis/cmd/internal/term"
	"precis/internal/texts"
)

// Words are the texts of the command line in one language. The zero value is English. It
// is safe for concurrent use.
type Words struct {
	Lang string // of the catalogue; "": the default one

	once      sync.Once
	catalog   texts.Catalog    // read when a text is needed first
	sentences *texts.Sentences // nil: English
}

// LanguageOf returns the language that the environment asks for, as POSIX has it.
func LanguageOf(env func(string) string) string {
	for _, name := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
		if v := env(name); v != "" {
			return texts.Choose(v)
		}
	}
	return texts.Choose()
}

func (w *Words) read() {
	if w.Lang == "" {
		w.Lang = texts.Choose()
	}
	w.catalog, _ = texts.ReadOne(w.Lang) // the keys stand for texts that cannot be read; a test reads them all
	if w.Lang != texts.Choose() {
		w.sentences, _ = texts.ReadSentences(w.Lang)
	}
}

// Say returns a text; key is without "cli.".
func (w *Words) Say(key string, args ...any) string {
	w.once.Do(w.read)
	return w.catalog.Text(w.Lang, "cli."+key, args...)
}

// Failure says in words why a condensation failed, by its name.
func (w *Words) Failure(name string) string {
	w.once.Do(w.read)
	return w.catalog.Failure(w.Lang, name)
}

// Kind names a kind of edits as the pages do.
func (w *Words) Kind(k precis.EditKind) string {
	if w.English() {
		return string(k)
	}
	return w.catalog.Text(w.Lang, "kind."+string(k))
}

// Text translates a sentence that stands in the code in English, its values after it. Package
// texts keeps the translations; a test finds every sentence that lacks one.
func (w *Words) Text(english string, args ...any) string {
	w.once.Do(w.read)
	return w.sentences.Text(english, args...)
}

// Sentence translates what the engine has written in English: a reason, a hint, a warning.
// What nobody has translated stays English.
func (w *Words) Sentence(english string) string {
	w.once.Do(w.read)
	said, _ := w.sentences.Translate(english)
	return said
}

// Heads translates the headings of a table.
func (w *Words) Heads(english ...string) []string {
	out := make([]string, len(english))
	for i, head := range english {
		out[i] = w.Text(head)
	}
	return out
}

// Part names what a part of a window holds, as the pages do: "tool result", "free".
func (w *Words) Part(name string) string {
	if w.English() {
		return name
	}
	return w.catalog.Text(w.Lang, "kind."+strings.ReplaceAll(name, " ", "_"))
}

// Outcome names how a rung ended, as the pages do.
func (w *Words) Outcome(o precis.Outcome) string {
	if w.English() {
		return string(o)
	}
	return w.catalog.Text(w.Lang, "outcome."+string(o))
}

// Reason says why a rung changed nothing: the sentence of the engine where it has a
// translation, else what its code means, with the English after it.
func (w *Words) Reason(s precis.Step) string {
	w.once.Do(w.read)
	return w.catalog.Reason(w.Lang, w.sentences, s)
}

// Count is "1 fact" and "12 facts".
func (w *Words) Count(n int, noun string) string {
	if n == 0 && w.lang() == "fr" {
		return w.Text("%d "+noun, n)
	}
	return w.Text("%d "+term.Noun(n, noun), n)
}

// Number writes n as the language does.
func (w *Words) Number(n int) string { return texts.Number(w.lang(), n) }

// Known writes a number that may be unknown, nil: "?".
func (w *Words) Known(n *int) string { return texts.Known(w.lang(), n) }

// Percent writes a share as the language does.
func (w *Words) Percent(p float64) string { return texts.Percent(w.lang(), p) }

// Dollars writes an amount of money as the language does.
func (w *Words) Dollars(usd float64) string { return texts.Dollars(w.lang(), usd) }

// Amount writes an amount of money with so many places.
func (w *Words) Amount(usd float64, places int) string { return texts.Amount(w.lang(), usd, places) }

// Decimal writes a number that was written in English with the point of the language.
func (w *Words) Decimal(number string) string { return texts.Decimal(w.lang(), number) }

// lang returns the language.
func (w *Words) lang() string {
	w.once.Do(w.read)
	return w.Lang
}

// List joins texts: "a, b and c".
func (w *Words) List(parts []string) string {
	out := ""
	for i, p := range parts {
		switch {
		case i == 0:
		case i == len(parts)-1:
			out += w.Say("and")
		default:
			out += w.Say("comma")
		}
		out += p
	}
	return out
}

// Ago says how long ago the last edit of a conversation was made.
func (w *Words) Ago(s precis.Status, now time.Time) string {
	if w.English() {
		return s.Ago(now)
	}
	d := now.Sub(s.Last)
	switch {
	case d < time.Second:
		return w.Say("ago.now")
	case d < time.Minute:
		return w.Say("ago.seconds", int(d/time.Second))
	case d < time.Hour:
		return w.Say("ago.minutes", int(d/time.Minute))
	case d < 24*time.Hour:
		return w.Say("ago.hours", int(d/time.Hour))
	}
	return w.Say("ago.days", int(d/(24*time.Hour)))
}

// Problem says what went wrong: an error as it is written in English; in another language its
// kind, and in parentheses the cause, which is English where nobody has translated it.
func (w *Words) Problem(err error) string {
	w.once.Do(w.read)
	return w.catalog.Problem(w.Lang, w.sentences, err)
}

// English reports whether the language is the one that the engine writes in.
func (w *Words) English() bool {
	w.once.Do(w.read)
	return w.Lang == texts.Choose()
}
