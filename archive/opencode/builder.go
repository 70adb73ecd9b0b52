package opencode

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/internal/jsonspan"
)

// builder assembles the messages of one session.
type builder struct {
	rec            *archive.Recording
	conv           *precis.Conversation
	messagesBefore map[string]int // opencode's message ID → number of messages before it
	request        *request       // a compaction requested but not written yet
	cleared        []cleared
	names          archive.CallIDs
}

// request is a user's message that requests a compaction.
type request struct {
	id   string
	tail string // the first message kept; "": none
	msg  precis.Message
}

// cleared is a tool result that opencode no longer shows.
type cleared struct {
	msg, block int
	at         time.Time
}

func newBuilder() *builder {
	conv := &precis.Conversation{Transcript: &precis.Transcript{}}
	return &builder{rec: &archive.Recording{Conversation: conv}, conv: conv, messagesBefore: map[string]int{}}
}

// entry is the message being read.
type entry struct {
	*builder
	info  map[string]json.RawMessage
	id    string
	time  time.Time
	place string
}

// message reads one message with its parts.
func (b *builder) message(raw []byte, place string) error {
	f, err := jsonspan.Fields(raw)
	if err != nil {
		return err
	}
	info := jsonspan.Members(f["info"])
	e := entry{builder: b, info: info, id: jsonspan.Text(info, "id"),
		time: parseMillis(jsonspan.Members(info["time"])["created"]), place: place}
	parts, err := parse(f["parts"])
	if err != nil {
		return err
	}
	role := jsonspan.Text(info, "role")
	b.addUsage(info)
	if role == "assistant" && isTrue(info["summary"]) {
		return e.summarized(parts)
	}
	b.unanswered()
	b.messagesBefore[e.id] = b.conv.Transcript.Len()
	switch role {
	case "user":
		e.user(parts)
	case "assistant":
		e.assistant(parts)
	case "":
		return errors.New("the message has no role")
	default:
		b.rec.Ignored++
	}
	return nil
}

// addUsage adds the usage of the request that a message answers.
func (b *builder) addUsage(info map[string]json.RawMessage) {
	tokens := jsonspan.Members(info["tokens"])
	n := archive.ParseCounts(info["tokens"], "input", "output", "reasoning")
	cache := archive.ParseCounts(tokens["cache"], "read", "write")
	used := precis.Usage{Input: n[0], Output: n[1] + n[2], CacheRead: cache[0], CacheWrite: cache[1]}
	b.rec.Origin.AddUsage(jsonspan.Text(info, "modelID"), used, archive.ParseAmount(info["cost"]))
	if !isTrue(info["summary"]) { // requests for summaries are not part of the conversation
		b.rec.Origin.RecordRequest(b.conv, used)
	}
	if b.rec.Origin.Project == "" {
		b.rec.Origin.Project = jsonspan.Text(jsonspan.Members(info["path"]), "cwd")
	}
}

// addMessage appends a message unless it has no content.
func (e *entry) addMessage(role precis.Role, blocks []precis.Block) {
	m := archive.WithoutBlank(precis.Message{Role: role, Content: blocks, ID: e.id, Time: e.time})
	if len(m.Content) == 0 {
		e.rec.Ignored++
		return
	}
	e.conv.Transcript.Append(e.names.Assign(m))
}

// user reads a user's message or a request for a compaction.
func (e *entry) user(parts []part) {
	var blocks []precis.Block
	var compaction *request
	for _, p := range parts {
		if p.kind == "compaction" {
			compaction = &request{id: e.id, tail: jsonspan.Text(p.fields, "tail_start_id")}
		}
		b := p.shownBlock()
		if b == nil {
			e.rec.Ignored++
			continue
		}
		blocks = append(blocks, b)
	}
	if compaction == nil {
		e.addMessage(precis.RoleUser, blocks)
		return
	}
	compaction.msg = archive.WithoutBlank(precis.Message{Role: precis.RoleUser, Content: blocks, ID: e.id,
		Time: e.time})
	e.request = compaction
}

// unanswered adds a compaction request without a summary as an ordinary message.
func (b *builder) unanswered() {
	if b.request != nil {
		b.messagesBefore[b.request.id] = b.conv.Transcript.Len()
		b.conv.Transcript.Append(b.request.msg)
		b.request = nil
	}
}

