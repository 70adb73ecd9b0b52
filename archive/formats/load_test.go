package formats_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/archive/formats"
)

func TestNameOf(t *testing.T) {
	for path, want := range map[string]string{
		"/a/run.json": "run", "/a/.hidden": ".hidden", "/a/s1.messages.json": "s1.messages", "/a/opencode.db#ses_1": "ses_1", "/tasks/17": "17",
	} {
		if got := formats.NameOf(path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

// The events of a conversation are read in the order of their numbers, whatever their
// files are like.
func TestEventsAreLines(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "conversation")
	for name, text := range map[string]string{
		"event-00002-b.json": "{\n \"id\": 2\n}", "event-00010-c.json": `{"id":10}`, "event-00000-a.json": `{"id":0}`, "event-00003-x.json": "{broken\nline", "notes.json": "no",
	} {
		path := filepath.Join(dir, formats.EventFolder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{dir, filepath.Join(dir, formats.EventFolder)} {
		src, err := formats.Load(path)
		if want := "{\"id\":0}\n{\"id\":2}\n{broken line\n{\"id\":10}\n"; err != nil || string(src.Data) != want {
			t.Errorf("%s: %q, %v", path, src.Data, err)
		}
	}
	if _, err := formats.Load(filepath.Join(dir, "nothing")); precis.CodeOf(err) != precis.CodeNotFound {
		t.Errorf("nothing: %v", err)
	}
	if _, err := archive.Read(archive.Source{Data: []byte("{}")}, formats.All()); err == nil || !strings.Contains(err.Error(), "recognize") && precis.CodeOf(err) != precis.CodeInvalid {
		t.Errorf("an object of no format: %v", err)
	}
}
