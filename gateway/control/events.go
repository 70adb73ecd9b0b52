package control

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"precis"
	"precis/gateway"
	"precis/store"
	"precis/wire"
)

// Types of events.
const (
	EventTurn     = "turn"     // a request was answered
	EventEdits    = "edits"    // edits were made, by a request or through the API
	EventPurge    = "purge"    // conversations were forgotten
	EventSettings = "settings" // settings were changed
)

// Event is something that happened. Only the fields of its type are set.
type Event struct {
	Type         string             `json:"type"`
	Time         time.Time          `json:"time"`
	Owner        string             `json:"owner"`
	Conversation string             `json:"conversation,omitempty"`
	Turn         *TurnNote          `json:"turn,omitempty"`
	Edits        []EditNote         `json:"edits,omitempty"`
	Purged       *store.PurgeResult `json:"purged,omitempty"`
	Profile      *string            `json:"profile,omitempty"` // whose settings; "": the default one
}

// TurnNote reports a request. Times are in milliseconds.
type TurnNote struct {
	Dialect   string       `json:"dialect,omitempty"`
	Model     string       `json:"model,omitempty"`
	Upstream  string       `json:"upstream"`
	Kind      string       `json:"kind"`   // how it was recognized, or why it was passed through
	Action    string       `json:"action"` // what was done
	Status    int          `json:"status"` // of the response
	Stream    bool         `json:"stream"`
	Said      int          `json:"tokens_before"` // of what the client sent; 0: not counted
	Sent      int          `json:"tokens_after"`  // of what was forwarded; 0: not counted
	Window    int          `json:"window"`        // tokens; 0: not known
	Input     int          `json:"input_tokens"`  // as the upstream reported; 0: it did not
	Usage     precis.Usage `json:"usage"`
	CostUSD   float64      `json:"cost_usd"`
	Retries   int          `json:"retries"`
	Overhead  float64      `json:"overhead_ms"`
	FirstByte float64      `json:"first_byte_ms"`
	Took      float64      `json:"took_ms"`
	Error     precis.Code  `json:"error,omitempty"`
}

// EditNote reports an edit.
type EditNote struct {
	ID          string             `json:"id"`
	Kind        precis.EditKind    `json:"kind"`
	Rung        string             `json:"rung,omitempty"`
	Saved       int                `json:"tokens_saved"`
	TriggeredBy precis.TriggeredBy `json:"triggered_by"`
}

// Events hands what happens to whoever listens. Make one with [NewEvents]; it is
// safe for concurrent use. Listeners that do not keep up are dropped.
type Events struct {
	mu     sync.Mutex
	seq    uint64
	closed bool
	all    map[*listener]bool
}

type listener struct {
	owner string // [gateway.AllOwners]: what concerns anybody
	ch    chan numbered
}

type numbered struct {
	n uint64
	Event
}

const (
	backlog   = 256              // events that wait for a listener at most
	listeners = 256              // that there are at most
	heartbeat = 15 * time.Second // between signs of life
	patience  = 10 * time.Second // for a listener to take what is written
)

// NewEvents returns events to give to [Options] and, by [Events.Turn], to
// [gateway.Options].
func NewEvents() *Events { return &Events{all: map[*listener]bool{}} }

// Turn publishes a request; it is what [gateway.Options.OnTurn] takes.
func (e *Events) Turn(_ context.Context, t gateway.Turn) {
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	note := &TurnNote{
		Dialect: t.Dialect, Model: t.Model, Upstream: t.Upstream, Kind: t.Kind, Action: t.Action, Status: t.Status, Stream: t.Stream,
		Input: t.Input, Usage: t.Usage, CostUSD: t.CostUSD, Retries: t.Retries, Overhead: ms(t.Overhead), FirstByte: ms(t.FirstByte), Took: ms(t.Took),
		Error: precis.CodeOf(t.Err),
	}
	now := time.Now()
	if r := t.Report; r != nil {
		note.Said, note.Sent, note.Window = max(r.Said, r.Before.Tokens), r.After.Tokens, r.Decision.Window.Tokens
		if edits := notesOf(*r); len(edits) > 0 {
			e.publish(Event{Type: EventEdits, Time: now, Owner: t.Owner, Conversation: t.Conversation, Edits: edits})
		}
	}
	e.publish(Event{Type: EventTurn, Time: now, Owner: t.Owner, Conversation: t.Conversation, Turn: note})
}

func notesOf(r precis.Report) []EditNote {
	var out []EditNote
	for _, e := range r.Edits {
		out = append(out, EditNote{ID: e.ID, Kind: e.Kind, Rung: e.Rung, Saved: e.Saved, TriggeredBy: r.TriggeredBy})
	}
	return out
}

// Close ends all streams. What happens later is not published.
func (e *Events) Close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	for l := range e.all {
		e.drop(l)
	}
}

// drop ends a listener. The events are locked.
func (e *Events) drop(l *listener) {
	delete(e.all, l)
	close(l.ch)
}

// publish hands an event to its listeners. It never waits.
func (e *Events) publish(ev Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.seq++
	for l := range e.all {
		if l.owner != gateway.AllOwners && l.owner != ev.Owner && ev.Type != EventSettings {
			continue
		}
		select {
		case l.ch <- numbered{e.seq, ev}:
		default:
			e.drop(l)
		}
	}
}

// listen adds a listener; nil when there are too many.
func (e *Events) listen(owner string) *listener {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed || len(e.all) >= listeners {
		return nil
	}
	l := &listener{owner: owner, ch: make(chan numbered, backlog)}
	e.all[l] = true
	return l
}

func (e *Events) leave(l *listener) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.all[l] {
		e.drop(l)
	}
}

// events streams what happens until the client leaves, does not keep up, or the
// events are closed.
func (c *call) events() {
	l := c.o.Events.listen(c.owner)
	if l == nil {
		fail(c.w, refuse(http.StatusServiceUnavailable, codeBusy, "nobody else can listen now", "close other streams"))
		return
	}
	defer c.o.Events.leave(l)
	h := c.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no")
	out := http.NewResponseController(c.w)
	write := func(text []byte) bool {
		_ = out.SetWriteDeadline(time.Now().Add(patience)) // not every writer can
		_, err := c.w.Write(text)
		return err == nil && out.Flush() == nil
	}
	tick := time.NewTicker(heartbeat)
	defer tick.Stop()
	for ok := write([]byte(": listening\n\n")); ok; {
		select {
		case <-c.r.Context().Done():
			return
		case <-tick.C:
			ok = write([]byte(": alive\n\n"))
		case ev, open := <-l.ch:
			if !open {
				write(wire.AppendEvent(nil, "end", []byte("{}")))
				return
			}
			ok = write(ev.text())
		}
	}
}

func (ev numbered) text() []byte {
	data, err := json.Marshal(ev.Event)
	if err != nil {
		data = []byte("{}")
	}
	return wire.AppendEvent(fmt.Appendf(nil, "id: %d\n", ev.n), ev.Type, data)
}
