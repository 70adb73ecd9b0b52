// Package filelock lets one process at a time write a file. Use [Own] for precis's own files, and
// [Lock] for files that Roo Code and Cline lock as well.
package filelock

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/precis-dev/precis"
)

// The protocol is Roo Code's, taken from the npm package proper-lockfile: a folder next to the
// file, with the file's name and ".lock", and a modification time that is refreshed while it is
// held.
const (
	stale   = 31 * time.Second
	retries = 5
	wait    = 100 * time.Millisecond
	waitMax = time.Second
)

// Lock takes the lock of the file at path, which need not exist, and returns the function that
// releases it. It is meant to be held briefly and is not refreshed; a lock older than 31 seconds is
// taken over. The error is [precis.CodeConflict] when another process holds it through all retries,
// about 2.5 seconds, and [precis.CodeCanceled] when ctx ends.
func Lock(ctx context.Context, path string) (unlock func(), err error) {
	name := path + suffix
	pause := wait
	for try := 0; ; try++ {
		if ctx.Err() != nil {
			return nil, canceled(ctx, path)
		}
		err = os.Mkdir(name, 0o755)
		if err == nil {
			return func() { _ = os.Remove(name) }, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, cannot(path, err)
		}
		removed := false
		if info, statErr := os.Stat(name); statErr == nil && time.Since(info.ModTime()) > stale {
			removed = os.Remove(name) == nil // still counts as a try: others may be as fast
		}
		if try >= retries {
			return nil, inUse(path)
		}
		if removed {
			continue
		}
		select {
		case <-ctx.Done():
			return nil, canceled(ctx, path)
		case <-time.After(pause):
		}
		pause = min(2*pause, waitMax)
	}
}

// suffix ends the name of a lock.
const suffix = ".lock"

func cannot(path string, err error) error {
	return &precis.Error{Code: precis.CodeInternal, Op: "lock", Place: path, Err: err,
		Hint: "nothing was changed"}
}

func inUse(path string) error {
	return &precis.Error{
		Code: precis.CodeConflict, Op: "lock", Place: path, Err: errors.New("it is in use"),
		Hint: fmt.Sprintf("end the program that uses it, or remove %s when none does", path+suffix),
	}
}

func canceled(ctx context.Context, path string) error {
	return &precis.Error{Code: precis.CodeCanceled, Op: "lock", Place: path, Err: context.Cause(ctx)}
}
