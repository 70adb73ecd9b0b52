package config

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/table"
	"github.com/precis-dev/precis/internal/table/tabletest"
	"github.com/precis-dev/precis/internal/texts"
)

// inFile writes a key and its value as a file does, with the key on the last line.
func inFile(t *testing.T, key, value string) string {
	t.Helper()
	group, name, nested := strings.Cut(key, ".")
	text := group + ": " + value + "\n"
	if nested {
		text = group + ":\n  " + name + ": " + value + "\n"
	}
	path := filepath.Join(t.TempDir(), "p.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A key of an earlier version is read from a file, a variable and a flag, with one warning that names
// its place; it has its old effect where oldKeys has it, and none otherwise.
func TestOldKeys(t *testing.T) {
	none, err := Load(Sources{})
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]*texts.Sentences{}
	for _, lang := range texts.Languages()[1:] {
		if said[lang], err = texts.ReadSentences(lang); err != nil {
			t.Fatal(err)
		}
	}
	tabletest.Examples(t, old(), func(row table.Row, value string) bool {
		name, next := row.Get("key"), row.Get("new")
		obeyed := slices.ContainsFunc(oldKeys, func(k key) bool { return k.name == name })
		if next != "" && (!obeyed || !slices.Contains(Keys(), next)) || slices.Contains(Keys(), name) || next == "" && row.Get("instead") == "" {
			t.Errorf("%s: %s", row.Place, name)
		}
		variable := EnvPrefix + strings.ToUpper(strings.ReplaceAll(name, ".", "_"))
		file := inFile(t, name, value)
		if _, err := Load(Sources{Folder: file}); obeyed != (precis.CodeOf(err) == precis.CodeInvalid) { // a folder may have what has no effect
			t.Errorf("%s: in a folder: %v", row.Place, err)
		}
		for place, src := range map[string]Sources{
			file + ":":     {Path: file},
			"$" + variable: {Env: func(k string) string { return map[string]string{variable: value}[k] }},
			"--set":        {Flags: map[string]string{name: value}},
			"--that-one":   {Flags: map[string]string{name: value}, Names: map[string]string{name: "--that-one"}},
		} {
			c, err := Load(src)
			if err != nil || len(c.Warnings) != 1 || !strings.HasPrefix(c.Warnings[0], place) || !strings.Contains(c.Warnings[0], ": "+name+" is ") {
				t.Errorf("%s: %s by %s: %v, %+v", row.Place, name, place, err, c)
				return false
			}
			same := reflect.DeepEqual([]any{c.Settings, c.Summarizer, c.Hooks, c.Gateway}, []any{none.Settings, none.Summarizer, none.Hooks, none.Gateway})
			if same == obeyed {
				t.Errorf("%s: %s has its effect: %v, want %v", row.Place, name, !same, obeyed)
			}
			if next != "" && !strings.HasPrefix(c.Origin(next), place) {
				t.Errorf("%s: nobody sees where %s comes from", row.Place, next)
			}
			for lang, s := range said {
				if said, ok := s.Translate(c.Warnings[0]); !ok || row.Get("instead") != "" && strings.Contains(said, row.Get("instead")) {
					t.Errorf("%s in %s: %q", row.Place, lang, said)
				}
			}
		}
		return true
	})
}

// Every obeyed key is in the table, arms have old keys, too, and a file is rid of one but gets none.
func TestOldKeysInFiles(t *testing.T) {
	for _, k := range oldKeys {
		if _, ok := old().Find(k.name); !ok {
			t.Errorf("%s is not in old.txt", k.name)
		}
	}
	path := filepath.Join(t.TempDir(), "p.yaml")
	text := "threshold: 60\nexperiments:\n  early:\n    arms:\n      a: {worth: 0.3}\n      b: {summarizer: {prompt_file: p}}\nworth: 0.1\nprofiles: {a/worth: 40}\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Load(Sources{Path: path})
	if err != nil || len(c.Warnings) != 3 || c.Arm("early/b").Summarizer.PromptFile != "p" {
		t.Fatalf("%v, %q", err, c.Warnings)
	}
	if _, err := c.Save(t.Context(), Change{Key: "worth", Value: "0.2"}); precis.CodeOf(err) != precis.CodeInvalid || !strings.Contains(err.Error(), "worth is out of date") {
		t.Errorf("an old key is written: %v", err)
	}
	if c, err = c.Save(t.Context(), Change{Key: "worth", Remove: true}, Change{Key: "warn", Value: "60"}); err != nil || len(c.Warnings) != 2 {
		t.Errorf("an old key is not taken out: %v, %q", err, c.Warnings)
	}
}
