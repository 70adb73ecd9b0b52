package claudecode

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/wire/anthropic"
)

// kind is the role of a line in the conversation. Kinds from assistant on are messages.
type kind int

const (
	other    kind = iota // progress, hooks, notices: only a link in the tree
	boundary             // the place of a compaction
	note                 // text by the program besides a message
	assistant
	prompt // text by the user, or by the program in the user's role
	answer // tool results
	summary
)

// line is one line of a session, or one message of a sub-agent inside it.
type line struct {
	number    int
	kind      kind
	uuid      string
	parent    string // "" for null
	logical   string // the logical parent of a boundary
	session   string
	agentID   string
	sidechain bool
	at        time.Time

	msg       precis.Message
	ownBlocks int // number of blocks in the line itself; the program added the following ones
	model     string
	usage     precis.Usage
	uses      []string // IDs of tool uses
	results   []string // IDs of the answered tool uses
	unnoted   bool     // for results: the line has only their text
	compact   compaction

	title, leaf        string // of a title line
	queue, queuedInput string // of a line about user input during the agent's work: operation and text
	cwd                string
	agent              *line // the sub-agent's message in a progress line

	notes       noteBlocks // the content of a note
	queuedTexts []string   // user input during the agent's work, from the lines about the queue
}

// compaction is the content of a boundary line.
type compaction struct {
	trigger    string
	pre, post  int
	head, tail string // first and last message kept after the summary; "": none
}

// raws are fields that parse collects before it knows the line's type.
type raws struct {
	kind, subtype              string
	operation, content, maker  string
	message, data, compact     []byte
	result                     []byte // the program's own record of a result
	summarized, hidden, failed bool
	meta                       bool // written by the program in the user's role
	attachment, origin         []byte
}

// parse reads one line. It returns an error for an unreadable message.
func parse(l archive.Line) (*line, error) {
	ln := &line{number: l.Number}
	var r raws
	for m, err := range jsonspan.Object(l.Raw) {
		if err != nil {
			return nil, err
		}
		ln.field(m, &r)
	}
	var err error
	switch r.kind {
	case "user", "assistant":
		if r.hidden && !r.summarized {
			return ln, nil
		}
		err = ln.message(r)
	case "system":
		if r.subtype == "compact_boundary" {
			ln.kind = boundary
			ln.compact = parseCompaction(r.compact)
		}
	case "attachment":
		if ln.notes = attached(r.attachment); ln.notes != nil {
			ln.kind = note
		}
	case "progress":
		err = ln.progress(r.data)
	case "queue-operation":
		ln.queue, ln.queuedInput = r.operation, r.content
	case "summary", "custom-title":
	default:
		ln.title, ln.leaf = "", ""
	}
	return ln, err
}

func (ln *line) field(m jsonspan.Member, r *raws) {
	text := func() string { s, _ := jsonspan.String(m.Raw); return s }
	yes := func() bool { return jsonspan.Kind(m.Raw) == 't' }
	switch m.Name {
	case "type":
		r.kind = text()
	case "subtype":
		r.subtype = text()
	case "operation":
		r.operation = text()
	case "content":
		r.content = text()
	case "uuid":
		ln.uuid = text()
	case "parentUuid":
		ln.parent = text()
	case "logicalParentUuid":
		ln.logical = text()
	case "sessionId":
		ln.session = text()
	case "agentId":
		ln.agentID = text()
	case "isSidechain":
		ln.sidechain = yes()
	case "isCompactSummary":
		r.summarized = yes()
	case "isVisibleInTranscriptOnly":
		r.hidden = yes()
	case "madeBy":
		r.maker = text()
	case "isMeta":
		r.meta = yes()
	case "toolUseResult":
		r.result = m.Raw
	case "isApiErrorMessage":
		r.failed = yes()
	case "cwd":
		ln.cwd = text()
	case "timestamp":
		ln.at, _ = time.Parse(time.RFC3339Nano, text())
	case "message":
		r.message = m.Raw
	case "data":
		r.data = m.Raw
	case "attachment":
		r.attachment = m.Raw
	case "origin":
		r.origin = m.Raw
	case "compactMetadata":
		r.compact = m.Raw
	case "summary", "customTitle":
		ln.title = text()
	case "leafUuid":
		ln.leaf = text()
	}
}

// message decodes the API message of a line.
func (ln *line) message(r raws) error {
	ln.title, ln.leaf = "", ""
	if r.message == nil {
		return errors.New("no message")
	}
	m, err := anthropic.DecodeMessage(r.message)
	if err != nil {
		return fmt.Errorf("message: %w", err)
	}
	m.Time = ln.at
	ln.msg = archive.WithoutBlank(m)
	ln.ownBlocks = len(ln.msg.Content)
	if r.kind == "assistant" {
		return ln.readAssistant(r)
	}
	if ln.msg.Raw != nil && !plainUser(ln.msg.Raw) {
		ln.msg.Raw, ln.msg.Fields = nil, nil
	}
	ln.msg.Role = precis.RoleUser
	ln.kind = prompt
	for i, b := range ln.msg.Content {
		switch b := b.(type) {
		case precis.ToolResult:
			ln.results = append(ln.results, b.ToolUseID)
			ln.kind, ln.unnoted = answer, r.result == nil
			b.Refused = refused(r.result) && b.IsError
			ln.msg.Content[i] = b
		}
	}
	ln.msg.Attribution = authorOf(r, ln.msg)
	switch {
	case r.summarized:
		ln.kind = summary
	case len(ln.msg.Content) == 0:
		ln.kind = other
	}
	return nil
}

