package console

import (
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

	once    sync.Once
	catalog texts.Catalog // read when a text is needed first
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
	w.once.Do(w.read)
	return w.catalog.Text(w.Lang, "kind."+string(k))
}

// Count is "1 fact" and "12 facts"; the noun is one of the catalogue.
func (w *Words) Count(n int, noun string) string {
	form := "many."
	if n == 1 {
		form = "one."
	}
	return w.Say(form+noun, term.Number(n))
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
	case s.Last.IsZero():
		return w.Say("ago.never")
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

// problem says in the user's language of what kind an error is; "" in English, in which
// errors are written.
func (w *Words) problem(err error) string {
	if w.English() {
		return ""
	}
	code := "usage"
	if IsOwn(err) {
		code = string(precis.CodeOf(err))
	}
	return w.Say("code." + code)
}

// English reports whether the language is the one that the engine writes in.
func (w *Words) English() bool {
	w.once.Do(w.read)
	return w.Lang == texts.Choose()
}
