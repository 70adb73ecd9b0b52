// Package chat converts between messages and the bytes of OpenAI's Chat Completions API, which many
// servers implement. Start with [DecodeMessages] and [AppendMessages]. Unknown content is kept as
// [precis.Opaque]; unchanged content is written with its original bytes. The functions are pure and
// safe for concurrent use.
//
// A message of role tool is a user message with one tool result. Arguments, a string in this
// dialect, are decoded to the JSON in it. Reasoning that servers send in addition to the content
// (reasoning_content, reasoning, reasoning_details) is one block of thinking without a signature,
// before all others.
//
// Format: the request body of POST /v1/chat/completions, as documented by OpenAI; the reasoning
// fields as documented by DeepSeek and OpenRouter.
package chat

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/content"
	"github.com/precis-dev/precis/internal/jsonspan"
)

// Format is the name of the dialect, in [precis.Message.Format] and elsewhere.
const Format = "chat"

// legacyID begins the ID of a call in the deprecated function_call field, which has no ID. The
// position and the function's name follow.
const legacyID = "function_call_"

// DecodeMessages reads the JSON array of a request's messages. The error is
// [precis.CodeInvalid] and names the message and byte at fault. Messages of role
// function are paired with the deprecated function_call before them.
func DecodeMessages(raw []byte) ([]precis.Message, error) {
	var out []precis.Message
	called := "" // ID of the legacy call not yet answered
	for span, err := range jsonspan.Array(raw) {
		if err != nil {
			return nil, invalid("messages", err)
		}
		d, err := decode(span.Raw)
		if err != nil {
			return nil, invalid(fmt.Sprintf("message %d at byte %d", len(out), span.Offset), err)
		}
		called = d.pair(len(out), called)
		out = append(out, d.msg)
	}
	return out, nil
}

func invalid(place string, err error) error {
	return &precis.Error{Code: precis.CodeInvalid, Op: "read", Place: place, Err: err}
}

// DecodeMessage decodes one message object. The message retains raw. A deprecated function_call
// gets the ID that it would have in the first message.
func DecodeMessage(raw []byte) (precis.Message, error) {
	d, err := decode(raw)
	if err == nil {
		d.pair(0, "")
	}
	return d.msg, err
}

// SplitSystem separates the leading system and developer messages from the rest. A single one is
// returned unchanged; the blocks of several are joined in one message without raw bytes. Without
// any, the system message has no content.
func SplitSystem(msgs []precis.Message) (system precis.Message, rest []precis.Message) {
	n := 0
	for n < len(msgs) && msgs[n].Role == precis.RoleSystem {
		n++
	}
	switch n {
	case 0:
		return precis.Message{}, msgs
	case 1:
		return msgs[0], msgs[1:]
	}
	system = precis.Message{Role: precis.RoleSystem, Format: msgs[0].Format}
	for _, m := range msgs[:n] {
		system.Content = append(system.Content, m.Content...)
	}
	return system, msgs[n:]
}

// decoder gathers the members of one message object.
type decoder struct {
	msg      precis.Message
	role     string
	answers  string // ID of the call that a tool message answers
	name     string
	content  []precis.Block
	refusal  string
	thinking precis.Thinking
	thoughts []byte // the members with reasoning, as one object
	reasoned bool   // one of them is not empty
	audio    precis.Block
	calls    []precis.Block
	legacy   bool // the last call came from function_call
}

func decode(raw []byte) (d decoder, err error) {
	d.msg = precis.Message{Raw: raw, Format: Format}
	for m, err := range jsonspan.Object(raw) {
		if err != nil {
			return d, err
		}
		if jsonspan.Kind(m.Raw) == 'n' {
			continue
		}
		if err := d.member(m); err != nil {
			return d, err
		}
	}
	return d, d.finish(raw)
}

func (d *decoder) member(m jsonspan.Member) (err error) {
	switch m.Name {
	case "role":
		d.role, err = text(m.Name, m.Raw)
	case "tool_call_id":
		d.answers, err = text(m.Name, m.Raw)
	case "id":
		d.msg.ID, _ = jsonspan.String(m.Raw)
	case "name":
		d.name, _ = jsonspan.String(m.Raw)
		d.msg.Fields = content.Keep(d.msg.Fields, m.Name, m.Raw)
	case "content":
		if d.content, err = DecodeContent(m.Raw); err != nil {
			return fmt.Errorf("content: %w", err)
		}
	case "refusal":
		d.refusal, err = text(m.Name, m.Raw)
	case "reasoning_content", "reasoning", "reasoning_details":
		d.reasoning(m)
	case "audio":
		d.audio = precis.Opaque{Type: "audio", Raw: member(m)}
	case "tool_calls":
		return d.toolCalls(m.Raw)
	case "function_call":
		b, err := decodeFunction(m.Raw)
		if err != nil {
			return fmt.Errorf("function_call: %w", err)
		}
		d.calls, d.legacy = append(d.calls, b), true
	default:
		d.msg.Fields = content.Keep(d.msg.Fields, m.Name, m.Raw)
	}
	return err
}

func text(name string, raw []byte) (string, error) {
	s, ok := jsonspan.String(raw)
	if !ok {
		return "", fmt.Errorf("%s is no string", name)
	}
	return s, nil
}

