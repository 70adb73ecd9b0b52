// Package lineage recognizes conversations by their content: which earlier
// request a request continues, and what of it is new. Use [New] and
// [Table.Place].
//
// A conversation is a tree of nodes, each named by the fingerprint of the
// messages up to it. A request whose messages continue those of an earlier one
// extends its [Line]; one that leaves it on the way is a new line that shares the
// beginning. Clients that clear old tool results in place are followed by a
// second chain of fingerprints that leaves out what results say. Headers and
// session names are not looked at: they are shared by what does not belong
// together, and missing where it does.
//
// What was seen before is not read again: of a body that begins like an earlier
// one only the rest is parsed, decoded and hashed.
package lineage

import (
	"container/list"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"sync"

	"precis"
	"precis/store"
	"precis/wire"
)

// Kind says how a request relates to what was seen before.
type Kind string

// The kinds.
const (
	First     Kind = "new"       // nothing of it was seen
	Extended  Kind = "extended"  // it continues the newest request of a line
	Repeated  Kind = "repeated"  // it is the newest request of a line once more
	Branched  Kind = "branched"  // it leaves a line on the way
	Rewritten Kind = "rewritten" // as Extended, but old tool results were cleared
	Amended   Kind = "amended"   // as Extended, but the end of the newest request is gone: its client sends a note, or the beginning of an answer, once
)

// Line is one conversation as one client sends it: a path through the tree from
// the root to its newest message. Its exported fields are set once; State is the
// caller's.
type Line[S any] struct {
	ID         string
	Owner      string
	Scope      string // see [Request]
	Dialect    string
	Transcript *precis.Transcript // of everything seen; grows
	Branched   string             // ID of the line it left; "" for none
	Earlier    []precis.Fingerprint
	State      S // what [Options.Adopt] made

	// Guarded by the table.
	prints   []precis.Fingerprint // after each message
	skeleton []precis.Fingerprint // the same without what tool results say
	body     *wire.Body           // of the newest request
	lead     int                  // messages of body before the transcript: the system prompt
	prompt   wire.Prompt
	size     int
	levels   []levelKey
	element  *list.Element
	gone     bool
}

// Found is the place of a request.
type Found[S any] struct {
	Line   *Line[S]
	Kind   Kind
	Body   *wire.Body
	Prompt wire.Prompt
	Lead   int                // elements of the body's list that are the system prompt, not the transcript
	Node   precis.Fingerprint // where the request ends
	Parent precis.Fingerprint // where the request ended that it continues; zero when First
	Known  int                // messages of it that were seen before
	Len    int                // messages of it
	// Cleared are the messages whose results the client cleared, when Rewritten.
	Cleared []int
	// From is the line that a Branched, Rewritten or Amended request left.
	From *Line[S]
	// Messages are those of the request, system prompt left out.
	Messages []precis.Message
}

// Item returns the bytes of message i of the transcript as this request has them.
func (f *Found[S]) Item(i int) []byte { return f.Body.Item(f.Lead + i) }

// Known is what the store holds of a conversation that memory does not: written
// by an earlier process or another replica.
type Known struct {
	Len    int           // messages of the request that are stored; 0: none
	Edits  []precis.Edit // in force after them
	Record *store.Record // of the conversation that the request continues; nil: none
	Fresh  int           // the first number for [ID] that no stored conversation has
}

// id returns the ID of the stored conversation that a request of known messages
// continues; "" when it begins one of its own.
func (k *Known) id() string {
	if k == nil || k.Record == nil {
		return ""
	}
	return k.Record.ID
}

