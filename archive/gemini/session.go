package gemini

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/internal/jsonspan"
)

// records reads the messages of a recorded session.
func (b *builder) records(list jsonspan.Span) error {
	return archive.Each(list, "message", func(raw []byte) error {
		f, err := jsonspan.Fields(raw)
		if err != nil {
			return err
		}
		return b.record(f)
	})
}

// record reads one message of a session: the user's, or the model's with its calls and their
// results.
func (b *builder) record(f map[string]json.RawMessage) error {
	at, _ := time.Parse(time.RFC3339Nano, jsonspan.Text(f, "timestamp"))
	m := precis.Message{Role: precis.RoleUser, ID: jsonspan.Text(f, "id"), Time: at}
	var err error
	switch kind := jsonspan.Text(f, "type"); kind {
	case "user":
		if m.Content, err = b.parts(f["content"], m.Role); err == nil {
			b.addMessage(m)
		}
		return err
	case "gemini":
	case "":
		return errors.New("the message has no type")
	default:
		b.Rec.Ignored++
		return nil
	}
	if model := jsonspan.Text(f, "model"); model != "" {
		b.Conv.Model = model
	}
	b.addUsage(f, m.ID)
	m.Role, m.Content = precis.RoleAssistant, thoughts(f["thoughts"])
	said, err := b.parts(f["content"], m.Role)
	if err != nil {
		return fmt.Errorf("content: %w", err)
	}
	m.Content = append(m.Content, said...)
	uses, results := b.toolCalls(f["toolCalls"])
	m.Content = append(m.Content, uses...)
	b.addMessage(m)
	if len(results) > 0 {
		b.addMessage(precis.Message{Role: precis.RoleUser, Content: results, Time: at})
	}
	return nil
}

// addUsage adds the usage of the request that a message answers, once for each message ID.
func (b *builder) addUsage(f map[string]json.RawMessage, id string) {
	if id != "" && b.counted[id] {
		return
	}
	b.counted[id] = true
	n := archive.ParseCounts(f["tokens"], "input", "output", "cached", "thoughts")
	used := precis.Usage{Input: max(0, n[0]-n[2]), Output: n[1] + n[3], CacheRead: n[2]}
	b.Rec.Origin.AddUsage(jsonspan.Text(f, "model"), used, 0)
	b.Rec.Origin.RecordRequest(b.Conv, used)
}

// thoughts reads the summaries of the model's reasoning.
func thoughts(raw []byte) []precis.Block {
	var out []precis.Block
	if jsonspan.Kind(raw) != '[' {
		return nil
	}
	for span, err := range jsonspan.Array(raw) {
		if err != nil {
			return out
		}
		f := jsonspan.Members(span.Raw)
		words := strings.TrimSpace(jsonspan.Text(f, "subject") + "\n" + jsonspan.Text(f, "description"))
		if words != "" {
			out = append(out, precis.Thinking{Text: words})
		}
	}
	return out
}

// toolCalls reads a message's toolCalls with their results. Calls that are also parts of the
// content are not repeated.
func (b *builder) toolCalls(raw []byte) (uses, results []precis.Block) {
	if jsonspan.Kind(raw) != '[' {
		return nil, nil
	}
	for span, err := range jsonspan.Array(raw) {
		if err != nil {
			return uses, results
		}
		f := jsonspan.Members(span.Raw)
		i := b.find(jsonspan.Text(f, "id"), "")
		if jsonspan.Text(f, "id") == "" || i < 0 {
			uses = append(uses, b.call(f))
			i = len(b.open) - 1
		}
		c := b.open[i]
		if r, ok := b.result(c, f); ok {
			b.open = slices.Delete(b.open, i, i+1)
			b.answered[c.id], b.answered[c.recorded] = true, true
			results = append(results, r)
		}
	}
	return uses, results
}

// result reads the result of a call. The parts may also contain answers to other calls of the
// same turn, which are ignored.
func (b *builder) result(c call, f map[string]json.RawMessage) (precis.ToolResult, bool) {
	r := precis.ToolResult{ToolUseID: c.id}
	switch jsonspan.Text(f, "status") {
	case "cancelled": // by the user, before or during its run
		r.IsError, r.Refused = true, true
	case "error":
		r.IsError = true
	}
	own := newBuilder(b.Rec)
	blocks, err := own.parts(f["result"], precis.RoleUser)
	if err != nil || len(blocks) == 0 {
		return r, false
	}
	for _, block := range blocks {
		switch block := block.(type) {
		case precis.ToolResult:
			if block.ToolUseID == c.recorded || own.callIDs[block.ToolUseID] {
				r.Content = append(r.Content, block.Content...)
				r.IsError = r.IsError || block.IsError
			}
		default:
			r.Content = append(r.Content, block)
		}
	}
	r.Content = archive.WithoutBlank(precis.Message{Content: r.Content}).Content
	return r, true
}

// maxBranches limits the branches of one session. Each branch is a full list of messages.
const maxBranches = 100

