package claudecode

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/internal/harness"
	"github.com/precis-dev/precis/wire/anthropic"
)

// maxBranches bounds the branches of one recording. A conversation has few, and each holds all
// messages from the beginning on.
const maxBranches = 100

// builder turns paths into conversations.
type builder struct{ rec *archive.Recording }

// build returns the conversation along a path of t.
func (b builder) build(t *tree, path []int) *precis.Conversation {
	c := &precis.Conversation{Transcript: &precis.Transcript{}}
	w := writer{builder: b, c: c, messageOf: map[string]int{}}
	for len(path) > 0 {
		n := t.nodes[path[0]]
		n.name(c)
		switch {
		case n.kind() == summary && c.Transcript.Len() > 0:
			w.condense(n.lines[0])
		case n.after != nil && c.Transcript.Len() > 0:
			if seen := w.rewritten(t, path); seen > 0 {
				path = path[seen:]
				continue
			}
			fallthrough
		default:
			if u := n.lines[len(n.lines)-1].usage; n.kind() == assistant && u != (precis.Usage{}) {
				b.rec.Origin.RecordRequest(c, u)
			}
			for _, e := range n.entries() {
				w.add(e)
			}
		}
		path = path[1:]
	}
	return c
}

// entry is a message on a path, before it is added to a conversation.
type entry struct {
	msg       precis.Message
	lines     []*line
	ownBlocks int                // number of blocks in the lines themselves; the program added the others
	key       string             // equal for an entry and its copy, see identify; "": no entry is a copy
	hash      precis.Fingerprint // of the blocks in the lines
}

// entries returns the messages of a node: its own, the answers to its tool uses, and the texts that
// the program added after them.
func (n *node) entries() []entry {
	m := n.message()
	own := len(m.Content)
	if n.kind() != assistant {
		own = n.lines[0].ownBlocks
	}
	out := []entry{{msg: m, lines: n.lines, ownBlocks: own}}
	tools := n.tools()
	for _, ln := range n.answers {
		out = append(out, entry{msg: ln.withRefusals(tools), lines: []*line{ln}, ownBlocks: ln.ownBlocks})
	}
	if len(n.notes) > 0 { // no message in the user's role took these texts along
		out = append(out, entry{msg: precis.Message{Role: precis.RoleUser, Time: n.lines[0].at,
			Content: n.notes, Format: anthropic.Format}})
	}
	return out
}

// identify sets key and hash. Only compactions by a hook need them.
func (e *entry) identify() {
	m := e.msg
	m.Content = m.Content[:min(e.ownBlocks, len(m.Content))]
	if e.key != "" || len(m.Content) == 0 {
		return
	}
	e.hash = precis.HashMessage(m)
	for _, ln := range e.lines {
		for _, id := range slices.Concat(ln.uses, ln.results) {
			e.key += string(m.Role) + " " + id + "\n"
		}
	}
	if e.key == "" {
		e.key = e.hash.String()
	}
}

// writer writes a conversation from its entries.
type writer struct {
	builder
	c         *precis.Conversation
	messageOf map[string]int // uuid of a line → message
	names     archive.CallIDs
	added     []entry // by message
}

// add appends a message. For one without content it only records the place of its lines.
func (w *writer) add(e entry) {
	w.locate(e, w.c.Transcript.Len())
	if len(e.msg.Content) > 0 {
		w.c.Transcript.Append(w.names.Assign(e.msg))
		w.added = append(w.added, e)
	}
}

func (w *writer) locate(e entry, message int) {
	for _, ln := range e.lines {
		w.messageOf[ln.uuid] = message
	}
}

// rewritten handles the entries after a boundary without a summary: a function hook has compacted,
// and Claude Code wrote the rows that the hook chose anew. It records the compaction and returns
// the number of nodes of the path with such rows; 0 for none.
func (w *writer) rewritten(t *tree, path []int) int {
	at := t.nodes[path[0]].after
	var list []entry
	var ends []int // by entry: number of nodes up to its own
	dated := 0     // number of entries older than the boundary, which is dated when the rows are complete
	for i, p := range path {
		n := t.nodes[p]
		if i > 0 && (n.after != nil || n.kind() == summary) {
			break
		}
		for _, e := range n.entries() {
			list, ends = append(list, e), append(ends, i+1)
		}
		if dated == len(list)-len(n.entries()) && !n.newestTime().After(at.at) {
			dated = len(list)
		}
	}
	for i := range list {
		list[i].identify()
	}
	last := map[string]int{} // by key: the newest message
	for i := range w.added {
		if w.added[i].identify(); w.added[i].key != "" {
			last[w.added[i].key] = i
		}
	}
	end := dated
	if end == 0 {
		end = w.copies(list, last)
	}
	if end == 0 || end < len(list) && ends[end-1] == ends[end] {
		return 0
	}
	list = list[:end]
	first, kept := w.tail(list, last)
	var with []precis.Message
	for i, e := range list {
		w.locate(e, len(w.added))
		if i < first {
			with = append(with, e.msg)
		} else {
			w.locate(e, kept+i-first)
		}
	}
	w.record(list[0].lines[0].number, at, kept, with, byPlugin)
	return ends[end-1]
}

