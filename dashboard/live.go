package dashboard

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/internal/feed"
)

// Notice reports a change of a conversation.
type Notice struct {
	N            uint64 // its number, for readers that reconnect
	Kind         string // turn, edits, hold, purge, reducing, warning or settings
	Conversation string // "": not a single conversation
}

// Events publishes changes to a dashboard, and receives the changes it makes. Implementations are
// safe for concurrent use.
type Events interface {
	// Follow returns the notices that the caller may see: the available ones after the number, then
	// new ones. The channel is closed when they end. Stop releases it; a nil channel means that
	// there are too many readers.
	Follow(r *http.Request, after uint64) (notices <-chan Notice, stop func())
	// Edited is called after the dashboard has made edits of a conversation.
	Edited(r *http.Request, id string, edits []conversation.EditInfo)
}

// ownEvents are the changes made through this dashboard only.
type ownEvents struct{ feed *feed.Feed[Notice] }

func newOwnEvents() ownEvents { return ownEvents{feed.New[Notice]()} }

// Follow returns the changes made through the dashboard.
func (o ownEvents) Follow(r *http.Request, after uint64) (<-chan Notice, func()) {
	l := o.feed.Listen("", after, func(Notice) bool { return true })
	if l == nil {
		return nil, func() {}
	}
	out := make(chan Notice)
	go func() {
		defer close(out)
		for n := range l.C {
			n.Event.N = n.N
			select {
			case out <- n.Event:
			case <-r.Context().Done():
				return
			}
		}
	}()
	return out, l.Leave
}

// Edited publishes a change.
func (o ownEvents) Edited(_ *http.Request, id string, _ []conversation.EditInfo) {
	o.feed.Publish("", Notice{Kind: "edits", Conversation: id})
}

const (
	heartbeat = 15 * time.Second // pause between keep-alive lines
	patience  = 10 * time.Second // time limit for a reader to accept a write
)

// streamNotices streams notices until the reader leaves or is too slow.
func (c *call) streamNotices() error {
	after, err := strconv.ParseUint(c.r.Header.Get("Last-Event-ID"), 10, 64)
	if err != nil {
		after = 0 // a new reader
	}
	notices, stop := c.o.Events.Follow(c.r, after)
	defer stop()
	if notices == nil {
		return refusal{http.StatusServiceUnavailable,
			precis.Errorf(precis.CodeConflict, "listen", "nobody else can listen now")}
	}
	c.w.Header().Set("Content-Type", "text/event-stream")
	c.w.Header().Set("X-Accel-Buffering", "no")
	out := http.NewResponseController(c.w)
	write := func(text []byte) bool {
		_ = out.SetWriteDeadline(time.Now().Add(patience)) // not every writer supports it
		_, err := c.w.Write(text)
		return err == nil && out.Flush() == nil
	}
	tick := time.NewTicker(heartbeat)
	defer tick.Stop()
	for ok := write([]byte(": listening\n\n")); ok; {
		select {
		case <-c.ctx().Done():
			return nil
		case <-tick.C:
			ok = write([]byte(": alive\n\n"))
		case n, open := <-notices:
			if !open {
				return nil
			}
			ok = write(noticeText(n))
		}
	}
	return nil
}

func noticeText(n Notice) []byte {
	data, err := json.Marshal(map[string]string{"kind": n.Kind, "conversation": n.Conversation})
	if err != nil {
		data = []byte("{}")
	}
	return fmt.Appendf(nil, "id: %d\nevent: change\ndata: %s\n\n", n.N, data)
}
