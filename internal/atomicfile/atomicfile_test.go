package atomicfile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/atomicfile"
)

func TestWriteReplacesAndKeepsTheMode(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := atomicfile.Write(path, []byte("one")); err != nil {
		t.Fatal(err)
	}
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o600 {
		t.Errorf("a new file has mode %v", info.Mode())
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Write(path, []byte("two")); err != nil {
		t.Fatal(err)
	}
	data, _ := os.ReadFile(path)
	if info, _ := os.Stat(path); string(data) != "two" || info.Mode().Perm() != 0o640 {
		t.Errorf("%q, mode %v", data, info.Mode())
	}
}

func TestReadOnlyFileIsLeftAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("old"), 0o400); err != nil {
		t.Fatal(err)
	}
	err := atomicfile.Write(path, []byte("new"))
	if precis.CodeOf(err) != precis.CodeInternal || !strings.Contains(err.Error(), path) {
		t.Errorf("error %v", err)
	}
	if data, _ := os.ReadFile(path); string(data) != "old" {
		t.Errorf("now %q", data)
	}
}
