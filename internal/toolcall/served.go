package toolcall

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/jsonspan"
)

// item is a call or a result in an opaque block: a tool that the provider's server ran, such as
// mcp_tool_use and web_fetch_tool_result, or an item of the Responses API, such as mcp_call. It is
// recognized by its shape. See docs/decisions/027-calls-by-their-shape.md.
type item struct {
	ids     []string // of the call, or those that a result refers to
	name    string
	input   json.RawMessage // an object; nil: none
	endKind ending
	ended   bool // the item itself states how the call ended
}

// isCall reports whether a block of that type is a call, or a message of the agent.
func isCall(kind string) bool { return isOfKind("item", kind) }

// readItem reads a call or a result.
func readItem(kind string, raw json.RawMessage) item {
	it := item{name: strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(kind, "_use"), "_call"),
		"_tool")}
	var args []byte
	add := func(name string, raw []byte) {
		args = append(jsonspan.AppendField(append(args, ','), name),
			raw...)
	}
	status, awaits, given := "", false, false
	for m, err := range jsonspan.Object(raw) {
		text, isText := jsonspan.String(m.Raw)
		switch {
		case err != nil:
			return it
		case m.Name == "id" || strings.HasSuffix(m.Name, "_id"):
			it.ids = append(it.ids, text)
			awaits = awaits || m.Name == "call_id" && text != ""
		case m.Name == "name" && isText:
			it.name = text
		case m.Name == "status" && isText:
			status = text
		case is("result", m.Name):
			it.ended = it.ended || !isEmpty(m.Raw)
			it.endKind.member(m.Name, m.Raw, 0)
		case is("frame", m.Name) || strings.HasSuffix(m.Name, "_at"):
		case !isCall(kind):
			if !is("body", m.Name) {
				it.endKind.member(m.Name, m.Raw, 0)
			}
		case m.Name == "action" && isText: // multi_agent_call: spawn_agent
			it.name = text
		case is("body", m.Name) && !given:
			body := []byte(m.Raw)
			if given = !isEmpty(body); isText && jsonspan.Valid([]byte(text)) == nil {
				body = []byte(text)
			}
			if given && jsonspan.Kind(body) != '{' {
				add("input", body)
			}
			for in, err := range jsonspan.Object(body) {
				if err == nil {
					add(in.Name, in.Raw)
				}
			}
		default:
			add(m.Name, m.Raw)
		}
	}
	if is("failed", status) {
		it.endKind.failed = true
		if len(it.endKind.lines) == 0 {
			it.endKind.lines = []string{status}
		}
	}
	it.ended = it.ended || !awaits && (it.endKind.failed || status == "completed")
	if len(args) > 0 {
		args[0] = '{'
		it.input = append(args, '}')
	}
	return it
}

// isEmpty reports whether a value is null, or an empty text, list or object.
func isEmpty(raw []byte) bool {
	switch string(bytes.TrimSpace(raw)) {
	case "", "null", `""`, "[]", "{}":
		return true
	}
	return false
}

// ending is the content of a JSON result: its texts, and how the call ended.
type ending struct {
	lines  []string
	places []string // URLs and IDs in it, such as file_id
	code   *int     // the first exit code that is not 0, or 0; nil: none
	failed bool
}

// value reads a value, and those in it.
func (e *ending) value(raw []byte, depth int) {
	const deepest, longestWord = 12, 200
	if depth > deepest {
		return
	}
	switch jsonspan.Kind(raw) {
	case '"':
		s, _ := jsonspan.String(raw)
		if s = strings.TrimSpace(s); s != "" && (len(s) < longestWord || strings.ContainsAny(s, " \n")) {
			// not base64
			e.lines = append(e.lines, s)
		}
	case '[':
		for m, err := range jsonspan.Array(raw) {
			if err != nil {
				return
			}
			e.value(m.Raw, depth+1)
		}
	case '{':
		for m, err := range jsonspan.Object(raw) {
			if err != nil {
				return
			}
			e.member(m.Name, m.Raw, depth)
		}
	}
}

// failing maps the flags that report a failed call to the first byte of that value.
var failing = map[string]byte{"is_error": 't', "isError": 't', "success": 'f'}

