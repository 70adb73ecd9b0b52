package transfer

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/store"
)

const opRepair = "repair export"

// Mended reports what [Repair] kept of an export, and what it lost.
type Mended struct {
	Kept          Counts               `json:"kept"`
	Conversations []MendedConversation `json:"conversations"`
	Lost          []Loss               `json:"lost"` // in the order of the file; empty: it was intact
}

// MendedConversation is a conversation that was kept.
type MendedConversation struct {
	Owner    string `json:"owner,omitempty"`
	ID       string `json:"id"`
	Messages int    `json:"messages"`       // kept messages
	Lost     int    `json:"lost,omitempty"` // number of its messages known to be lost
	// Recovered: its record was lost. It has a new ID, and a record derived from its messages.
	Recovered bool `json:"recovered,omitempty"`
}

// Loss is a lost line.
type Loss struct {
	Line int    `json:"line"`
	What string `json:"what"` // its content, as far as it is readable, and the reason
}

// IsExport reports whether data begins like an export.
func IsExport(data []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte(`{"format":"`+formatName+`"`)) ||
		kindOf(data) == "message" || kindOf(data) == "scope"
}

// Repair writes the intact parts of a damaged export: every readable line with a valid checksum. A
// message with a changed text is detected by its node and dropped; a message with only changed
// original bytes is kept without them. Messages after a lost one are appended to the one before it,
// so the conversation continues over the gap. Edits made after a gap are dropped, because their
// spans would name other messages. Messages without a listed conversation become a new one, begun
// at now.
//
// Content of unknown ownership goes to a new owner "recovered-N", never to another owner. The error
// is [precis.CodeInvalid] when no line is intact.
func Repair(r io.Reader, w io.Writer, now time.Time) (Mended, error) {
	x := &mender{out: bufio.NewWriter(w), now: now,
		mended: Mended{Conversations: []MendedConversation{}, Lost: []Loss{}}}
	x.begin("")
	x.put(line{Format: formatName, Version: formatVersion})
	in := bufio.NewReaderSize(r, 1<<16)
	for {
		data, err := in.ReadBytes('\n')
		if len(data) > 0 {
			x.n++
			x.read(data)
		}
		if err != nil {
			if err != io.EOF { // such as a truncated compressed stream
				x.lose("what follows: %v", err)
			}
			break
		}
	}
	x.end()
	if !x.ended {
		x.n++
		x.lose("the end: the file is cut off")
	}
	x.put(line{End: &x.mended.Kept})
	if err := x.out.Flush(); x.failed == nil {
		x.failed = err
	}
	if x.failed != nil {
		return x.mended, precis.Errorf(precis.CodeInternal, opRepair, "%w", x.failed)
	}
	if x.mended.Kept.Messages+x.mended.Kept.Entries+x.mended.Kept.Calibrations == 0 {
		return x.mended, &precis.Error{Code: precis.CodeInvalid, Op: opRepair,
			Err: errors.New("nothing in it is whole")}
	}
	return x.mended, nil
}

// mender repairs one export.
type mender struct {
	out    *bufio.Writer
	failed error
	now    time.Time
	n      int // number of the current line
	sums   sums
	mended Mended
	ended  bool
	strays int // number of unknown owners so far

	owner   string
	entered bool                         // the line of the owner is written
	nodes   map[precis.Fingerprint]place // kept nodes, by their new fingerprints
	// old fingerprints of lost or changed nodes to the new ones
	moved  map[precis.Fingerprint]precis.Fingerprint
	last   precis.Fingerprint          // node of the newest message
	torn   int                         // messages lost since
	gaps   map[precis.Fingerprint]int  // messages lost before a node, on its path
	inner  map[precis.Fingerprint]bool // nodes with successors
	listed map[precis.Fingerprint]bool // nodes on the path of a record
	edits  map[string]bool             // kept edits
}

// place is a kept message.
type place struct {
	parent precis.Fingerprint
	depth  int
	format string
}

func (x *mender) put(l line) {
	data, err := encode(l)
	if err == nil {
		_, err = x.out.Write(data)
	}
	if x.failed == nil {
		x.failed = err
	}
}

