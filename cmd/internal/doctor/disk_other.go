//go:build !linux && !darwin

package doctor

// freeBytes is not supported on this system.
func freeBytes(string) (n uint64, known bool) { return 0, false }
