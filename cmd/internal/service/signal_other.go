//go:build !unix

package service

import "os"

// hangups delivers no signals, because this system has no such signal.
func reloadSignals() (<-chan os.Signal, func()) { return nil, func() {} }
