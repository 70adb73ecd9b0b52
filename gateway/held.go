package gateway

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"precis"
	"precis/gateway/lineage"
)

// held is what the gateway holds of a line. Everything but the fixed fields is
// used by whoever has the lock.
type held struct {
	owner string
	line  *lineage.Line
	lock  chan struct{} // of one place: who put something in has the lock

	conv     *precis.Conversation // its transcript is the line's
	meter    *precis.Meter
	written  written
	prepared *preparation
	plain    precis.Fingerprint // the last user turn at which reasoning was switched off; zero: it is on
	status   precis.Report      // the newest
	unsaved  bool               // edits are not in the store

	edits  atomic.Pointer[[]precis.Edit]
	purged atomic.Bool // nothing of it is to be stored any more
	record atomic.Pointer[precis.ConversationRecord]
	saved  int // messages in the store; the saver's
	fails  int // times in a row that saving failed; the saver's
}

// preparation is a reduction under way in the background.
type preparation struct {
	done  chan struct{}
	edits []precis.Edit // when done
	after int           // edits the conversation had when it began
}

// finished reports whether the reduction has ended.
func (p *preparation) finished() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// acquire locks the conversation; it gives up when ctx ends.
func (h *held) acquire(ctx context.Context) error {
	select {
	case h.lock <- struct{}{}:
		return nil
	case <-ctx.Done():
		return precis.Errorf(precis.CodeCanceled, "wait for the conversation", "%w", context.Cause(ctx))
	}
}

func (h *held) release() {
	h.publish()
	<-h.lock
}

// publish lets those see the edits who do not have the lock.
func (h *held) publish() {
	edits := h.conv.Edits
	h.edits.Store(&edits)
}

// published returns the edits as they were when the lock was last given back.
func (h *held) published() []precis.Edit { return *h.edits.Load() }

// grow takes in the first n messages of the line.
func (h *held) grow(n int) {
	if at := h.conv.Transcript.Len(); at < n {
		h.conv.Transcript.Append(h.line.Transcript.Messages()[at:n]...)
	}
}

// adopt makes what the gateway holds of a new line: the edits of the line it
// left, as far as they were made before, or what the store knows.
func (g *Gateway) adopt(f *lineage.Found, known *lineage.Known) any {
	l := f.Line
	h := &held{owner: l.Owner, line: l, lock: make(chan struct{}, 1)}
	// Its own transcript, which grows only under the lock.
	h.conv = &precis.Conversation{ID: l.ID, Transcript: l.Transcript.Prefix(l.Transcript.Len())}
	now := g.o.Now()
	rec := precis.ConversationRecord{ID: l.ID, Dialect: l.Dialect, Created: now, Branched: l.Branched, Earlier: l.Earlier}
	switch from := parentOf(f); {
	case known != nil && known.Value != nil:
		k := known.Value.(*stored)
		h.conv.Edits = k.edits
		if k.record != nil && k.record.ID == l.ID {
			rec = *k.record
		}
	case from == nil:
	case f.Kind == lineage.Rewritten:
		h.conv.Edits = carried(from.published(), l.Transcript)
		h.unsaved = len(h.conv.Edits) > 0 && g.o.Store != nil
		rec = from.recordNow()
		rec.Earlier = l.Earlier
	default:
		h.conv.Edits = precis.Rewound(&precis.Conversation{Transcript: l.Transcript, Edits: from.published()}, f.Known).Edits
	}
	h.publish()
	h.record.Store(&rec)
	return h
}

func parentOf(f *lineage.Found) *held {
	if f.From == nil {
		return nil
	}
	h, _ := f.From.State.(*held)
	return h
}

func (h *held) recordNow() precis.ConversationRecord { return *h.record.Load() }

// carried returns the edits of a conversation whose client has cleared old tool
// results since: those that still fit, at the nodes of the new transcript.
// Summaries of what was cleared stay, since it was said.
func carried(edits []precis.Edit, t *precis.Transcript) []precis.Edit {
	var out []precis.Edit
	for _, e := range edits {
		e.At = t.Fingerprint(e.Seen)
		if e.Seen <= t.Len() && precis.CheckEdit(t, out, e) == nil {
			out = append(out, e)
		}
	}
	return out
}

// update notes what a request says of its conversation.
func (h *held) update(t *turn) {
	p := t.found.Prompt
	h.conv.Model, h.conv.System, h.conv.Tools = p.Model, p.System, p.Tools
	rec := h.recordNow()
	rec.Model, rec.Client = p.Model, clientOf(t.r.Header)
	rec.Head, rec.Messages = t.found.Node, t.found.Len
	rec.Updated = t.g.o.Now()
	if hints := hintsOf(t.r.Header); len(hints) > 0 {
		rec.Hints = hints
	}
	if rec.Title == "" {
		rec.Title = titleOf(t.found.Messages)
	}
	h.record.Store(&rec)
}

// answered notes what came of a request.
func (h *held) answered(t *turn) {
	for {
		old := h.record.Load()
		rec := *old
		rec.Requests++
		rec.Tokens, rec.Window = t.report.After.Tokens, t.report.Decision.Window.Tokens
		rec.Updated = t.g.o.Now()
		if h.record.CompareAndSwap(old, &rec) {
			return
		}
	}
}

// titleOf returns the first line of the user's first words.
func titleOf(msgs []precis.Message) string {
	const most = 80
	for _, m := range msgs {
		if m.Role != precis.RoleUser {
			continue
		}
		for _, i := range m.UserBlocks() {
			if text, ok := m.Content[i].(precis.Text); ok {
				if line := firstLine(text.Text, most); line != "" {
					return line
				}
			}
		}
	}
	return ""
}

// hintHeaders are headers by which clients name a conversation. They are shown
// and searched, and never decide anything.
var hintHeaders = []string{
	headerConv, "X-Claude-Code-Session-Id", "X-Claude-Code-Agent-Id", "X-Session-Id", "X-Parent-Session-Id", "Session-Id", "Session_id", "Thread-Id",
}

func hintsOf(h http.Header) map[string]string {
	var out map[string]string
	for _, name := range hintHeaders {
		v := h.Get(name)
		if v == "" || len(v) > 200 {
			continue
		}
		if out == nil {
			out = map[string]string{}
		}
		out[name] = v
	}
	return out
}

// clientOf names the program by its User-Agent.
func clientOf(h http.Header) string {
	return firstLine(h.Get("User-Agent"), 60)
}

// prepareFor is how long a preparation may take.
const prepareFor = 10 * time.Minute
