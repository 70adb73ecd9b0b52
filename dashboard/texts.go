package dashboard

import (
	"embed"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"precis"
)

//go:embed texts/*.json
var textFiles embed.FS

// languages are those of the catalogue, the default one first.
var languages = []string{"en", "zh", "ja", "fr"}

// texts is the catalogue: by language, the texts by key.
type texts map[string]map[string]string

// readTexts reads the embedded catalogue.
func readTexts() (texts, error) {
	out := texts{}
	for _, lang := range languages {
		data, err := textFiles.ReadFile(path.Join("texts", lang+".json"))
		if err == nil {
			var one map[string]string
			err = json.Unmarshal(data, &one)
			out[lang] = one
		}
		if err != nil {
			return nil, precis.Errorf(precis.CodeInternal, "read texts", "%s: %w", lang, err)
		}
	}
	return out, nil
}

// text returns the text of a key with its arguments filled in. A key that a language
// lacks is taken from the default one; the tests refuse that.
func (t texts) text(lang, key string, args ...any) string {
	s, ok := t[lang][key]
	if !ok {
		if s, ok = t[languages[0]][key]; !ok {
			return key
		}
	}
	if len(args) == 0 {
		return s
	}
	return fmt.Sprintf(s, args...)
}

// failure says in words why a condensation failed, by its name.
func (t texts) failure(lang, name string) string {
	if key := "failed." + name; t[languages[0]][key] != "" {
		return t.text(lang, key)
	}
	return t.text(lang, "failed.condense_failed")
}

// choose returns the first known language of: what is asked for, what was chosen
// before, and what the browser accepts, in its order.
func (t texts) choose(asked, chosen, accepted string) string {
	wishes := []string{asked, chosen}
	for _, part := range strings.Split(accepted, ",") {
		tag, _, _ := strings.Cut(part, ";")
		wishes = append(wishes, tag)
	}
	for _, w := range wishes {
		base, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(w)), "-")
		if t[base] != nil {
			return base
		}
	}
	return languages[0]
}

// text returns a text in the language of the reader.
func (c *call) text(key string, args ...any) string { return c.texts.text(c.prefs.Lang, key, args...) }
