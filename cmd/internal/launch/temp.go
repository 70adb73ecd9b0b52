package launch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"precis"
)

// Temp is the folder of one run, made when it is first needed. Its name tells
// the process that it belongs to, so that one whose process was killed can be
// known.
type Temp struct {
	base string

	mu  sync.Mutex
	dir string
}

const tempPrefix = "precis-run-"

// NewTemp returns the folder of this process. The folders of processes that are
// gone are removed.
func NewTemp(env func(string) string) *Temp {
	t := &Temp{base: os.TempDir()}
	if dir := env("XDG_RUNTIME_DIR"); dir != "" && isDir(dir) {
		t.base = dir // only this user can look into it, and it is memory
	}
	clean(t.base)
	return t
}

// Dir returns the folder. Nobody else can look into it.
func (t *Temp) Dir() (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.dir != "" {
		return t.dir, nil
	}
	dir := filepath.Join(t.base, fmt.Sprintf("%s%d-%s", tempPrefix, os.Getpid(), startOf(os.Getpid())))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", precis.Errorf(precis.CodeInternal, "make folder for a client", "%w", err)
	}
	t.dir = dir
	return dir, nil
}

// Close removes the folder.
func (t *Temp) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.dir == "" {
		return nil
	}
	err := os.RemoveAll(t.dir)
	t.dir = ""
	return err
}

// clean removes the folders of processes that are gone.
func clean(base string) {
	entries, err := os.ReadDir(base)
	if err != nil {
		return // there is nothing to remove then
	}
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), tempPrefix)
		if !ok || !e.IsDir() {
			continue
		}
		number, start, ok := strings.Cut(rest, "-")
		pid, err := strconv.Atoi(number)
		if !ok || err != nil || pid <= 0 || lives(pid, start) {
			continue
		}
		_ = os.RemoveAll(filepath.Join(base, e.Name())) // another user's stays
	}
}

// lives reports whether the process still runs that had this number and began
// then. Where nobody knows when processes began the number decides.
func lives(pid int, start string) bool {
	now := startOf(pid)
	if now != unknownStart && start != unknownStart {
		return now == start
	}
	return exists(pid)
}

// unknownStart stands for a start that is not known.
const unknownStart = "0"

// startOf returns when a process began, in a form of the system's own; "gone"
// when there is none.
func startOf(pid int) string {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if errors.Is(err, fs.ErrNotExist) && isDir("/proc/self") {
		return "gone"
	}
	// The name in parentheses may contain anything.
	_, rest, ok := strings.Cut(string(data[strings.LastIndexByte(string(data), ')')+1:]), " ")
	f := strings.Fields(rest)
	const start = 19 // the 22nd field
	if err != nil || !ok || len(f) <= start {
		return unknownStart
	}
	return f[start]
}
