//go:build !unix

package service

import "os"

// hangups tells of nothing: there is no such signal.
func hangups() (<-chan os.Signal, func()) { return nil, func() {} }
