// Package memory keeps conversations in the process: for tests, for a command
// that runs once, and for a library user who keeps them elsewhere. [New]
// returns a [Store], a [precis.Store] that is also a [precis.CalibrationStore], a [precis.SummaryStore]
// and a [precis.Ledger].
//
// What comes back is the stored form, the JSON of package precis, as from every
// other store, and shares nothing with what was given. A node keeps the message
// it was first appended with; see package precis/store/sqlite, whose rules hold
// here.
package memory

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"precis"
)

// Store is a [precis.Store] in memory. It is safe for concurrent use.
type Store struct {
	mu           sync.Mutex
	closed       bool
	nodes        map[precis.Fingerprint]*node
	bodies       map[precis.Fingerprint]precis.Message // by hash; the one stored first
	seq          int                                   // of the newest edit
	calibrations map[string][]byte
	summaries    map[precis.Fingerprint]string
	ledger       []precis.LedgerEntry // oldest first
}

var (
	_ precis.Store            = (*Store)(nil)
	_ precis.CalibrationStore = (*Store)(nil)
	_ precis.SummaryStore     = (*Store)(nil)
	_ precis.Ledger           = (*Store)(nil)
)

// node is a position in a conversation. Nodes in a row without a fork share one
// run.
type node struct {
	parent *node              // nil: the empty conversation
	run    *precis.Transcript // the messages from the root to here, and beyond
	depth  int                // how many of them lead here
	edits  []entry            // made here, oldest first
}

type entry struct {
	seq  int
	id   string
	data []byte // JSON of the edit
}

// New returns an empty store.
func New() *Store {
	root := &node{run: precis.NewTranscript()}
	return &Store{
		nodes:        map[precis.Fingerprint]*node{{}: root},
		bodies:       map[precis.Fingerprint]precis.Message{},
		calibrations: map[string][]byte{},
		summaries:    map[precis.Fingerprint]string{},
	}
}

// begin locks the store for one call. The caller unlocks it by calling done,
// also after an error.
func (s *Store) begin(ctx context.Context, op string) (done func(), err error) {
	s.mu.Lock()
	switch {
	case s.closed:
		err = precis.Errorf(precis.CodeInternal, op, "the store is closed")
	case ctx.Err() != nil:
		err = precis.Errorf(precis.CodeCanceled, op, "%w", ctx.Err())
	}
	return s.mu.Unlock, err
}

func (s *Store) find(op string, f precis.Fingerprint) (*node, error) {
	if n := s.nodes[f]; n != nil {
		return n, nil
	}
	return nil, precis.Errorf(precis.CodeNotFound, op, "node %s is unknown", f.Short())
}

// Append adds messages after the node parent and returns the node after the
// last one. Appending nothing returns parent. A message that cannot be stored
// as it is makes the error [precis.CodeInvalid].
func (s *Store) Append(ctx context.Context, parent precis.Fingerprint, msgs ...precis.Message) (precis.Fingerprint, error) {
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
	n, err := s.find(op, parent)
	if err != nil {
		return precis.Fingerprint{}, err
	}
	last := parent
	t := n.run.Prefix(n.depth)
	t.Append(stored...)
	for i := range stored {
		f := t.Fingerprint(i + 1 + t.Len() - len(stored))
		known := s.nodes[f]
		if known == nil {
			return s.extend(n, stored[i:]), nil
		}
		n, last = known, f
	}
	return last, nil
}

// copyMessage returns what the stored form of m reads back as.
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

// extend stores new messages after n and returns the node after the last one.
// At the end of its run it lengthens the run, else it starts another.
func (s *Store) extend(n *node, msgs []precis.Message) (last precis.Fingerprint) {
	run := n.run
	if n.depth < run.Len() {
		run = run.Prefix(n.depth)
	}
	run.Append(msgs...)
	for _, m := range msgs {
		n = &node{parent: n, run: run, depth: n.depth + 1}
		last = run.Fingerprint(n.depth)
		s.nodes[last] = n
		hash := precis.HashMessage(m)
		if _, ok := s.bodies[hash]; !ok {
			s.bodies[hash] = m
		}
	}
	return last
}