func (x *mender) lose(format string, args ...any) {
	x.mended.Lost = append(x.mended.Lost, Loss{x.n, fmt.Sprintf(format, args...)})
}

// begin switches to another owner.
func (x *mender) begin(owner string) {
	x.owner, x.entered = owner, false
	x.nodes, x.moved, x.gaps = map[precis.Fingerprint]place{}, map[precis.Fingerprint]precis.Fingerprint{}, map[precis.Fingerprint]int{}
	x.inner, x.listed, x.edits = map[precis.Fingerprint]bool{}, map[precis.Fingerprint]bool{}, map[string]bool{}
	x.last, x.torn = precis.Fingerprint{}, 0
}

// enter writes the line with the owner of the following lines.
func (x *mender) enter() {
	if x.entered {
		return
	}
	owner := exact(x.owner)
	x.put(line{Scope: &owner})
	x.mended.Kept.Scopes++
	x.entered = true
}

// kindOf returns the kind of a line, by its first field.
func kindOf(data []byte) string {
	rest, ok := bytes.CutPrefix(bytes.TrimSpace(data), []byte(`{"`))
	name, _, found := bytes.Cut(rest[:min(len(rest), 20)], []byte(`"`))
	if !ok || !found {
		return ""
	}
	return string(name)
}

// read processes a line.
func (x *mender) read(data []byte) {
	l, whole, err := x.sums.decode(x.n, data)
	switch {
	case err != nil:
		x.processUnreadable(data, err)
		return
	case l.Message != nil:
		x.message(*l.Message, whole)
		return
	case !whole:
		x.processUnreadable(data, errors.New("its content is not what was stored"))
		return
	}
	switch {
	case l.Format != "" && x.n == 1:
		if err := checkFormat(l); err != nil {
			x.lose("the head: %v", err)
		}
	case l.Scope != nil:
		x.end()
		x.begin(string(*l.Scope))
		x.enter()
	case l.Calibration != nil:
		x.put(l)
		x.mended.Kept.Calibrations++
	case l.Edit != nil:
		x.edit(*l.Edit)
	case l.Record != nil:
		x.record(*l.Record)
	case l.Entry != nil:
		x.enter()
		x.put(l)
		x.mended.Kept.Entries++
	case l.End != nil:
		x.ended = true
	default:
		x.lose("a line of an unknown kind")
	}
}

// withoutUncoveredFields returns a message without the fields that its node does not cover but an
// encoder would send.
func withoutUncoveredFields(m precis.Message) precis.Message {
	m.Raw, m.Fields, m.Content = nil, nil, slices.Clone(m.Content)
	for i, b := range m.Content {
		switch b := b.(type) {
		case precis.ToolUse:
			b.Fields, m.Content[i] = nil, b
		case precis.ToolResult:
			b.Fields, m.Content[i] = nil, b
		}
	}
	return m
}

// processUnreadable processes an unreadable line.
func (x *mender) processUnreadable(data []byte, err error) {
	switch kind := kindOf(data); kind {
	case "message":
		x.torn++
		x.lose("a message after %s: %v", x.last.Short(), err)
	case "edit", "record", "entry", "calibration", "end":
		x.ended = x.ended || kind == "end"
		x.lose("%s: %v", map[string]string{"edit": "an edit", "record": "what a conversation is",
			"entry": "a line of the ledger", "calibration": "a calibration",
			"end": "the counts at the end"}[kind], err)
	case "format":
		x.lose("the head: %v", err)
	default:
		if x.n == 1 {
			x.lose("the head: %v", err)
			return
		}
		x.end()
		x.strays++
		x.begin(fmt.Sprintf("recovered-%d", x.strays))
		x.lose("whose the lines are that follow, which are kept for the owner %q: %v", x.owner, err)
	}
}

