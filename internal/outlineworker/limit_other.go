//go:build !(linux || darwin)

package outlineworker

import "errors"

// Limit fails: there is no way here to bound a process, so none is to parse.
func Limit() error { return errors.ErrUnsupported }

func worn() bool { return false }
