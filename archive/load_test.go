package archive_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"precis"
	"precis/archive"
)

// Only regular files of a bounded size are read; the rest is refused before it is
// opened.
func TestFilesAreReadWithCare(t *testing.T) {
	dir := t.TempDir()
	large := filepath.Join(dir, "large")
	if err := os.WriteFile(large, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, archive.MaxBytes+1); err != nil { // a hole takes no room
		t.Skip("no large file can be made: ", err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink("/dev/zero", link); err != nil {
		t.Skip("no link can be made: ", err)
	}
	for path, want := range map[string]string{large: "more than 1073741824 bytes", link: "no regular file", dir: "no regular file"} {
		_, err := archive.ReadFile(path)
		if precis.CodeOf(err) != precis.CodeInvalid || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := archive.ReadFile(filepath.Join(dir, "none")); precis.CodeOf(err) != precis.CodeNotFound || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if data, err := archive.ReadFile(file); string(data) != "text" || err != nil {
		t.Errorf("%q, %v", data, err)
	}
}
