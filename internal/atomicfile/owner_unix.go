//go:build unix

package atomicfile

import (
	"io/fs"
	"os"
	"syscall"
)

// copyOwner gives f the owner of a file, when this process is root's.
func copyOwner(f *os.File, info fs.FileInfo) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || os.Geteuid() != 0 || stat.Uid == 0 && stat.Gid == 0 {
		return nil
	}
	return f.Chown(int(stat.Uid), int(stat.Gid))
}
