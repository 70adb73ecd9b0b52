package control

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"precis"
	"precis/gateway"
	"precis/internal/feed"
	"precis/store"
	"precis/wire"
)

// Types of events.
const (
	EventTurn     = "turn"     // a request was answered
	EventEdits    = "edits"    // edits were made, by a request or through the API
	EventPurge    = "purge"    // conversations were forgotten
	EventSettings = "settings" // settings were changed
	EventHold     = "hold"     // a request is to be held, is held, or was let go: GET …/hold says which
	EventReducing = "reducing" // a view is about to be reduced while a request waits; the turn that follows says what came of it
	EventWarning  = "warning"  // a window is nearly full, or a condensation failed
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
	Warning      *WarningNote       `json:"warning,omitempty"`
}

// What a [WarningNote] warns of.
const (
	WarnWindow       = "window"       // the warn level was crossed
	WarnCondensation = "condensation" // a condensation failed
)

// WarningNote warns of what a user may want to act on before the conversation is
// condensed, or since it was not.
type WarningNote struct {
	Kind      string  `json:"kind"`                 // what it warns of
	Percent   float64 `json:"percent"`              // of the window, used by what was forwarded
	TurnsLeft *int    `json:"turns_left,omitempty"` // about, until the view is reduced; absent: unknown
	Error     string  `json:"error,omitempty"`      // by name, the condensation that failed
}

// TurnNote reports a request. Times are in milliseconds.
type TurnNote struct {
	Dialect   string            `json:"dialect,omitempty"`
	Model     string            `json:"model,omitempty"`
	Upstream  string            `json:"upstream"`
	Kind      string            `json:"kind"`                // how it was recognized, or why it was passed through
	Action    string            `json:"action"`              // what was done
	Unmanaged gateway.Unmanaged `json:"unmanaged,omitempty"` // why it was not managed; absent: it was
	Status    int               `json:"status"`              // of the response
	Stream    bool              `json:"stream"`
	Said      int               `json:"tokens_before"` // of what the client sent; 0: not counted
	Sent      int               `json:"tokens_after"`  // of what was forwarded; 0: not counted
	Window    int               `json:"window"`        // tokens; 0: not known
	Input     int               `json:"input_tokens"`  // as the upstream reported; 0: it did not
	Usage     precis.Usage      `json:"usage"`
	CostUSD   float64           `json:"cost_usd"`
	Retries   int               `json:"retries"`
	Overhead  float64           `json:"overhead_ms"`
	FirstByte float64           `json:"first_byte_ms"`
	Took      float64           `json:"took_ms"`
	Percent   float64           `json:"percent"`                  // of the window, used by what was forwarded; 0: not counted
	TurnsLeft *int              `json:"turns_left,omitempty"`     // about, until the view is reduced; absent: unknown
	Condense  string            `json:"condense_error,omitempty"` // by name, a condensation that failed
	Error     precis.Code       `json:"error,omitempty"`
}

// EditNote reports an edit.
type EditNote struct {
	ID          string             `json:"id"`
	Kind        precis.EditKind    `json:"kind"`
	Rung        string             `json:"rung,omitempty"`
	Saved       int                `json:"tokens_saved"`
	TriggeredBy precis.TriggeredBy `json:"triggered_by"`
}

// Events hands what happens to whoever listens, and keeps the newest events for
// listeners that come back. Make one with [NewEvents]; it is safe for concurrent use.
// Listeners that do not keep up are dropped.
type Events struct{ feed *feed.Feed[Event] }

const (
	heartbeat = 15 * time.Second // between signs of life
	patience  = 10 * time.Second // for a listener to take what is written
)

// NewEvents returns events to give to [Options] and, by [Events.Turn], to
// [gateway.Options].
func NewEvents() *Events { return &Events{feed: feed.New[Event]()} }

// Turn publishes a request; it is what [gateway.Options.OnTurn] takes.
func (e *Events) Turn(_ context.Context, t gateway.Turn) {
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	note := &TurnNote{
		Dialect: t.Dialect, Model: t.Model, Upstream: t.Upstream, Kind: t.Kind, Action: t.Action, Unmanaged: t.Unmanaged, Status: t.Status, Stream: t.Stream,
		Input: t.Input, Usage: t.Usage, CostUSD: t.CostUSD, Retries: t.Retries, Overhead: ms(t.Overhead), FirstByte: ms(t.FirstByte), Took: ms(t.Took),
		Error: precis.CodeOf(t.Err),
	}
	now := time.Now()
	for _, r := range t.ByModel {
		e.publish(Event{Type: EventEdits, Time: now, Owner: t.Owner, Conversation: t.Conversation, Edits: notesOf(r)})
	}
	if r := t.Report; r != nil {
		note.Said, note.Sent, note.Window = max(r.Said, r.Before.Tokens), r.After.Tokens, r.Decision.Window.Tokens
		if edits := notesOf(*r); len(edits) > 0 {
			e.publish(Event{Type: EventEdits, Time: now, Owner: t.Owner, Conversation: t.Conversation, Edits: edits})
		}
	}
	for _, w := range note.outlook(t) {
		e.publish(Event{Type: EventWarning, Time: now, Owner: t.Owner, Conversation: t.Conversation, Warning: &w})
	}
	e.publish(Event{Type: EventTurn, Time: now, Owner: t.Owner, Conversation: t.Conversation, Turn: note})
}

