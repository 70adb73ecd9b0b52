// Package memory keeps a command within the memory of the machine. [Limit] is what it may
// take, [Check] refuses a recording that needs more before it is read, and [Watch] ends a
// command whose recording turns out to need more than was estimated.
package memory

import (
	"fmt"
	"io"
	"math"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"precis"
)

// share is the part of the machine's memory that a command takes where nothing is set.
const share = 0.75

// Limit returns the memory that a command may take, in bytes: megabytes where they are over 0,
// else what the variable GOMEMLIMIT says, else three quarters of what the machine or its
// control group has; 0 where nobody knows.
func Limit(megabytes int) int64 {
	if megabytes > 0 {
		return int64(megabytes) << 20
	}
	if set := debug.SetMemoryLimit(-1); set < math.MaxInt64 {
		return set
	}
	return int64(share * float64(machine()))
}

// Error is the refusal of a recording that needs more memory than there is.
type Error struct {
	Path  string
	Size  int64 // of the recording in bytes; 0: not known
	Need  int64 // bytes of memory: estimated, or, if Taken, what was taken when it was stopped
	Limit int64 // bytes
	Taken bool
}

// Error says how much is needed and how much may be taken.
func (e *Error) Error() string {
	of := "it"
	if e.Size > 0 {
		of = "its " + megabytes(e.Size)
	}
	if e.Taken {
		return fmt.Sprintf("%s took %s of memory and were not done; %s may be taken", of, megabytes(e.Need), megabytes(e.Limit))
	}
	return fmt.Sprintf("%s need about %s of memory; %s may be taken", of, megabytes(e.Need), megabytes(e.Limit))
}

func megabytes(n int64) string { return fmt.Sprintf("%d MB", (n+1<<20-1)>>20) }

func refusal(e *Error) error {
	return &precis.Error{Code: precis.CodeInvalid, Op: "read", Place: e.Path, Err: e,
		Hint: "memory_mb sets the limit, as in --set memory_mb=32000; the default is three quarters of the machine's memory"}
}

// Check returns an error of code [precis.CodeInvalid] that wraps an [*Error] when the file at
// path needs more than limit bytes of memory, by its size and its first bytes. It returns nil
// for what is no regular file, and when limit is 0.
func Check(path string, limit int64) error {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || limit <= 0 {
		return nil // whoever reads it says what is wrong
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

// Watch gives the runtime nine tenths of limit as its soft limit, and has f called, once and
// on a goroutine of its own, when the program takes more than limit bytes nevertheless. The
// error is like that of [Check]. The function returned ends it. A limit of 0 is none.
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
			if n := taken(); n > limit {
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

// interval is the time between two looks. A program fills some hundred megabytes in it.
const interval = 50 * time.Millisecond

// taken returns the memory of the program as the runtime counts it for its soft limit.
func taken() int64 {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64() - s[1].Value.Uint64())
}
