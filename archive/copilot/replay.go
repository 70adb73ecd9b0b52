package copilot

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/internal/jsonspan"
)

// replay reads an exported replay, or one prompt of it.
func (b builder) replay(data []byte) error {
	f := jsonspan.Members(data)
	prompts := jsonspan.Elements(f["prompts"])
	if f["prompts"] == nil {
		prompts = []json.RawMessage{data}
	}
	for i, raw := range prompts {
		p := jsonspan.Members(raw)
		if p == nil {
			return archive.Invalid(fmt.Sprintf("prompt %d", i), fmt.Errorf("it is no object"))
		}
		if b.Conv.ID == "" {
			b.Conv.ID = jsonspan.Text(p, "promptId")
		}
		b.addMessage(precis.RoleUser, time.Time{}, precis.Text{Text: jsonspan.Text(p, "prompt")})
		b.logs(jsonspan.Elements(p["logs"]))
	}
	return nil
}

// logs reads the model requests and tool calls of one prompt. Calls follow the request that
// produced them.
func (b builder) logs(logs []json.RawMessage) {
	var said, answers []precis.Block
	var at time.Time
	turn := func() {
		if len(said) > 0 {
			b.addMessage(precis.RoleAssistant, at, said...)
		}
		if len(answers) > 0 {
			b.addMessage(precis.RoleUser, at, answers...)
		}
		said, answers = nil, nil
	}
	for _, raw := range logs {
		f := jsonspan.Members(raw)
		if t, err := time.Parse(time.RFC3339Nano, jsonspan.Text(f, "time")); err == nil {
			at = t.UTC()
		}
		switch jsonspan.Text(f, "kind") {
		case "request":
			turn()
			said = b.answer(f)
		case "toolCall":
			id := jsonspan.Text(f, "id")
			said = append(said, precis.ToolUse{ID: id, Name: jsonspan.Text(f, "tool"),
				Input: input(f["args"])})
			r := precis.ToolResult{ToolUseID: id}
			if words := responseText(f["response"]); words != "" {
				r.Content = []precis.Block{precis.Text{Text: words}}
			}
			answers = append(answers, r)
		default:
			b.Rec.Ignored++
		}
	}
	turn()
}

// answer reads the model's answer to a request and the request's usage.
func (b builder) answer(f map[string]json.RawMessage) []precis.Block {
	meta := jsonspan.Members(f["metadata"])
	if model := jsonspan.Text(meta, "model"); model != "" {
		b.Conv.Model = model
	}
	n := archive.ParseCounts(meta["usage"], "prompt_tokens", "completion_tokens")
	used := precis.Usage{Input: n[0], Output: n[1]}
	b.Rec.Origin.AddUsage(b.Conv.Model, used, 0)
	b.Rec.Origin.RecordRequest(b.Conv, used)
	var out []precis.Block
	if words := thinkingText(f["thinking"]); words != "" {
		out = append(out, precis.Thinking{Text: words})
	}
	if words := responseText(jsonspan.Members(f["response"])["message"]); words != "" {
		out = append(out, precis.Text{Text: words})
	}
	return out
}

// responseText returns the text of a response: a string, strings in a list, or parts
// with text or a value.
func responseText(raw json.RawMessage) string {
	if s, ok := jsonspan.String(raw); ok {
		return strings.TrimSpace(s)
	}
	if f := jsonspan.Members(raw); f != nil {
		for _, name := range []string{"text", "value", "content", "message"} {
			if s := responseText(f[name]); s != "" {
				return s
			}
		}
		return ""
	}
	var parts []string
	for _, p := range jsonspan.Elements(raw) {
		if s := responseText(p); s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, "\n")
}
