package gemini

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/internal/jsonspan"
)

// Qwen is the reader of Qwen Code's sessions: JSON lines under ~/.qwen/projects. Their
// envelope is like Claude Code's, records that form a tree by parentUuid, and the
// messages in them are contents of the Gemini API. A compression becomes an edit.
type Qwen struct{}

// Name returns "qwen".
func (Qwen) Name() string { return "qwen" }

// Detect looks for a message with parts, or for a system record of the program, among the first
// lines.
func (Qwen) Detect(_ string, data []byte) bool {
	for _, raw := range archive.FirstLines(data, 8) {
		f := jsonspan.Members(raw)
		if f["uuid"] == nil || f["parentUuid"] == nil || jsonspan.Text(f, "sessionId") == "" {
			continue
		}
		if jsonspan.Kind(jsonspan.Members(f["message"])["parts"]) == '[' ||
			jsonspan.Text(f, "type") == "system" && f["systemPayload"] != nil {
			return true
		}
	}
	return false
}

// Read reads a session. Malformed lines are skipped.
func (Qwen) Read(src archive.Source) (*archive.Recording, error) {
	s := &qwenSession{rec: &archive.Recording{}, byID: map[string]int{}, last: -1}
	for l := range archive.Lines(src.Data, s.rec) {
		if err := s.readLine(l); err != nil {
			s.rec.Skip(l.Number, err)
		}
	}
	s.rec.Conversation = s.conversation()
	return s.rec, nil
}

// qwenSession is the state of reading one file.
type qwenSession struct {
	rec     *archive.Recording
	records []qwenRecord
	byID    map[string]int // index in records, which is also the node in tree
	tree    archive.Tree
	last    int
	id      string
	title   string
}

// qwenRecord is one record; a record not sent to the model has neither a message nor a compressed
// history.
type qwenRecord struct {
	line       int
	id         string
	at         time.Time
	kind       string
	model      string
	used       precis.Usage // usage of the request that it answers
	message    map[string]json.RawMessage
	compressed json.RawMessage
	before     int // tokens before the compression
	after      int
}

func (s *qwenSession) readLine(l archive.Line) error {
	f, err := jsonspan.Fields(l.Raw)
	if err != nil {
		return err
	}
	r := qwenRecord{line: l.Number, id: jsonspan.Text(f, "uuid"), kind: jsonspan.Text(f, "type"),
		model: jsonspan.Text(f, "model")}
	r.at, _ = time.Parse(time.RFC3339Nano, jsonspan.Text(f, "timestamp"))
	o := &s.rec.Origin
	if s.id == "" {
		s.id, o.Begun = jsonspan.Text(f, "sessionId"), r.at
	}
	if o.Project == "" {
		o.Project = jsonspan.Text(f, "cwd")
	}
	payload := jsonspan.Members(f["systemPayload"])
	switch subtype := jsonspan.Text(f, "subtype"); {
	case r.kind == "system" && subtype == "chat_compression":
		r.compressed = payload["compressedHistory"]
		n := archive.ParseCounts(payload["info"], "originalTokenCount", "newTokenCount")
		r.before, r.after = n[0], n[1]
	case r.kind == "system" && subtype == "custom_title":
		s.title = jsonspan.Text(payload, "customTitle")
	case r.kind != "system" && subtype != "realtime_message" && f["message"] != nil:
		if r.message = jsonspan.Members(f["message"]); r.message == nil {
			return errors.New("the message is no object")
		}
	}
	n := archive.ParseCounts(f["usageMetadata"], "promptTokenCount", "candidatesTokenCount",
		"cachedContentTokenCount")
	r.used = precis.Usage{Input: max(0, n[0]-n[2]), Output: n[1], CacheRead: n[2]}
	o.AddUsage(r.model, r.used, 0)
	s.add(r, jsonspan.Text(f, "parentUuid"), f["parentUuid"])
	return nil
}

