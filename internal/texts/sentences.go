package texts

import (
	"bytes"
	_ "embed" // sentences.json.packed
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/packed"
)

// sentencesFile is sentences.json, packed: go test ./internal/texts -run Packed -update rewrites
// it.
//
//go:embed sentences.json.packed
var sentencesFile []byte

// Sentences translates sentences that precis writes in English in its own code: why a rung was
// declined, hints of errors, heads of tables, help. Logs, JSON and recordings contain the English
// sentence in any language of the reader, including recordings of earlier versions and answers of
// other processes. So the English sentence is the key, with a verb such as %d or %s for each value.
// A nil *Sentences is English. It is safe for concurrent use.
type Sentences struct {
	lang     string
	byKey    map[string]string
	once     sync.Once
	plain    map[string]string // sentences without values
	patterns []pattern
}

// ReadSentences reads the sentences of a language; nil is English.
func ReadSentences(lang string) (*Sentences, error) {
	all, err := AllSentences()
	if err != nil {
		return nil, err
	}
	return in(lang, all), nil
}

// ReadEverySentence reads the sentences of all languages, by language.
func ReadEverySentence() (map[string]*Sentences, error) {
	all, err := AllSentences()
	if err != nil {
		return nil, err
	}
	out := map[string]*Sentences{}
	for _, lang := range Languages() {
		out[lang] = in(lang, all)
	}
	return out, nil
}

// in returns the sentences of one language.
func in(lang string, all map[string]map[string]string) *Sentences {
	if lang == Languages()[0] {
		return nil
	}
	s := &Sentences{lang: lang, byKey: make(map[string]string, len(all))}
	for key, said := range all {
		s.byKey[key] = said[lang]
	}
	return s
}

// AllSentences returns the translations, by English sentence and language.
func AllSentences() (map[string]map[string]string, error) {
	var all map[string]map[string]string
	text, err := packed.Text(sentencesFile)
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		return nil, precis.Errorf(precis.CodeInternal, "read texts", "sentences: %w", err)
	}
	return all, nil
}

// Text returns the translation of a key with its values filled in, whole numbers in the format of
// the language. An unknown key stays English.
func (s *Sentences) Text(key string, args ...any) string {
	lang := Languages()[0]
	if s != nil {
		lang = s.lang
		if said, ok := s.byKey[key]; ok {
			return fmt.Sprintf(said, inLanguage(lang, args)...)
		}
	}
	if len(args) == 0 {
		return key
	}
	return fmt.Sprintf(key, inLanguage(lang, args)...)
}

// Translate returns the translation of a finished sentence: one that is a key, or that matches a
// key with values. Values that are sentences are translated, too, and so is a list of sentences.
// Other sentences stay unchanged, and ok is false.
func (s *Sentences) Translate(sentence string) (said string, ok bool) {
	if s == nil {
		return sentence, false
	}
	s.once.Do(s.index)
	return s.translate(sentence, 4)
}

// Error returns the text of an error with its cause translated and its place before it; the
// original text if the cause has no translation.
func (s *Sentences) Error(err error) string {
	e, own := errors.AsType[*precis.Error](err)
	if !own || e.Err == nil {
		said, _ := s.Translate(err.Error())
		return said
	}
	said, ok := s.Translate(e.Err.Error())
	switch {
	case !ok:
		return err.Error()
	case e.Place != "":
		return e.Place + ": " + said
	}
	return said
}

// translate translates nested sentences down to a depth.
func (s *Sentences) translate(sentence string, depth int) (string, bool) {
	if said, ok := s.plain[sentence]; ok {
		return said, true
	}
	if depth == 0 || sentence == "" || len(sentence) > longestSentence {
		return sentence, false
	}
	var best *pattern
	var values []string
	for i := range s.patterns {
		p := &s.patterns[i]
		if best != nil && p.letters <= best.letters {
			continue
		}
		if v, ok := p.match(sentence); ok {
			best, values = p, v
		}
	}
	if best == nil {
		return s.list(sentence, depth)
	}
	args := make([]any, len(values))
	for i, v := range values {
		if best.verbs[i] == 'd' {
			n, _ := strconv.Atoi(strings.ReplaceAll(v, ",", ""))
			args[i] = counted{s.lang, n}
			continue
		}
		args[i] = s.value(v, depth-1)
	}
	return fmt.Sprintf(best.said, args...), true
}

