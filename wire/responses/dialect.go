package responses

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"precis"
	"precis/internal/jsonspan"
	"precis/wire"
)

// Dialect is the rules of the Responses API.
type Dialect struct{}

// Name returns [Format].
func (Dialect) Name() string { return Format }

// Check returns what the API would refuse. Items pair by ID alone: every call is
// answered once, somewhere after it, and every answer has its call before it.
// Reasoning stands right before what it led to, so never before the user's word
// and never last.
func (Dialect) Check(view []precis.Message) []precis.Breach {
	c := checker{open: map[string]int{}, seen: map[string]bool{}, reasoning: -1}
	for i, m := range view {
		c.message(i, m)
	}
	c.unfollowed()
	for i, m := range view {
		for _, b := range m.Content {
			if use, ok := b.(precis.ToolUse); ok && c.open[use.ID] == i+1 && mustBeAnswered(m) {
				c.add(i, "pairing", "tool use %q has no result", use.ID)
			}
		}
	}
	return c.breaches
}

// mustBeAnswered reports whether the API refuses the call of a message without an
// answer. Of types that are not known nobody knows, and an approval may be
// outstanding.
func mustBeAnswered(m precis.Message) bool {
	item, opaque := m.Content[len(m.Content)-1].(precis.Opaque)
	return !opaque || item.Type == "computer_call"
}

type checker struct {
	breaches  []precis.Breach
	open      map[string]int // calls not yet answered: their message, counted from 1
	seen      map[string]bool
	reasoning int // message of reasoning that nothing has followed yet; -1: none
}

func (c *checker) add(i int, rule, format string, args ...any) {
	c.breaches = append(c.breaches, precis.Breach{Message: i, Rule: rule, Detail: fmt.Sprintf(format, args...)})
}

func (c *checker) unfollowed() {
	if c.reasoning >= 0 {
		c.add(c.reasoning, "order", "reasoning without the item it led to")
	}
	c.reasoning = -1
}

func (c *checker) message(i int, m precis.Message) {
	switch m.Role {
	case precis.RoleUser, precis.RoleSystem:
		c.unfollowed()
	case precis.RoleAssistant:
	default:
		c.add(i, "role", "unknown role %q", m.Role)
		return
	}
	for _, b := range m.Content {
		switch b := b.(type) {
		case precis.Thinking:
			if m.Format == Format {
				c.reasoning = i
			}
			continue
		case precis.ToolUse:
			c.use(i, m.Role, b.ID)
		case precis.ToolResult:
			c.result(i, m.Role, b.ToolUseID)
		}
		c.reasoning = -1
	}
}

func (c *checker) use(i int, role precis.Role, id string) {
	switch {
	case role != precis.RoleAssistant:
		c.add(i, "role", "tool use %q in a %s message", id, role)
	case c.seen[id]:
		c.add(i, "duplicate", "tool use ID %q is used twice", id)
	default:
		c.seen[id], c.open[id] = true, i+1
	}
}

func (c *checker) result(i int, role precis.Role, id string) {
	_, open := c.open[id]
	switch {
	case role != precis.RoleUser:
		c.add(i, "role", "tool result %q in a %s message", id, role)
	case !open && c.seen[id]:
		c.add(i, "duplicate", "tool use %q is answered twice", id)
	case !open:
		c.add(i, "pairing", "tool result %q has no tool use before it", id)
	}
	delete(c.open, id)
}

var _ wire.Dialect = Dialect{}

// List returns "input".
func (Dialect) List() string { return "input" }

// Decode is [DecodeMessage].
func (Dialect) Decode(item []byte) (precis.Message, error) { return DecodeMessage(item) }

// AppendMessages is the function of that name.
func (Dialect) AppendMessages(dst []byte, view []precis.Message) []byte {
	return AppendMessages(dst, view)
}

