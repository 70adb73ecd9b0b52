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
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"sync"

	"precis"
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
)

// Line is one way through the tree: a conversation as one client sees it. Its
// exported fields are fixed, but for State, which is the caller's.
type Line struct {
	ID         string
	Owner      string
	Dialect    string
	Transcript *precis.Transcript // of everything seen; grows
	Branched   string             // ID of the line it left; "" for none
	Earlier    []precis.Fingerprint
	State      any // what [Options.Adopt] made

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
type Found struct {
	Line   *Line
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
	// From is the line that a Branched or Rewritten request left.
	From *Line
	// Messages are those of the request, system prompt left out.
	Messages []precis.Message
}

// Item returns the bytes of message i of the transcript as this request has them.
func (f *Found) Item(i int) []byte { return f.Body.Item(f.Lead + i) }

// Known is what an earlier process, or another replica, knew of a conversation.
type Known struct {
	Len      int                // messages that are known
	ID       string             // of the line it continues; "": it begins one of its own
	Branched string             // ID of the line it left
	Parent   precis.Fingerprint // where the request ended that it continues, if that is known
	Earlier  []precis.Fingerprint
	Value    any // handed to [Options.Adopt]
	Fresh    int // the first number for [ID] that no other conversation has
}

// Options are the settings of a [Table].
type Options struct {
	// Bytes is how much memory the lines may use, about; 0 means 256 MB. The one
	// used last longest ago is dropped first.
	Bytes int
	// Recall asks for what is not in memory: what is known of a conversation whose
	// nodes are prints. Nil, or a Len not over known, is nothing more than that.
	Recall func(ctx context.Context, owner string, prints []precis.Fingerprint, known int) (*Known, error)
	// Adopt makes the State of a new line. It is called with the table locked, and
	// must be quick. Known is nil unless Recall found something.
	Adopt func(f *Found, known *Known) any
}

// Table is the lines in memory. It is safe for concurrent use.
type Table struct {
	o Options

	mu      sync.Mutex
	nodes   map[nodeKey]place
	heads   map[nodeKey]*Line // by skeleton
	levels  map[levelKey][]*Line
	ids     map[nodeID]*Line
	recent  *list.List // of *Line, the newest first
	size    int
	dropped int
}

type nodeKey struct {
	owner string
	print precis.Fingerprint
}

type nodeID struct{ owner, id string }

// place is a node: a line that passes it, and whether a request ended there.
type place struct {
	line *Line
	end  bool
}

// New returns an empty table.
func New(o Options) *Table {
	if o.Bytes <= 0 {
		o.Bytes = 256 << 20
	}
	return &Table{
		o: o, nodes: map[nodeKey]place{}, heads: map[nodeKey]*Line{}, levels: map[levelKey][]*Line{}, ids: map[nodeID]*Line{}, recent: list.New(),
	}
}

// Line returns the line in memory with the ID; nil when there is none.
func (t *Table) Line(owner, id string) *Line {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ids[nodeID{owner, id}]
}

// Lines returns the lines in memory, the newest first.
func (t *Table) Lines() []*Line {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := make([]*Line, 0, t.recent.Len())
	for e := t.recent.Front(); e != nil; e = e.Next() {
		out = append(out, e.Value.(*Line))
	}
	return out
}

// Size returns the lines in memory, about how many bytes they use, and how many
// lines were dropped for want of room.
func (t *Table) Size() (lines, bytes, dropped int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.recent.Len(), t.size, t.dropped
}

// Drop forgets a line. Requests under way may still use it.
func (t *Table) Drop(l *Line) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.remove(l)
}

// ID names a line after the node its first request ended at, so that replicas
// agree. A second line from the same node has another number.
func ID(owner string, node precis.Fingerprint, number int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "line %q %s %d", owner, node, number))
	return "c" + hex.EncodeToString(sum[:8])
}

// lineID returns an ID that no line has, in memory or beyond.
func (t *Table) lineID(owner string, node precis.Fingerprint, known *Known) string {
	n := 0
	if known != nil {
		n = known.Fresh
	}
	for ; ; n++ {
		id := ID(owner, node, n)
		if t.ids[nodeID{owner, id}] == nil {
			return id
		}
	}
}

// remove forgets a line. The table is locked.
func (t *Table) remove(l *Line) {
	if l.gone {
		return
	}
	l.gone = true
	left := t.ids[nodeID{l.Owner, l.Branched}] // shares the nodes before the branch
	for i, p := range l.prints {
		k := nodeKey{l.Owner, p}
		switch at := t.nodes[k]; {
		case at.line != l:
		case left != nil && left != l && i < len(left.prints) && left.prints[i] == p:
			t.nodes[k] = place{line: left, end: at.end}
		default:
			delete(t.nodes, k)
		}
	}
	t.unindex(l)
	if k := (nodeID{l.Owner, l.ID}); t.ids[k] == l {
		delete(t.ids, k)
	}
	t.recent.Remove(l.element)
	t.size -= l.size
}

// unindex takes a line out of the indexes that name its newest request.
func (t *Table) unindex(l *Line) {
	if n := len(l.skeleton); n > 0 {
		if k := (nodeKey{l.Owner, l.skeleton[n-1]}); t.heads[k] == l {
			delete(t.heads, k)
		}
	}
	for _, k := range l.levels {
		t.levels[k] = slices.DeleteFunc(t.levels[k], func(o *Line) bool { return o == l })
		if len(t.levels[k]) == 0 {
			delete(t.levels, k)
		}
	}
	l.levels = nil
}

// shrink drops lines until the rest fits. The table is locked.
func (t *Table) shrink(but *Line) {
	for t.size > t.o.Bytes {
		last := t.recent.Back()
		if last == nil || last.Value.(*Line) == but {
			return
		}
		t.remove(last.Value.(*Line))
		t.dropped++
	}
}
