package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/cmd/internal/config"
)

// A file in the folder, whatever it holds, is used or refused by name, and sets nothing
// that a folder must not set.
func FuzzFolder(f *testing.F) {
	for _, s := range []string{
		"threshold: 50\n", "keep:\n  messages: 4\n", "hooks:\n  before: id\n", "a: &a [*a]\n", "gateway: {upstream: x}\n", "preset: off\n", "? [a]\n: b\n", "\xff\x00", "threshold: !!binary aGk=\n", "<<: {hooks: {before: id}}\n", `"gateway.upstream": x` + "\n",
	} {
		f.Add(s)
	}
	dir := f.TempDir()
	path := filepath.Join(dir, "precis.yaml")
	f.Fuzz(func(t *testing.T, text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := config.Load(config.Sources{Folder: path})
		if err != nil {
			if precis.CodeOf(err) != precis.CodeInvalid || !strings.Contains(err.Error(), "precis.yaml") {
				t.Fatalf("%v", err)
			}
			return
		}
		trusted, err := config.Load(config.Sources{})
		if err != nil {
			t.Fatal(err)
		}
		if c.Hooks != trusted.Hooks || c.Gateway.Upstream != trusted.Gateway.Upstream || c.Summarizer.Model != trusted.Summarizer.Model || c.Summarizer.URL != trusted.Summarizer.URL {
			t.Fatalf("%q sets more than a folder may", text)
		}
	})
}
