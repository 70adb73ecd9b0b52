// Package memory keeps conversations in the process: for tests, for a command that runs once, and
// for a library user who stores them elsewhere. [New] returns a [Store], a [precis.Store] that also
// implements [precis.CalibrationStore], [precis.Ledger] and all optional interfaces of package
// store except [store.Checker] and [store.Wiper].
//
// As with other stores, results are copies made through the stored form, the JSON of package
// precis. A node keeps the message it was first appended with; the rules of package
// precis/store/sqlite apply.
package memory

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/store"
)

// Store is a [precis.Store] in memory, or one scope of it. It is safe for
// concurrent use.
type Store struct {
	part
	books
	whole bool // made by New; Close of a scope has no effect
}

// part is the store of one owner.
type part struct {
	*shared
	owner string
}

// books are the ledger, calibrations and windows.
type books struct{ part }

// newStore returns the scope of an owner.
func newStore(s *shared, owner string) *Store {
	p := part{s, owner}
	return &Store{part: p, books: books{p}}
}

// shared is the state shared by all scopes of a store.
type shared struct {
	mu           sync.Mutex
	closed       bool
	scopes       map[string]*data // by owner
	calibrations map[string][]byte
	windows      map[string][]byte
	leases       map[string]lease
}

// data is the data of one owner.
type data struct {
	nodes     map[precis.Fingerprint]*node
	bodies    map[precis.Fingerprint]precis.Message // by hash; the first one stored
	seq       int                                   // number of the newest node or edit
	summaries map[precis.Fingerprint]summary
	ledger    []precis.LedgerEntry // oldest first
	catalog   map[string]store.Record
}

var (
	_ precis.Store            = (*Store)(nil)
	_ precis.CalibrationStore = (*Store)(nil)
	_ store.Summaries         = (*Store)(nil)
	_ precis.Ledger           = (*Store)(nil)
	_ store.Scoper            = (*Store)(nil)
	_ store.Booker            = (*Store)(nil)
	_ store.Windows           = (*Store)(nil)
	_ store.Spender           = (*Store)(nil)
	_ store.Summer            = (*Store)(nil)
	_ store.Finder            = (*Store)(nil)
	_ store.Leaser            = (*Store)(nil)
	_ store.Lister            = (*Store)(nil)
	_ store.Census            = (*Store)(nil)
	_ store.Searcher          = (*Store)(nil)
	_ store.Purger            = (*Store)(nil)
)

// node is a position in a conversation. Consecutive nodes without a fork share one run.
type node struct {
	parent *node              // nil: the empty conversation
	run    *precis.Transcript // the messages from the root to this node, and beyond
	depth  int                // number of messages up to this node
	edits  []entry            // recorded here, oldest first
	seq    int                // sequence number of its storing
	stored time.Time
}

// message returns the last message of the node.
func (n *node) message() precis.Message { return n.run.At(n.depth - 1) }

type entry struct {
	seq  int
	id   string
	data []byte // JSON of the edit
}

// New returns an empty store.
func New() *Store {
	s := newStore(&shared{
		scopes: map[string]*data{}, calibrations: map[string][]byte{}, windows: map[string][]byte{},
		leases: map[string]lease{},
	}, "")
	s.whole = true
	return s
}

func newData() *data {
	return &data{
		nodes:     map[precis.Fingerprint]*node{{}: {run: precis.NewTranscript()}},
		bodies:    map[precis.Fingerprint]precis.Message{},
		summaries: map[precis.Fingerprint]summary{},
		catalog:   map[string]store.Record{},
	}
}

// mine returns the owner's data for reading.
func (s part) mine() *data {
	if d := s.scopes[s.owner]; d != nil {
		return d
	}
	return newData()
}

// own returns the owner's data for writing.
func (s part) own() *data { return s.of(s.owner) }

// of returns an owner's data for writing.
func (s *shared) of(owner string) *data {
	d := s.scopes[owner]
	if d == nil {
		d = newData()
		s.scopes[owner] = d
	}
	return d
}

// begin locks the store for one call. The caller must call done to unlock it, even after an error.
func (s part) begin(ctx context.Context, op string) (done func(), err error) {
	s.mu.Lock()
	switch {
	case s.closed:
		err = precis.Errorf(precis.CodeInternal, op, "the store is closed")
	case ctx.Err() != nil:
		err = precis.Errorf(precis.CodeCanceled, op, "%w", ctx.Err())
	}
	return s.mu.Unlock, err
}

