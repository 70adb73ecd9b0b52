//go:build !unix

package service

import "os"

// hangups delivers nothing: there is no such signal.
func hangups() (<-chan os.Signal, func()) { return nil, func() {} }