// Options are the settings of a [Table].
type Options[S any] struct {
	// Bytes is how much memory the lines may use, about; 0 means 256 MB. The one
	// used last longest ago is dropped first.
	Bytes int
	// Key makes the IDs of new lines, see [ID]. Lines that Load finds keep theirs.
	Key []byte
	// Load asks the store for a conversation of a scope whose nodes are prints, of
	// which memory knows the first known. A nil result, or a Len not over known, adds nothing.
	// Nil: there is no store.
	Load func(ctx context.Context, owner, scope string, prints []precis.Fingerprint, known int) (*Known, error)
	// Adopt makes the State of a new line. It is called with the table locked, and
	// must be quick. Known is nil unless Load found something.
	Adopt func(f *Found[S], known *Known) S
	// Stays reports whether a line should stay longer than those used after it, since
	// it is not stored yet. Nil: none does.
	Stays func(S) bool
	// Evict is called for each line that is dropped to free memory, with the
	// bytes that it uses. It is called with the table locked. Nil: nobody is
	// notified.
	Evict func(s S, bytes int)
	// Beside is how many bytes are used by what Evict did not let go of. It is called
	// with the table locked. Nil: none.
	Beside func() int
}

// Table is the lines in memory. It is safe for concurrent use.
type Table[S any] struct {
	o Options[S]

	mu      sync.Mutex
	nodes   map[nodeKey]place[S]
	heads   map[nodeKey]*Line[S] // by skeleton
	ends    map[nodeKey]*Line[S] // by the last node
	levels  map[levelKey][]*Line[S]
	ids     map[nodeID]*Line[S]
	recent  *list.List // of *Line[S], the newest first
	size    int
	dropped int
}

type nodeKey struct {
	space string // see [Space]
	print precis.Fingerprint
}

type nodeID struct{ owner, id string }

// place is a node: a line that passes it, and whether a request ended there.
type place[S any] struct {
	line *Line[S]
	end  bool
}

// New returns an empty table.
func New[S any](o Options[S]) *Table[S] {
	if o.Bytes <= 0 {
		o.Bytes = 256 << 20
	}
	return &Table[S]{
		o: o, nodes: map[nodeKey]place[S]{}, heads: map[nodeKey]*Line[S]{}, ends: map[nodeKey]*Line[S]{}, levels: map[levelKey][]*Line[S]{}, ids: map[nodeID]*Line[S]{}, recent: list.New(),
	}
}

// Line returns the line in memory with the ID; nil when there is none.
func (t *Table[S]) Line(owner, id string) *Line[S] {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ids[nodeID{owner, id}]
}

// Lines returns the lines in memory, the newest first.
func (t *Table[S]) Lines() []*Line[S] {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := make([]*Line[S], 0, t.recent.Len())
	for e := t.recent.Front(); e != nil; e = e.Next() {
		out = append(out, e.Value.(*Line[S]))
	}
	return out
}

// Through returns the lines in memory that pass a node after n messages, in no order.
func (t *Table[S]) Through(owner string, n int, node precis.Fingerprint) []*Line[S] {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []*Line[S]
	for e := t.recent.Front(); e != nil; e = e.Next() {
		if l := e.Value.(*Line[S]); l.Owner == owner && 0 < n && n <= len(l.prints) && l.prints[n-1] == node {
			out = append(out, l)
		}
	}
	return out
}

// Size returns the lines in memory, about how many bytes they use, and how many
// lines were dropped for want of room.
func (t *Table[S]) Size() (lines, bytes, dropped int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.recent.Len(), t.size, t.dropped
}

// Drop forgets a line. Requests under way may still use it.
func (t *Table[S]) Drop(l *Line[S]) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.remove(l)
}

// Space returns where the lines of an owner live that have a scope. Lines of
// different spaces have nothing in common.
func Space(owner, scope string) string {
	if scope == "" {
		return owner
	}
	return owner + "\x00" + scope
}

func (l *Line[S]) space() string { return Space(l.Owner, l.Scope) }

// ID names a line of a space after the node its first request ended at, so that
// replicas agree that have the same key. A second line from the same node has another
// number. The ID is an HMAC: who sees one without the key cannot test by it what was
// said. An empty key makes a plain hash, as all IDs were once.
func ID(key []byte, space string, node precis.Fingerprint, number int) string {
	text := fmt.Appendf(nil, "line %q %s %d", space, node, number)
	sum := sha256.Sum256(text)
	if len(key) > 0 {
		m := hmac.New(sha256.New, key)
		m.Write(text)
		m.Sum(sum[:0])
	}
	return "c" + hex.EncodeToString(sum[:8])
}

