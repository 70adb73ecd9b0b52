package copilot

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/internal/harness"
	"github.com/precis-dev/precis/internal/jsonspan"
)

// builder assembles the messages of one chat.
type builder struct{ *archive.Builder }

// addMessage appends a message.
func (b builder) addMessage(role precis.Role, at time.Time, blocks ...precis.Block) {
	b.Append(precis.Message{Role: role, Content: blocks, Time: at})
}

// request reads the user's message and the work or answer that followed.
func (b builder) request(raw json.RawMessage) error {
	f, err := jsonspan.Fields(raw)
	if err != nil {
		return err
	}
	message := jsonspan.Members(f["message"])
	if message == nil {
		return errors.New("it has no message")
	}
	at := archive.ParseMillis(f["timestamp"])
	words := jsonspan.Text(message, "text")
	if jsonspan.Kind(f["isSystemInitiated"]) == 't' {
		words = harness.Reminder(words)
	}
	b.addMessage(precis.RoleUser, at, precis.Text{Text: words})
	meta := jsonspan.Members(jsonspan.Members(f["result"])["metadata"])
	model := modelName(jsonspan.Text(meta, "resolvedModel"))
	if model == "" {
		model = modelName(jsonspan.Text(f, "modelId"))
	}
	if model != "" {
		b.Conv.Model = model
	}
	n := archive.ParseCounts(jsonOf(meta), "promptTokens", "outputTokens")
	b.Rec.Origin.AddUsage(model, precis.Usage{Input: n[0], Output: n[1]}, 0)
	if end := archive.ParseMillis(f["responseTimestamp"]); !end.IsZero() {
		at = end
	}
	if rounds := jsonspan.Elements(meta["toolCallRounds"]); len(rounds) > 0 {
		b.readRounds(rounds, jsonspan.Members(meta["toolCallResults"]), at)
		return nil
	}
	b.parts(jsonspan.Elements(f["response"]), at)
	return nil
}

// jsonOf encodes members as an object again.
func jsonOf(f map[string]json.RawMessage) json.RawMessage {
	out, err := json.Marshal(f)
	if err != nil {
		return nil
	}
	return out
}

// readRounds reads the rounds of an agent: the model's texts and calls, and the results.
func (b builder) readRounds(rounds []json.RawMessage, results map[string]json.RawMessage, at time.Time) {
	for _, raw := range rounds {
		f := jsonspan.Members(raw)
		if t := archive.ParseMillis(f["timestamp"]); !t.IsZero() {
			at = t
		}
		var said, answers []precis.Block
		if words := thinkingText(f["thinking"]); words != "" {
			said = append(said, precis.Thinking{Text: words})
		}
		said = append(said, precis.Text{Text: jsonspan.Text(f, "response")})
		for _, c := range jsonspan.Elements(f["toolCalls"]) {
			call := jsonspan.Members(c)
			id := jsonspan.Text(call, "id")
			said = append(said, precis.ToolUse{ID: id, Name: jsonspan.Text(call, "name"),
				Input: input(call["arguments"])})
			if r, ok := results[id]; ok {
				answers = append(answers, result(id, jsonspan.Members(r)))
			}
		}
		b.addMessage(precis.RoleAssistant, at, said...)
		b.addMessage(precis.RoleUser, at, answers...)
		if summary := jsonspan.Text(f, "summary"); summary != "" {
			b.condensed(summary, at)
		}
	}
}

// condensed records that a summary replaced the conversation so far.
func (b builder) condensed(summary string, at time.Time) {
	m := precis.NewText(precis.RoleUser, summary)
	m.Time = at
	n := b.Conv.Transcript.Len()
	if err := archive.RecordCondensation(b.Conv, n, []precis.Message{m}, at,
		precis.EditReport{Reason: "Copilot summarized the conversation"}); err != nil {
		b.Rec.Warn(fmt.Sprintf("message %d", n), "the summary is left out: %v", err)
	}
}

// thinkingText returns the text of a model's thinking: a string or a list of strings.
func thinkingText(raw json.RawMessage) string {
	f := jsonspan.Members(raw)
	if s := jsonspan.Text(f, "text"); s != "" {
		return s
	}
	var parts []string
	for _, p := range jsonspan.Elements(f["text"]) {
		if s, ok := jsonspan.String(p); ok {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, "\n")
}

// input returns a call's arguments, which are JSON or JSON in a string.
func input(raw json.RawMessage) json.RawMessage {
	if s, ok := jsonspan.String(raw); ok {
		if strings.TrimSpace(s) == "" {
			return nil
		}
		return json.RawMessage(s)
	}
	return raw
}

// result reads the result of a tool: parts that are text, or trees of rendered text.
func result(id string, f map[string]json.RawMessage) precis.ToolResult {
	r := precis.ToolResult{ToolUseID: id,
		IsError: f["hasError"] != nil && jsonspan.Kind(f["hasError"]) == 't'}
	for _, raw := range jsonspan.Elements(f["content"]) {
		part := jsonspan.Members(raw)
		var b strings.Builder
		if s, ok := jsonspan.String(part["value"]); ok {
			b.WriteString(s)
		} else {
			rendered(part["value"], &b, 0)
		}
		if strings.TrimSpace(b.String()) != "" {
			r.Content = append(r.Content, precis.Text{Text: b.String()})
		}
	}
	return r
}

// deepest limits the depth of a tree of rendered text.
const deepest = 200

// rendered writes the texts of a tree: nodes with children, and leaves with text.
func rendered(raw json.RawMessage, b *strings.Builder, depth int) {
	f := jsonspan.Members(raw)
	if depth > deepest || f == nil {
		return
	}
	if node := f["node"]; node != nil {
		rendered(node, b, depth+1)
		return
	}
	if s := jsonspan.Text(f, "text"); s != "" {
		if jsonspan.Kind(f["lineBreakBefore"]) == 't' && b.Len() > 0 && !strings.HasSuffix(b.String(), "\n") {
			b.WriteByte('\n')
		}
		b.WriteString(s)
	}
	for _, child := range jsonspan.Elements(f["children"]) {
		rendered(child, b, depth+1)
	}
}