// member reads a member of a result.
func (e *ending) member(name string, raw []byte, depth int) {
	kind := jsonspan.Kind(raw)
	switch {
	case is("code", name) && kind == '0':
		if code := jsonspan.Int(raw); e.code == nil || *e.code == 0 {
			e.code = &code
		}
		return
	case failing[name] != 0:
		e.failed = e.failed || kind == failing[name]
		return
	case is("error", name) && !isEmpty(raw):
		e.failed = e.failed || kind == '"' || kind == '{' || kind == '['
	case name == "type":
		s, _ := jsonspan.String(raw)
		e.failed = e.failed || strings.HasSuffix(s, "_error")
		if code := byTimeout; s == "timeout" { // of a shell, which may say "exit" instead
			e.code = &code
		}
	case name == "url" || name == "id" || strings.HasSuffix(name, "_id"):
		if s, _ := jsonspan.String(raw); s != "" {
			e.places = append(e.places, strings.TrimPrefix(name+" "+s, "url "))
		}
		return
	}
	if !is("noise", name) && !strings.HasPrefix(name, "encrypted_") {
		e.value(raw, depth+1)
	}
}

// add merges a further part.
func (e *ending) add(part ending) {
	e.lines, e.places = append(e.lines, part.lines...), append(e.places, part.places...)
	e.code, e.failed = cmp.Or(e.code, part.code), e.failed || part.failed
}

func (e *ending) text() string {
	return strings.TrimPrefix(strings.Join(append(e.lines, e.places...), "\n"), "\n")
}

// served reads an opaque block; use is the block of its call: the same one, or a tool use before
// it.
func (f *finder) served(h, use precis.Handle, kind string, raw json.RawMessage) {
	it := readItem(kind, raw)
	if !isCall(kind) {
		if call := f.askedBy(h, it.ids); call != nil {
			call.storeResult(h, it.endKind)
			call.addPatchedFiles()
		}
		return
	}
	f.byUse[use] = len(f.calls)
	c := native(precis.ToolUse{Name: it.name, Input: it.input}, use)
	c.served = true
	if it.ended {
		c.storeResult(h, it.endKind)
	}
	f.calls = append(f.calls, c)
	for _, id := range it.ids {
		if id != "" {
			f.byID[id] = use
		}
	}
}

// listed reads calls that a server lists in a field of the message, such as executed_tools of Chat
// Completions: objects with arguments. They get the place of its first block.
func (f *finder) listed(h precis.Handle, fields []precis.Field) {
	for _, field := range fields {
		for m, err := range jsonspan.Array(field.Raw) {
			if err != nil {
				break
			}
			of, err := jsonspan.Fields(m.Raw)
			kind, _ := jsonspan.String(of["type"])
			if named := kind != "" || of["name"] != nil; err == nil && named &&
				(of["arguments"] != nil || of["input"] != nil) {
				f.served(h, h, kind+"_call", m.Raw)
			}
		}
	}
}

// askedBy returns the call that a result answers: by the pairs of the conversation, else by an ID
// that it refers to. It returns nil without such a call, and when another block answers it.
func (f *finder) askedBy(h precis.Handle, ids []string) *Call {
	use, ok := f.pairs.Call(h)
	for _, id := range ids {
		if !ok {
			use, ok = f.byID[id]
		}
	}
	n, known := f.byUse[use]
	if !ok || !known {
		return nil
	}
	call := &f.calls[n]
	if first, _ := f.pairs.Result(use); first != h && len(call.Results) > 0 && call.Results[0] != use {
		return nil
	}
	return call
}

// storeResult stores a result, or further information about it.
func (c *Call) storeResult(h precis.Handle, said ending) {
	c.Results = append(c.Results, h)
	if c.Text != "" {
		said.lines = append([]string{c.Text}, said.lines...)
	}
	c.Text, c.IsError, c.marked, c.code = said.text(), c.IsError || said.failed, c.marked ||
		said.failed, said.code
}

// itemBehind returns the item of a tool use without input, which is the next block.
func itemBehind(content []precis.Block, at int) (precis.Opaque, bool) {
	use, ok := content[at].(precis.ToolUse)
	if !ok || len(use.Input) > 0 || at+1 == len(content) {
		return precis.Opaque{}, false
	}
	item, ok := content[at+1].(precis.Opaque)
	return item, ok && isCall(item.Type)
}

// envelopes parses a result that is a JSON list of outputs, as shell_call has it.
func envelopes(text string) (ending, bool) {
	var e ending
	if !strings.HasPrefix(text, "[{") || jsonspan.Valid([]byte(text)) != nil {
		return e, false
	}
	printed, ok := printedIn([]byte(text), 0)
	if e.value([]byte(text), 0); !ok {
		return e, false
	}
	return ending{lines: []string{printed}, code: e.code}, true
}

// failedItem reports whether the raw item of a tool result states that the call failed.
func failedItem(m precis.Message, r precis.ToolResult) bool {
	raw := r.Raw
	if raw == nil && len(m.Content) == 1 {
		raw = m.Raw
	}
	if !bytes.Contains(raw, []byte(`"failed"`)) {
		return false
	}
	status, _ := jsonspan.String(jsonspan.Field(raw, "status"))
	return status == "failed"
}
