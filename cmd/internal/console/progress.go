package console

import (
	"time"

	"github.com/schollz/progressbar/v3"

	"precis/cmd/internal/term"
)

// Progress shows on a terminal that long work is under way, after a moment. The
// function it returns ends it.
func (c *Console) Progress(what string) (done func()) {
	if c.Quiet || c.AsJSON || !c.Notes.Terminal() {
		return func() {}
	}
	bar := progressbar.NewOptions(-1,
		progressbar.OptionSetWriter(c.Notes.Bare()),
		progressbar.OptionSetDescription(term.Visible(what)),
		progressbar.OptionSpinnerType(14), progressbar.OptionClearOnFinish(),
		progressbar.OptionSetSpinnerChangeInterval(0), // it moves below
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
