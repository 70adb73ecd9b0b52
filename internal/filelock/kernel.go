//go:build linux || darwin

package filelock

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"
)

// Try locks an unlocked file until it is closed or this process ends; false if it is locked.
// Started programs do not inherit the lock.
func Try(f *os.File) bool {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}

// Own takes the lock of a file that only precis locks; the file need not exist. The kernel releases
// it when the process ends in any way. Errors are as for [Lock], after 5 seconds.
func Own(ctx context.Context, path string) (unlock func(), err error) {
	const often, longest = 10 * time.Millisecond, 5 * time.Second
	name := path + suffix
	for range longest / often {
		if ctx.Err() != nil {
			return nil, canceled(ctx, path)
		}
		f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
		switch {
		case errors.Is(err, syscall.EISDIR): // made by an earlier version that may still be running
			return Lock(ctx, path)
		case err != nil:
			return nil, cannot(path, err)
		case Try(f) && HasName(f):
			return func() { _, _ = os.Remove(name), f.Close() }, nil
		}
		_ = f.Close() // another process holds it, or has just removed it
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