func (d *data) find(op string, f precis.Fingerprint) (*node, error) {
	if n := d.nodes[f]; n != nil {
		return n, nil
	}
	return nil, precis.Errorf(precis.CodeNotFound, op, "node %s is unknown", f.Short())
}

// Append adds messages after the node parent and returns the node after the last one. Appending no
// messages returns parent. The error is [precis.CodeInvalid] for a message that cannot be stored
// unchanged.
func (s *Store) Append(ctx context.Context, parent precis.Fingerprint,
	msgs ...precis.Message) (precis.Fingerprint, error) {
	const op = "append messages"
	stored := make([]precis.Message, len(msgs))
	for i, m := range msgs {
		var err error
		if stored[i], err = copyMessage(m); err != nil {
			return precis.Fingerprint{}, precis.Errorf(precis.CodeInvalid, op, "message %d: %w", i, err)
		}
	}
	done, err := s.begin(ctx, op)
	defer done()
	if err != nil {
		return precis.Fingerprint{}, err
	}
	d := s.own()
	n, err := d.find(op, parent)
	if err != nil {
		return precis.Fingerprint{}, err
	}
	last := parent
	t := n.run.Prefix(n.depth)
	t.Append(stored...)
	for i := range stored {
		f := t.Fingerprint(i + 1 + t.Len() - len(stored))
		known := d.nodes[f]
		if known == nil {
			return d.extend(n, stored[i:]), nil
		}
		n, last = known, f
	}
	return last, nil
}

// copyMessage returns m after a round trip through its stored form.
func copyMessage(m precis.Message) (precis.Message, error) {
	var back precis.Message
	data, err := json.Marshal(m)
	if err != nil {
		return back, err
	}
	if err := json.Unmarshal(data, &back); err != nil {
		return back, err
	}
	if precis.HashMessage(back) != precis.HashMessage(m) {
		return back, errors.New("its stored form differs: is there text that is not UTF-8?")
	}
	return back, nil
}

// extend stores new messages after n and returns the node after the last one. It extends the run if
// n is its end, else it starts another.
func (d *data) extend(n *node, msgs []precis.Message) (last precis.Fingerprint) {
	run := n.run
	if n.depth < run.Len() {
		run = run.Prefix(n.depth)
	}
	run.Append(msgs...)
	now := time.Now()
	for _, m := range msgs {
		d.seq++
		n = &node{parent: n, run: run, depth: n.depth + 1, seq: d.seq, stored: now}
		last = run.Fingerprint(n.depth)
		d.nodes[last] = n
		d.keep(m)
	}
	return last
}

// keep indexes a message by its hash.
func (d *data) keep(m precis.Message) {
	hash := precis.HashMessage(m)
	if _, ok := d.bodies[hash]; !ok {
		d.bodies[hash] = m
	}
}

// Load returns the messages from the root to the node, and the edits at it and its ancestors in the
// order of their recording. The zero fingerprint gives an empty transcript.
func (s *Store) Load(ctx context.Context, f precis.Fingerprint) (*precis.Transcript, []precis.Edit, error) {
	const op = "load conversation"
	done, err := s.begin(ctx, op)
	defer done()
	if err != nil {
		return nil, nil, err
	}
	n, err := s.mine().find(op, f)
	if err != nil {
		return nil, nil, err
	}
	edits, err := n.decoded(op)
	return n.run.Prefix(n.depth), edits, err
}

// path returns the edits at the node and its ancestors, oldest first.
func (n *node) path() []entry {
	var all []entry
	for ; n != nil; n = n.parent {
		all = append(all, n.edits...)
	}
	slices.SortFunc(all, func(a, b entry) int { return cmp.Compare(a.seq, b.seq) })
	return all
}

// Body returns the stored form of the message with the given hash; the first one stored if there
// are several.
func (s *Store) Body(ctx context.Context, hash precis.Fingerprint) (precis.Message, error) {
	const op = "load message"
	done, err := s.begin(ctx, op)
	defer done()
	if err != nil {
		return precis.Message{}, err
	}
	m, ok := s.mine().bodies[hash]
	if !ok {
		return precis.Message{}, precis.Errorf(precis.CodeNotFound, op, "message %s is unknown", hash.Short())
	}
	return m, nil
}

// Close forgets all data. Later calls fail; closing again, or closing a scope, has no effect.
func (s *Store) Close() error {
	if !s.whole {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.scopes, s.calibrations, s.windows, s.leases = nil, nil, nil, nil
	return nil
}
