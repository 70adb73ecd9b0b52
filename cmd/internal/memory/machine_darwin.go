package memory

import "golang.org/x/sys/unix"

// machine returns the memory of the machine in bytes; 0 if unknown.
func machine() uint64 {
	n, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return 0
	}
	return n
}