// separators separate the parts of a list.
var separators = []struct {
	english string
	in      map[string]string
}{
	{"; ", map[string]string{"fr": "\u00a0; ", "ja": "；", "zh": "；"}},
	{", ", map[string]string{"fr": ", ", "ja": "、", "zh": "、"}},
}

// list translates parts separated by commas or semicolons, if all of them are sentences.
func (s *Sentences) list(sentence string, depth int) (string, bool) {
	for _, sep := range separators {
		parts := strings.Split(sentence, sep.english)
		for i, p := range parts {
			var ok bool
			if parts[i], ok = s.translate(p, depth-1); !ok {
				parts = nil
				break
			}
		}
		if len(parts) > 1 {
			return strings.Join(parts, sep.in[s.lang]), true
		}
	}
	return sentence, false
}

// value returns a value of a sentence in the language: a number, or a sentence.
func (s *Sentences) value(v string, depth int) string {
	digits := strings.ReplaceAll(strings.TrimSuffix(v, " %"), ",", "")
	if n, err := strconv.Atoi(digits); err == nil && v[0] != '+' && (len(digits) < 4 || digits != v) {
		return Number(s.lang, n) + v[len(strings.TrimSuffix(v, " %")):]
	}
	if _, err := strconv.ParseFloat(digits, 64); err == nil && strings.HasSuffix(v, " %") {
		return Decimal(s.lang, v)
	}
	said, _ := s.translate(v, depth)
	return said
}

// longestSentence is the longest sentence, in bytes, that is compared with the keys: longer ones
// contain text of other origin.
const longestSentence = 2000

// index makes the table of sentences and patterns.
func (s *Sentences) index() {
	s.plain = map[string]string{}
	for key, said := range s.byKey {
		if p := newPattern(key, said); len(p.verbs) > 0 {
			s.patterns = append(s.patterns, p)
		} else {
			s.plain[p.parts[0]] = strings.ReplaceAll(said, "%%", "%")
		}
	}
}

// pattern is a sentence with values: parts[0], a value, parts[1] and so on.
type pattern struct {
	parts   []string
	verbs   []byte // one fewer than parts: 'd' is a whole number, 's' is any text
	letters int    // total in all parts
	said    string
}

// newPattern parses a key.
func newPattern(key, said string) pattern {
	p := pattern{said: said}
	part := ""
	for i := 0; i < len(key); i++ {
		switch {
		case key[i] != '%' || i+1 == len(key):
			part += key[i : i+1]
			continue
		case key[i+1] == '%':
			part += "%"
		default:
			p.parts, part = append(p.parts, part), ""
			p.verbs = append(p.verbs, key[i+1])
		}
		i++
	}
	p.parts = append(p.parts, part)
	for _, s := range p.parts {
		p.letters += len(strings.TrimFunc(s, func(r rune) bool { return !unicode.IsLetter(r) }))
	}
	return p
}

// leastLetters is how many letters a key with text values must have to be recognized, unless it
// begins with a word and has a single text value: "%s in %s" would match too many sentences.
const leastLetters = 5

// match returns the values of a sentence that matches p.
func (p *pattern) match(sentence string) (values []string, ok bool) {
	last := len(p.parts) - 1
	rest, ok := strings.CutPrefix(sentence, p.parts[0])
	if !ok || p.letters < leastLetters && bytes.ContainsRune(p.verbs, 's') &&
		(p.parts[0] == "" || len(p.verbs) > 1) {
		return nil, false
	}
	for i, verb := range p.verbs {
		at := len(rest) - len(p.parts[last])
		switch {
		case i+1 == last && (at < 0 || !strings.HasSuffix(rest, p.parts[last])):
			return nil, false
		case i+1 < last:
			if at = strings.Index(rest, p.parts[i+1]); at < 0 {
				return nil, false
			}
		}
		value := rest[:at]
		if value == "" || verb == 'd' && strings.Trim(value, "0123456789,") != "" {
			return nil, false
		}
		values, rest = append(values, value), rest[at+len(p.parts[i+1]):]
	}
	return values, true
}

// inLanguage returns values in the format of a language.
func inLanguage(lang string, args []any) []any {
	said := make([]any, len(args))
	for i, a := range args {
		if n, ok := a.(int); ok {
			a = counted{lang, n}
		}
		said[i] = a
	}
	return said
}
