package claudecode

import (
	"fmt"
	"slices"

	"precis"
	"precis/archive"
	"precis/internal/harness"
	"precis/wire/anthropic"
)

// maxBranches bounds the branches of one recording; a conversation has a few,
// and each holds the messages from the beginning on.
const maxBranches = 100

// builder turns paths into conversations.
type builder struct{ rec *archive.Recording }

// build returns the conversation along a path of t.
func (b builder) build(t *tree, path []int) *precis.Conversation {
	c := &precis.Conversation{Transcript: &precis.Transcript{}}
	at := map[string]int{} // the message that a line is part of
	var names archive.CallNames
	for _, i := range path {
		n := t.nodes[i]
		n.name(c)
		if n.kind() == summary && c.Transcript.Len() > 0 {
			b.condense(c, n.lines[0], at)
			continue
		}
		for _, ln := range n.lines {
			at[ln.uuid] = c.Transcript.Len()
		}
		if u := n.lines[len(n.lines)-1].usage; n.kind() == assistant && u != (precis.Usage{}) {
			b.rec.Origin.Answered(c, u)
		}
		if m := n.message(); len(m.Content) > 0 {
			c.Transcript.Append(names.Name(m))
		}
		tools := n.tools()
		for _, ln := range n.answers {
			at[ln.uuid] = c.Transcript.Len()
			c.Transcript.Append(names.Name(ln.judged(tools)))
		}
		if len(n.told) > 0 { // the model went on without a message of the user's role, or has not yet
			c.Transcript.Append(precis.Message{Role: precis.RoleUser, Time: n.lines[0].at, Content: n.told, Format: anthropic.Format})
		}
	}
	return c
}

// name lets the newest lines say which conversation and model it is.
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

// message returns the node's own message, its lines merged.
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

// judged returns the message of a line that answers tool uses; tools has their names. Where the program
// noted nothing beside the text of a result, as in sessions that another program has written
// down, a refusal is known by the program's own form.
func (ln *line) judged(tools map[string]string) precis.Message {
	if !ln.unnoted {
		return ln.msg
	}
	m := ln.msg
	m.Content = slices.Clone(m.Content)
	for i, b := range m.Content {
		if r, ok := b.(precis.ToolResult); ok && r.IsError {
			_, is := harness.Refusal(harness.Result{Tool: tools[r.ToolUseID], Text: r.Text(), IsError: true, Around: harness.Reminders})
			r.Refused = is == harness.Proven
			m.Content[i] = r
		}
	}
	return m
}

// tools returns the names of the tools that the node uses, by the ID of the use; nil when
// all that its program noted of the answers is there.
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

// condense records a compaction. The first kept message is named by the
// boundary; without one nothing before the summary was kept.
func (b builder) condense(c *precis.Conversation, ln *line, at map[string]int) {
	to, ok := at[ln.compact.head]
	if !ok || ln.compact.head == "" {
		to = c.Transcript.Len()
	}
	report := precis.EditReport{
		Reason:       "Claude Code compacted the conversation",
		TokensBefore: ln.compact.pre, TokensAfter: ln.compact.post,
	}
	if ln.compact.trigger != "" {
		report.Reason += " (" + ln.compact.trigger + ")"
	}
	err := archive.Condensed(c, to, []precis.Message{ln.msg}, ln.at, report)
	if err != nil {
		b.rec.Warn(fmt.Sprintf("line %d", ln.number), "the compaction is left out: %v", err)
	}
}

// branch adds the conversations of t that leave the taken path to c's branches.
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
		first := t.nodes[archive.Fork(path, taken)].lines[0]
		if side.ID = first.agentID; side.ID == "" {
			side.ID = first.uuid
		}
		c.Branches = append(c.Branches, side)
	}
}
