package launch

import (
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/filelock"
)

// Temp is the folder of one run, made on first use. A file of the same name with lockSuffix, next
// to it, is locked by this process: a folder with an unlocked file belongs to a run that was
// killed. The process number does not identify the run, because containers have process numbers of
// their own.
type Temp struct {
	base string

	mu   sync.Mutex
	dir  string
	lock *os.File // of dir
}

const (
	tempPrefix = "precis-run-"
	lockSuffix = ".lock"
)

// NewTemp returns the folder of this run. It removes the folders of ended runs.
func NewTemp(env func(string) string) *Temp {
	t := &Temp{base: os.TempDir()}
	if dir := env("XDG_RUNTIME_DIR"); dir != "" && isDir(dir) {
		t.base = dir // only this user can read it, and it is in memory
	}
	clean(t.base)
	return t
}

// Dir returns the folder. Other users cannot read it.
func (t *Temp) Dir() (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.dir != "" {
		return t.dir, nil
	}
	lock, err := newLock(t.base)
	if err != nil {
		return "", precis.Errorf(precis.CodeInternal, "make folder for a client", "%w", err)
	}
	dir := strings.TrimSuffix(lock.Name(), lockSuffix)
	if err := os.Mkdir(dir, 0o700); err != nil {
		discard(lock)
		return "", precis.Errorf(precis.CodeInternal, "make folder for a client", "%w", err)
	}
	t.dir, t.lock = dir, lock
	return dir, nil
}

// newLock creates a new file and locks it.
func newLock(base string) (*os.File, error) {
	for {
		f, err := os.CreateTemp(base, tempPrefix+"*"+lockSuffix)
		if err != nil {
			return nil, err
		}
		if filelock.Try(f) && filelock.HasName(f) {
			return f, nil
		}
		_ = f.Close() // another run was faster: it took the file for an abandoned one
	}
}

// discard removes and releases a lock file.
func discard(lock *os.File) {
	_ = os.Remove(lock.Name())
	_ = lock.Close()
}

// Close removes the folder.
func (t *Temp) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.dir == "" {
		return nil
	}
	err := os.RemoveAll(t.dir)
	discard(t.lock)
	t.dir, t.lock = "", nil
	return err
}

// clean removes the folders with unlocked files. Files of other users cannot be opened, and stay.
func clean(base string) {
	entries, err := os.ReadDir(base)
	if err != nil {
		return // there are no folders then
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), tempPrefix) || !strings.HasSuffix(e.Name(), lockSuffix) ||
			!e.Type().IsRegular() {
			continue
		}
		path := filepath.Join(base, e.Name())
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			continue
		}
		if !filelock.Try(f) {
			_ = f.Close()
			continue
		}
		if os.RemoveAll(strings.TrimSuffix(path, lockSuffix)) == nil {
			_ = os.Remove(path)
		}
		_ = f.Close()
	}
}