// assistant reads an assistant's message step by step. The results of a step's calls follow the
// step.
func (e *entry) assistant(parts []part) {
	if model := jsonspan.Text(e.info, "modelID"); model != "" {
		e.conv.Model = model
	}
	if !e.conv.HasSystem() {
		e.conv.System = prompt(e.info["system"])
	}
	var said, results []precis.Block
	step := func() {
		if len(said) > 0 {
			e.addMessage(precis.RoleAssistant, said)
		}
		if len(results) > 0 {
			e.addMessage(precis.RoleUser, results)
		}
		said, results = nil, nil
	}
	for _, p := range parts {
		switch {
		case p.kind == "step-start":
			step()
			e.rec.Ignored++
		case p.kind == "tool":
			use, result := p.call()
			said = append(said, use)
			if at := parseMillis(jsonspan.Members(p.state()["time"])["compacted"]); !at.IsZero() {
				e.cleared = append(e.cleared, cleared{e.conv.Transcript.Len() + 1, len(results), at})
			}
			results = append(results, result)
		default:
			b := p.shownBlock()
			if b == nil {
				e.rec.Ignored++
				continue
			}
			said = append(said, b)
		}
	}
	step()
}

// prompt reads the system prompt that older sessions store in a message.
func prompt(raw []byte) precis.Message {
	m := precis.Message{Role: precis.RoleSystem}
	if jsonspan.Kind(raw) == '[' {
		for span, err := range jsonspan.Array(raw) {
			if s, ok := jsonspan.String(span.Raw); ok && err == nil {
				m.Content = append(m.Content, precis.Text{Text: s})
			}
		}
	}
	if m = archive.WithoutBlank(m); len(m.Content) == 0 {
		return precis.Message{}
	}
	return m
}

// summarized records a compaction: the request and the summary replace the messages before the kept
// tail, or before the request.
func (e *entry) summarized(parts []part) error {
	m := precis.Message{Role: precis.RoleAssistant, ID: e.id, Time: e.time}
	for _, p := range parts {
		if b, ok := p.shownBlock().(precis.Text); ok {
			m.Content = append(m.Content, b)
		}
	}
	if m = archive.WithoutBlank(m); len(m.Content) == 0 || jsonspan.Kind(e.info["error"]) == '{' {
		e.rec.Ignored++
		e.rec.Warn(e.place, "a compaction that failed is left out")
		return nil
	}
	with, to := []precis.Message{m}, e.conv.Transcript.Len()
	if r := e.request; r != nil {
		with = []precis.Message{r.msg, m}
		if n, ok := e.messagesBefore[r.tail]; ok && r.tail != "" {
			to = n
		}
		e.request = nil
	}
	if to == 0 {
		e.conv.Transcript.Append(with...)
		return nil
	}
	report := precis.EditReport{Reason: "opencode compacted the conversation"}
	if err := archive.RecordCondensation(e.conv, to, with, e.time, report); err != nil {
		e.rec.Warn(e.place, "the compaction is left out: %v", err)
	}
	return nil
}

// clearedText is what opencode shows instead of an old tool result.
const clearedText = "[Old tool result content cleared]"

// finish turns the tool results that opencode cleared into one edit.
func (b *builder) finish() {
	b.unanswered()
	e := precis.Edit{Kind: precis.KindPruning, Report: precis.EditReport{
		Trigger: string(precis.TriggeredRecorded), Reason: "opencode cleared old tool results",
		Blocks: len(b.cleared),
	}}
	for _, c := range b.cleared {
		r := b.conv.Transcript.At(c.msg).Content[c.block].(precis.ToolResult)
		r.Content = []precis.Block{precis.Text{Text: clearedText}}
		e.Replace = append(e.Replace, precis.ReplaceBlock(b.conv.Transcript, c.msg, c.block, r))
		if c.at.After(e.Time) {
			e.Time = c.at
		}
	}
	if len(e.Replace) == 0 {
		return
	}
	err := e.Identify(b.conv.Transcript)
	if err == nil {
		err = precis.CheckEdit(b.conv.Transcript, b.conv.Edits, e)
	}
	if err != nil {
		b.rec.Warn("session", "cleared tool results are shown: %v", err)
		return
	}
	b.conv.Edits = append(b.conv.Edits, e)
}
