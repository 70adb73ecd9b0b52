package serving

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/precis-dev/precis/cmd/internal/command"
	"github.com/precis-dev/precis/cmd/internal/console"
	"github.com/precis-dev/precis/conversation"
)

func TestAnAgentSeesSessionsThatBeginLater(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("HOME", folder)
	t.Setenv("XDG_CONFIG_HOME", folder)
	t.Setenv("XDG_CACHE_HOME", folder)
	write := func(name string) {
		line := `{"type":"user","uuid":"u","parentUuid":null,"sessionId":"` + name + `","cwd":"/src/` + name + `","timestamp":"2026-03-01T10:00:00Z","message":{"role":"user","content":"Hello"}}` + "\n"
		path := filepath.Join(folder, ".claude", "projects", "p", name+".jsonl")
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(line), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("one")
	tools := command.New(console.Standard(os.Getenv), "")
	defer tools.Jobs.Close()
	lib, err := tools.Jobs.Sessions(t.Context(), []string{folder}, nil)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	home := newLiving(lib, func() time.Time { return now })
	sees := func() int {
		page, err := conversation.List(t.Context(), home, conversation.ListQuery{})
		if err != nil {
			t.Fatal(err)
		}
		return len(page.Items)
	}
	if n := sees(); n != 1 {
		t.Fatalf("%d sessions", n)
	}
	write("two")
	if n := sees(); n != 1 {
		t.Errorf("files are looked at each time: %d sessions", n)
	}
	now = now.Add(freshFor)
	if n := sees(); n != 2 {
		t.Errorf("%d sessions after a while", n)
	}
	if folder, err := home.Folder(t.Context(), "two"); err != nil || folder != "/src/two" {
		t.Errorf("the folder of two: %q, %v", folder, err)
	}
}