// authorOf returns the author of a user's line apart from its results, if the line names one or begins
// with the element of a task's outcome.
func authorOf(r raws, m precis.Message) precis.Attribution {
	s := precis.Attribution{Program: program}
	kind, _ := jsonspan.String(jsonspan.Field(r.origin, "kind"))
	switch {
	case r.summarized:
		s.Author, s.Act = precis.AuthorRecap, precis.ActSummary
	case r.meta:
		s.Author = precis.AuthorProgram
	case kind == "peer", kind == "coordinator", kind == "teammate":
		s.Author, s.Act = precis.AuthorDelegate, precis.ActNotice
	case kind != "" && kind != "human", strings.HasPrefix(m.PlainText(), taskNotice):
		s.Author, s.Act = precis.AuthorProgram, precis.ActNotice
	default:
		return precis.Attribution{}
	}
	return s
}

const taskNotice = "<task-notification>"

// refused reports whether Claude Code's own record of a result says that the user refused the call.
func refused(result []byte) bool {
	note, _ := jsonspan.String(result)
	note = strings.TrimPrefix(note, "Error: ")
	return strings.HasPrefix(note, "User rejected tool use") ||
		strings.HasPrefix(note, "User chose to stay in plan mode") ||
		strings.HasPrefix(note, "The user doesn't want to proceed with this tool use.") ||
		strings.HasPrefix(note, "The user doesn't want to take this action")
}

// addNote appends blocks to a user's line.
func (ln *line) addNote(blocks noteBlocks) {
	if len(blocks) == 0 {
		return
	}
	ln.msg.Content = append(ln.msg.Content[:len(ln.msg.Content):len(ln.msg.Content)], blocks...)
	ln.msg.Raw, ln.msg.Fields = nil, nil
}

// readAssistant fills in an assistant's line. Lines by Claude Code that only show an error were never sent.
func (ln *line) readAssistant(r raws) error {
	for m, err := range jsonspan.Object(r.message) {
		if err != nil {
			return err
		}
		switch m.Name {
		case "model":
			ln.model, _ = jsonspan.String(m.Raw)
		case "usage":
			n := archive.ParseCounts(m.Raw, "input_tokens", "output_tokens", "cache_read_input_tokens",
				"cache_creation_input_tokens")
			hour := archive.ParseCounts(jsonspan.Field(m.Raw, "cache_creation"), "ephemeral_1h_input_tokens")
			used := archive.ParseCounts(jsonspan.Field(m.Raw, "server_tool_use"), "web_search_requests")
			ln.usage = precis.Usage{
				Input: n[0], Output: n[1], CacheRead: n[2], CacheWrite: n[3], CacheWriteHour: hour[0],
				WebSearches: used[0],
			}
		}
	}
	if ln.model == "<synthetic>" {
		ln.model = ""
		r.failed = r.failed || r.maker != "other" // a hook's row after a compaction
	}
	if r.failed {
		return nil
	}
	ln.kind = assistant
	ln.msg.Role, ln.msg.Raw, ln.msg.Fields = precis.RoleAssistant, nil, nil // the fields are of a response
	for _, b := range ln.msg.Content {
		if b, ok := b.(precis.ToolUse); ok {
			ln.uses = append(ln.uses, b.ID)
		}
	}
	return nil
}

// progress reads the sub-agent's message in a progress line.
func (ln *line) progress(data []byte) error {
	if jsonspan.Kind(data) != '{' {
		return nil
	}
	f, err := jsonspan.Fields(data)
	if err != nil {
		return err
	}
	kind, _ := jsonspan.String(f["type"])
	if kind != "agent_progress" || jsonspan.Kind(f["message"]) != '{' {
		return nil
	}
	agent, err := parse(archive.Line{Number: ln.number, Raw: f["message"]})
	if err != nil || agent.kind < assistant {
		return err
	}
	agent.agentID, _ = jsonspan.String(f["agentId"])
	agent.session = ln.session
	ln.agent = agent
	return nil
}

func parseCompaction(raw []byte) (c compaction) {
	if jsonspan.Kind(raw) != '{' {
		return c
	}
	f, err := jsonspan.Fields(raw)
	if err != nil {
		return c
	}
	c.trigger, _ = jsonspan.String(f["trigger"])
	c.pre, c.post = number(f["preTokens"]), number(f["postTokens"])
	if jsonspan.Kind(f["preservedSegment"]) == '{' {
		if kept, err := jsonspan.Fields(f["preservedSegment"]); err == nil {
			c.head, _ = jsonspan.String(kept["headUuid"])
			c.tail, _ = jsonspan.String(kept["tailUuid"])
		}
	}
	return c
}

func number(raw []byte) int {
	n, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// plainUser reports whether raw is a user message in the API's format: only a role and content.
func plainUser(raw []byte) bool {
	for m, err := range jsonspan.Object(raw) {
		if err != nil || m.Name != "role" && m.Name != "content" {
			return false
		}
	}
	return true
}
