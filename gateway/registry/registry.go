// Package registry manages the open conversations of a gateway: it finds the one that a request
// continues, locks it for one turn at a time, and writes its changes to the store. Start with [New]
// and [Registry.Place].
//
// Only this package writes edits in the gateway. They are put in force in memory first, then
// [store.Reconcile] stores them while the turn waits within its patience. The work continues after
// the request, and failed writes are retried when the store answers again. Messages, catalog
// records and ledger lines are always written in the background: a client sends its messages again
// with every request, so their loss is harmless. Pending data counts as memory, and is bounded with
// it.
//
// A turn holds the lock of its conversation. Readers use a snapshot, which is published at each
// release of the lock, and never wait for a turn.
package registry

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/gateway/lineage"
	"github.com/precis-dev/precis/store"
)

// Options are the parts of a [Registry]. Zero values are working defaults.
type Options struct {
	// Store keeps conversations; nil: they live only in memory, within Bytes.
	Store precis.Store
	// Shared: other replicas write to the store, too, so each turn loads newer edits.
	Shared bool
	// Key makes the IDs of new conversations, see [lineage.ID]. Replicas must share it.
	Key []byte
	// Replica names this process among those that share the store.
	Replica string
	// Patience is how long a turn waits for the store; 0 means 3 seconds.
	Patience time.Duration
	// Bytes is roughly the memory that open conversations may use; 0 means 256 MB.
	Bytes  int
	Logger *slog.Logger     // nil: silent
	Now    func() time.Time // nil: time.Now
}

// Registry holds the open conversations. It is safe for concurrent use.
type Registry struct {
	o      Options
	table  *lineage.Table[*Conversation]
	saver  *saver
	books  *ledgerQueue
	outage outage
	reads  timeLimit
	writes timeLimit
	leases atomic.Int64 // numbers the holders of leases
}

// Found is the place of a request: see [lineage.Found].
type Found = lineage.Placement[*Conversation]

type line = lineage.Line[*Conversation]

// New returns an empty registry. The caller must call Close at the end.
func New(o Options) *Registry {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Patience <= 0 {
		o.Patience = mostPatience
	}
	if o.Bytes <= 0 {
		o.Bytes = 256 << 20
	}
	r := &Registry{o: o, outage: outage{log: o.Logger, now: o.Now}, reads: timeLimit{limit: o.Patience},
		writes: timeLimit{limit: o.Patience}}
	r.saver, r.books = newSaver(r), newBooks(r)
	r.table = lineage.New(lineage.Options[*Conversation]{
		Bytes: o.Bytes, Key: o.Key, Load: r.load, Adopt: r.adopt, Evict: r.saver.evict,
		ExtraBytes: func() int { return int(r.saver.evictedCount.Load()) },
		Stays:      func(c *Conversation) bool { return c.unsaved.Load() },
	})
	return r
}

// Close stores all pending data, edits included, and ends the background work, at most until ctx
// ends. An error means that some data could not be stored.
func (r *Registry) Close(ctx context.Context) error {
	return errors.Join(r.saver.close(ctx), r.books.close(ctx))
}

// Place finds the conversation that a request continues, or begins one. The conversation is the
// state of [Found.Line]. If the store fails, Place uses only memory, and returns the place together
// with the error.
func (r *Registry) Place(ctx context.Context, q lineage.Request) (*Found, error) {
	f, err := r.table.Place(ctx, q)
	if f != nil && err != nil {
		f.Line.State.unread.Store(true) // until a later turn can load
	}
	return f, err
}

// Get returns an open conversation of an owner; nil when memory has no conversation with the ID, or
// no turn of it was seen.
func (r *Registry) Get(owner, id string) *Conversation {
	return seenConversation(r.table.Line(owner, id))
}

func seenConversation(l *line) *Conversation {
	if l == nil || l.State == nil || l.State.Info().Updated.IsZero() {
		return nil
	}
	return l.State
}

// All returns the open conversations, the last used first. Owner "*" selects all owners.
func (r *Registry) All(owner string) []*Conversation {
	var out []*Conversation
	for _, l := range r.table.Lines() {
		c := seenConversation(l)
		if c == nil || owner != Everybody && l.Owner != owner || r.table.Line(l.Owner, l.ID) != l {
			continue // an older form of another line
		}
		out = append(out, c)
	}
	return out
}

// Everybody, as an owner, selects all owners.
const Everybody = "*"

// Owners returns all owners with an open conversation or data in the store, sorted.
func (r *Registry) Owners(ctx context.Context) ([]string, error) {
	var owners []string
	if sc, ok := r.o.Store.(store.Scoper); ok {
		var err error
		if owners, err = sc.Scopes(ctx); err != nil {
			return nil, err
		}
	} else if r.o.Store != nil {
		owners = []string{""}
	}
	for _, l := range r.table.Lines() {
		owners = append(owners, l.Owner)
	}
	slices.Sort(owners)
	return slices.Compact(owners), nil
}

