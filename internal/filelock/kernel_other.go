//go:build !linux && !darwin

package filelock

import (
	"context"
	"os"
)

// Try succeeds for a file of this process's own alone, which is empty.
func Try(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Size() > 0 {
		return false
	}
	_, err = f.WriteString("in use")
	return err == nil
}

// HasName reports whether an open file still has its name.
func HasName(f *os.File) bool {
	_, err := os.Lstat(f.Name())
	return err == nil
}

// Own takes the lock of a file that programs other than precis do not lock, as [Lock] does.
func Own(ctx context.Context, path string) (unlock func(), err error) { return Lock(ctx, path) }
