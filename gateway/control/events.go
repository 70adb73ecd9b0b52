package control

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/gateway/unmanaged"
	"github.com/precis-dev/precis/internal/feed"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/store"
	"github.com/precis-dev/precis/wire"
)

// Types of events.
const (
	EventTurn     = "turn"     // a request was answered
	EventEdits    = "edits"    // edits were made, by a request or through the API
	EventPurge    = "purge"    // conversations were forgotten
	EventSettings = "settings" // settings were changed
	EventHold     = "hold"     // a request is to be held, is held, or was let go; GET …/hold has the state
	// a view is about to be reduced while a request waits; the turn that follows has the result
	EventReducing = "reducing"
	EventWarning  = "warning" // a window is nearly full, or a condensation failed
)

// Event is a published event. Only the fields of its type are set.
type Event struct {
	Type         string             `json:"type"`
	Time         time.Time          `json:"time"`
	Owner        string             `json:"owner"`
	Conversation string             `json:"conversation,omitempty"`
	Turn         *TurnNote          `json:"turn,omitempty"`
	Edits        []EditNote         `json:"edits,omitempty"`
	Purged       *store.PurgeResult `json:"purged,omitempty"`
	Profile      *string            `json:"profile,omitempty"` // profile of the settings; "": the default one
	Warning      *WarningNote       `json:"warning,omitempty"`
}

// Kinds of a [WarningNote].
const (
	WarnWindow       = "window"       // the warn level was crossed
	WarnCondensation = "condensation" // a condensation failed
)

// WarningNote is a warning that the user may want to act on: the conversation will soon be
// condensed, or could not be.
type WarningNote struct {
	Kind      string  `json:"kind"`                 // WarnWindow or WarnCondensation
	Percent   float64 `json:"percent"`              // of the window, used by the forwarded request
	TurnsLeft *int    `json:"turns_left,omitempty"` // estimate until the view is reduced; absent: unknown
	Error     string  `json:"error,omitempty"`      // name of the condensation that failed
}

// TurnNote reports a request. Times are in milliseconds.
type TurnNote struct {
	Dialect  string `json:"dialect,omitempty"`
	Model    string `json:"model,omitempty"`
	Upstream string `json:"upstream"`
	// how it was recognized, or why it was passed through
	Kind      string           `json:"kind"`
	Action    string           `json:"action"`              // action taken
	Unmanaged unmanaged.Reason `json:"unmanaged,omitempty"` // why it was not managed; absent: it was
	Status    int              `json:"status"`              // of the response
	Stream    bool             `json:"stream"`
	Unreduced int              `json:"tokens_before"` // of the client's request; 0: not counted
	Sent      int              `json:"tokens_after"`  // of the forwarded request; 0: not counted
	Window    int              `json:"window"`        // tokens; 0: unknown
	Input     int              `json:"input_tokens"`  // as the upstream reported; 0: not reported
	Usage     precis.Usage     `json:"usage"`
	CostUSD   float64          `json:"cost_usd"`
	Retries   int              `json:"retries"`
	Overhead  float64          `json:"overhead_ms"`
	FirstByte float64          `json:"first_byte_ms"`
	Took      float64          `json:"took_ms"`
	// of the window, used by the forwarded request; 0: not counted
	Percent float64 `json:"percent"`
	// estimate until the view is reduced; absent: unknown
	TurnsLeft *int        `json:"turns_left,omitempty"`
	Condense  string      `json:"condense_error,omitempty"` // name of a condensation that failed
	Error     precis.Code `json:"error,omitempty"`
}

// EditNote reports an edit.
type EditNote struct {
	ID          string             `json:"id"`
	Kind        precis.EditKind    `json:"kind"`
	Rung        string             `json:"rung,omitempty"`
	Saved       int                `json:"tokens_saved"`
	TriggeredBy precis.TriggeredBy `json:"triggered_by"`
}

// Events publishes events to listeners, and buffers the newest ones for listeners that reconnect.
// Make one with [NewEvents]; it is safe for concurrent use. Listeners that are too slow are
// dropped.
type Events struct{ feed *feed.Feed[Event] }

const (
	heartbeat = 15 * time.Second // pause between keep-alive lines
	patience  = 10 * time.Second // time limit for a listener to accept a write
)

// NewEvents returns events for [Options] and, through [Events.PublishTurn], for [gateway.Options].
func NewEvents() *Events { return &Events{feed: feed.New[Event]()} }