// member returns a member of an object as an object of its own.
func member(m jsonspan.Member) json.RawMessage {
	return append(append(jsonspan.AppendField([]byte("{"), m.Name), m.Raw...), '}')
}

// reasoning takes the text of the first non-empty field, and the bytes of all.
func (d *decoder) reasoning(m jsonspan.Member) {
	s, ok := jsonspan.String(m.Raw)
	if ok && d.thinking.Text == "" {
		d.thinking.Text = s
	}
	d.reasoned = d.reasoned || !ok || s != ""
	if d.thoughts == nil {
		d.thoughts = []byte{'{'}
	}
	d.thoughts = append(jsonspan.AppendField(d.thoughts, m.Name), m.Raw...)
}

func (d *decoder) toolCalls(raw []byte) error {
	for span, err := range jsonspan.Array(raw) {
		if err != nil {
			return fmt.Errorf("tool_calls: %w", err)
		}
		b, err := decodeCall(span.Raw)
		if err != nil {
			return fmt.Errorf("tool call %d: %w", len(d.calls), err)
		}
		d.calls = append(d.calls, b)
	}
	return nil
}

// finish assembles the blocks.
func (d *decoder) finish(raw []byte) error {
	m := &d.msg
	switch d.role {
	case "":
		return fmt.Errorf("the message has no role")
	case "system", "developer":
		m.Role = precis.RoleSystem
	case "tool", "function":
		m.Role = precis.RoleUser
		if d.answers == "" {
			d.answers, m.ID = m.ID, "" // some recorders write the call's ID as id
		}
		r := precis.ToolResult{ToolUseID: d.answers, Content: d.content, Raw: raw, Fields: m.Fields}
		if d.role == "function" {
			// the function's name
			r.Fields = slices.DeleteFunc(r.Fields, func(f precis.Field) bool { return f.Name == "name" })
		}
		m.Content, m.Fields = []precis.Block{r}, nil
		return nil
	default:
		m.Role = precis.Role(d.role)
	}
	if d.reasoned {
		d.thinking.Raw = append(d.thoughts, '}')
		m.Content = append(m.Content, d.thinking)
	}
	m.Content = append(m.Content, d.content...)
	if d.refusal != "" {
		r := append(jsonspan.AppendStringField([]byte(`{"type":"refusal"`), "refusal", d.refusal), '}')
		m.Content = append(m.Content, precis.Text{Text: d.refusal, Raw: r})
	}
	if d.audio != nil {
		m.Content = append(m.Content, d.audio)
	}
	m.Content = append(m.Content, d.calls...)
	return nil
}

// pair gives a deprecated call, message i of its request, an ID, and gives an answer the ID of the
// call before it. It returns the ID that is unanswered after the message.
func (d *decoder) pair(i int, called string) string {
	last := len(d.msg.Content) - 1
	switch {
	case d.legacy:
		use := d.msg.Content[last].(precis.ToolUse)
		use.ID = fmt.Sprintf("%s%d_%s", legacyID, i, use.Name)
		d.msg.Content[last] = use
		return use.ID
	case d.role == "function" && d.answers == "":
		if called == "" {
			called = fmt.Sprintf("%s%d_%s", legacyID, i, d.name)
		}
		r := d.msg.Content[last].(precis.ToolResult)
		r.ToolUseID = called
		d.msg.Content[last] = r
	}
	return ""
}

// decodeCall reads one element of tool_calls: a function's, a custom tool's, or
// the flat form {id, name, arguments} that some recorders write.
func decodeCall(raw []byte) (precis.Block, error) {
	f, err := jsonspan.Fields(raw)
	if err != nil {
		return nil, err
	}
	b := precis.ToolUse{Raw: raw,
		Fields: content.Unread(f, "id", "type", "function", "custom", "name", "arguments", "input")}
	b.ID, _ = jsonspan.String(f["id"])
	inner := raw
	switch {
	case jsonspan.Kind(f["function"]) == '{':
		inner = f["function"]
	case jsonspan.Kind(f["custom"]) == '{':
		inner = f["custom"]
	}
	call, err := decodeFunction(inner)
	b.Name, b.Input = call.Name, call.Input
	return b, err
}

// decodeFunction decodes an object with a name and arguments, or with a custom tool's free-text
// input.
func decodeFunction(raw []byte) (precis.ToolUse, error) {
	f, err := jsonspan.Fields(raw)
	if err != nil {
		return precis.ToolUse{}, err
	}
	b := precis.ToolUse{Raw: raw}
	var ok bool
	if b.Name, ok = jsonspan.String(f["name"]); !ok {
		return b, fmt.Errorf("the call has no name")
	}
	if arguments, ok := f["arguments"]; ok {
		b.Input = Arguments(arguments)
	} else if input := f["input"]; jsonspan.Kind(input) == '"' {
		b.Input = input
	}
	return b, nil
}

// Arguments returns the JSON inside a string of arguments; the string itself if it contains none;
// nil if it is blank or null. Arguments that are no string are returned unchanged.
func Arguments(raw json.RawMessage) json.RawMessage {
	switch jsonspan.Kind(raw) {
	case 'n', 0:
		return nil
	case '"':
	default:
		return raw
	}
	s, ok := jsonspan.String(raw)
	if ok && strings.TrimSpace(s) == "" {
		return nil
	}
	if ok && jsonspan.Valid([]byte(s)) == nil {
		return json.RawMessage(s)
	}
	return raw
}
