package jobs

import (
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/precis-dev/precis/archive/roo"
	"github.com/precis-dev/precis/cmd/internal/config"
	"github.com/precis-dev/precis/cmd/internal/memory"
)

// collectAt is the heap growth, in percent, at which a command that reads one recording collects
// garbage. Collection takes a twentieth of the time, and large recordings are limited by memory.
// The variable GOGC overrides it.
const collectAt = 50

// withMemoryLimit limits the memory for reading recordings to the configured amount.
func (o *Opener) withMemoryLimit(c *config.Config) *Opener {
	o.limit = memory.Limit(c.MemoryMB)
	return o
}

// fits refuses a recording that needs more memory than allowed. If the recording seems to fit, its
// memory use is watched, and [Opener.Exceeded] receives an error if it exceeds the limit.
func (o *Opener) fits(path string) error {
	if o.limit == 0 {
		return nil
	}
	file := historyOf(path)
	if err := memory.Check(file, o.limit); err != nil {
		return err
	}
	if o.watched {
		return nil
	}
	o.watched = true
	if os.Getenv("GOGC") == "" {
		before := debug.SetGCPercent(collectAt)
		o.OnClose(func() error { debug.SetGCPercent(before); return nil })
	}
	stop := memory.Watch(file, o.limit, func(err error) { o.exceeded <- err })
	o.OnClose(func() error { stop(); return nil })
	return nil
}

// historyOf returns the file with the messages of a recording in a folder; for other paths the path
// itself.
func historyOf(path string) string {
	for _, name := range roo.HistoryNames {
		if file := filepath.Join(path, name); isFile(file) {
			return file
		}
	}
	return path
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// Exceeded receives an error when a recording uses more memory than allowed. The command must end
// then.
func (o *Opener) Exceeded() <-chan error { return o.exceeded }