// IsID reports whether a name has the form of an ID: that of a line, or of a branch
// that was made on request.
func IsID(name string) bool {
	if len(name) != 17 || name[0] != 'c' && name[0] != 'b' {
		return false
	}
	_, err := hex.DecodeString(name[1:])
	return err == nil
}

// lineID returns an ID that no line has, in memory or beyond.
func (t *Table[S]) lineID(r Request, node precis.Fingerprint, known *Known) string {
	n := 0
	if known != nil {
		n = known.Fresh
	}
	for ; ; n++ {
		id := ID(t.o.Key, r.space(), node, n)
		if t.ids[nodeID{r.Owner, id}] == nil {
			return id
		}
	}
}

// remove forgets a line. The table is locked.
func (t *Table[S]) remove(l *Line[S]) {
	if l.gone {
		return
	}
	l.gone = true
	left := t.ids[nodeID{l.Owner, l.Branched}] // shares the nodes before the branch
	for i, p := range l.prints {
		k := nodeKey{l.space(), p}
		switch at := t.nodes[k]; {
		case at.line != l:
		case left != nil && left != l && i < len(left.prints) && left.prints[i] == p:
			t.nodes[k] = place[S]{line: left, end: at.end}
		default:
			delete(t.nodes, k)
		}
	}
	t.unindex(l)
	t.unend(l)
	if k := (nodeID{l.Owner, l.ID}); t.ids[k] == l {
		delete(t.ids, k)
	}
	t.recent.Remove(l.element)
	t.size -= l.size
	l.body, l.prompt, l.skeleton = nil, wire.Prompt{}, nil // whoever still has the line needs its transcript
}

// unend takes a line out of the index of last nodes.
func (t *Table[S]) unend(l *Line[S]) {
	if n := len(l.prints); n > 0 {
		if k := (nodeKey{l.space(), l.prints[n-1]}); t.ends[k] == l {
			delete(t.ends, k)
		}
	}
}

// unindex takes a line out of the indexes that name its newest request.
func (t *Table[S]) unindex(l *Line[S]) {
	if n := len(l.skeleton); n > 0 {
		if k := (nodeKey{l.space(), l.skeleton[n-1]}); t.heads[k] == l {
			delete(t.heads, k)
		}
	}
	for _, k := range l.levels {
		t.levels[k] = slices.DeleteFunc(t.levels[k], func(o *Line[S]) bool { return o == l })
		if len(t.levels[k]) == 0 {
			delete(t.levels, k)
		}
	}
	l.levels = nil
}

// shrink drops lines until the rest fits: first those that need not stay, the one
// used last longest ago before all. The table is locked.
func (t *Table[S]) shrink(but *Line[S]) {
	const most = 1000 // lines that are asked about for one request
	last := t.recent.Back()
	for range most {
		if last == nil || !t.over() {
			break
		}
		l := last.Value.(*Line[S])
		last = last.Prev()
		if l != but && (t.o.Stays == nil || !t.o.Stays(l.State)) {
			t.evict(l)
		}
	}
	for last := t.recent.Back(); t.over() && last != nil && last.Value.(*Line[S]) != but; last = t.recent.Back() {
		t.evict(last.Value.(*Line[S]))
	}
}

// over reports whether there is more than memory has room for.
func (t *Table[S]) over() bool {
	beside := 0
	if t.o.Beside != nil {
		beside = t.o.Beside()
	}
	return t.size+beside > t.o.Bytes
}

func (t *Table[S]) evict(l *Line[S]) {
	t.remove(l)
	t.dropped++
	if t.o.Evict != nil {
		t.o.Evict(l.State, l.size)
	}
}
