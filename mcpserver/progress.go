package mcpserver

import (
	"context"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// progress reports the progress of a call to a client that wants it. Nil: it does not.
type progress func(ctx context.Context, done float64, message string)

// progressOf returns the progress reporter of a call.
func progressOf(r *mcp.CallToolRequest) progress {
	token := r.Params.GetProgressToken()
	if token == nil {
		return nil
	}
	return func(ctx context.Context, done float64, message string) {
		// A client that cannot be reached still gets the answer.
		_ = r.Session.NotifyProgress(ctx,
			&mcp.ProgressNotificationParams{ProgressToken: token, Progress: done, Message: message})
	}
}

// beat is the time between two progress notifications.
const beat = 2 * time.Second

// during runs f and reports what it does: at the beginning, every few seconds, and at the end. The
// progress number is the elapsed time in seconds.
func (p progress) during(ctx context.Context, what string, f func() error) error {
	if p == nil {
		return f()
	}
	p(ctx, 0, what)
	started := time.Now()
	ended, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(beat)
		defer tick.Stop()
		for {
			select {
			case <-ended:
				return
			case <-tick.C:
				s := time.Since(started).Round(time.Second).Seconds()
				p(ctx, s, fmt.Sprintf("%s, %.0f s", what, s))
			}
		}
	}()
	err := f()
	close(ended)
	<-stopped
	if err == nil {
		p(ctx, time.Since(started).Seconds()+1, "done")
	}
	return err
}
