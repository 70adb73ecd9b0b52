//go:build unix

package privatefile_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/precis-dev/precis/internal/privatefile"
)

func TestFilesAreTheUsersAlone(t *testing.T) {
	dir := t.TempDir()
	mode := func(path string) os.FileMode {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Mode().Perm()
	}
	for name, want := range map[os.FileMode]os.FileMode{0: 0o600, 0o644: 0o600, 0o666: 0o600, 0o604: 0o600, 0o640: 0o640, 0o660: 0o660, 0o600: 0o600} {
		path := filepath.Join(dir, name.String()+".db")
		if name != 0 {
			for _, file := range []string{path, path + "-wal"} {
				if err := os.WriteFile(file, []byte("kept"), 0o600); err != nil {
					t.Fatal(err)
				}
				if err := os.Chmod(file, name); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := privatefile.Make(path); err != nil {
			t.Fatal(err)
		}
		if got := mode(path); got != want {
			t.Errorf("%v becomes %v, want %v", name, got, want)
		}
		if name != 0 {
			if got := mode(path + "-wal"); got != want {
				t.Errorf("beside it, %v becomes %v, want %v", name, got, want)
			}
			if data, _ := os.ReadFile(path); string(data) != "kept" {
				t.Errorf("%v: its content is %q", name, data)
			}
		}
	}
	if err := privatefile.Make(filepath.Join(dir, "none", "x.db")); err == nil {
		t.Error("a folder that is not there is made")
	}
}