// OwnerOf returns the owner of a conversation; [precis.CodeNotFound] when it does not exist. IDs
// are derived from the owner, so no two owners share one.
func (r *Registry) OwnerOf(ctx context.Context, id string) (string, error) {
	for _, l := range r.table.Lines() {
		if l.ID == id && seenConversation(l) != nil {
			return l.Owner, nil
		}
	}
	owners, err := r.Owners(ctx)
	if err != nil {
		return "", err
	}
	for _, owner := range owners {
		cat := r.Catalog(owner)
		if cat == nil {
			continue
		}
		_, err := cat.Conversation(ctx, id)
		switch precis.CodeOf(err) {
		case "":
			return owner, nil
		case precis.CodeNotFound:
		default:
			return "", err
		}
	}
	return "", notFound(id)
}

func notFound(id string) error {
	return precis.Errorf(precis.CodeNotFound, "find conversation", "there is no conversation %.80q", id)
}

// Open returns a conversation of an owner: the open one or, if only the store has it or another
// replica has seen more of it, a copy from the store without a client. The error is
// [precis.CodeNotFound] when the owner has no such conversation.
func (r *Registry) Open(ctx context.Context, owner, id string) (*Conversation, error) {
	if c := r.Get(owner, id); c != nil {
		return r.newest(ctx, c), nil
	}
	cat := r.Catalog(owner)
	if cat == nil {
		return nil, notFound(id)
	}
	rec, err := cat.Conversation(ctx, id)
	if precis.CodeOf(err) == precis.CodeNotFound {
		return nil, notFound(id)
	} else if err != nil {
		return nil, err
	}
	return r.stored(ctx, owner, rec)
}

// Earlier returns the transcript, ending at a given node, that a conversation had before its client
// rewrote it; nil when neither memory nor the store has it.
func (r *Registry) Earlier(ctx context.Context, owner, id string,
	head precis.Fingerprint) (*precis.Transcript, error) {
	for _, l := range r.table.Lines() {
		if l.Owner == owner && l.ID == id && l.Transcript.Fingerprint(l.Transcript.Len()) == head {
			return l.Transcript, nil
		}
	}
	st := r.Store(owner)
	if st == nil {
		return nil, nil
	}
	t, _, err := st.Load(ctx, head)
	if precis.CodeOf(err) == precis.CodeNotFound {
		return nil, nil
	}
	return t, err
}

// Store returns the part of the store that belongs to an owner; nil without a store, or with one
// that cannot separate owners.
func (r *Registry) Store(owner string) precis.Store {
	if owner == "" {
		return r.o.Store
	}
	if s, ok := r.o.Store.(store.Scoper); ok {
		return s.Scope(owner)
	}
	return nil
}

// Catalog returns the stored catalog of an owner; nil when the store has none or cannot separate
// owners.
func (r *Registry) Catalog(owner string) store.Lister {
	if _, ok := r.o.Store.(store.Scoper); !ok && owner != "" {
		return nil
	}
	cat, _ := r.Store(owner).(store.Lister)
	return cat
}

// Settle stores the pending data of an owner, or of [Everybody], or of one of their conversations,
// before the store is read. It waits at most [Options.Patience]; the rest is stored later.
func (r *Registry) Settle(ctx context.Context, owner, conversation string) error {
	if r.o.Store != nil {
		bounded, cancel := r.writes.withLimit(ctx)
		defer cancel()
		r.saver.storeWaiting(bounded, func(c *Conversation) bool {
			return (owner == Everybody || c.owner == owner) && (conversation == "" || c.id == conversation)
		})
	}
	if err := ctx.Err(); err != nil {
		return precis.Errorf(precis.CodeCanceled, "wait for the store", "%w", context.Cause(ctx))
	}
	return nil
}

// Share stores the pending data of a conversation before another replica may continue it. It waits
// at most [Options.Patience]; the rest is stored later.
func (r *Registry) Share(ctx context.Context, c *Conversation) {
	if r.o.Store == nil {
		return
	}
	ctx, cancel := r.writes.withLimit(ctx)
	defer cancel()
	r.saver.storeWaiting(ctx, func(other *Conversation) bool { return other == c })
	switch {
	case !c.unsaved.Load():
		r.writes.answered()
	case r.writes.ended(ctx):
		r.o.Logger.WarnContext(ctx, "the store is slow: a turn is stored later", "conversation", c.id)
	}
}

// SettleLedger stores the pending ledger lines of an owner, or of [Everybody], before the ledger is
// read.
func (r *Registry) SettleLedger(ctx context.Context, owner string) error {
	return r.reads.call(ctx, func(ctx context.Context) error { return r.books.flushOwner(ctx, owner) })
}