// PublishTurn publishes a request; it fits [gateway.Options.OnTurn].
func (e *Events) PublishTurn(_ context.Context, t gateway.Turn) {
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	note := &TurnNote{
		Dialect: t.Dialect, Model: t.Model, Upstream: t.Upstream, Kind: t.Kind, Action: t.Action,
		Unmanaged: t.Unmanaged, Status: t.Status, Stream: t.Stream,
		Input: t.Input, Usage: t.Usage, CostUSD: t.CostUSD, Retries: t.Retries, Overhead: ms(t.Overhead),
		FirstByte: ms(t.FirstByte), Took: ms(t.Took),
		Error: precis.CodeOf(t.Err),
	}
	now := time.Now()
	for _, r := range t.ByModel {
		e.publish(Event{Type: EventEdits, Time: now, Owner: t.Owner, Conversation: t.Conversation,
			Edits: notesOf(r)})
	}
	if r := t.Report; r != nil {
		note.Unreduced, note.Sent, note.Window = max(r.Unreduced,
			r.Before.Tokens), r.After.Tokens, r.Decision.Window.Tokens
		if edits := notesOf(*r); len(edits) > 0 {
			e.publish(Event{Type: EventEdits, Time: now, Owner: t.Owner, Conversation: t.Conversation,
				Edits: edits})
		}
	}
	for _, w := range note.addOutlook(t) {
		e.publish(Event{Type: EventWarning, Time: now, Owner: t.Owner, Conversation: t.Conversation,
			Warning: &w})
	}
	e.publish(Event{Type: EventTurn, Time: now, Owner: t.Owner, Conversation: t.Conversation, Turn: note})
}

// addOutlook adds how full the window is to the note, and returns the warnings to publish.
func (n *TurnNote) addOutlook(t gateway.Turn) (out []WarningNote) {
	if t.Outlook == nil {
		return nil
	}
	n.Percent, n.TurnsLeft, n.Condense = t.Outlook.Percent, t.Outlook.Room.TurnsLeft, t.CondenseError
	if t.Warned {
		out = append(out, WarningNote{Kind: WarnWindow, Percent: n.Percent, TurnsLeft: n.TurnsLeft})
	}
	if n.Condense != "" {
		out = append(out, WarningNote{Kind: WarnCondensation, Percent: n.Percent, TurnsLeft: n.TurnsLeft,
			Error: n.Condense})
	}
	return out
}

func notesOf(r policy.Report) []EditNote {
	var out []EditNote
	for _, e := range r.Edits {
		out = append(out, EditNote{ID: e.ID, Kind: e.Kind, Rung: e.Rung, Saved: e.Saved,
			TriggeredBy: r.TriggeredBy})
	}
	return out
}

// PublishEdits publishes edits of a conversation that were made by a user, not for a request.
func (e *Events) PublishEdits(owner, conversation string, edits ...EditNote) {
	e.publish(Event{Type: EventEdits, Time: time.Now(), Owner: owner, Conversation: conversation,
		Edits: edits})
}

// PublishHold publishes that holding requests of a conversation has changed; it fits
// [gateway.Options.OnHold].
func (e *Events) PublishHold(owner, conversation string) {
	e.publish(Event{Type: EventHold, Time: time.Now(), Owner: owner, Conversation: conversation})
}

// PublishReducing publishes that a request waits for its view to be reduced; it fits
// [gateway.Options.OnReduce].
func (e *Events) PublishReducing(owner, conversation string) {
	e.publish(Event{Type: EventReducing, Time: time.Now(), Owner: owner, Conversation: conversation})
}

// PublishSettings publishes that the settings of a profile have changed.
func (e *Events) PublishSettings(profile string) {
	e.publish(Event{Type: EventSettings, Time: time.Now(), Profile: &profile})
}

// Close ends all streams. Later events are not published.
func (e *Events) Close() { e.feed.Close() }

// publish sends an event to its listeners. It does not block.
func (e *Events) publish(ev Event) { e.feed.Publish(ev.Owner, ev) }

// Listen adds a listener for the events of an owner, or of all owners for [gateway.AllOwners]. It
// receives the buffered events after the one numbered after, then new ones; 0 means only new ones.
// It is nil when there are too many listeners, of the owner or in all.
func (e *Events) Listen(owner string, after uint64) *feed.Listener[Event] {
	return e.feed.Listen(owner, after, func(ev Event) bool {
		return owner == gateway.AllOwners || owner == ev.Owner || ev.Type == EventSettings
	})
}

// events streams events until the client leaves, is too slow, or the events are closed.
func (c *call) events() {
	after, err := strconv.ParseUint(c.r.Header.Get("Last-Event-ID"), 10, 64)
	if err != nil {
		after = 0 // a new listener
	}
	l := c.o.Events.Listen(c.owner, after)
	if l == nil {
		fail(c.w, refuse(http.StatusServiceUnavailable, codeBusy, "nobody else can listen now",
			"close other streams"))
		return
	}
	defer l.Leave()
	h := c.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no")
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
