// Package lineage recognizes conversations by their content: which earlier request a request
// continues, and which of its messages are new. Use [New] and [Table.Place].
//
// A conversation is a tree of nodes, each named by the fingerprint of the messages up to it. A
// request with messages that continue an earlier request extends its [Line]; one that diverges
// becomes a new line that shares the beginning. For clients that clear old tool results in place,
// there is a second chain of fingerprints that omits the content of results. Headers and session
// names are ignored: unrelated requests may share them, and related ones may lack them.
//
// Known content is not read again: if a body begins like an earlier one, only the rest is parsed,
// decoded and hashed.
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

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/store"
	"github.com/precis-dev/precis/wire"
)

// Kind is the relation of a request to earlier ones.
type Kind string

// The kinds.
const (
	First     Kind = "new"       // it continues no known conversation
	Extended  Kind = "extended"  // it continues the newest request of a line
	Repeated  Kind = "repeated"  // it repeats the newest request of a line
	Branched  Kind = "branched"  // it diverges from a line
	Rewritten Kind = "rewritten" // as Extended, but old tool results were cleared
	// as Extended, but the end of the newest request is gone: its client sends a note, or the beginning
	// of an answer, once
	Amended Kind = "amended"
)

// Line is one conversation as one client sends it: a path through the tree from the root to its
// newest message. Its exported fields are set once; State belongs to the caller.
type Line[S any] struct {
	ID         string
	Owner      string
	Scope      string // see [Request]
	Dialect    string
	Transcript *precis.Transcript // of all messages received; grows
	Branched   string             // ID of the line it branched from; "": none
	Earlier    []precis.Fingerprint
	State      S // made by [Options.Adopt]

	// The following fields are guarded by the table.
	fingerprints []precis.Fingerprint // after each message
	skeleton     []precis.Fingerprint // the same, without the content of tool results
	body         *wire.Body           // of the newest request
	lead         int                  // number of messages of body before the transcript: the system prompt
	prompt       wire.Prompt
	size         int
	levels       []levelKey
	element      *list.Element
	removed      bool
}

// Placement is the place of a request.
type Placement[S any] struct {
	Line   *Line[S]
	Kind   Kind
	Body   *wire.Body
	Prompt wire.Prompt
	Lead   int                // number of list elements that belong to the system prompt, not the transcript
	Node   precis.Fingerprint // node of the end of the request
	Parent precis.Fingerprint // node of the end of the request that it continues; zero when First
	Known  int                // number of its messages that were known before
	Len    int                // number of its messages
	// Cleared are the messages with results that the client cleared, when Rewritten.
	Cleared []int
	// From is the line that a Branched, Rewritten or Amended request left.
	From *Line[S]
	// Messages are the request's messages, without the system prompt.
	Messages []precis.Message
}

// Item returns the bytes of message i of the transcript in this request.
func (f *Placement[S]) Item(i int) []byte { return f.Body.Item(f.Lead + i) }

// Known is the store's data about a conversation that memory lacks: written by an earlier process
// or another replica.
type Known struct {
	Len        int           // number of stored messages of the request; 0: none
	Edits      []precis.Edit // in force after them
	Record     *store.Record // of the conversation that the request continues; nil: it continues none
	NextNumber int           // the first number for [ID] that no stored conversation has
}

// id returns the ID of the stored conversation that a request with known messages continues; ""
// when it begins a new one.
func (k *Known) id() string {
	if k == nil || k.Record == nil {
		return ""
	}
	return k.Record.ID
}

// Options are the settings of a [Table].
type Options[S any] struct {
	// Bytes is roughly how much memory the lines may use; 0 means 256 MB. The least recently used
	// line is dropped first.
	Bytes int
	// Key makes the IDs of new lines, see [ID]. Lines that Load finds keep their IDs.
	Key []byte
	// Load asks the store for a conversation of a scope with the nodes prints; memory knows the
	// first known of them. A nil result, or a Len of at most known, adds no data. Nil: there is no
	// store.
	Load func(ctx context.Context, owner, scope string, prints []precis.Fingerprint,
		known int) (*Known, error)
	// Adopt makes the State of a new line. It is called with the table locked, and must be quick.
	// Known is nil unless Load found data.
	Adopt func(f *Placement[S], known *Known) S
	// Stays reports whether a line should stay longer than more recently used ones, because it is
	// not stored yet. Nil: no line should.
	Stays func(S) bool
	// Evict is called for each line that is dropped to free memory, with its size in bytes. It is
	// called with the table locked. Nil: not called.
	Evict func(s S, bytes int)
	// ExtraBytes returns how many bytes evicted data still uses. It is called with the table locked.
	// Nil: 0.
	ExtraBytes func() int
}

