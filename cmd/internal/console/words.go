package console

import (
	"strings"
	"sync"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/cmd/internal/term"
	"github.com/precis-dev/precis/internal/texts"
	"github.com/precis-dev/precis/policy"
)

// Words translates the texts of the command line to one language. The zero value is English. It is
// safe for concurrent use.
type Words struct {
	Lang string // language of the catalog; "": the default

	once      sync.Once
	catalog   texts.Catalog    // read at first use
	sentences *texts.Sentences // nil: English
}

// LanguageOf returns the language that the environment selects by the rules of POSIX.
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
	// on an error texts are shown by their keys; a test reads all catalogs
	w.catalog, _ = texts.ReadOne(w.Lang)
	if w.Lang != texts.Choose() {
		w.sentences, _ = texts.ReadSentences(w.Lang)
	}
}

// Say returns the text of a key, given without "cli.".
func (w *Words) Say(key string, args ...any) string {
	w.once.Do(w.read)
	return w.catalog.Text(w.Lang, "cli."+key, args...)
}

// Failure describes the named failure of a condensation.
func (w *Words) Failure(name string) string {
	w.once.Do(w.read)
	return w.catalog.Failure(w.Lang, name)
}

// Kind returns the name of a kind of edits, as on the pages.
func (w *Words) Kind(k precis.EditKind) string {
	if w.English() {
		return string(k)
	}
	return w.catalog.Text(w.Lang, "kind."+string(k))
}

// Text translates an English sentence of the code, with its values after it. Package texts has the
// translations; a test finds sentences without one.
func (w *Words) Text(english string, args ...any) string {
	w.once.Do(w.read)
	return w.sentences.Text(english, args...)
}

// Sentence translates a sentence that the engine wrote in English: a reason, a hint, a warning.
// Without a translation it stays English.
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

// Part returns the name of a part of a window, as on the pages: "tool result", "free".
func (w *Words) Part(name string) string {
	if w.English() {
		return name
	}
	return w.catalog.Text(w.Lang, "kind."+strings.ReplaceAll(name, " ", "_"))
}

// Outcome returns the name of a rung's outcome, as on the pages.
func (w *Words) Outcome(o precis.Outcome) string {
	if w.English() {
		return string(o)
	}
	return w.catalog.Text(w.Lang, "outcome."+string(o))
}

// Reason explains why a rung made no change: the engine's sentence if it has a translation, else
// the meaning of its code followed by the English sentence.
func (w *Words) Reason(s precis.RungResult) string {
	w.once.Do(w.read)
	return w.catalog.Reason(w.Lang, w.sentences, s)
}

// Count returns "1 fact" or "12 facts".
func (w *Words) Count(n int, noun string) string {
	if n == 0 && w.lang() == "fr" {
		return w.Text("%d "+noun, n)
	}
	return w.Text("%d "+term.Noun(n, noun), n)
}

// Number formats n by the rules of the language.
func (w *Words) Number(n int) string { return texts.Number(w.lang(), n) }

// Known formats a number; nil is "?".
func (w *Words) Known(n *int) string { return texts.Known(w.lang(), n) }

// Percent formats a share by the rules of the language.
func (w *Words) Percent(p float64) string { return texts.Percent(w.lang(), p) }

// Dollars formats an amount of money by the rules of the language.
func (w *Words) Dollars(usd float64) string { return texts.Dollars(w.lang(), usd) }

// Amount formats an amount of money with a number of decimal places.
func (w *Words) Amount(usd float64, places int) string { return texts.Amount(w.lang(), usd, places) }

// Decimal replaces the decimal point of an English number by the language's.
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

// Ago returns the time since the last edit of a conversation, in words.
func (w *Words) Ago(s policy.Status, now time.Time) string {
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

// Problem describes an error. In English it is the error's text; in other languages its kind,
// followed in parentheses by the cause, which stays English without a translation.
func (w *Words) Problem(err error) string {
	w.once.Do(w.read)
	return w.catalog.Problem(w.Lang, w.sentences, err)
}

// English reports whether the language is English, the engine's own.
func (w *Words) English() bool {
	w.once.Do(w.read)
	return w.Lang == texts.Choose()
}
