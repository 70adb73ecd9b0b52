package main

import (
	"time"

	"github.com/schollz/progressbar/v3"

	"precis/cmd/internal/term"
)

// progress shows on a terminal that long work is under way, after a moment. The
// function it returns ends it.
func (a *app) progress(what string) (done func()) {
	if a.opts.quiet || a.opts.json || !term.IsTerminal(a.errs) {
		return func() {}
	}
	bar := progressbar.NewOptions(-1,
		progressbar.OptionSetWriter(a.errs), progressbar.OptionSetDescription(what),
		progressbar.OptionSpinnerType(14), progressbar.OptionClearOnFinish(),
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
				bar.Add(1)
			}
		}
	}()
	return func() {
		close(stop)
		<-stopped
		bar.Finish()
	}
}
