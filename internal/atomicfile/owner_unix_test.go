//go:build unix

package atomicfile_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/precis-dev/precis/internal/atomicfile"
)

// What root writes still belongs to whom it did, and so does what is put beside it.
func TestFilesKeepTheirOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	const user, group = 12345, 23456
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("old"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(path, user, group); err != nil {
		t.Skip("files cannot be given away: ", err)
	}
	for _, write := range []func() (string, error){
		func() (string, error) { return path, atomicfile.Write(path, []byte("new")) },
		func() (string, error) { return path + "2", atomicfile.WriteAs(path+"2", []byte("new"), path) },
	} {
		name, err := write()
		if err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if stat := info.Sys().(*syscall.Stat_t); stat.Uid != user || stat.Gid != group {
			t.Errorf("%s belongs to %d:%d", name, stat.Uid, stat.Gid)
		}
	}
}