// log is the state of reading a session of JSON lines: the current messages, and the lists
// abandoned by a rewind or a rewrite.
type log struct {
	rec      *archive.Recording
	id       string
	title    string
	messages []message
	index    map[string]int // message ID to its place in messages
	branches [][]message
	counted  map[string]bool // see builder
	snapshot string          // of the newest compression; "" if there was none
	shorter  []message       // the last list set, if it is a beginning of messages; else nil
}

// message is a message of a session, or a compression.
type message struct {
	id         string
	line       int
	fields     map[string]json.RawMessage
	compressed json.RawMessage // the messages left by a compression; nil if it is not one
	left       []message       // the same messages, parsed
}

// readLines reads a session of JSON lines.
func readLines(data []byte, rec *archive.Recording) {
	s := &log{rec: rec, index: map[string]int{}, counted: map[string]bool{}}
	for l := range archive.Lines(data, rec) {
		if err := s.readLine(l); err != nil {
			rec.Skip(l.Number, err)
		}
	}
	rec.Conversation = s.build(s.messages)
	for _, list := range s.branches {
		if c := s.build(list); c.Transcript.Len() > 0 {
			c.ID = s.id + "/" + list[len(list)-1].id
			rec.Conversation.Branches = append(rec.Conversation.Branches, c)
		}
	}
}

func (s *log) readLine(l archive.Line) error {
	f, err := jsonspan.Fields(l.Raw)
	if err != nil {
		return err
	}
	switch {
	case f["$rewindTo"] != nil:
		s.rewind(jsonspan.Text(f, "$rewindTo"))
	case f["$set"] != nil:
		return s.set(jsonspan.Members(f["$set"]), l.Number)
	case f["id"] != nil:
		return s.message(f, l.Number)
	default:
		return s.set(f, l.Number)
	}
	s.rec.Ignored++
	return nil
}

// set applies a line with properties of the session. The line may also replace the list of
// messages.
func (s *log) set(f map[string]json.RawMessage, line int) error {
	s.rec.Ignored++
	if id := jsonspan.Text(f, "sessionId"); id != "" {
		s.id = id
	}
	if title := jsonspan.Text(f, "summary"); title != "" {
		s.title = title
	}
	if jsonspan.Kind(f["messages"]) != '[' {
		return nil
	}
	return s.setMessages(f["messages"], line)
}

// message adds a message, or replaces an earlier state of it.
func (s *log) message(f map[string]json.RawMessage, line int) error {
	if jsonspan.Text(f, "type") == "" {
		return errors.New("the message has no type")
	}
	if s.shorter != nil { // the session really resumes from that list
		s.replace(s.shorter)
	}
	s.put(message{id: jsonspan.Text(f, "id"), line: line, fields: f})
	return nil
}

// put adds a message, or replaces an earlier state of it. A result may have the ID of the message
// with the call, so the types must match as well.
func (s *log) put(m message) {
	if i, ok := s.index[m.id]; ok && m.id != "" &&
		jsonspan.Text(s.messages[i].fields, "type") == jsonspan.Text(m.fields, "type") {
		s.messages[i] = m
		return
	}
	s.index[m.id] = len(s.messages)
	s.messages = append(s.messages, m)
}

// reset sets the session's messages to a copy of list.
func (s *log) reset(list []message) {
	s.messages, s.index = slices.Clone(list), map[string]int{}
	for i, m := range list {
		s.index[m.id] = i
	}
}

// rewind returns to the state before a message, or to the beginning if the ID is unknown.
func (s *log) rewind(id string) {
	was := s.messages
	s.reset(was[:s.index[id]])
	s.keepBranch(was)
}

// keepBranch keeps an abandoned list as a branch if it has an answer of the model that the session
// lacks.
func (s *log) keepBranch(was []message) {
	have := map[string]bool{}
	for _, m := range s.messages {
		have[m.id] = true
	}
	for _, m := range was {
		if have[m.id] || jsonspan.Text(m.fields, "type") != "gemini" {
			continue
		}
		if len(s.branches) == maxBranches {
			s.rec.Warn(fmt.Sprintf("line %d", m.line), "more than %d branches are left out", maxBranches)
			return
		}
		s.branches = append(s.branches, was)
		return
	}
}

// build assembles a list of messages.
func (s *log) build(list []message) *precis.Conversation {
	b := newBuilder(s.rec)
	b.Conv.ID, b.Conv.Title, b.counted = s.id, s.title, s.counted
	for _, m := range list {
		var err error
		if m.compressed != nil {
			err = b.recordSnapshot(m)
		} else {
			err = b.record(m.fields)
		}
		if err != nil {
			s.rec.Skip(m.line, err)
		}
	}
	return b.Conv
}

// recordSnapshot records a compression.
func (b *builder) recordSnapshot(m message) error {
	own := newBuilder(&archive.Recording{})
	if err := own.records(jsonspan.Span{Raw: m.compressed}); err != nil {
		return fmt.Errorf("compressed messages: %w", err)
	}
	b.recordReplacement(own.Conv.Transcript.Messages(), m.line, time.Time{},
		precis.EditReport{Reason: "Gemini CLI compressed the conversation"})
	return nil
}
