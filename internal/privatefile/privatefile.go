// Package privatefile makes files that a library opens by name private to the user: a database, and
// the files that the database creates next to it. Start with [Make].
package privatefile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// beside are the suffixes of the files that SQLite creates next to a database. New ones get the
// mode of the database.
var beside = []string{"", "-wal", "-shm", "-journal"}

// Make creates a file at path, if it is missing, that only the user can access. An existing one
// that everyone may read or write becomes private, together with the files of SQLite next to it, if
// the user may change them; one that is shared with a group stays as it is. An existing file is not
// opened, because closing it would release SQLite's locks on it in this process.
func Make(path string) error {
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		return &fs.PathError{Op: "open", Path: path, Err: syscall.EISDIR}
	}
	if errors.Is(err, fs.ErrNotExist) {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			err = f.Close()
		}
		if err != nil && !errors.Is(err, fs.ErrExist) { // another process may have been faster
			return err
		}
	}
	for _, ending := range beside {
		removeOtherAccess(path + ending)
	}
	return nil
}

// removeOtherAccess removes everyone's access to a file. Files of other users stay unchanged.
func removeOtherAccess(path string) {
	info, err := os.Stat(path)
	if err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o007 != 0 {
		_ = os.Chmod(path, 0o600)
	}
}
