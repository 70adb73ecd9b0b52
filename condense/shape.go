package condense

import (
	"strings"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/jsonspan"
)

// Deferred is the result that [AnswerOpenTools] gives to open tool uses. It is
// Roo Code's text.
const Deferred = "Context condensation triggered. Tool execution deferred."

// AnswerOpenTools returns msgs with a user message appended that answers, by
// [Deferred], the assistant's tool uses that no user message answers; msgs
// itself when there are none. Each ID is answered once, in the order of first
// use. The position of existing answers is ignored: [precis.Repair] moves
// results to their place. The new message has the given time.
func AnswerOpenTools(msgs []precis.Message, now time.Time) []precis.Message {
	answered := map[string]bool{}
	for _, m := range msgs {
		if m.Role != precis.RoleUser {
			continue
		}
		for _, b := range m.Content {
			if r, ok := b.(precis.ToolResult); ok {
				answered[r.ToolUseID] = true
			}
		}
	}
	var results []precis.Block
	for _, m := range msgs {
		if m.Role != precis.RoleAssistant {
			continue
		}
		for _, b := range m.Content {
			if u, ok := b.(precis.ToolUse); ok && !answered[u.ID] {
				answered[u.ID] = true
				results = append(results, precis.ToolResult{ToolUseID: u.ID,
					Content: []precis.Block{precis.Text{Text: Deferred}}})
			}
		}
	}
	if results == nil {
		return msgs
	}
	answer := precis.Message{Role: precis.RoleUser, Content: results, Time: now}
	return append(msgs[:len(msgs):len(msgs)], answer)
}

// ToolsAsText returns msgs with every tool use and tool result turned into text, so that they can
// be sent with a request that declares no tools. Messages without any are returned unchanged, the
// others without Raw; msgs and its blocks are not changed. The text is Roo Code 3.52.1's, which
// writes arguments as JavaScript does.
func ToolsAsText(msgs []precis.Message) []precis.Message {
	out := make([]precis.Message, len(msgs))
	for i, m := range msgs {
		if hasTools(m) {
			blocks := make([]precis.Block, len(m.Content))
			for k, b := range m.Content {
				blocks[k] = toolAsText(b)
			}
			m.Content, m.Raw = blocks, nil
		}
		out[i] = m
	}
	return out
}

// Joined merges messages into one of the user's role, in order, with calls and results as text.
func Joined(msgs []precis.Message) precis.Message {
	out := precis.Message{Role: precis.RoleUser}
	called := false
	for i, m := range ToolsAsText(msgs) {
		if hasTools(msgs[i]) && !called { // no call that must be repeated
			called, out.Content = true, append(out.Content,
				precis.Text{Text: "Called before, and still in force:"})
		}
		out.Content = append(out.Content, m.Content...)
	}
	return out
}

func hasTools(m precis.Message) bool {
	for _, b := range m.Content {
		switch b.(type) {
		case precis.ToolUse, precis.ToolResult:
			return true
		}
	}
	return false
}

func toolAsText(b precis.Block) precis.Block {
	switch b := b.(type) {
	case precis.ToolUse:
		return precis.Text{Text: useText(b)}
	case precis.ToolResult:
		return precis.Text{Text: resultText(b)}
	}
	return b
}

// useText writes a call as its name and a line for each argument.
func useText(u precis.ToolUse) string {
	var b strings.Builder
	b.WriteString("[Tool Use: " + u.Name + "]\n")
	if len(u.Input) == 0 {
		b.WriteString("undefined")
		return b.String()
	}
	v, ok := parseJS(u.Input)
	switch {
	case !ok:
		b.Write(u.Input)
	case v.kind == '{' || v.kind == '[':
		for i, p := range v.properties() {
			if i > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(p.name + ": " + p.value.text())
		}
	default:
		b.WriteString(v.text())
	}
	return b.String()
}

// resultText writes a result as a header line and its content.
func resultText(r precis.ToolResult) string {
	text := "[Tool Result]"
	if r.IsError {
		text = "[Tool Result (Error)]"
	}
	if !hasContent(r) {
		return text
	}
	parts := make([]string, len(r.Content))
	for i, b := range r.Content {
		parts[i] = itemText(b)
	}
	return text + "\n" + strings.Join(parts, "\n")
}

// hasContent distinguishes a result with empty content from one without: once decoded
// both have no blocks.
func hasContent(r precis.ToolResult) bool {
	if r.Content != nil || r.Raw == nil {
		return r.Content != nil
	}
	f, err := jsonspan.Fields(r.Raw)
	if err != nil {
		return false
	}
	kind := jsonspan.Kind(f["content"])
	return kind == '"' || kind == '['
}

func itemText(b precis.Block) string {
	switch b := b.(type) {
	case precis.Text:
		return b.Text
	case precis.Image:
		return "[Image]"
	case precis.Document:
		return "[document]"
	case precis.Thinking:
		return "[thinking]"
	case precis.RedactedThinking:
		return "[redacted_thinking]"
	case precis.Opaque:
		return "[" + b.Type + "]"
	}
	return "[unknown]"
}