// copies returns the number of entries that a hook chose, for lines without useful dates: all
// entries up to the copies of the newest messages, or else the leading copies and texts of precis.
func (w *writer) copies(list []entry, last map[string]int) (end int) {
	for first, e := range list {
		kept, copied := last[e.key]
		end = first + len(w.added) - kept
		same := func(a, b entry) bool { return a.key == b.key }
		if copied && end <= len(list) && slices.EqualFunc(list[first:end], w.added[kept:], same) {
			return end
		}
	}
	for end = 0; end < len(list); end++ {
		if _, copied := last[list[end].key]; !copied && !harness.IsOurs(list[end].msg.PlainText()) {
			break
		}
	}
	return end
}

// newestTime returns the time of a node's newest line.
func (n *node) newestTime() (at time.Time) {
	for _, ln := range slices.Concat(n.lines, n.answers) {
		if ln.at.After(at) {
			at = ln.at
		}
	}
	return at
}

// tail finds the copies of the newest messages at the end of a list: the entries from first on are
// copies of the messages from kept on. Without copies, first is the length of the list and kept the
// number of messages.
func (w *writer) tail(list []entry, last map[string]int) (first, kept int) {
	n := len(w.added)
	for first, e := range list {
		kept, copied := last[e.key]
		same := func(a, b entry) bool { return a.key == b.key && a.hash == b.hash }
		if copied && n-kept == len(list)-first && slices.EqualFunc(list[first:], w.added[kept:], same) {
			return first, kept
		}
	}
	return len(list), n
}

// name sets the conversation's ID and model from the newest lines.
func (n *node) name(c *precis.Conversation) {
	for _, ln := range n.lines {
		if ln.session != "" {
			c.ID = ln.session
		}
		if ln.model != "" {
			c.Model = ln.model
		}
	}
}

// message returns the node's own message, merged from its lines.
func (n *node) message() precis.Message {
	first := n.lines[0].msg
	if n.kind() != assistant {
		return first
	}
	m := precis.Message{Role: precis.RoleAssistant, ID: first.ID, Time: first.Time, Format: anthropic.Format}
	for _, ln := range n.lines {
		m.Content = append(m.Content, ln.msg.Content...)
	}
	return m
}

// withRefusals returns the message of a line with tool results; tools are the names by ID. If the program
// recorded only the text of a result, as in sessions written by another program, refusals are
// recognized by the program's wording.
func (ln *line) withRefusals(tools map[string]string) precis.Message {
	if !ln.unnoted {
		return ln.msg
	}
	m := ln.msg
	m.Content = slices.Clone(m.Content)
	for i, b := range m.Content {
		if r, ok := b.(precis.ToolResult); ok && r.IsError {
			_, is := harness.Refusal(harness.Result{Tool: tools[r.ToolUseID], Text: r.Text(), IsError: true,
				Around: harness.Reminders})
			r.Refused = is == harness.Proven
			m.Content[i] = r
		}
	}
	return m
}

// tools returns the names of the tools that the node uses, by the ID of the use; nil if each answer
// has its full record.
func (n *node) tools() map[string]string {
	if !slices.ContainsFunc(n.answers, func(ln *line) bool { return ln.unnoted }) {
		return nil
	}
	out := map[string]string{}
	for _, ln := range n.lines {
		for _, b := range ln.msg.Content {
			if use, ok := b.(precis.ToolUse); ok {
				out[use.ID] = use.Name
			}
		}
	}
	return out
}

// condense records a compaction with a summary. The boundary names the first kept message; without
// a name, no message before the summary was kept.
func (w *writer) condense(ln *line) {
	to, ok := w.messageOf[ln.compact.head]
	if !ok || ln.compact.head == "" {
		to = w.c.Transcript.Len()
	}
	w.record(ln.number, ln, to, []precis.Message{ln.msg}, "Claude Code compacted the conversation")
}

// byPlugin begins the reason of a compaction by a function hook.
const byPlugin = "a plugin compacted the conversation"

// IsPluginCompaction reports whether an edit was read from a recording as a compaction by a plugin, not by
// Claude Code.
func IsPluginCompaction(e precis.Edit) bool {
	return e.Kind == precis.KindCondensation && strings.HasPrefix(e.Report.Reason, byPlugin)
}

// record records that the messages before to were replaced, as the line at says.
func (w *writer) record(number int, at *line, to int, with []precis.Message, reason string) {
	report := precis.EditReport{
		Reason:       reason,
		TokensBefore: at.compact.pre, TokensAfter: at.compact.post,
	}
	if at.compact.trigger != "" {
		report.Reason += " (" + at.compact.trigger + ")"
	}
	if err := archive.RecordCondensation(w.c, to, with, at.at, report); err != nil {
		w.rec.Warn(fmt.Sprintf("line %d", number), "the compaction is left out: %v", err)
	}
}

// branch adds the conversations of t off the taken path to c's branches.
func (b builder) branch(c *precis.Conversation, t *tree, taken []int) {
	paths, unsent, more := t.shape.Branches(taken, maxBranches-len(c.Branches))
	b.rec.Ignored += unsent
	if more {
		b.rec.Warn("branches", "more than %d are left out", maxBranches)
	}
	for _, path := range paths {
		side := b.build(t, path)
		if side.Transcript.Len() == 0 {
			continue
		}
		first := t.nodes[archive.ForkPoint(path, taken)].lines[0]
		if side.ID = first.agentID; side.ID == "" {
			side.ID = first.uuid
		}
		c.Branches = append(c.Branches, side)
	}
}
