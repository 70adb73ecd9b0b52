// Package privatefile makes the files that a library opens by name private to the user: a
// database, and what the database puts next to it. Start with [Make].
package privatefile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// beside are the endings of the files that SQLite puts next to a database. New ones get
// the mode of the database.
var beside = []string{"", "-wal", "-shm", "-journal"}

// Make makes sure that there is a file at path, for the user alone. One that is there
// already and that everybody on the machine may read or write is taken back to the user,
// together with the files of SQLite beside it, as far as they are the user's to change; one
// that a group shares stays as it is. A file that is there is not opened: closing it would
// end the locks that SQLite has on it in this process.
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
		if err != nil && !errors.Is(err, fs.ErrExist) { // another process was faster
			return err
		}
	}
	for _, ending := range beside {
		tighten(path + ending)
	}
	return nil
}

// tighten takes a file back from everybody. What is not the user's stays as it is.
func tighten(path string) {
	info, err := os.Stat(path)
	if err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o007 != 0 {
		_ = os.Chmod(path, 0o600)
	}
}
