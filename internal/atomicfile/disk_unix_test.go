//go:build unix

package atomicfile_test

import (
	"bytes"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/precis-dev/precis/internal/atomicfile"
)

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
