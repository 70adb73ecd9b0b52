// Package responses converts between messages and the bytes of OpenAI's Responses API. Start with
// [DecodeMessages] and [AppendMessages]. One item of the input is one message: a text message, a
// tool use, a tool result, or a piece of reasoning. Unknown content is kept as [precis.Opaque];
// unchanged content is written with its original bytes. The functions are pure and safe for
// concurrent use.
//
// Format: the input of POST /v1/responses, as documented by OpenAI and typed in its Go SDK.
package responses

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/content"
	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/wire/chat"
)

// Format is the name of the dialect, in [precis.Message.Format] and elsewhere.
const Format = "responses"

// DecodeMessages reads a request's input: an array of items, or a string, which
// is one message of the user. The error is [precis.CodeInvalid] and names the
// item and byte at fault.
func DecodeMessages(raw []byte) ([]precis.Message, error) {
	if s, ok := jsonspan.String(raw); ok {
		m := precis.NewText(precis.RoleUser, s)
		m.Format = Format
		return []precis.Message{m}, nil
	}
	var out []precis.Message
	for span, err := range jsonspan.Array(raw) {
		if err != nil {
			return nil, invalid("input", err)
		}
		m, err := DecodeMessage(span.Raw)
		if err != nil {
			return nil, invalid(fmt.Sprintf("item %d at byte %d", len(out), span.Offset), err)
		}
		out = append(out, m)
	}
	return out, nil
}

func invalid(place string, err error) error {
	return &precis.Error{Code: precis.CodeInvalid, Op: "read", Place: place, Err: err}
}

// calls maps each kind of call to the field with its arguments, and to the name of the tool if the
// item has none.
var calls = map[string]struct{ field, tool string }{
	"function_call":    {field: "arguments"},
	"custom_tool_call": {field: "input"},
	"local_shell_call": {field: "action", tool: "local_shell"},
	"shell_call":       {field: "action", tool: "shell"},
	"apply_patch_call": {field: "operation", tool: "apply_patch"},
}

// DecodeMessage decodes one item. The message retains raw. An item of an unknown type is
// [precis.Opaque], in the assistant's role if its type implies that the model or the server made
// it.
func DecodeMessage(raw []byte) (precis.Message, error) {
	m := precis.Message{Raw: raw, Format: Format}
	f, err := jsonspan.Fields(raw)
	if err != nil {
		return m, err
	}
	r := reader{fields: f, raw: raw}
	kind := r.text("type")
	m.ID, _ = jsonspan.String(f["id"])
	call, isCall := calls[kind]
	callKind, isResult := strings.CutSuffix(kind, "_output")
	if isResult {
		_, isResult = calls[callKind]
	}
	half, id := r.half(kind)
	switch {
	case kind == "message" || kind == "" && f["role"] != nil:
		r.kind = "message"
		m.Role, m.Content = r.message()
		m.Fields = content.Unread(f, "type", "role", "content", "id", "status")
	case kind == "reasoning":
		m.Role, m.Content = precis.RoleAssistant, []precis.Block{r.reasoning()}
	case isCall:
		m.Role, m.Content = precis.RoleAssistant, []precis.Block{r.call(call.field, call.tool)}
	case isResult:
		m.Role, m.Content = precis.RoleUser, []precis.Block{r.result()}
	case half == asks:
		m.Role, m.Content = precis.RoleAssistant, []precis.Block{precis.ToolUse{ID: id, Name: toolOf(kind)},
			precis.Opaque{Type: kind, Raw: raw}}
	case half == answers:
		m.Role, m.Content = precis.RoleUser, []precis.Block{precis.ToolResult{ToolUseID: id,
			Content: []precis.Block{precis.Opaque{Type: kind, Raw: raw}}, Raw: raw}}
	case kind == "":
		return m, fmt.Errorf("the item has neither type nor role")
	case texts[kind]:
		return m, fmt.Errorf("a part of type %s where an item is wanted", kind)
	default:
		m.Role, m.Content = r.unknownRole(kind), []precis.Block{precis.Opaque{Type: kind, Raw: raw}}
	}
	return m, r.err
}

// half is the position of an opaque item in a pair of call and answer.
type half int

const (
	alone half = iota
	asks
	answers
)

