package roo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"precis"
)

// The lock of Roo Code: a folder beside the file, with the file's name and
// ".lock", whose modification time is refreshed while it is held (the protocol
// of the npm package proper-lockfile).
const (
	lockStale   = 31 * time.Second
	lockRetries = 5
	lockWait    = 100 * time.Millisecond
	lockWaitMax = time.Second
)

// lock takes Roo's lock on a file and returns the function that gives it back.
// A lock not refreshed for 31 seconds is taken over. The error is
// [precis.CodeConflict] when somebody else holds it through all retries.
func lock(ctx context.Context, path string) (unlock func(), err error) {
	name := path + ".lock"
	wait := lockWait
	for try := 0; ; try++ {
		err = os.Mkdir(name, 0o755)
		if err == nil {
			return func() { os.Remove(name) }, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, &precis.Error{Code: precis.CodeInternal, Op: "lock", Place: path, Err: err, Hint: "nothing was changed"}
		}
		if info, statErr := os.Stat(name); statErr == nil && time.Since(info.ModTime()) > lockStale {
			os.Remove(name)
			continue
		}
		if try == lockRetries {
			return nil, &precis.Error{
				Code: precis.CodeConflict, Op: "lock", Place: path, Err: errors.New("the task is in use"),
				Hint: fmt.Sprintf("stop the task in the editor, or remove %s when nothing uses it", name),
			}
		}
		select {
		case <-ctx.Done():
			return nil, &precis.Error{Code: precis.CodeCanceled, Op: "lock", Place: path, Err: context.Cause(ctx)}
		case <-time.After(wait):
		}
		wait = min(2*wait, lockWaitMax)
	}
}
