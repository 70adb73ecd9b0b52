//go:build linux || darwin

package doctor

import "syscall"

// freeBytes returns the free space on the disk of a folder.
func freeBytes(dir string) (n uint64, known bool) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, false
	}
	return s.Bavail * uint64(s.Bsize), true
}