// Load returns the messages from the root to the node and the edits made at it
// and its ancestors in the order in which they were recorded. The zero
// fingerprint gives an empty transcript.
func (s *Store) Load(ctx context.Context, f precis.Fingerprint) (*precis.Transcript, []precis.Edit, error) {
	const op = "load conversation"
	done, err := s.begin(ctx, op)
	defer done()
	if err != nil {
		return nil, nil, err
	}
	n, err := s.find(op, f)
	if err != nil {
		return nil, nil, err
	}
	var edits []precis.Edit
	for _, e := range n.path() {
		var edit precis.Edit
		if err := json.Unmarshal(e.data, &edit); err != nil {
			return nil, nil, precis.Errorf(precis.CodeInternal, op, "edit %s: %w", e.id, err)
		}
		edits = append(edits, edit)
	}
	return n.run.Prefix(n.depth), edits, nil
}

// path returns the edits made at the node and its ancestors, oldest first.
func (n *node) path() []entry {
	var all []entry
	for ; n != nil; n = n.parent {
		all = append(all, n.edits...)
	}
	slices.SortFunc(all, func(a, b entry) int { return cmp.Compare(a.seq, b.seq) })
	return all
}

// AddEdit records e at the node e.At when after is the ID of the newest edit on
// the path to it. Recording again what is the newest edit there already, with
// the same after, succeeds and stores nothing. Two edits are the same when all
// but their Time, Run and Report is; the first one stays.
//
// The error is [precis.CodeConflict] when another edit is the newest or the ID
// is taken on the path, and [precis.CodeInvalid] for an edit without an ID and
// for one at the empty conversation, where it would be in force in all.
func (s *Store) AddEdit(ctx context.Context, after string, e precis.Edit) error {
	const op = "record edit"
	if e.ID == "" || e.At.IsZero() {
		return precis.Errorf(precis.CodeInvalid, op, "an edit needs an ID and a node")
	}
	data, err := json.Marshal(e)
	if err != nil {
		return precis.Errorf(precis.CodeInvalid, op, "edit %s: %w", e.ID, err)
	}
	done, err := s.begin(ctx, op)
	defer done()
	if err != nil {
		return err
	}
	n, err := s.find(op, e.At)
	if err != nil {
		return err
	}
	path := n.path()
	if n.repeats(path, after, e) {
		return nil
	}
	if newest := lastID(path); newest != after {
		return precis.Errorf(precis.CodeConflict, op, "%q is the newest edit, not %q", newest, after)
	}
	if slices.ContainsFunc(path, func(p entry) bool { return p.id == e.ID }) {
		return precis.Errorf(precis.CodeConflict, op, "an edit on the path has the ID %q", e.ID)
	}
	s.seq++
	n.edits = append(n.edits, entry{seq: s.seq, id: e.ID, data: data})
	return nil
}

// repeats reports whether e is the newest edit of the path, made at n after the
// given one.
func (n *node) repeats(path []entry, after string, e precis.Edit) bool {
	if len(path) == 0 || len(n.edits) == 0 || lastID(path) != e.ID || lastID(path[:len(path)-1]) != after {
		return false
	}
	var there precis.Edit
	err := json.Unmarshal(n.edits[len(n.edits)-1].data, &there)
	return err == nil && there.ID == e.ID && bytes.Equal(decision(there), decision(e))
}

// decision returns what makes two edits the same.
func decision(e precis.Edit) []byte {
	e.Time, e.Run, e.Report = time.Time{}, "", precis.EditReport{}
	data, _ := json.Marshal(e) // it was marshaled before
	return data
}

func lastID(path []entry) string {
	if len(path) == 0 {
		return ""
	}
	return path[len(path)-1].id
}

// Body returns the stored form of the message with the given hash; that of the
// message stored first when several have it.
func (s *Store) Body(ctx context.Context, hash precis.Fingerprint) (precis.Message, error) {
	const op = "load message"
	done, err := s.begin(ctx, op)
	defer done()
	if err != nil {
		return precis.Message{}, err
	}
	m, ok := s.bodies[hash]
	if !ok {
		return precis.Message{}, precis.Errorf(precis.CodeNotFound, op, "message %s is unknown", hash.Short())
	}
	return m, nil
}

// Close forgets everything. Calls after it fail; closing again does nothing.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.nodes, s.bodies, s.calibrations, s.ledger = nil, nil, nil, nil
	return nil
}
