//go:build linux || darwin

package filelock

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"
)

// Try locks a file that nobody else has locked, until it is closed or this process ends. Programs that are started do
// not inherit the lock.
func Try(f *os.File) bool {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}

// Own takes the lock of a file that programs other than precis do not lock; the file need not exist. The kernel lets go
// of it when the process ends, however that ends. The errors are those of [Lock], after 5 seconds.
func Own(ctx context.Context, path string) (unlock func(), err error) {
	const often, longest = 10 * time.Millisecond, 5 * time.Second
	name := path + suffix
	for range longest / often {
		if ctx.Err() != nil {
			return nil, canceled(ctx, path)
		}
		f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
		switch {
		case errors.Is(err, syscall.EISDIR): // of an earlier version, whose process may be running
			return Lock(ctx, path)
		case err != nil:
			return nil, cannot(path, err)
		case Try(f) && HasName(f):
			return func() { _, _ = os.Remove(name), f.Close() }, nil
		}
		_ = f.Close() // somebody else has it, or has just removed it
		select {
		case <-ctx.Done():
		case <-time.After(often):
		}
	}
	return nil, inUse(path)
}

// HasName reports whether an open file still has its name.
func HasName(f *os.File) bool {
	opened, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Lstat(f.Name())
	return err == nil && os.SameFile(opened, named)
}
