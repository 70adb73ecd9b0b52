package copilot

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/internal/jsonspan"
)

// CLI is the reader of Copilot's command line, which appends one event a line to
// ~/.copilot/session-state/ID/events.jsonl: {type, data, id, timestamp, parentId}, by the schema
// session-events of github/copilot-sdk. A compaction becomes an edit over the messages before its
// beginning, since the work goes on while the summary is written. Messages of sub-agents, and those
// that the user took back, become branches.
type CLI struct{}

// Name returns "copilot-cli".
func (CLI) Name() string { return "copilot-cli" }

// opening are types of events with which a file begins.
var opening = []string{"session.start", "session.resume", "session.model_change", "system.message",
	"user.message", "assistant.turn_start", "assistant.message"}

// Detect looks for an event in the first lines.
func (CLI) Detect(_ string, data []byte) bool {
	for _, raw := range archive.FirstLines(data, 3) {
		f, err := jsonspan.Fields(raw)
		kind, _ := jsonspan.String(f["type"])
		if err == nil && slices.Contains(opening, kind) && jsonspan.Kind(f["data"]) == '{' && f["id"] != nil {
			return true
		}
	}
	return false
}

// Read reads a session. Malformed lines are skipped.
func (CLI) Read(src archive.Source) (*archive.Recording, error) {
	e := &events{rec: &archive.Recording{}, conv: &precis.Conversation{},
		sides: map[string]*precis.Conversation{}, begun: -1}
	for l := range archive.Lines(src.Data, e.rec) {
		var v event
		if err := json.Unmarshal(l.Raw, &v); err != nil {
			e.rec.Skip(l.Number, err)
			continue
		}
		v.line = l.Number
		e.readEvent(v)
	}
	e.finish()
	return e.rec, nil
}

// event is one line of the recording.
type event struct {
	Type      string    `json:"type"`
	ID        string    `json:"id"`
	Agent     string    `json:"agentId"` // of a sub-agent
	Ephemeral bool      `json:"ephemeral"`
	Time      time.Time `json:"timestamp"`
	Data      data      `json:"data"`

	line int
}