// Table holds the lines in memory. It is safe for concurrent use.
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

// place is a node: a line that contains it, and whether a request ended there.
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
		o: o, nodes: map[nodeKey]place[S]{}, heads: map[nodeKey]*Line[S]{}, ends: map[nodeKey]*Line[S]{},
		levels: map[levelKey][]*Line[S]{}, ids: map[nodeID]*Line[S]{}, recent: list.New(),
	}
}

// Line returns the line in memory with the ID; nil when memory lacks it.
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

// LinesThrough returns the lines in memory that contain a node after n messages, in any order.
func (t *Table[S]) LinesThrough(owner string, n int, node precis.Fingerprint) []*Line[S] {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []*Line[S]
	for e := t.recent.Front(); e != nil; e = e.Next() {
		if l := e.Value.(*Line[S]); l.Owner == owner && 0 < n && n <= len(l.fingerprints) &&
			l.fingerprints[n-1] == node {
			out = append(out, l)
		}
	}
	return out
}

// Size returns the number of lines in memory, roughly their bytes, and the number of lines dropped
// for lack of room.
func (t *Table[S]) Size() (lines, bytes, dropped int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.recent.Len(), t.size, t.dropped
}

// Drop forgets a line. Requests in progress may still use it.
func (t *Table[S]) Drop(l *Line[S]) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.remove(l)
}

// Space returns the key space of an owner's lines with a scope. Lines of different spaces share no
// nodes.
func Space(owner, scope string) string {
	if scope == "" {
		return owner
	}
	return owner + "\x00" + scope
}

func (l *Line[S]) space() string { return Space(l.Owner, l.Scope) }

// ID names a line of a space by the node where its first request ended, so that replicas with the
// same key agree. A second line from the same node has another number. The ID is an HMAC: without
// the key, an ID cannot be used to test guesses about the content. An empty key makes a plain hash,
// as in earlier versions.
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

// IsID reports whether a name has the form of an ID, of a line or of a branch made on request.
func IsID(name string) bool {
	if len(name) != 17 || name[0] != 'c' && name[0] != 'b' {
		return false
	}
	_, err := hex.DecodeString(name[1:])
	return err == nil
}

// lineID returns an ID that no line has, in memory or in the store.
func (t *Table[S]) lineID(r Request, node precis.Fingerprint, known *Known) string {
	n := 0
	if known != nil {
		n = known.NextNumber
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
	if l.removed {
		return
	}
	l.removed = true
	left := t.ids[nodeID{l.Owner, l.Branched}] // shares the nodes before the branch
	for i, p := range l.fingerprints {
		k := nodeKey{l.space(), p}
		switch at := t.nodes[k]; {
		case at.line != l:
		case left != nil && left != l && i < len(left.fingerprints) && left.fingerprints[i] == p:
			t.nodes[k] = place[S]{line: left, end: at.end}
		default:
			delete(t.nodes, k)
		}
	}
	t.unindex(l)
	t.removeEnd(l)
	if k := (nodeID{l.Owner, l.ID}); t.ids[k] == l {
		delete(t.ids, k)
	}
	t.recent.Remove(l.element)
	t.size -= l.size
	l.body, l.prompt, l.skeleton = nil, wire.Prompt{}, nil // holders of the line only need its transcript
}

// removeEnd removes a line from the index of last nodes.
func (t *Table[S]) removeEnd(l *Line[S]) {
	if n := len(l.fingerprints); n > 0 {
		if k := (nodeKey{l.space(), l.fingerprints[n-1]}); t.ends[k] == l {
			delete(t.ends, k)
		}
	}
}

// unindex removes a line from the indexes of newest requests.
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

// shrink drops lines until the rest fits: first those that need not stay, and the least recently
// used first. The table is locked.
func (t *Table[S]) shrink(but *Line[S]) {
	const most = 1000 // lines that are examined for one request
	last := t.recent.Back()
	for range most {
		if last == nil || !t.overLimit() {
			break
		}
		l := last.Value.(*Line[S])
		last = last.Prev()
		if l != but && (t.o.Stays == nil || !t.o.Stays(l.State)) {
			t.evict(l)
		}
	}
	for last := t.recent.Back(); t.overLimit() && last != nil &&
		last.Value.(*Line[S]) != but; last = t.recent.Back() {
		t.evict(last.Value.(*Line[S]))
	}
}

// overLimit reports whether the lines exceed the memory limit.
func (t *Table[S]) overLimit() bool {
	beside := 0
	if t.o.ExtraBytes != nil {
		beside = t.o.ExtraBytes()
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
