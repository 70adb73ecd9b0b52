// Package pi answers what happened in a session of the pi coding agent, read from JSON lines under
// ~/.pi/agent/sessions. Start with [Format].
//
// A session is a header and entries. Entries of newer sessions form a tree; the path to the last
// one is the conversation, the others are its branches. A compaction becomes an edit over the
// messages before the first one it kept. A context edit becomes an edit of the message that it
// replaces or leaves out. [Drafts] goes the other way: it writes a view as entries of pi, after an
// entry with the edits themselves. The reader adopts those edits and skips the entries that
// translate them.
package pi

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/internal/jsonspan"
)

// Format is the reader of pi's sessions.
type Format struct{}

// Name returns "pi".
func (Format) Name() string { return "pi" }

// Detect looks for pi's header in the first line, or, without one, for one of its messages.
func (Format) Detect(_ string, data []byte) bool {
	for i, raw := range archive.FirstLines(data, 3) {
		f, err := jsonspan.Fields(raw)
		if err != nil {
			return false
		}
		kind, _ := jsonspan.String(f["type"])
		switch {
		case i == 0 && kind == "session" && f["id"] != nil && f["cwd"] != nil:
			return true
		case kind == "message" && f["payload"] == nil && jsonspan.Kind(f["message"]) == '{' &&
			f["timestamp"] != nil:
			return true
		}
	}
	return false
}

// maxBranches bounds the branches of one recording. Each holds all messages from the beginning on.
const maxBranches = 100

// Read reads a session. Malformed lines are skipped.
func (Format) Read(src archive.Source) (*archive.Recording, error) {
	s := open(src)
	s.rec.Conversation = s.conversation()
	return s.rec, nil
}

// open reads the entries of a session.
func open(src archive.Source) *session {
	s := &session{rec: &archive.Recording{}, byID: map[string]int{}, leaf: -1}
	for l := range archive.Lines(src.Data, s.rec) {
		if err := s.readLine(l); err != nil {
			s.rec.Skip(l.Number, err)
			s.entries = append(s.entries, entry{kind: "bad"})
			s.tree.Add(len(s.entries)-2, 0, false)
		}
	}
	return s
}

// session is the state of reading one file. Entries are numbered as in the file, header included,
// and have the same numbers in the tree.
type session struct {
	rec     *archive.Recording
	entries []entry
	byID    map[string]int
	tree    archive.Tree
	leaf    int // the newest entry, or the one that the user went back to; -1: none

	id, title, model string
}

// entry is one line after the header.
type entry struct {
	line     int
	kind     string
	id       string
	at       time.Time
	msg      precis.Message // empty: no message for the model
	content  jsonValue      // content of msg in pi's format; nil if context edits cannot refer to the entry
	model    string         // the model in use from here on; "": unchanged
	used     precis.Usage   // of the request that it answers
	summary  string
	kept     int // the first entry that a compaction kept, or the target of a context edit; -1: unknown
	tokens   int
	byPrecis bool           // a compaction by precis
	instead  []precis.Block // replacement of a context edit; nil leaves the message out
	tools    jsonValue      // tools that a system message adds
	edits    ownEdits       // edits of precis; the following entries translate them for pi
}

// readLine reads one line.
func (s *session) readLine(l archive.Line) error {
	f, err := jsonspan.Fields(l.Raw)
	if err != nil {
		return err
	}
	text := func(name string) string { v, _ := jsonspan.String(f[name]); return v }
	e := entry{line: l.Number, kind: text("type"), id: text("id"), kept: -1, summary: text("summary")}
	e.at, _ = time.Parse(time.RFC3339Nano, text("timestamp"))
	switch e.kind {
	case "session":
		s.id, s.model = e.id, text("modelId")
		s.readOrigin(f, e.at)
		e.id = ""
	case "session_info":
		s.title = text("name")
	case "model_change":
		e.model = text("modelId")
	case "leaf":
		if i, ok := s.byID[text("targetId")]; ok {
			s.leaf = i
		}
	case "message":
		err = e.message(f["message"])
		if used := s.addUsage(f["message"]); e.msg.Role == precis.RoleAssistant {
			e.used = used
		}
	case "context_edit":
		err = s.contextEdit(&e, f)
	case "custom":
		if text("customType") == ownType {
			err = json.Unmarshal(f["data"], &e.edits)
		}
	case "custom_message":
		e.content = f["content"]
		err = e.readContent(f["content"], precis.RoleUser)
		// by an extension
		e.msg.Attribution = precis.Attribution{Program: program, Author: precis.AuthorProgram}
	case "branch_summary":
		if e.summary != "" {
			e.msg = precis.NewText(precis.RoleUser, "[Summary of a branch that was left]\n"+e.summary)
			e.msg.Attribution = recap
		}
	case "compaction":
		err = s.readCompaction(&e, f)
	}
	if err != nil {
		return err
	}
	s.addUsage(l.Raw)
	e.msg.Time = e.at
	s.add(e, text("parentId"), f["parentId"])
	return nil
}

