//go:build linux || darwin

package outlineworker

import (
	"bytes"
	"os"
	"runtime"
	"strconv"
	"syscall"
)

// Limits of the process.
const (
	mostCPU    = 120       // seconds, for all requests
	wornMemory = 256 << 20 // memory at which the process is replaced
	wornCPU    = 60
)

// Limit bounds the memory and processor time of this process permanently. A parser that exceeds
// them is ended by its C library or by the kernel.
func Limit() error {
	for what, most := range map[int]uint64{
		syscall.RLIMIT_CORE: 0,
		syscall.RLIMIT_CPU:  mostCPU,
		syscall.RLIMIT_AS:   addressSpace() + mostMemory,
	} {
		if err := syscall.Setrlimit(what, &syscall.Rlimit{Cur: most, Max: most}); err != nil {
			return os.NewSyscallError("setrlimit", err)
		}
	}
	return nil
}

// addressSpace returns the mapped address space. Go reserves more than a gigabyte at start without
// using it.
func addressSpace() uint64 {
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 2 << 30
	}
	first, _, _ := bytes.Cut(data, []byte(" "))
	pages, err := strconv.ParseUint(string(first), 10, 64)
	if err != nil {
		return 2 << 30
	}
	return pages * uint64(os.Getpagesize())
}

// worn reports whether the process has used so much of its limits that it should be replaced.
func worn() bool {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return false
	}
	return u.Utime.Sec+u.Stime.Sec >= wornCPU || int64(u.Maxrss)*maxrssUnit() >= wornMemory
}

// maxrssUnit is the unit of a maximum resident size, in bytes.
func maxrssUnit() int64 {
	if runtime.GOOS == "darwin" {
		return 1
	}
	return 1 << 10
}