// half returns which half of a pair an item of a type outside calls is, and the ID shared with its
// other half: a call that the client answers has a call_id, as has its output; an approval names
// the ID of the request. A call that the server itself has answered has no call_id and needs no
// answer.
//
// Such a call is decoded to a tool use without Input, followed by the item as an opaque block; such
// an answer is a tool result that contains the item. Their content cannot be shortened, because
// they can only be written as the original item.
func (r *reader) half(kind string) (half, string) {
	own := func(field string) string { s, _ := jsonspan.String(r.fields[field]); return s }
	id := own("call_id")
	switch {
	case kind == approvalRequest && own("id") != "":
		return asks, own("id")
	case kind == approvalResponse && own("approval_request_id") != "":
		return answers, own("approval_request_id")
	case id == "":
		return alone, ""
	case strings.HasSuffix(kind, "_output"):
		return answers, id
	case strings.HasSuffix(kind, "_call"), kind == "program":
		return asks, id
	}
	return alone, ""
}

const (
	approvalRequest  = "mcp_approval_request"
	approvalResponse = "mcp_approval_response"
)

// toolOf returns the name of the tool for a call without a name.
func toolOf(kind string) string {
	return strings.TrimSuffix(strings.TrimSuffix(kind, "_call"), "_request")
}

// reader reads the fields of an item and keeps the first error.
type reader struct {
	fields map[string]json.RawMessage
	raw    json.RawMessage
	kind   string
	err    error
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
}

// text returns a string field; "" when it is absent or null.
func (r *reader) text(name string) string {
	raw := r.fields[name]
	if k := jsonspan.Kind(raw); k == 0 || k == 'n' {
		return ""
	}
	s, ok := jsonspan.String(raw)
	if !ok {
		r.fail("%s is no string", name)
	}
	return s
}

func (r *reader) message() (precis.Role, []precis.Block) {
	role := role(r.text("role"))
	content, err := decodeContent(r.fields["content"])
	if err != nil {
		r.fail("content: %w", err)
	}
	return role, content
}

func role(name string) precis.Role {
	if name == "developer" {
		return precis.RoleSystem
	}
	return precis.Role(name)
}

// unknownRole returns the role of an item of an unknown type: its own role if it has one; user for
// the client's answers; else assistant.
func (r *reader) unknownRole(kind string) precis.Role {
	if name, ok := jsonspan.String(r.fields["role"]); ok {
		switch role := role(name); role {
		case precis.RoleUser, precis.RoleAssistant, precis.RoleSystem:
			return role
		}
	}
	switch {
	case strings.HasSuffix(kind, "_call"),
		strings.HasPrefix(kind, "compaction") && kind != "compaction_trigger",
		kind == "item_reference", kind == "mcp_list_tools", kind == "mcp_approval_request", kind == "program":
		return precis.RoleAssistant
	}
	return precis.RoleUser
}

// reasoning decodes the summaries or, without any, the reasoning that open models show.
func (r *reader) reasoning() precis.Block {
	b := precis.Thinking{Signature: r.text("encrypted_content"), Raw: r.raw}
	for _, field := range []string{"summary", "content"} {
		if b.Text != "" || jsonspan.Kind(r.fields[field]) != '[' {
			continue
		}
		parts, err := decodeContent(r.fields[field])
		if err != nil {
			r.fail("%s: %w", field, err)
		}
		b.Text = precis.Message{Content: parts}.PlainText()
	}
	return b
}

func (r *reader) call(field, tool string) precis.Block {
	b := precis.ToolUse{ID: r.callID(), Name: tool, Raw: r.raw,
		Fields: content.Unread(r.fields, "type", "id", "call_id", "name", "status", field)}
	if tool == "" {
		b.Name = r.text("name")
	}
	input := r.fields[field]
	if field == "arguments" {
		b.Input = chat.Arguments(input)
	} else if k := jsonspan.Kind(input); k != 0 && k != 'n' {
		b.Input = input
	}
	return b
}

// callID returns the ID shared by a call and its answer: the call_id, in older items the id.
func (r *reader) callID() string {
	if id := r.text("call_id"); id != "" {
		return id
	}
	return r.text("id")
}

// result decodes an output: a string, kept unchanged even if it contains JSON, or a list of parts.
// Any other JSON becomes text.
func (r *reader) result() precis.Block {
	b := precis.ToolResult{ToolUseID: r.callID(), Raw: r.raw,
		Fields: content.Unread(r.fields, "type", "id", "call_id", "status", "output")}
	output := r.fields["output"]
	switch jsonspan.Kind(output) {
	case 0, 'n':
	case '"':
		if s := r.text("output"); s != "" {
			b.Content = []precis.Block{precis.Text{Text: s}}
		}
	default:
		content, err := decodeContent(output)
		if err != nil {
			content = []precis.Block{precis.Text{Text: string(output)}}
		}
		b.Content = content
	}
	return b
}
