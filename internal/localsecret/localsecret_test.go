package localsecret_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/precis-dev/precis/internal/localsecret"
)

func TestLoadMakesOneSecretForAll(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	got := make([]string, 16)
	var all sync.WaitGroup
	for i := range got {
		all.Go(func() {
			var err error
			if got[i], err = localsecret.Load(dir); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, s := range got {
		if s != got[0] || len(s) < 20 {
			t.Fatalf("secrets of %d and %d characters differ", len(s), len(got[0]))
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Fatalf("the folder holds %v (%v), want the secret alone", entries, err)
	}
	if runtime.GOOS == "windows" {
		return
	}
	for path, want := range map[string]os.FileMode{dir: 0o700, filepath.Join(dir, localsecret.Name): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v, want %v", path, info.Mode(), err, want)
		}
	}
}

func TestLoadReplacesWhatIsNoSecret(t *testing.T) {
	for name, c := range map[string]struct {
		content string
		mode    os.FileMode
		kept    bool
	}{
		"readable by others": {strings.Repeat("A", 26), 0o644, false},
		"by the group":       {strings.Repeat("A", 26), 0o640, false},
		"empty":              {"", 0o600, false},
		"short":              {"abc\n", 0o600, false},
		"two lines":          {strings.Repeat("A", 26) + "\nX-Other: " + strings.Repeat("A", 26), 0o600, false},
		"good":               {strings.Repeat("A", 26) + "\n", 0o600, true},
	} {
		t.Run(name, func(t *testing.T) {
			if runtime.GOOS == "windows" && c.mode != 0o600 {
				t.Skip("files have no such modes")
			}
			dir := t.TempDir()
			path := filepath.Join(dir, localsecret.Name)
			if err := os.WriteFile(path, []byte(c.content), c.mode); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(path, c.mode); err != nil { // whatever the umask is
				t.Fatal(err)
			}
			first, err := localsecret.Load(dir)
			if err != nil {
				t.Fatal(err)
			}
			if kept := first == strings.TrimSpace(c.content); kept != c.kept {
				t.Errorf("kept: %v, want %v", kept, c.kept)
			}
			if second, err := localsecret.Load(dir); err != nil || second != first {
				t.Errorf("read again it is another one (%v)", err)
			}
		})
	}
}

func TestLoadNamesThePathOfAnError(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, localsecret.Name)
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if s, err := localsecret.Load(dir); err == nil || s != "" || !strings.Contains(err.Error(), path) {
		t.Errorf("%v, want an error that names %s", err, path)
	}
}

func TestEqual(t *testing.T) {
	for _, c := range []struct {
		sent, secret string
		want         bool
	}{{"a", "a", true}, {"a", "b", false}, {"", "a", false}, {"a", "", false}, {"", "", false}} {
		if got := localsecret.Equal(c.sent, c.secret); got != c.want {
			t.Errorf("Equal(%q, %q) = %v", c.sent, c.secret, got)
		}
	}
}