// outlook puts how full the window is into the note, and returns what is to be warned of.
func (n *TurnNote) outlook(t gateway.Turn) (out []WarningNote) {
	if t.Outlook == nil {
		return nil
	}
	n.Percent, n.TurnsLeft, n.Condense = t.Outlook.Percent, t.Outlook.Room.Lasts, t.CondenseError
	if t.Warned {
		out = append(out, WarningNote{Kind: WarnWindow, Percent: n.Percent, TurnsLeft: n.TurnsLeft})
	}
	if n.Condense != "" {
		out = append(out, WarningNote{Kind: WarnCondensation, Percent: n.Percent, TurnsLeft: n.TurnsLeft, Error: n.Condense})
	}
	return out
}

func notesOf(r precis.Report) []EditNote {
	var out []EditNote
	for _, e := range r.Edits {
		out = append(out, EditNote{ID: e.ID, Kind: e.Kind, Rung: e.Rung, Saved: e.Saved, TriggeredBy: r.TriggeredBy})
	}
	return out
}

// Edited publishes edits that were made of a conversation by somebody else than a
// request.
func (e *Events) Edited(owner, conversation string, edits ...EditNote) {
	e.publish(Event{Type: EventEdits, Time: time.Now(), Owner: owner, Conversation: conversation, Edits: edits})
}

// Held publishes that holding requests of a conversation has changed; it is what
// [gateway.Options.OnHold] takes.
func (e *Events) Held(owner, conversation string) {
	e.publish(Event{Type: EventHold, Time: time.Now(), Owner: owner, Conversation: conversation})
}

// Reducing publishes that a request waits for its view to be reduced; it is what
// [gateway.Options.OnReduce] takes.
func (e *Events) Reducing(owner, conversation string) {
	e.publish(Event{Type: EventReducing, Time: time.Now(), Owner: owner, Conversation: conversation})
}

// SettingsChanged publishes that the settings of a profile are others.
func (e *Events) SettingsChanged(profile string) {
	e.publish(Event{Type: EventSettings, Time: time.Now(), Profile: &profile})
}

// Close ends all streams. What happens later is not published.
func (e *Events) Close() { e.feed.Close() }

// publish hands an event to its listeners. It never waits.
func (e *Events) publish(ev Event) { e.feed.Publish(ev.Owner, ev) }

// Listen adds a listener for what concerns an owner, or anybody for
// [gateway.AllOwners]: what happened after the event with the number, as far as it is
// kept, and what follows; after 0 only what follows. It is nil when there are too
// many listeners, of the owner or of all.
func (e *Events) Listen(owner string, after uint64) *feed.Listener[Event] {
	return e.feed.Listen(owner, after, func(ev Event) bool {
		return owner == gateway.AllOwners || owner == ev.Owner || ev.Type == EventSettings
	})
}

// events streams what happens until the client leaves, does not keep up, or the
// events are closed.
func (c *call) events() {
	after, err := strconv.ParseUint(c.r.Header.Get("Last-Event-ID"), 10, 64)
	if err != nil {
		after = 0 // a new listener
	}
	l := c.o.Events.Listen(c.owner, after)
	if l == nil {
		fail(c.w, refuse(http.StatusServiceUnavailable, codeBusy, "nobody else can listen now", "close other streams"))
		return
	}
	defer l.Leave()
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
		case ev, open := <-l.C:
			if !open {
				write(wire.AppendEvent(nil, "end", []byte("{}")))
				return
			}
			ok = write(eventText(ev))
		}
	}
}

func eventText(ev feed.Numbered[Event]) []byte {
	data, err := json.Marshal(ev.Event)
	if err != nil {
		data = []byte("{}")
	}
	return wire.AppendEvent(fmt.Appendf(nil, "id: %d\n", ev.N), ev.Event.Type, data)
}
