// Package claudecode answers what happened in a session of Claude Code, read from JSON lines under
// ~/.claude/projects. Start with [Format].
//
// A session file is a log, not a conversation. Lines form a tree by parentUuid; an assistant
// message is spread over several lines, one block each; answers to parallel tool calls are
// siblings; progress reports, snapshots and transcripts of sub-agents are in between. The reader
// joins the lines of one message, takes the path to the last one as the conversation, and puts
// abandoned paths and sub-agents into its Branches. A compaction by Claude Code becomes an edit, so
// that the messages before it are there again.
package claudecode

import (
	"slices"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/internal/jsonspan"
)

// Format is the reader of Claude Code's sessions.
type Format struct{}

// Name returns "claude-code".
func (Format) Name() string { return "claude-code" }

// Detect looks for a line with fields of Claude Code among the first ones.
func (Format) Detect(_ string, data []byte) bool {
	for _, raw := range archive.FirstLines(data, 20) {
		if recognized(raw) {
			return true
		}
	}
	return false
}

// recognized reports whether only Claude Code writes such a line.
func recognized(raw []byte) bool {
	f, err := jsonspan.Fields(raw)
	if err != nil {
		return false
	}
	kind, _ := jsonspan.String(f["type"])
	switch kind {
	case "user", "assistant", "system", "progress", "attachment":
		return f["parentUuid"] != nil && f["uuid"] != nil
	case "summary":
		return f["leafUuid"] != nil
	case "file-history-snapshot":
		return f["snapshot"] != nil
	}
	return false
}

// Read reads a session. Malformed lines are skipped.
func (Format) Read(src archive.Source) (*archive.Recording, error) {
	s := &session{rec: &archive.Recording{}, byUUID: map[string]int{}, agents: map[string][]*line{}}
	for l := range archive.Lines(src.Data, s.rec) {
		s.read(l)
	}
	if ln := s.queue.restMessage(); ln != nil {
		s.lines = append(s.lines, ln)
	}
	s.inOrder()
	addHeardText(s.lines)
	s.rec.Conversation = s.conversation()
	s.origin()
	return s.rec, nil
}

// inOrder sorts each line after its parent: Claude Code 2.1.197 may write a prompt after its
// answer.
func (s *session) inOrder() {
	out, done := make([]*line, 0, len(s.lines)), make([]bool, len(s.lines))
	for i := range s.lines {
		var chain []int // ancestors that come later in the file
		for p, ok := i, true; ok && !done[p]; {
			done[p] = true
			chain = append(chain, p)
			parent := s.lines[p].parent
			p, ok = s.byUUID[parent]
			ok = ok && parent != ""
		}
		for _, p := range slices.Backward(chain) {
			out = append(out, s.lines[p])
		}
	}
	s.lines = out
}

// session holds the lines of a file.
type session struct {
	rec     *archive.Recording
	lines   []*line            // lines with a uuid, sub-agents' included
	byUUID  map[string]int     // index in lines
	agents  map[string][]*line // messages of sub-agents inside progress lines
	order   []string           // IDs of the agents in order of appearance
	titles  []title
	renamed string // the title by the user
	queue   queue
}

type title struct{ text, leaf string }

// read adds one line to the session.
func (s *session) read(l archive.Line) {
	ln, err := parse(l)
	if err != nil {
		s.rec.Skip(l.Number, err)
		return
	}
	switch {
	case ln.title != "":
		s.rec.Ignored++
		if ln.leaf == "" {
			s.renamed = ln.title
		} else {
			s.titles = append(s.titles, title{ln.title, ln.leaf})
		}
		return
	case ln.agent != nil:
		if _, known := s.agents[ln.agent.agentID]; !known {
			s.order = append(s.order, ln.agent.agentID)
		}
		s.agents[ln.agent.agentID] = append(s.agents[ln.agent.agentID], ln.agent)
	case ln.kind == other || ln.kind == boundary:
		s.rec.Ignored++
	}
	if ln.queue != "" {
		s.queue.operate(ln)
	}
	if ln.uuid == "" && ln.kind == other {
		return
	}
	if _, twice := s.byUUID[ln.uuid]; twice && ln.uuid != "" {
		s.rec.Ignored++
		return
	}
	s.byUUID[ln.uuid] = len(s.lines)
	s.lines = append(s.lines, ln)
	s.queue.passMessage(ln)
}

// conversation builds the main conversation and its branches. If a file holds only lines of a
// sub-agent, they are the main conversation.
func (s *session) conversation() *precis.Conversation {
	lines, side := s.split()
	b := builder{rec: s.rec}
	t := newTree(lines, mended)
	path := t.shape.Path(t.final)
	c := b.build(t, path)
	// branches must not set it
	defer func(m precis.Measured) { s.rec.Origin.Measured = m }(s.rec.Origin.Measured)
	c.Title = s.title()
	if c.ID == "" && len(s.lines) > 0 {
		c.ID = s.lines[0].session
	}
	b.branch(c, t, path)
	b.branch(c, newTree(side, forest), nil)
	for _, id := range s.order {
		b.branch(c, newTree(s.agents[id], linear), nil)
	}
	return c
}

// split separates the main conversation's lines from the sub-agents'.
func (s *session) split() (lines, side []*line) {
	messages := 0
	for _, ln := range s.lines {
		if ln.sidechain {
			side = append(side, ln)
			continue
		}
		lines = append(lines, ln)
		if ln.kind >= assistant {
			messages++
		}
	}
	if messages == 0 {
		return s.lines, nil
	}
	return lines, side
}

// title returns the user's title, else the title of a path in this file, else the only title.
func (s *session) title() string {
	if s.renamed != "" {
		return s.renamed
	}
	found := ""
	for _, t := range s.titles {
		if _, here := s.byUUID[t.leaf]; here || len(s.titles) == 1 {
			found = t.text
		}
	}
	return found
}

// ForkedAt returns, for a file that begins with a compaction boundary, the ID of the session it was
// forked from and the uuid of the boundary. The messages before it are in that session's file. For
// other files both are "".
func ForkedAt(data []byte) (session, boundary string) {
	for _, raw := range archive.FirstLines(data, 20) {
		f, err := jsonspan.Fields(raw)
		if err != nil || f["uuid"] == nil {
			continue
		}
		kind, _ := jsonspan.String(f["subtype"])
		if kind != "compact_boundary" || f["logicalParentUuid"] == nil {
			return "", ""
		}
		session, _ = jsonspan.String(f["sessionId"])
		boundary, _ = jsonspan.String(f["uuid"])
		return session, boundary
	}
	return "", ""
}
