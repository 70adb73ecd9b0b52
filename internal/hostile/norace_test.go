//go:build !race

package hostile_test

// raced reports whether the race detector is at work, which takes most of the time.
const raced = false
