//go:build unix

package service

import (
	"os"
	"os/signal"
	"syscall"
)

// reloadSignals delivers signals that request a reload of the configuration.
func reloadSignals() (<-chan os.Signal, func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGHUP)
	return c, func() { signal.Stop(c) }
}