// add puts a record into the tree. If its parent is not in the file, it follows the record before
// it.
func (s *qwenSession) add(r qwenRecord, parent string, given json.RawMessage) {
	above := len(s.records) - 1
	if i, ok := s.byID[parent]; ok && parent != "" {
		above = i
	} else if jsonspan.Kind(given) == 'n' && r.message != nil && r.kind == "user" {
		above = -1
	}
	n := s.tree.Add(above, len(s.records), r.kind == "assistant")
	if r.message == nil && r.compressed == nil {
		s.rec.Ignored++
	}
	s.records = append(s.records, r)
	if r.id != "" {
		s.byID[r.id] = n
	}
	s.last = n
}

// conversation builds the path to the last record, and abandoned paths as branches.
func (s *qwenSession) conversation() *precis.Conversation {
	path := s.tree.Path(s.last)
	c := s.build(path)
	// branches do not count
	defer func(m precis.Measured) { s.rec.Origin.Measured = m }(s.rec.Origin.Measured)
	paths, _, more := s.tree.Branches(path, maxBranches)
	if more {
		s.rec.Warn("branches", "more than %d are left out", maxBranches)
	}
	for _, p := range paths {
		if side := s.build(p); side.Transcript.Len() > 0 {
			side.ID = s.id + "/" + s.records[archive.ForkPoint(p, path)].id
			c.Branches = append(c.Branches, side)
		}
	}
	return c
}

func (s *qwenSession) build(path []int) *precis.Conversation {
	b := newBuilder(s.rec)
	b.Conv.ID, b.Conv.Title = s.id, s.title
	for _, i := range path {
		r := &s.records[i]
		if r.model != "" {
			b.Conv.Model = r.model
		}
		var err error
		switch {
		case r.compressed != nil:
			err = b.recordCompression(r)
		case r.message != nil:
			b.Rec.Origin.RecordRequest(b.Conv, r.used)
			err = b.content(r.message, r.at)
		}
		if err != nil {
			s.rec.Skip(r.line, err)
		}
	}
	return b.Conv
}

// content reads a content that has its own role.
func (b *builder) content(f map[string]json.RawMessage, at time.Time) error {
	role := precis.RoleUser
	if jsonspan.Text(f, "role") == "model" {
		role = precis.RoleAssistant
	}
	blocks, err := b.parts(f["parts"], role)
	if err != nil {
		return err
	}
	b.addMessage(precis.Message{Role: role, Content: blocks, Time: at})
	return nil
}

// recordCompression records a compression: its history replaces the conversation and ends with the
// messages that it kept.
func (b *builder) recordCompression(r *qwenRecord) error {
	own := newBuilder(&archive.Recording{})
	for span, err := range jsonspan.Array(r.compressed) {
		if err == nil {
			err = own.content(jsonspan.Members(span.Raw), r.at)
		}
		if err != nil {
			return fmt.Errorf("compressed history: %w", err)
		}
	}
	report := precis.EditReport{Reason: "Qwen Code compressed the conversation", TokensBefore: r.before,
		TokensAfter: r.after}
	b.recordReplacement(own.Conv.Transcript.Messages(), r.line, r.at, report)
	return nil
}

// recordReplacement records that a program replaced the conversation so far with other messages. These
// end with the messages that it kept.
func (b *builder) recordReplacement(with []precis.Message, line int, at time.Time, report precis.EditReport) {
	said := b.Conv.Transcript
	kept := 0
	for kept < len(with) && kept < said.Len() &&
		precis.HashMessage(with[len(with)-1-kept]) == precis.HashMessage(said.At(said.Len()-1-kept)) {
		kept++
	}
	if said.Len() == kept {
		return // no message was replaced
	}
	if err := archive.RecordCondensation(b.Conv, said.Len()-kept, with[:len(with)-kept], at,
		report); err != nil {
		b.Rec.Warn(fmt.Sprintf("line %d", line), "the compression is left out: %v", err)
	}
}
