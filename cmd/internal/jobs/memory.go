package jobs

import (
	"os"
	"path/filepath"
	"runtime/debug"

	"precis/archive/roo"
	"precis/cmd/internal/config"
	"precis/cmd/internal/memory"
)

// collectAt is the growth of the heap, in percent, at which it is collected by a command that
// reads one recording: the collector takes a twentieth of the time, and memory is what large
// recordings lack. The variable GOGC sets another.
const collectAt = 50

// within has recordings read within the limit of memory that is configured.
func (o *Opener) within(c *config.Config) *Opener {
	o.limit = memory.Limit(c.MemoryMB)
	return o
}

// fits refuses a recording that needs more memory than there is, and watches one that does
// not seem to: [Opener.Exceeded] receives when it does nevertheless.
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

// historyOf returns the file with the messages of a recording that is a folder; path itself of
// any other.
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

// Exceeded receives an error when a recording takes more memory than it may. The command is
// to end then.
func (o *Opener) Exceeded() <-chan error { return o.exceeded }