// add puts an entry into the tree. Without a parent's ID it follows the previous entry; null makes
// it a root.
func (s *session) add(e entry, parent string, given []byte) {
	above := len(s.entries) - 1
	if i, ok := s.byID[parent]; ok && parent != "" {
		above = i
	} else if jsonspan.Kind(given) == 'n' && len(e.msg.Content) > 0 && e.msg.Role == precis.RoleUser {
		above = -1
	}
	silent := len(e.msg.Content) == 0
	n := s.tree.Add(above, len(s.entries), e.msg.Role == precis.RoleAssistant && !silent)
	if silent {
		s.rec.Ignored++
	}
	if e.kind == "compaction" && e.summary != "" || e.kind == "context_edit" {
		s.rec.Ignored--
	}
	s.entries = append(s.entries, e)
	if e.id != "" {
		s.byID[e.id] = n
	}
	if e.kind != "leaf" && e.kind != "label" {
		s.leaf = n
	}
}

// readCompaction reads a compaction: its first kept entry by ID, or in older sessions by number.
func (s *session) readCompaction(e *entry, f map[string]jsonValue) error {
	if e.summary == "" {
		return fmt.Errorf("the compaction has no summary")
	}
	e.tokens, e.byPrecis = number(f["tokensBefore"]), jsonspan.Field(f["details"], ownType) != nil
	if id, ok := jsonspan.String(f["firstKeptEntryId"]); ok {
		if i, ok := s.byID[id]; ok {
			e.kept = i
		}
	} else if f["firstKeptEntryIndex"] != nil {
		e.kept = number(f["firstKeptEntryIndex"])
	}
	return nil
}

// contextEdit reads the replacement of a message in later requests; null leaves the message out.
func (s *session) contextEdit(e *entry, f map[string]jsonValue) (err error) {
	id, _ := jsonspan.String(f["targetId"])
	if i, ok := s.byID[id]; ok {
		e.kept = i
	} else {
		s.rec.Warn(fmt.Sprintf("line %d", e.line), "the context edit is about no entry before it")
	}
	switch raw := f["replacement"]; jsonspan.Kind(raw) {
	case 0:
		return fmt.Errorf("the context edit has no replacement")
	case 'n':
		return nil
	case '{':
		raw = jsonspan.Field(raw, "content")
		fallthrough
	default:
		e.instead, err = decodeContent(raw)
		return err
	}
}

// conversation builds the path to the newest entry and the branches.
func (s *session) conversation() *precis.Conversation {
	path := s.tree.Path(s.leaf)
	c := s.build(path).Conversation
	c.Title = s.title
	// branches must not set it
	defer func(m precis.Measured) { s.rec.Origin.Measured = m }(s.rec.Origin.Measured)
	paths, _, more := s.tree.Branches(path, maxBranches)
	if more {
		s.rec.Warn("branches", "more than %d are left out", maxBranches)
	}
	for _, p := range paths {
		b := s.build(p).Conversation
		if b.Transcript.Len() == 0 {
			continue
		}
		b.ID = s.id + "/" + s.entries[archive.ForkPoint(p, path)].id
		c.Branches = append(c.Branches, b)
	}
	return c
}

// built is a conversation under construction along a path.
type built struct {
	*session
	*precis.Conversation
	before  []int       // by entry of the path: number of messages before it
	edits   map[int]int // entry → its newest context edit
	entryOf []int       // by message: its entry
	summary string      // of the newest compaction; "": it hides no message
	kept    int         // the first message that this compaction keeps
}

