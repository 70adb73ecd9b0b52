//go:build !(linux || darwin)

package outlineworker

import "errors"

// Limit fails: a process cannot be bounded on this system, so none may parse.
func Limit() error { return errors.ErrUnsupported }

func worn() bool { return false }
