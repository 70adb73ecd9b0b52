// Package memory limits the memory of a command to what the machine has, and stops it with an error
// beyond that. [Limit] returns the allowed memory, [Check] refuses a recording that needs more
// before it is read, and [Watch] stops a command that exceeds the limit in spite of the estimate.
package memory

import (
	"fmt"
	"io"
	"math"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"github.com/precis-dev/precis"
)

// share is the default limit as a share of the machine's memory.
const share = 0.75

// Limit returns the memory that a command may use, in bytes: megabytes if positive, else the
// variable GOMEMLIMIT, else three quarters of the memory of the machine or its control group; 0
// if that is unknown.
func Limit(megabytes int) int64 {
	if megabytes > 0 {
		return int64(megabytes) << 20
	}
	if set := debug.SetMemoryLimit(-1); set < math.MaxInt64 {
		return set
	}
	return int64(share * float64(machine()))
}

// Error is the refusal of a recording that needs more memory than allowed.
type Error struct {
	Path  string
	Size  int64 // of the recording in bytes; 0: unknown
	Need  int64 // bytes of memory: estimated, or, if Taken, in use when the command was stopped
	Limit int64 // bytes
	Taken bool
}

// Error states the needed and the allowed memory.
func (e *Error) Error() string {
	of := "it"
	if e.Size > 0 {
		of = "its " + megabytes(e.Size)
	}
	if e.Taken {
		return fmt.Sprintf("%s took %s of memory and were not done; %s may be taken", of, megabytes(e.Need),
			megabytes(e.Limit))
	}
	return fmt.Sprintf("%s need about %s of memory; %s may be taken", of, megabytes(e.Need),
		megabytes(e.Limit))
}

func megabytes(n int64) string { return fmt.Sprintf("%d MB", (n+1<<20-1)>>20) }

func refusal(e *Error) error {
	return &precis.Error{Code: precis.CodeInvalid, Op: "read", Place: e.Path, Err: e,
		Hint: "memory_mb sets the limit, as in --set memory_mb=32000; the default is three quarters of the machine's memory"}
}

// Check returns an error of code [precis.CodeInvalid] that wraps an [*Error] if the file at path
// needs more than limit bytes of memory, estimated from its size and first bytes. It returns nil
// if the file is not regular or limit is 0.
func Check(path string, limit int64) error {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || limit <= 0 {
		return nil // the reader reports the error
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, sample))
	if err != nil {
		return nil
	}
	if need := estimate(head, info.Size()); need > limit {
		return refusal(&Error{Path: path, Size: info.Size(), Need: need, Limit: limit})
	}
	return nil
}

// Watch sets the runtime's soft limit to nine tenths of limit. If the program exceeds limit
// nevertheless, it calls f once, on a separate goroutine, with an error as from [Check]. Call
// stop to end watching. A limit of 0 means no limit.
func Watch(path string, limit int64, f func(error)) (stop func()) {
	if limit <= 0 {
		return func() {}
	}
	before := debug.SetMemoryLimit(limit / 10 * 9)
	done := make(chan struct{})
	go func() {
		every := time.NewTicker(interval)
		defer every.Stop()
		for {
			select {
			case <-done:
				return
			case <-every.C:
			}
			if n := inUse(); n > limit {
				e := &Error{Path: path, Need: n, Limit: limit, Taken: true}
				if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
					e.Size = info.Size()
				}
				f(refusal(e))
				return
			}
		}
	}()
	return func() {
		close(done)
		debug.SetMemoryLimit(before)
	}
}

// interval is the time between two checks. A program can allocate some hundred megabytes in it.
const interval = 50 * time.Millisecond

// inUse returns the memory of the program as the runtime counts it for its soft limit.
func inUse() int64 {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"},
		{Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64() - s[1].Value.Uint64())
}
