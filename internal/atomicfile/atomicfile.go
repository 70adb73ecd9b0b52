// Package atomicfile writes files atomically.
package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/precis-dev/precis"
)

// Write writes data to path: into a new file next to it, flushed to disk, then renamed over it. An
// existing file keeps its mode and, when written by root, its owner; new ones get 0600. A link is
// replaced, not followed. On failure (a full disk, a read-only folder) the old content stays and
// the new file is removed. The error is [precis.CodeInternal] and names the path.
func Write(path string, data []byte) error { return WriteAs(path, data, path) }

// WriteAs is Write, except that a new file gets the owner of the file like when written by root.
func WriteAs(path string, data []byte, like string) error {
	if err := write(path, data, like); err != nil {
		var pathErr *fs.PathError
		if errors.As(err, &pathErr) {
			err = pathErr.Err
		}
		return &precis.Error{
			Code: precis.CodeInternal, Op: "write", Place: path, Err: err,
			Hint: "nothing was changed; is there room and permission to write in the folder?",
		}
	}
	return nil
}

func write(path string, data []byte, like string) (err error) {
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
		if mode&0o200 == 0 {
			return fs.ErrPermission
		}
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".tmp-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if _, err = f.Write(data); err != nil {
		return err
	}
	if err = f.Chmod(mode); err != nil {
		return err
	}
	if err = keepOwner(f, path, like); err != nil {
		return err
	}
	if err = f.Sync(); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// keepOwner gives f the owner of the file at path or, if that does not exist, of the file like.
func keepOwner(f *os.File, path, like string) error {
	info, err := os.Lstat(path)
	if err != nil {
		info, err = os.Lstat(like)
	}
	if err != nil {
		return nil // there is no owner to copy
	}
	return copyOwner(f, info)
}
