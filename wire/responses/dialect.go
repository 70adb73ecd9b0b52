package responses

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/wire"
)

// Dialect is the rules of the Responses API.
type Dialect struct{}

// Name returns [Format].
func (Dialect) Name() string { return Format }

// Check returns the breaches that the API would refuse. Items pair only by ID: every call is
// answered once, somewhere after it, and every answer has its call before it. Reasoning must
// directly precede the item that follows from it, so never a user message, and never the end.
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

// mustBeAnswered reports whether the API refuses the call of a message without an answer. Unknown
// types are not checked, and an approval may be pending.
func mustBeAnswered(m precis.Message) bool {
	item, opaque := m.Content[len(m.Content)-1].(precis.Opaque)
	return !opaque || item.Type == "computer_call"
}

type checker struct {
	breaches  []precis.Breach
	open      map[string]int // calls not yet answered: their message, counted from 1
	seen      map[string]bool
	reasoning int // message with reasoning that has no following item yet; -1: none
}

func (c *checker) add(i int, rule, format string, args ...any) {
	c.breaches = append(c.breaches,
		precis.Breach{Message: i, Rule: rule, Detail: fmt.Sprintf(format, args...)})
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

// AppendMessages calls the function [AppendMessages].
func (Dialect) AppendMessages(dst []byte, view []precis.Message) []byte {
	return AppendMessages(dst, view)
}

// Prompt decodes everything except the items of a request.
func (Dialect) Prompt(b *wire.Body) wire.Prompt {
	p := wire.Prompt{
		Model: b.String("model"), Tools: b.Get("tools"), MaxOutput: jsonspan.Int(b.Get("max_output_tokens")),
		Stream: jsonspan.Kind(b.Get("stream")) == 't',
		Stateful: b.Get("previous_response_id") != nil || b.Get("conversation") != nil ||
			b.Get("prompt") != nil,
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
	Input   float64 `json:"input_tokens"`
	Output  float64 `json:"output_tokens"`
	Details struct {
		Cached float64 `json:"cached_tokens"`
		Write  float64 `json:"cache_write_tokens"`
	} `json:"input_tokens_details"`
	OutputDetails struct {
		Reasoning float64 `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
	wire.Billed
}

// answer is a response object.
type answer struct {
	Model  string          `json:"model"`
	Status string          `json:"status"`
	Usage  *usage          `json:"usage"`
	Tier   string          `json:"service_tier"`
	Error  json.RawMessage `json:"error"`
	Output json.RawMessage `json:"output"`
	Cause  struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
}

// Observe processes an event or a whole response.
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
		observe(r, jsonspan.Field(data, "response"))
		r.Error = bytes.Clone(data)
	case "":
		if object, _ := jsonspan.String(jsonspan.Field(data, "object")); object == "response" {
			observe(r, data)
			r.Spoken, r.Done = r.Spoken || hasItems(jsonspan.Field(data, "output")), true
		}
	case "response.output_text.delta":
		r.Spoken = true
		if r.Keep > 0 {
			words, _ := jsonspan.String(jsonspan.Field(data, "delta"))
			r.Say(words)
		}
	case "response.content_part.added", "response.reasoning_summary_part.added":
		// announced parts are still empty
	case "response.output_item.added": // its item is still empty, too
		if r.Keep > 0 {
			var seen items
			seen.take(jsonspan.Field(data, "item"))
			r.Reasoned, r.Calls = r.Reasoned || seen.reasoned, r.Calls+seen.calls
		}
	case "response.refusal.delta", "response.refusal.done":
		r.Spoken, r.Refused = true, true
	default:
		r.Spoken = r.Spoken || strings.HasPrefix(kind, "response.") &&
			!strings.HasPrefix(kind, "response.rate_limits")
	}
}

// hasItems reports whether an output has an item in it.
func hasItems(output []byte) bool {
	for range jsonspan.Array(output) {
		return true
	}
	return false
}

// items summarizes the items of an output.
type items struct {
	words             []string
	calls             int
	reasoned, refused bool
}

// take processes an item.
func (i *items) take(raw []byte) {
	switch kind, _ := jsonspan.String(jsonspan.Field(raw, "type")); {
	case kind == "reasoning":
		i.reasoned = true
	case strings.HasSuffix(kind, "_call"):
		i.calls++
	case kind == "message":
		for part, err := range jsonspan.Array(jsonspan.Field(raw, "content")) {
			if err != nil {
				return
			}
			words, _ := jsonspan.String(jsonspan.Field(part.Raw, "text"))
			i.words = append(i.words, words)
			kind, _ := jsonspan.String(jsonspan.Field(part.Raw, "type"))
			i.refused = i.refused || kind == "refusal"
		}
	}
}

// observeOutput processes the output of a completed response, without counting again what a stream
// has reported.
func observeOutput(r *wire.Response, output []byte) {
	var all items
	for item, err := range jsonspan.Array(output) {
		if err != nil {
			break
		}
		all.take(item.Raw)
	}
	r.Reasoned, r.Refused = r.Reasoned || all.reasoned, r.Refused || all.refused
	r.Calls = max(r.Calls, all.calls)
	if len(r.Text) == 0 {
		r.Said(all.words...)
	}
}

// searches returns how many web searches the provider made for an answer; opened pages are not
// billed.
func searches(output json.RawMessage) (n float64) {
	for item, err := range jsonspan.Array(output) {
		if err != nil {
			break
		}
		kind, _ := jsonspan.String(jsonspan.Field(item.Raw, "type"))
		action, ok := jsonspan.String(jsonspan.Field(jsonspan.Field(item.Raw, "action"), "type"))
		if kind == "web_search_call" && (!ok || action == "search") {
			n++
		}
	}
	return n
}

// observe processes a response object.
func observe(r *wire.Response, raw []byte) {
	var a answer
	if raw == nil || jsonspan.Decode(raw, &a) != nil {
		return
	}
	r.Model = cmp.Or(a.Model, r.Model)
	r.TakeTier(a.Tier)
	ended := a.Status != "in_progress" && a.Status != "queued"
	if ended {
		r.Stop, r.Cut = cmp.Or(a.Cause.Reason, a.Status), a.Cause.Reason
	}
	if u := a.Usage; u != nil {
		wire.Take(&r.Usage.Input, u.Input)
		wire.Take(&r.Usage.Output, u.Output)
		wire.Take(&r.Usage.CacheRead, u.Details.Cached)
		wire.Take(&r.Usage.CacheWrite, u.Details.Write)
		u.Tools.Searches = max(u.Tools.Searches, searches(a.Output))
		r.TakeBilled(u.Billed)
		r.Input = r.Usage.Input
		r.Reasoned = r.Reasoned || u.OutputDetails.Reasoning > 0
	}
	if ended && r.Keep > 0 {
		observeOutput(r, a.Output)
	}
	if jsonspan.Kind(a.Error) == '{' {
		r.Error = bytes.Clone(raw)
	}
}
