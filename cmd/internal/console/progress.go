package console

import (
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/precis-dev/precis/cmd/internal/term"
)

// Counted shows the progress of long work on a terminal. Call end after the work. Step is nil if no
// progress is shown.
func (c *Console) Counted(what string) (step func(done, total int), end func()) {
	if c.Quiet || c.AsJSON || !c.Notes.Terminal() {
		return nil, func() {}
	}
	var bar *progressbar.ProgressBar
	step = func(done, total int) {
		if bar == nil {
			bar = progressbar.NewOptions(total,
				progressbar.OptionSetWriter(c.Notes.Bare()),
				progressbar.OptionSetDescription(term.Visible(what)),
				progressbar.OptionShowCount(),
				progressbar.OptionSetWidth(min(40, max(c.Notes.Width()-45, 5))),
				progressbar.OptionClearOnFinish(), progressbar.OptionThrottle(100*time.Millisecond),
			)
		}
		c.show(bar, func() {
			if total != bar.GetMax() {
				bar.ChangeMax(total)
			}
			bar.Set(done)
		})
	}
	return step, func() {
		if bar != nil {
			c.show(nil, func() { bar.Finish() })
		}
	}
}

// show puts progress on the last line and moves it; nil removes it.
func (c *Console) show(bar *progressbar.ProgressBar, move func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shown = bar
	move()
}

// Progress shows on a terminal, after a moment, that long work is running. Call done after the
// work.
func (c *Console) Progress(what string) (done func()) {
	if c.Quiet || c.AsJSON || !c.Notes.Terminal() {
		return func() {}
	}
	bar := progressbar.NewOptions(-1,
		progressbar.OptionSetWriter(c.Notes.Bare()),
		progressbar.OptionSetDescription(term.Visible(what)),
		progressbar.OptionSpinnerType(14), progressbar.OptionClearOnFinish(),
		progressbar.OptionSetSpinnerChangeInterval(0), // the loop below moves it
	)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(150 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				c.show(bar, func() { bar.Add(1) })
			}
		}
	}()
	return func() {
		close(stop)
		<-stopped
		c.show(nil, func() { bar.Finish() })
	}
}
