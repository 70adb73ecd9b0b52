package tool

import (
	"encoding/json"

	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/wire/anthropic"
	"github.com/precis-dev/precis/wire/chat"
)

// Call is a call of one of the tools.
type Call struct {
	Name  string
	ID    string
	Input json.RawMessage // as the model wrote it, possibly invalid JSON
}

// Result is the answer to a call.
type Result struct {
	Text   string
	Failed bool
}

// Answer is the part of a model's answer that concerns the tools.
type Answer struct {
	Calls []Call
	// Others: it also calls tools of the client.
	Others bool

	dialect  string
	ended    bool            // with the stop reason for tool calls
	lost     bool            // it was too long to be kept
	elements json.RawMessage // elements of the list of messages, without brackets
}

// onlyOurCalls reports whether the answer ends with calls of the tools and no other calls.
func (a *Answer) onlyOurCalls() bool { return len(a.Calls) > 0 && !a.Others && a.ended }

// Due reports whether the calls are to be answered. They are not if the answer also calls the
// client's own tools: the client answers those first.
func (a *Answer) Due() bool { return a != nil && a.onlyOurCalls() && !a.lost }

// Append returns a list of messages extended by the model's output and the results of its calls,
// one per call. It returns nil when messages is no list.
func (a *Answer) Append(messages json.RawMessage, results []Result) []byte {
	n := len(messages)
	if jsonspan.Kind(messages) != '[' || messages[n-1] != ']' {
		return nil
	}
	out := append(make([]byte, 0, n+len(a.elements)+64<<10), messages[:n-1]...)
	if jsonspan.Kind(out[1:]) != 0 {
		out = append(out, ',')
	}
	out = append(append(out, a.elements...), ',')
	for i, r := range results {
		if i > 0 {
			out = append(out, ',')
		} else if a.dialect == anthropic.Format {
			out = append(out, `{"role":"user","content":[`...)
		}
		out = a.result(out, a.Calls[i], r)
	}
	if a.dialect == anthropic.Format {
		out = append(out, "]}"...)
	}
	return append(out, ']')
}

func (a *Answer) result(dst []byte, c Call, r Result) []byte {
	dst = append(dst, '{')
	switch a.dialect {
	case anthropic.Format:
		dst = jsonspan.AppendStringField(dst, "type", "tool_result")
		dst = jsonspan.AppendStringField(dst, "tool_use_id", c.ID)
		dst = jsonspan.AppendStringField(dst, "content", r.Text)
		if r.Failed {
			dst = append(dst, `,"is_error":true`...)
		}
	case chat.Format:
		dst = jsonspan.AppendStringField(dst, "role", "tool")
		dst = jsonspan.AppendStringField(dst, "tool_call_id", c.ID)
		dst = jsonspan.AppendStringField(dst, "content", r.Text)
	default:
		dst = jsonspan.AppendStringField(dst, "type", "function_call_output")
		dst = jsonspan.AppendStringField(dst, "call_id", c.ID)
		dst = jsonspan.AppendStringField(dst, "output", r.Text)
	}
	return append(dst, '}')
}
