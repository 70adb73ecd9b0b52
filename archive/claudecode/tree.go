package claudecode

import (
	"slices"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
)

// node is one message of the tree: an assistant message with all its lines and the answers to its
// tool uses, or a single line of another kind.
type node struct {
	number  int // in the archive.Tree
	parent  *node
	lines   []*line // of the message itself, in order
	answers []*line
	notes   noteBlocks // notes after an assistant's message, until a message in the user's role takes them
	after   *line      // the boundary without a summary directly before the message; nil: none
}

func (n *node) kind() kind { return n.lines[0].kind }

func (n *node) id() string { return n.lines[0].msg.ID }

// tree links the messages of some lines to their parents.
type tree struct {
	shape      archive.Tree
	nodes      []*node          // by number
	nodeOf     []*node          // by line: the node it belongs to or follows; nil: none
	uses       map[string]*node // tool use ID → newest node with it
	final      int              // number of the node of the last message line; -1: none
	ends       []*line          // by line: the boundary directly before it; nil: none
	noteTakers []*line          // by line: the line in the user's role that takes notes after it; nil: none
	early      noteBlocks       // notes before the first message
}

// order selects the parent of a line with no parent in the file.
type order int

const (
	mended order = iota // the previous line, because a line was lost; but a prompt without a parent is a root
	forest              // none: there are several conversations
	linear              // the previous line, whatever its parent
)

// newTree builds the tree from lines in file order.
func newTree(lines []*line, o order) *tree {
	t := &tree{nodeOf: make([]*node, len(lines)), uses: map[string]*node{}, final: -1,
		ends: make([]*line, len(lines)), noteTakers: make([]*line, len(lines))}
	index := make(map[string]int, len(lines))
	for i, ln := range lines {
		p := parentOf(lines, index, i, o)
		var under *node
		if p >= 0 {
			under = t.nodeOf[p]
			t.ends[i], t.noteTakers[i] = t.ends[p], t.noteTakers[p]
		}
		switch {
		case ln.kind == boundary:
			t.ends[i] = ln
		case ln.kind == note:
			t.addNote(ln, under, t.noteTakers[i])
		case ln.kind >= assistant:
			if ln.kind == prompt && t.ends[i] != nil && strings.HasPrefix(ln.msg.PlainText(), continued) {
				ln.kind, ln.msg.Attribution = summary, precis.Attribution{Program: program,
					Author: precis.AuthorRecap,
					Act:    precis.ActSummary}
			}
			end := t.ends[i]
			if ln.kind == summary && end != nil {
				ln.compact = end.compact
			}
			t.ends[i] = nil
			if under = t.addMessage(ln, under); ln.kind != summary && under.lines[0] == ln {
				under.after = end
			}
			if t.noteTakers[i] = ln; ln.kind == assistant {
				t.noteTakers[i] = nil
			}
			t.final = under.number
			t.shape.Grow(t.final, i)
		}
		t.nodeOf[i] = under
		if ln.uuid != "" {
			index[ln.uuid] = i
		}
		if tail := ln.compact.tail; ln.kind == summary && tail != "" {
			index[tail] = i // the child of the last kept message follows the summary
		}
	}
	return t
}

// parentOf returns the index of the line before line i in its conversation, -1 for none. It is
// always less than i.
func parentOf(lines []*line, index map[string]int, i int, o order) int {
	ln := lines[i]
	if o == linear {
		return i - 1
	}
	name := ln.parent
	if ln.kind == boundary && name == "" {
		name = ln.logical
	}
	if p, ok := index[name]; ok && name != "" {
		return p
	}
	fresh := name == "" && ln.kind == prompt
	if o == forest || fresh {
		return -1
	}
	return i - 1
}

// continued begins a summary by versions of Claude Code that do not mark it.
const continued = "This session is being continued from a previous conversation"

// addNote adds the program's text where the model saw it: at the end of the preceding message in the
// user's role, so that messages keep their numbers, else in the next one.
func (t *tree) addNote(ln *line, under *node, takes *line) {
	switch {
	case takes != nil:
		takes.addNote(ln.notes)
	case under != nil:
		under.notes = append(under.notes, ln.notes...)
	default:
		t.early = append(t.early, ln.notes...)
	}
}

// addMessage adds a message line to the tree and returns its node.
func (t *tree) addMessage(ln *line, under *node) *node {
	switch ln.kind {
	case assistant:
		if under != nil && under.kind() == assistant && under.id() != "" && under.id() == ln.msg.ID {
			under.lines = append(under.lines, ln)
			t.holds(under, ln)
			return under
		}
	case answer:
		if n := t.caller(ln, under); n != nil {
			ln.addNote(n.notes)
			n.notes, n.answers = nil, append(n.answers, ln)
			return n
		}
	}
	if ln.kind != assistant {
		before := &t.early
		if under != nil {
			before = &under.notes
		}
		ln.addNote(*before)
		*before = nil
	}
	n := &node{parent: under, lines: []*line{ln}}
	above := -1
	if under != nil {
		above = under.number
	}
	n.number = t.shape.Add(above, 0, ln.kind == assistant)
	t.nodes = append(t.nodes, n)
	t.holds(n, ln)
	return n
}

func (t *tree) holds(n *node, ln *line) {
	for _, id := range ln.uses {
		t.uses[id] = n
	}
}

// caller finds the assistant message that an answer belongs to: the nearest ancestor that made the
// call. A file may hold a path twice under new names, so the place in the tree takes precedence
// over the ID.
func (t *tree) caller(ln *line, under *node) *node {
	const near = 32
	for n, steps := under, 0; n != nil && steps < near; n, steps = n.parent, steps+1 {
		if n.hasAnyUse(ln.results) {
			return n
		}
	}
	for _, id := range ln.results {
		if n := t.uses[id]; n != nil {
			return n
		}
	}
	return nil
}

func (n *node) hasAnyUse(ids []string) bool {
	for _, ln := range n.lines {
		for _, id := range ln.uses {
			if slices.Contains(ids, id) {
				return true
			}
		}
	}
	return false
}