// Prompt reads everything but the items of a request.
func (Dialect) Prompt(b *wire.Body) wire.Prompt {
	p := wire.Prompt{
		Model: b.String("model"), Tools: b.Get("tools"), MaxOutput: jsonspan.Int(b.Get("max_output_tokens")), Stream: jsonspan.Kind(b.Get("stream")) == 't',
		Stateful: b.Get("previous_response_id") != nil || b.Get("conversation") != nil || b.Get("prompt") != nil,
	}
	if text := b.String("instructions"); text != "" {
		p.System = precis.NewText(precis.RoleSystem, text)
	}
	kind, _ := jsonspan.String(jsonspan.Field(jsonspan.Field(b.Get("text"), "format"), "type"))
	p.Structured = kind == "json_schema" || kind == "json_object"
	return p
}

// usage is the usage object of the API.
type usage struct {
	Input   int `json:"input_tokens"`
	Output  int `json:"output_tokens"`
	Details struct {
		Cached int `json:"cached_tokens"`
	} `json:"input_tokens_details"`
}

// answer is a response object.
type answer struct {
	Object string          `json:"object"`
	Model  string          `json:"model"`
	Status string          `json:"status"`
	Usage  *usage          `json:"usage"`
	Error  json.RawMessage `json:"error"`
	Cut    json.RawMessage `json:"incomplete_details"`
}

// Observe takes in an event or a whole response.
func (Dialect) Observe(r *wire.Response, data []byte) {
	kind, _ := jsonspan.String(jsonspan.Field(data, "type"))
	switch kind {
	case "response.created", "response.in_progress", "response.queued":
		observe(r, jsonspan.Field(data, "response"))
	case "response.completed", "response.incomplete":
		whole := jsonspan.Field(data, "response")
		observe(r, whole)
		r.Spoken, r.Done = r.Spoken || hasItems(jsonspan.Field(whole, "output")), true
	case "response.failed", "error":
		r.Error = bytes.Clone(data)
	case "":
		if observe(r, data) {
			r.Spoken, r.Done = r.Spoken || hasItems(jsonspan.Field(data, "output")), true
			if r.Keep > 0 {
				r.Said(outputWords(jsonspan.Field(data, "output"))...)
			}
		}
	case "response.output_text.delta":
		r.Spoken = true
		if r.Keep > 0 {
			words, _ := jsonspan.String(jsonspan.Field(data, "delta"))
			r.Say(words)
		}
	case "response.output_item.added", "response.content_part.added", "response.reasoning_summary_part.added":
		// what is announced is still empty
	default:
		r.Spoken = r.Spoken || strings.HasPrefix(kind, "response.") && !strings.HasPrefix(kind, "response.rate_limits")
	}
}

// hasItems reports whether an output has an item in it.
func hasItems(output []byte) bool {
	for range jsonspan.Array(output) {
		return true
	}
	return false
}

// outputWords returns the words of the messages in an output.
func outputWords(output []byte) (out []string) {
	for item, err := range jsonspan.Array(output) {
		if err != nil {
			return out
		}
		if kind, _ := jsonspan.String(jsonspan.Field(item.Raw, "type")); kind != "message" {
			continue
		}
		for part, err := range jsonspan.Array(jsonspan.Field(item.Raw, "content")) {
			if err != nil {
				return out
			}
			words, _ := jsonspan.String(jsonspan.Field(part.Raw, "text"))
			out = append(out, words)
		}
	}
	return out
}

// observe takes in a response object and reports whether it is one.
func observe(r *wire.Response, raw []byte) bool {
	var a answer
	if raw == nil || json.Unmarshal(raw, &a) != nil || a.Object != "response" {
		return false
	}
	r.Model = a.Model
	if a.Status != "in_progress" && a.Status != "queued" {
		r.Stop = a.Status
		r.Cut, _ = jsonspan.String(jsonspan.Field(a.Cut, "reason"))
	}
	if a.Usage != nil && a.Usage.Input > 0 {
		r.Usage = precis.Usage{Input: a.Usage.Input, Output: a.Usage.Output, CacheRead: a.Usage.Details.Cached}
		r.Input = a.Usage.Input
	}
	if jsonspan.Kind(a.Error) == '{' {
		r.Error = bytes.Clone(raw)
	}
	return true
}