// message keeps a message, appended to what remains of the messages before it. If the line's
// checksum is wrong, the node still verifies the content.
func (x *mender) message(m messageLine, whole bool) {
	parent := m.Parent
	if to, ok := x.moved[parent]; ok {
		parent = to
	}
	if _, known := x.nodes[parent]; !known && !parent.IsZero() {
		if x.torn == 0 && len(x.nodes) > 0 {
			x.lose("a message that follows a message that is not there")
			x.torn++
			return
		}
		parent = x.last // the messages between are unreadable
		x.moved[m.Parent] = parent
	}
	gap := x.gaps[parent]
	if parent != m.Parent && x.torn > 0 {
		gap += x.torn
	}
	x.torn = 0
	if m.Parent.Next(m.Body) != m.Node {
		x.lose("the %s message after %s: its content is not what was stored", m.Body.Role, parent.Short())
		x.moved[m.Node], x.gaps[parent] = parent, gap+1
		return
	}
	x.enter()
	at := x.nodes[parent]
	if !whole {
		m.Body = withoutUncoveredFields(m.Body)
		x.lose("the bytes as which the message %s came: they are not what was stored; what it says is whole",
			m.Node.Short())
	}
	now := messageLine{Parent: parent, Node: parent.Next(m.Body), Body: m.Body}
	if now.Node != m.Node {
		x.moved[m.Node] = now.Node
	}
	x.nodes[now.Node], x.gaps[now.Node] = place{parent, at.depth + 1, m.Body.Format}, gap
	x.inner[parent], x.last = true, now.Node
	x.put(line{Message: &now})
	x.mended.Kept.Messages++
}

// edit keeps an edit if the messages it was made on are unchanged.
func (x *mender) edit(l editLine) {
	_, there := x.nodes[l.Edit.At]
	switch {
	case !there:
		x.lose("the edit %s: a message that it was made on is lost", l.Edit.ID)
	case l.After != "" && !x.edits[l.After]:
		x.lose("the edit %s: the one before it is lost", l.Edit.ID)
	default:
		x.enter()
		x.put(line{Edit: &l})
		x.mended.Kept.Edits++
		x.edits[l.Edit.ID] = true
	}
}

// record keeps the record of a conversation, which may have fewer messages now.
func (x *mender) record(l recordLine) {
	rec := l.Record
	head := rec.Head
	if to, ok := x.moved[head]; ok {
		head = to
	}
	p, there := x.nodes[head]
	if !there {
		x.lose("the conversation %s: its newest message is lost; what is left of it is a conversation of its own", string(l.ID))
		return
	}
	earlier := rec.Earlier
	rec.Earlier = nil
	for _, e := range earlier {
		if to, ok := x.moved[e]; ok {
			e = to
		}
		if _, ok := x.nodes[e]; ok {
			rec.Earlier = append(rec.Earlier, e)
			x.list(e)
		}
	}
	lost := max(rec.Messages-p.depth, x.gaps[head])
	rec.Head, rec.Messages = head, p.depth
	x.keep(string(l.ID), rec, MendedConversation{Messages: p.depth, Lost: lost})
}

// keep writes a record.
func (x *mender) keep(id string, rec store.Record, c MendedConversation) {
	x.enter()
	x.list(rec.Head)
	c.Owner, c.ID = x.owner, id
	x.put(line{Record: &recordLine{ID: exact(id), Record: rec}})
	x.mended.Kept.Conversations++
	x.mended.Conversations = append(x.mended.Conversations, c)
}

// list marks the messages up to a node as belonging to a conversation.
func (x *mender) list(node precis.Fingerprint) {
	for ; !node.IsZero() && !x.listed[node]; node = x.nodes[node].parent {
		x.listed[node] = true
	}
}

// end makes conversations of the owner's messages that belong to no conversation.
func (x *mender) end() {
	var ends []precis.Fingerprint
	for node := range x.nodes {
		if !x.inner[node] && !x.listed[node] {
			ends = append(ends, node)
		}
	}
	slices.SortFunc(ends, func(a, b precis.Fingerprint) int { return bytes.Compare(a[:], b[:]) })
	for _, node := range ends {
		p, lost := x.nodes[node], x.gaps[node]
		if node == x.last {
			lost += x.torn
		}
		id := "b" + hex.EncodeToString(node[:8])
		x.keep(id, store.Record{
			ID: id, Title: "recovered", Dialect: p.format, Head: node, Messages: p.depth, Created: x.now,
			Updated: x.now,
		}, MendedConversation{Messages: p.depth, Lost: lost, Recovered: true})
	}
}
