// Package texts contains the texts for people, in English, Chinese, Japanese and French: the pages
// of the dashboard, and, under keys that begin with "cli.", the outcomes and errors of the command
// line. Start with [Read]. [Sentences] translates English sentences of the code itself.
package texts

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/precis-dev/precis"
)

//go:embed en.json fr.json ja.json zh.json
var files embed.FS

// Languages returns the languages of the catalogue, the default one first.
func Languages() []string { return []string{"en", "zh", "ja", "fr"} }

// Catalog maps language and key to text. It is read-only.
type Catalog map[string]map[string]string

// Read reads the embedded catalogue.
func Read() (Catalog, error) {
	out := Catalog{}
	for _, lang := range Languages() {
		if err := out.read(lang); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// ReadOne reads one language of the catalogue, and the default one.
func ReadOne(lang string) (Catalog, error) {
	out := Catalog{}
	if err := out.read(Languages()[0]); err != nil {
		return nil, err
	}
	return out, out.read(lang)
}

func (c Catalog) read(lang string) error {
	data, err := files.ReadFile(lang + ".json")
	var one map[string]string
	if err == nil {
		err = json.Unmarshal(data, &one)
	}
	if err != nil {
		return precis.Errorf(precis.CodeInternal, "read texts", "%s: %w", lang, err)
	}
	c[lang] = one
	return nil
}

// Text returns the text of a key with its arguments filled in. A key that a language
// lacks is taken from the default one; the tests refuse that.
func (c Catalog) Text(lang, key string, args ...any) string {
	s, ok := c[lang][key]
	if !ok {
		if s, ok = c[Languages()[0]][key]; !ok {
			return key
		}
	}
	if len(args) == 0 {
		return s
	}
	return fmt.Sprintf(s, inLanguage(lang, args)...)
}

// Failure describes why a condensation failed, by its name.
func (c Catalog) Failure(lang, name string) string {
	if key := "failed." + name; c[Languages()[0]][key] != "" {
		return c.Text(lang, key)
	}
	return c.Text(lang, "failed.condense_failed")
}

// Reason describes why a rung acted or did not: its translated sentence or, without a translation,
// the text for the code of the reason, followed by the English sentence.
func (c Catalog) Reason(lang string, s *Sentences, step precis.RungResult) string {
	said, ok := s.Translate(step.Reason)
	key := "reason." + string(step.Code)
	if ok || s == nil || c[lang][key] == "" {
		return said
	}
	if step.Reason == "" {
		return c.Text(lang, key)
	}
	return c.Text(lang, key) + " (" + step.Reason + ")"
}

// Problem describes an error: in English its own text; in another language its kind, followed in
// parentheses by the cause, which is English if it has no translation. An error that does not come
// from precis is one of the command line.
func (c Catalog) Problem(lang string, s *Sentences, err error) string {
	if s == nil {
		return err.Error()
	}
	code := "usage"
	if _, own := errors.AsType[*precis.Error](err); own {
		code = string(precis.CodeOf(err))
	}
	return c.Text(lang, "cli.code."+code) + " (" + s.Error(err) + ")"
}

// Choose returns the first known language of wishes such as "fr", "fr-CA" or "fr_FR.UTF-8"; the
// default one if none is known.
func Choose(wishes ...string) string {
	for _, w := range wishes {
		if lang, ok := Language(w); ok {
			return lang
		}
	}
	return Languages()[0]
}

// Language returns the language that a wish names.
func Language(wish string) (lang string, ok bool) {
	base := strings.ToLower(strings.TrimSpace(wish))
	if i := strings.IndexAny(base, "-_.@"); i >= 0 {
		base = base[:i]
	}
	for _, lang := range Languages() {
		if lang == base {
			return lang, true
		}
	}
	return "", false
}
