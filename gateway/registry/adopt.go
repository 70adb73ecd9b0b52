package registry

import (
	"slices"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/gateway/lineage"
	"github.com/precis-dev/precis/store"
)

// adopt makes the conversation of a new line. It runs under the lock of the table and leaves slow
// work to complete.
func (r *Registry) adopt(f *Found, known *lineage.Known) *Conversation {
	l := f.Line
	// A transcript of its own, which grows only under the conversation's lock.
	c := r.conversation(l.Owner, l.ID, l.Transcript.Prefix(l.Transcript.Len()))
	c.line = l
	info := store.Record{ID: l.ID, Dialect: l.Dialect, Created: r.o.Now(), Branched: l.Branched,
		Earlier: l.Earlier}
	switch from := parentOf(f); {
	case known != nil && known.Len > 0:
		c.conv.Edits, c.stored = known.Edits, len(known.Edits)
		c.messages.Store(int64(known.Len))
		if known.Record != nil && known.Record.ID == l.ID {
			info = *known.Record
		} else if len(known.Edits) > 0 {
			r.logAdopted(l.ID, len(known.Edits))
		}
	case from == nil:
		// Another conversation began with the same messages. Edits made when it had only those are
		// in force here, too.
		c.unread.Store(f.Known > 0 && r.o.Store != nil)
	case f.Kind == lineage.Rewritten:
		info = from.Info()
		info.Earlier = l.Earlier
		c.inherit = func() {
			c.conv.Edits = stillApplying(from.Snapshot().Conversation.Edits,
				c.conv.Transcript)
		}
	case f.Kind == lineage.Amended:
		shared := f.Known
		info = from.Info()
		c.inherit = func() { amend(c, from, shared) }
	default:
		shared := f.Known
		if was := from.Info(); was.Continues != "" && shared > was.Summary {
			info.Continues, info.Summary = was.Continues, was.Summary
		}
		c.inherit = func() { inheritEdits(c, from.Snapshot(), shared) }
	}
	c.info.Store(&info)
	return c
}

// logAdopted logs that a conversation has adopted edits of another conversation, or of a process that
// ended before it wrote the record. They were found by the messages.
func (r *Registry) logAdopted(id string, edits int) {
	r.o.Logger.Info("edits that the store has for the same messages are in force", "conversation", id,
		"edits", edits)
}

func parentOf(f *Found) *Conversation {
	if f.From == nil {
		return nil
	}
	return f.From.State
}

// inheritEdits takes over the edits that the conversation it left had at their last common message, the
// user's orders about the shared messages, and how many of these edits the store has.
func inheritEdits(c *Conversation, from *Snapshot, shared int) {
	branched, _ := precis.BranchedAt(&precis.Conversation{Transcript: c.conv.Transcript,
		Edits: from.Conversation.Edits}, shared)
	c.conv.Edits = branched.Edits
	for c.stored < min(len(c.conv.Edits), from.Stored) {
		old, now := from.Conversation.Edits[c.stored], c.conv.Edits[c.stored]
		if old.ID != now.ID || old.At != now.At {
			break
		}
		c.stored++
	}
}

// amend takes over a conversation that continues without the messages after shared, because its
// client sent those only once: the edits that do not touch them, the number of stored ones and,
// unless one of its turns is in progress, its token counts.
func amend(c, from *Conversation, shared int) {
	was := from.Snapshot()
	c.conv.Edits = before(was.Conversation.Edits, c.conv.Transcript, shared)
	for c.stored < min(len(c.conv.Edits), was.Stored) {
		old, now := was.Conversation.Edits[c.stored], c.conv.Edits[c.stored]
		if old.ID != now.ID || old.At != now.At {
			break
		}
		c.stored++
	}
	c.messages.Store(min(from.messages.Load(), int64(shared)))
	c.unread.Store(from.unread.Load())
	select {
	case from.lock <- struct{}{}:
		c.turns, from.turns = from.turns, map[string]meter{}
		c.Plain, c.Mends, c.Last, c.Failed = from.Plain, from.Mends, from.Last, from.Failed
		<-from.lock
	default:
	}
}

// before returns the edits that refer to none but the first n messages, with their nodes moved back
// to n.
func before(edits []precis.Edit, t *precis.Transcript, n int) []precis.Edit {
	var out []precis.Edit
	for _, e := range edits {
		if slices.ContainsFunc(e.Replace, func(r precis.Replacement) bool { return r.To > n }) ||
			slices.ContainsFunc(e.Pins, func(h precis.Handle) bool { return h.To > n }) {
			continue
		}
		if e.Seen > n {
			e.Seen, e.At = n, t.Fingerprint(n)
		}
		if precis.CheckEdit(t, out, e) == nil {
			out = append(out, e)
		}
	}
	return out
}

// stillApplying returns the edits that still apply after the client cleared old tool results, at the
// nodes of the new transcript. Summaries of cleared results stay, because the results were part of
// the conversation.
func stillApplying(edits []precis.Edit, t *precis.Transcript) []precis.Edit {
	var out []precis.Edit
	for _, e := range edits {
		e.At = t.Fingerprint(e.Seen)
		if e.Seen <= t.Len() && precis.CheckEdit(t, out, e) == nil {
			out = append(out, e)
		}
	}
	return out
}
