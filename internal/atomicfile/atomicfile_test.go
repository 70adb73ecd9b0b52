package atomicfile_test

import (
	"bytes"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"precis"
	"precis/internal/atomicfile"
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

// TestFullDisk writes, in a process that may write no more than a few bytes,
// over an existing file.
func TestFullDisk(t *testing.T) {
	if path := os.Getenv("PRECIS_TEST_FULL_DISK"); path != "" {
		signal.Ignore(syscall.SIGXFSZ)
		limit := syscall.Rlimit{Cur: 100, Max: 100}
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			t.Skipf("no limit can be set: %v", err)
		}
		if err := atomicfile.Write(path, bytes.Repeat([]byte("x"), 5000)); err == nil {
			t.Fatal("wrote past the limit")
		}
		return
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run=TestFullDisk$")
	cmd.Env = append(os.Environ(), "PRECIS_TEST_FULL_DISK="+path)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if data, _ := os.ReadFile(path); string(data) != "old" {
		t.Errorf("the old content is gone: %q", data)
	}
	if files, _ := os.ReadDir(dir); len(files) != 1 {
		t.Errorf("%d files are left", len(files))
	}
}
