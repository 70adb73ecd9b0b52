package upstream

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// object is a JSON object.
type object = map[string]any

// dialect is one API.
type dialect struct {
	name     string
	messages string   // name of the field with the messages
	before   []string // names of the fields read before it, in order
	callID   string   // prefix of tool call IDs
	// blocks splits a message.
	blocks func(message any) []any
	// tools returns the declared tools.
	tools func(declared object) (tool, bool)
	// refuse returns an error body with a code, which may be "", and a message.
	refuse func(code, message string) object
	// overflow returns the error body for an overflow.
	overflow func(used, limit int) object
	whole    func(a *answer) object
	stream   func(a *answer, w *events)
}

// prompt is a parsed request.
type prompt struct {
	*dialect
	body         object
	stream       bool
	tools        []tool
	segments     []segment
	tokens       int
	lastUserText string // text of the last message if it is the user's
}

// parse reads a request.
func parse(d *dialect, body []byte) (*prompt, error) {
	p := &prompt{dialect: d}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	if err := dec.Decode(&p.body); err != nil {
		return nil, fmt.Errorf("the body is not valid JSON: %w", err)
	}
	p.stream, _ = p.body["stream"].(bool)
	p.tools = p.usableTools()
	p.segments = segmentsOf(d, p.body)
	p.tokens = countTokens(p.segments)
	p.lastUserText = p.findLastUserText()
	return p, nil
}

// usableTools returns the tools that may be called.
func (p *prompt) usableTools() (out []tool) {
	if choice := p.body["tool_choice"]; choice == "none" || str(choice, "type") == "none" {
		return nil
	}
	for _, declared := range declarations(p.body) {
		o, _ := declared.(object)
		if t, ok := p.dialect.tools(o); ok {
			out = append(out, t)
		}
	}
	return out
}

// findLastUserText returns the text of the last message unless it is by the assistant or a tool.
func (p *prompt) findLastUserText() string {
	messages := list(p.body[p.messages])
	if len(messages) == 0 {
		text, _ := p.body[p.messages].(string)
		return text
	}
	last, _ := messages[len(messages)-1].(object)
	if p.dialect == geminiDialect {
		return geminiUserText(last)
	}
	if role := str(last, "role"); role == "assistant" || role == "tool" || role == "" {
		return ""
	}
	if text, ok := last["content"].(string); ok {
		return text
	}
	var out strings.Builder
	for _, b := range list(last["content"]) {
		if str(b, "type") != "tool_result" {
			out.WriteString(str(b, "text"))
			out.WriteByte('\n')
		}
	}
	return out.String()
}

// str returns a string field of an object, else "".
func str(v any, name string) string {
	o, _ := v.(object)
	s, _ := o[name].(string)
	return s
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}

// encode writes JSON with sorted keys.
func encode(v any) []byte {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // cannot fail: v came from JSON or has only strings and numbers
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}
