package registry

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/gateway/splice"
	"github.com/precis-dev/precis/policy"
)

// Conversation is an open conversation. Its exported fields, and methods that state it, require the
// lock.
type Conversation struct {
	reg   *Registry
	owner string
	id    string
	line  *line // nil: read from the store, without a client

	lock    chan struct{} // of capacity 1: full while the lock is held
	inherit func()        // completes conv from the conversation it continues
	once    sync.Once     // runs inherit

	// The following fields are guarded by lock.
	Written  splice.Cache       // encoded messages of the view
	Prepared *Preparation       // in progress, or not used yet; nil: no preparation
	Plain    precis.Fingerprint // the user turn for which reasoning is switched off; zero: it is on
	Mends    bool               // the upstream accepts the client's messages only after repair
	Last     policy.Report      // of the newest turn
	// name of the failure of the newest condensation with a model; "": it succeeded
	Failed string
	Near   bool // the newest turn reached the warn level
	conv   *precis.Conversation
	stored int  // leading edits of conv that the store has
	job    *job // stores edits of a turn, even after the turn has ended; nil: no job is running

	// TooLong is the size in tokens of a view that the upstream refused as too long after part of
	// the answer was relayed; 0: none. It needs no lock.
	TooLong atomic.Int64

	// Measured is the upstream's count for the newest request with a size that we can only
	// estimate; nil: there is no such request. The next turn uses it. It needs no lock.
	Measured atomic.Pointer[precis.Measured]

	// Sent is the newest answered request; nil: no request was answered. It needs no lock.
	Sent atomic.Pointer[Sent]

	doubtedWrites

	snapshot atomic.Pointer[Snapshot]
	catalogRecord
	meters
	writing
}

// Preparation is a reduction in the background. Its other fields may be read once Done is closed.
type Preparation struct {
	Done    chan struct{}
	Base    int           // number of edits of the conversation when it began
	Model   bool          // a model may be called
	Edits   []precis.Edit // the result; empty: it failed
	Saved   int           // tokens that the edits save
	Skipped bool          // not attempted, because another replica was preparing
	// name of the reason why no summary was written; "": one was written, or none was requested
	Failed string
}

// Finished reports whether the reduction has ended.
func (p *Preparation) Finished() bool {
	select {
	case <-p.Done:
		return true
	default:
		return false
	}
}

// Snapshot is a conversation as it was when its lock was last released. It is immutable.
type Snapshot struct {
	Conversation precis.Conversation
	Last         policy.Report // of the newest turn; zero if there was no turn
	Failed       string        // see Conversation
	Stored       int           // number of leading edits that the store has
}

func (r *Registry) conversation(owner, id string, t *precis.Transcript) *Conversation {
	return &Conversation{
		reg: r, owner: owner, id: id, lock: make(chan struct{}, 1),
		conv:    &precis.Conversation{ID: id, Transcript: t},
		meters:  meters{turns: map[string]meter{}, looks: map[string]meter{}},
		writing: writing{turn: make(chan struct{}, 1)},
	}
}

// ID returns the conversation's ID; "" for a request that is not remembered.
func (c *Conversation) ID() string { return c.id }

// Owner returns the owner of the conversation.
func (c *Conversation) Owner() string { return c.owner }

// Open reports whether a client uses the conversation or recently did; otherwise it was read from
// the store.
func (c *Conversation) Open() bool { return c.line != nil }

// Lock locks the conversation for a turn or a change. It fails with [precis.CodeCanceled] when ctx
// ends.
func (c *Conversation) Lock(ctx context.Context) error {
	select {
	case c.lock <- struct{}{}:
		c.complete()
		return nil
	case <-ctx.Done():
		return precis.Errorf(precis.CodeCanceled, "wait for the conversation", "%w", context.Cause(ctx))
	}
}

// tryLock locks the conversation, and gives up when the lock stays taken for a moment.
func (c *Conversation) tryLock(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	return c.Lock(ctx) == nil
}

// Unlock publishes a snapshot and releases the lock. Edits that the store lacks are stored in the
// background.
func (c *Conversation) Unlock() {
	if was := c.snapshot.Load().Conversation.Edits; begins(c.conv.Edits, was) &&
		len(c.conv.Edits) > len(was) {
		// to conversations that branched off the previous snapshot
		defer c.markUnread(c.conv.Edits[len(was):])
	}
	c.publish()
	pending := c.stored < len(c.conv.Edits)
	<-c.lock
	if pending {
		c.reg.saver.enqueue(c)
	}
}

// complete takes over what a new line inherits, once. It is separate from adopt, which runs under
// the lock of the whole table.
func (c *Conversation) complete() {
	c.once.Do(func() {
		if c.inherit != nil {
			c.inherit()
		}
		c.inherit = nil
		c.publish()
	})
}

func (c *Conversation) publish() {
	s := &Snapshot{Conversation: *c.conv, Last: c.Last, Failed: c.Failed, Stored: c.stored}
	s.Conversation.Edits = slices.Clip(c.conv.Edits)
	s.Conversation.Transcript = c.conv.Transcript.Prefix(c.conv.Transcript.Len())
	s.Conversation.Title = c.Info().Title
	c.snapshot.Store(s)
}

// Snapshot returns the conversation as it was when its lock was last released. It does not wait for
// the lock.
func (c *Conversation) Snapshot() *Snapshot {
	c.complete()
	return c.snapshot.Load()
}

// Conversation returns the conversation itself. The lock must be held; only [Conversation.Record]
// adds edits.
func (c *Conversation) Conversation() *precis.Conversation { return c.conv }

// Grow adds messages of its line up to n. The lock must be held.
func (c *Conversation) Grow(n int) {
	if m := c.Measured.Load(); m != nil {
		c.conv.Measured = *m
	}
	if at := c.conv.Transcript.Len(); c.line != nil && at < n {
		c.conv.Transcript.Append(c.line.Transcript.Messages()[at:n]...)
	}
}

// Current reports whether the conversation is in memory and its client has not rewritten it since,
// so that its changes are recorded.
func (c *Conversation) Current() bool {
	return c.line != nil && c.reg.table.Line(c.owner, c.id) == c.line
}