// data holds the members of all types of events that are read.
type data struct {
	SessionID  string    `json:"sessionId"`
	Model      string    `json:"selectedModel"`
	NewModel   string    `json:"newModel"`
	Title      string    `json:"title"`
	StartTime  time.Time `json:"startTime"`
	TokenLimit int       `json:"tokenLimit"`
	Context    struct {
		Folder string `json:"cwd"`
	} `json:"context"`

	Content     string `json:"content"`
	Transformed string `json:"transformedContent"` // of the user: what the model is sent
	// of the user: the part of the program that wrote it; "": a person
	Source    string `json:"source"`
	Parent    string `json:"parentToolCallId"` // the call that began the sub-agent
	Reasoning string `json:"reasoningText"`
	Opaque    string `json:"reasoningOpaque"`
	Encrypted string `json:"encryptedContent"`
	Requests  []struct {
		ID        string          `json:"toolCallId"`
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"toolRequests"`

	CallID  string          `json:"toolCallId"`
	Success *bool           `json:"success"`
	Result  json.RawMessage `json:"result"` // a text, or an object with one
	Error   struct {
		Message string `json:"message"`
	} `json:"error"`

	Summary  string            `json:"summaryContent"`
	Before   int               `json:"preCompactionTokens"`
	UpTo     string            `json:"upToEventId"`
	PerModel map[string]metric `json:"modelMetrics"`
}

// metric is what the requests to a model used. Input counts what the cache served or stored.
type metric struct {
	Requests struct {
		Count int `json:"count"`
	} `json:"requests"`
	Usage struct {
		Input      int `json:"inputTokens"`
		Output     int `json:"outputTokens"`
		CacheRead  int `json:"cacheReadTokens"`
		CacheWrite int `json:"cacheWriteTokens"`
	} `json:"usage"`
}

// events is the state of reading one file.
type events struct {
	rec      *archive.Recording
	conv     *precis.Conversation
	timeline []timedMessage
	sides    map[string]*precis.Conversation // by the call or the agent
	names    []string                        // of sides, in order
	begun    int                             // messages before the compaction under way; -1: none
}

// timedMessage is a message of the conversation, or a compaction after the messages before it.
type timedMessage struct {
	event            string // its ID
	msg              precis.Message
	line             int
	replacedMessages int // messages that a compaction replaces; 0: it is a message
	size             int // tokens before a compaction
}

// program is the name of the program in the fields that messages carry.
const program = "copilot-cli"

func (e *events) readEvent(v event) {
	d := v.Data
	o := &e.rec.Origin
	switch v.Type {
	case "session.start":
		e.conv.ID, e.conv.Model = d.SessionID, d.Model
		o.Project, o.Begun = d.Context.Folder, d.StartTime
	case "session.model_change":
		e.conv.Model = cmp.Or(d.NewModel, e.conv.Model)
	case "session.title_changed":
		e.conv.Title = d.Title
	case "session.usage_info":
		o.Window = cmp.Or(d.TokenLimit, o.Window)
	case "session.shutdown":
		e.addUsage(d.PerModel)
	case "system.message":
		if v.subagent() == "" && strings.TrimSpace(d.Content) != "" {
			e.conv.System = precis.NewText(precis.RoleSystem, d.Content)
		}
	case "user.message", "assistant.message", "tool.execution_complete":
		e.addMessage(v)
		return
	case "session.compaction_start":
		e.begun = e.messages()
	case "session.compaction_complete":
		e.compacted(v)
		return
	case "session.snapshot_rewind":
		e.rewind(v)
		return
	case "session.truncation", "session.context_cleared":
		e.rec.Warn(fmt.Sprintf("line %d", v.line),
			"Copilot left out messages of later requests and does not say which")
	}
	e.rec.Ignored++
}

// subagent returns the name of the sub-agent of an event; "" for the conversation itself.
func (v event) subagent() string { return cmp.Or(v.Data.Parent, v.Agent) }

// messages counts the messages so far.
func (e *events) messages() (n int) {
	for _, s := range e.timeline {
		if s.replacedMessages == 0 {
			n++
		}
	}
	return n
}

// addMessage adds a message.
func (e *events) addMessage(v event) {
	m := v.message()
	if m.Time, m.ID = v.Time, v.ID; len(m.Content) == 0 {
		e.rec.Ignored++
		return
	}
	name := v.subagent()
	if name == "" {
		e.timeline = append(e.timeline, timedMessage{event: v.ID, msg: m, line: v.line})
		return
	}
	if e.sides[name] == nil {
		e.sides[name] = &precis.Conversation{Transcript: &precis.Transcript{}}
		e.names = append(e.names, name)
	}
	e.sides[name].Transcript.Append(m)
}

// message returns what an event says.
func (v event) message() precis.Message {
	d := v.Data
	m := precis.Message{Role: precis.RoleUser}
	switch v.Type {
	case "user.message":
		byProgram := precis.Attribution{Program: program, Author: precis.AuthorProgram}
		before, after, around := strings.Cut(d.Transformed, d.Content)
		m.Content = []precis.Block{precis.Text{Text: d.Content}}
		if around && d.Content != "" {
			m.Content = []precis.Block{precis.Text{Text: before, Attribution: byProgram}, m.Content[0],
				precis.Text{Text: after, Attribution: byProgram}}
		}
		if d.Source != "" && d.Source != "user" {
			m.Attribution = byProgram
		}
	case "assistant.message":
		m.Role = precis.RoleAssistant
		if sealed := cmp.Or(d.Opaque, d.Encrypted); d.Reasoning != "" {
			m.Content = append(m.Content, precis.Thinking{Text: d.Reasoning, Signature: sealed})
		} else if sealed != "" {
			m.Content = append(m.Content, precis.RedactedThinking{Data: sealed})
		}
		m.Content = append(m.Content, precis.Text{Text: d.Content})
		for _, r := range d.Requests {
			m.Content = append(m.Content, precis.ToolUse{ID: r.ID, Name: r.Name, Input: r.Arguments})
		}
	case "tool.execution_complete":
		text, ok := jsonspan.String(d.Result)
		if !ok {
			text, _ = jsonspan.String(jsonspan.Field(d.Result, "content"))
		}
		failed := d.Success != nil && !*d.Success
		if text = cmp.Or(text, d.Error.Message); d.CallID != "" {
			m.Content = []precis.Block{precis.ToolResult{ToolUseID: d.CallID, IsError: failed,
				Content: []precis.Block{precis.Text{Text: text}}}}
		}
	}
	return archive.WithoutBlank(m)
}

// compacted records a compaction, unless it failed.
func (e *events) compacted(v event) {
	d, n := v.Data, e.begun
	if e.begun = -1; n < 0 {
		n = e.messages()
	}
	if d.Success != nil && !*d.Success || d.Summary == "" || n == 0 {
		e.rec.Ignored++
		return
	}
	m := precis.NewText(precis.RoleUser, d.Summary)
	m.Time, m.Attribution = v.Time, precis.Attribution{Program: program, Author: precis.AuthorRecap,
		Act: precis.ActSummary}
	e.timeline = append(e.timeline,
		timedMessage{event: v.ID, msg: m, line: v.line, replacedMessages: n, size: d.Before})
}

// rewind takes an event and all after it out of the conversation. They become a branch.
func (e *events) rewind(v event) {
	at := slices.IndexFunc(e.timeline, func(s timedMessage) bool { return s.event == v.Data.UpTo })
	if at < 0 {
		e.rec.Warn(fmt.Sprintf("line %d", v.line), "it goes back to an event that is not there")
		return
	}
	left := e.build(e.timeline)
	left.ID = v.Data.UpTo
	e.sides[left.ID] = left
	e.names = append(e.names, left.ID)
	e.timeline = slices.Clip(e.timeline[:at])
	e.begun = -1
}

// build returns the conversation of some messages.
func (e *events) build(said []timedMessage) *precis.Conversation {
	c := &precis.Conversation{Transcript: &precis.Transcript{}}
	var names archive.CallIDs
	for _, s := range said {
		if s.replacedMessages == 0 {
			c.Transcript.Append(names.Assign(s.msg))
			continue
		}
		report := precis.EditReport{Reason: "Copilot compacted the conversation", TokensBefore: s.size}
		if err := archive.RecordCondensation(c, s.replacedMessages, []precis.Message{s.msg}, s.msg.Time,
			report); err != nil {
			e.rec.Warn(fmt.Sprintf("line %d", s.line), "the compaction is left out: %v", err)
		}
	}
	return c
}

// finish puts the conversation together.
func (e *events) finish() {
	built := e.build(e.timeline)
	e.conv.Transcript, e.conv.Edits = built.Transcript, built.Edits
	for _, name := range e.names {
		e.sides[name].ID = e.conv.ID + "/" + name
		e.conv.Branches = append(e.conv.Branches, e.sides[name])
	}
	e.rec.Conversation = e.conv
}

// addUsage adds what one run of the program used, by model.
func (e *events) addUsage(perModel map[string]metric) {
	o := &e.rec.Origin
	for model, m := range perModel {
		u := precis.Usage{Output: m.Usage.Output, CacheRead: m.Usage.CacheRead,
			CacheWrite: m.Usage.CacheWrite}
		u.Input = max(0, m.Usage.Input-u.CacheRead-u.CacheWrite)
		o.AddUsage(model, u, 0)
		if i := slices.IndexFunc(o.Spent,
			func(s archive.ModelUsage) bool { return s.Model == model }); i >= 0 {
			o.Spent[i].Requests += max(0, m.Requests.Count-1)
		}
	}
	slices.SortFunc(o.Spent, func(a, b archive.ModelUsage) int { return strings.Compare(a.Model, b.Model) })
}