// build returns the conversation along a path.
func (s *session) build(path []int) built {
	c := &precis.Conversation{ID: s.id, Model: s.model, Transcript: &precis.Transcript{}}
	b := built{session: s, Conversation: c, before: make([]int, len(s.entries)), edits: map[int]int{}}
	for _, i := range path {
		if s.entries[i].kind == "context_edit" {
			b.edits[s.entries[i].kept] = i
		}
	}
	var names archive.CallIDs
	known := 0 // end of the entries that translate adopted edits
	for k, i := range path {
		e := &s.entries[i]
		b.before[i] = c.Transcript.Len()
		if e.model != "" {
			c.Model = e.model
		}
		if e.used != (precis.Usage{}) {
			s.rec.Origin.RecordRequest(c, e.used)
		}
		if e.tools != nil && c.Tools == nil {
			c.Tools = e.tools
		}
		switch {
		case len(e.msg.Content) == 0:
		case e.msg.Role == precis.RoleSystem && c.Transcript.Len() == 0 && !c.HasSystem():
			c.System = e.msg
		default:
			c.Transcript.Append(names.Assign(e.msg))
			b.entryOf = append(b.entryOf, i)
		}
		if e.kind == "compaction" && len(b.entryOf) > 0 {
			b.summary, b.kept = strings.TrimPrefix(e.summary, takenBack), c.Transcript.Len()
			if e.kept >= 0 && e.kept < len(b.before) {
				b.kept = b.before[e.kept]
			}
		}
		switch {
		case k < known:
		case e.kind == "custom":
			known = s.applyOwnEdits(c, e.edits, path[k+1:]) + k + 1
		case e.kind == "context_edit":
			if n := e.kept; b.edits[n] == i && slices.Contains(path, n) && len(s.entries[n].msg.Content) > 0 {
				s.recordContextEdit(c, *e, b.before[n])
			}
		case e.kind == "compaction":
			m := precis.NewText(precis.RoleUser, e.summary)
			m.Attribution = recap
			m.Time = e.at
			if c.Transcript.Len() == 0 {
				b.entryOf = append(b.entryOf, i)
			}
			s.recordCompaction(c, *e, m, b.kept)
		}
	}
	return b
}

// applyOwnEdits puts edits of precis in force and returns the number of following entries that translate
// them. It returns 0 if some of these are missing or the edits were made on another transcript.
func (s *session) applyOwnEdits(c *precis.Conversation, own ownEdits, behind []int) int {
	if own.Entries < 0 || own.Entries > len(behind) ||
		slices.ContainsFunc(behind[:own.Entries], func(i int) bool {
			return s.entries[i].kind != "context_edit" && s.entries[i].kind != "compaction"
		}) {
		return 0
	}
	check := precis.NewEditChecker(c.Transcript, c.Edits)
	for _, e := range own.Edits {
		if e.Seen > c.Transcript.Len() || c.Transcript.Fingerprint(e.Seen) != e.At || check.Add(e) != nil {
			return 0
		}
	}
	c.Edits = append(c.Edits, own.Edits...)
	return own.Entries
}

// recordCompaction records a compaction. At the beginning of a file, its summary is the only trace of
// earlier messages.
func (s *session) recordCompaction(c *precis.Conversation, e entry, m precis.Message, kept int) {
	if c.Transcript.Len() == 0 {
		c.Transcript.Append(m)
		return
	}
	report := precis.EditReport{Reason: "pi compacted the conversation", TokensBefore: e.tokens}
	if e.byPrecis {
		report.Rung = "digest" // the next digest is written from the originals and does not quote this one
	}
	if err := archive.RecordCondensation(c, kept, []precis.Message{m}, e.at, report); err != nil {
		s.rec.Warn(fmt.Sprintf("line %d", e.line), "the compaction is left out: %v", err)
	}
}

// recordContextEdit records a context edit of message i, unless a compaction hides the message. A removed
// result becomes the text that pi sends for a call without a result.
func (s *session) recordContextEdit(c *precis.Conversation, e entry, i int) {
	if precis.ShownBy(c.Transcript, c.Edits).Message(i).Hidden {
		return
	}
	edit := precis.Edit{Kind: precis.KindPruning, Time: e.at, Report: precis.EditReport{
		Trigger: string(precis.TriggeredRecorded), Reason: "pi edited its context", Messages: 1,
	}}
	m := c.Transcript.At(i)
	if r, ok := m.Content[0].(precis.ToolResult); ok {
		if r.Content = e.instead; r.Content == nil {
			r.Content, r.IsError = []precis.Block{precis.Text{Text: "No result provided"}}, true
		}
		edit.Replace = append(edit.Replace, precis.ReplaceBlock(c.Transcript, i, 0, r))
	} else {
		hidden := precis.Replacement{From: i, To: i + 1}
		m = archive.WithoutBlank(precis.Message{Role: m.Role, Content: e.instead, Time: m.Time,
			Attribution: m.Attribution})
		if len(m.Content) > 0 {
			hidden.With = []precis.Message{m}
		}
		edit.Replace = append(edit.Replace, hidden)
	}
	if err := edit.Identify(c.Transcript); err != nil {
		s.rec.Warn(fmt.Sprintf("line %d", e.line), "the context edit is left out: %v", err)
		return
	}
	c.Edits = append(c.Edits, edit)
}
