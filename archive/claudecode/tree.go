package claudecode

import (
	"slices"
	"strings"

	"precis"
	"precis/archive"
)

// node is one message of the tree: an assistant message with all its lines and
// the answers to its tool uses, or a single line of another kind.
type node struct {
	number  int // in the archive.Tree
	parent  *node
	lines   []*line // those of the message itself, in order
	answers []*line
	told    told  // behind an assistant's message, until a message of the user's role takes it along
	after   *line // the boundary that the message directly follows, where it is no summary; nil: none
}

func (n *node) kind() kind { return n.lines[0].kind }

func (n *node) id() string { return n.lines[0].msg.ID }

// tree is the messages of some lines by who follows whom.
type tree struct {
	shape archive.Tree
	nodes []*node          // by number
	of    []*node          // the node that each line belongs to or hangs under; nil: none
	uses  map[string]*node // tool use ID to the newest node that holds it
	final int              // number of the node of the last message line; -1: none
	ends  []*line          // by line: the boundary it directly follows; nil: none
	takes []*line          // by line: the line of the user's role that notes under it belong to; nil: none
	early told             // before the first message
}

// order says what a line without a parent in the file follows.
type order int

const (
	mended order = iota // the line before: a line was lost. But a prompt without a parent begins anew.
	forest              // nothing: there are several conversations
	linear              // the line before, whatever its parent
)

// grow builds the tree of lines, given in file order.
func grow(lines []*line, o order) *tree {
	t := &tree{of: make([]*node, len(lines)), uses: map[string]*node{}, final: -1, ends: make([]*line, len(lines)), takes: make([]*line, len(lines))}
	index := make(map[string]int, len(lines))
	for i, ln := range lines {
		p := parentOf(lines, index, i, o)
		var under *node
		if p >= 0 {
			under = t.of[p]
			t.ends[i], t.takes[i] = t.ends[p], t.takes[p]
		}
		switch {
		case ln.kind == boundary:
			t.ends[i] = ln
		case ln.kind == note:
			t.note(ln, under, t.takes[i])
		case ln.kind >= assistant:
			if ln.kind == prompt && t.ends[i] != nil && strings.HasPrefix(ln.msg.PlainText(), continued) {
				ln.kind, ln.msg.Said = summary, precis.Said{Program: program, Author: precis.AuthorRecap, Act: precis.ActSummary}
			}
			end := t.ends[i]
			if ln.kind == summary && end != nil {
				ln.compact = end.compact
			}
			t.ends[i] = nil
			if under = t.place(ln, under); ln.kind != summary && under.lines[0] == ln {
				under.after = end
			}
			if t.takes[i] = ln; ln.kind == assistant {
				t.takes[i] = nil
			}
			t.final = under.number
			t.shape.Grow(t.final, i)
		}
		t.of[i] = under
		if ln.uuid != "" {
			index[ln.uuid] = i
		}
		if tail := ln.compact.tail; ln.kind == summary && tail != "" {
			index[tail] = i // what follows the last kept message comes after the summary
		}
	}
	return t
}

// parentOf returns the index of the line that line i follows, -1 for none. It
// is always before i.
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

// continued begins a summary that Claude Code wrote, in lines of versions that do not mark it.
const continued = "This session is being continued from a previous conversation"

// note puts what the program told the model where the model was told it: at the end of the
// message of the user's role that it follows, so that messages keep their numbers, else of
// the next one.
func (t *tree) note(ln *line, under *node, takes *line) {
	switch {
	case takes != nil:
		takes.tell(ln.told)
	case under != nil:
		under.told = append(under.told, ln.told...)
	default:
		t.early = append(t.early, ln.told...)
	}
}

// place puts a message line into the tree and returns its node.
func (t *tree) place(ln *line, under *node) *node {
	switch ln.kind {
	case assistant:
		if under != nil && under.kind() == assistant && under.id() != "" && under.id() == ln.msg.ID {
			under.lines = append(under.lines, ln)
			t.holds(under, ln)
			return under
		}
	case answer:
		if n := t.caller(ln, under); n != nil {
			ln.tell(n.told)
			n.told, n.answers = nil, append(n.answers, ln)
			return n
		}
	}
	if ln.kind != assistant {
		before := &t.early
		if under != nil {
			before = &under.told
		}
		ln.tell(*before)
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

// caller finds the assistant message that an answer belongs to: the nearest one
// above it that made the call. A file may hold a path twice under new names, so
// the place in the tree counts before the ID.
func (t *tree) caller(ln *line, under *node) *node {
	const near = 32
	for n, steps := under, 0; n != nil && steps < near; n, steps = n.parent, steps+1 {
		if n.made(ln.results) {
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

func (n *node) made(ids []string) bool {
	for _, ln := range n.lines {
		for _, id := range ln.uses {
			if slices.Contains(ids, id) {
				return true
			}
		}
	}
	return false
}
