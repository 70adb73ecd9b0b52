//go:build unix

package sessions_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/precis-dev/precis/sessions"
)

// Titles and first words of recordings of mode 0600 stand in the index: it is the user's
// alone, also in a folder that others may read, and one that is not is taken back.
func TestTheIndexIsTheUsersAlone(t *testing.T) {
	h := newHome(t)
	h.fill()
	path := h.path("index", "sessions.db")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	check := func() {
		t.Helper()
		files, err := filepath.Glob(path + "*")
		if err != nil || len(files) == 0 {
			t.Fatal(files, err)
		}
		for _, file := range files {
			if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%s: %v, %v", filepath.Base(file), info.Mode(), err)
			}
		}
	}
	refresh(t, h.library(), sessions.Refreshed{Sessions: 10, Read: 10})
	check()
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	refresh(t, h.library(), sessions.Refreshed{Sessions: 10}) // and it still opens
	check()
}
