package tool

import (
	"encoding/json"

	"precis/internal/jsonspan"
	"precis/wire/anthropic"
	"precis/wire/chat"
)

// Call is a call of one of the tools.
type Call struct {
	Name  string
	ID    string
	Input json.RawMessage // as the model wrote it, whether it is JSON or not
}

// Result is what a call is answered with.
type Result struct {
	Text   string
	Failed bool
}

// Answer is what a model said in one answer, as far as it concerns the tools.
type Answer struct {
	Calls []Call
	// Others: it calls tools of the client as well.
	Others bool

	dialect string
	ended   bool            // as one that waits for results
	lost    bool            // it was too long to be kept
	said    json.RawMessage // elements of the list of messages, without brackets
}

// alone reports whether the answer ends with calls of the tools and no others.
func (a *Answer) alone() bool { return len(a.Calls) > 0 && !a.Others && a.ended }

// Due reports whether the calls are to be answered. Calls that come together
// with calls of the client's own tools are not: the client's come first.
func (a *Answer) Due() bool { return a != nil && a.alone() && !a.lost }

// Append returns a list of messages with what the model said and the results of
// its calls behind it, of which there are as many as calls. It returns nil when
// list is no list.
func (a *Answer) Append(messages json.RawMessage, results []Result) []byte {
	n := len(messages)
	if jsonspan.Kind(messages) != '[' || messages[n-1] != ']' {
		return nil
	}
	out := append(make([]byte, 0, n+len(a.said)+64<<10), messages[:n-1]...)
	if jsonspan.Kind(out[1:]) != 0 {
		out = append(out, ',')
	}
	out = append(append(out, a.said...), ',')
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
