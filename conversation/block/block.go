// Package block answers: what is a block of a conversation called, and what does it say? It names
// blocks by their calls ([Namer]), and writes blocks and messages as the verbs of the package
// conversation return them ([Content], [Message]), as plain text ([Text]) and as one line ([Brief]).
package block

import (
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/internal/preview"
	"github.com/precis-dev/precis/internal/toolcall"
)

// Namer describes each block of a conversation in a few words. Make one with [New].
type Namer struct {
	Messages []precis.Message // of the conversation
	calls    []toolcall.Call
	of       map[precis.Handle]int // block of a use or a result → its call
}

// New returns the namer of the messages of a conversation.
func New(msgs []precis.Message) *Namer {
	n := &Namer{Messages: msgs, calls: toolcall.Find(msgs), of: map[precis.Handle]int{}}
	for i, c := range n.calls {
		for _, h := range c.Results {
			n.of[h] = i
		}
		if _, ok := n.At(c.Use).(precis.ToolUse); ok {
			n.of[c.Use] = i
		}
	}
	return n
}

// At returns the block of a handle, which must exist.
func (n *Namer) At(h precis.Handle) precis.Block { return n.Messages[h.From].Content[h.Block] }

// Name describes a block: its kind, such as "tool result", and its tool and subject.
type Name struct {
	Role precis.Role `json:"role"`
	Kind string      `json:"kind"`
	Tool string      `json:"tool,omitempty"`
	On   string      `json:"on,omitempty"` // the path or command of the call
}

// Name names the block of a handle, which must exist.
func (n *Namer) Name(h precis.Handle) Name {
	out := Name{Role: n.Messages[h.From].Role}
	switch b := n.At(h).(type) {
	case precis.Text:
		out.Kind = "text"
	case precis.Thinking, precis.RedactedThinking:
		out.Kind = "thinking"
	case precis.ToolUse:
		out.Kind, out.Tool = "tool use", b.Name
	case precis.ToolResult:
		out.Kind = "tool result"
	case precis.Image:
		out.Kind = "image"
	case precis.Document:
		out.Kind = "document"
	case precis.Opaque:
		out.Kind = b.Type
	}
	if i, ok := n.of[h]; ok {
		c := n.calls[i]
		if out.Kind == "text" {
			out.Kind = "tool result"
		}
		out.Tool, out.On = c.Name, c.Path
		if out.On == "" {
			out.On = c.Line
		}
	}
	return out
}

// String returns "user", "tool result read_file src/a.go".
func (b Name) String() string {
	if b.Kind == "text" {
		return string(b.Role)
	}
	s := b.Kind
	if b.Tool != "" {
		s += " " + b.Tool
	}
	if b.On != "" {
		s += " " + preview.Line(b.On, 60)
	}
	return s
}

// Text returns the text of a block: its prose or reasoning, or a tool's name and the strings
// of its input, or the text of a result.
func Text(b precis.Block) string {
	switch b := b.(type) {
	case precis.Text:
		return b.Text
	case precis.Thinking:
		return b.Text
	case precis.ToolUse:
		return b.Name + " " + joinStrings(b.Input)
	case precis.ToolResult:
		var texts []string
		for _, c := range b.Content {
			if t := Text(c); t != "" {
				texts = append(texts, t)
			}
		}
		return strings.Join(texts, "\n")
	case precis.Document:
		return strings.TrimSpace(b.Title + "\n" + b.Text)
	case precis.Opaque:
		return joinStrings(b.Raw)
	}
	return ""
}

// joinStrings returns the decoded strings of a JSON value one after the other. It leaves out
// strings that are data and no words.
func joinStrings(raw []byte) string {
	const word = 1000
	var out []string
	for _, s := range jsonspan.Strings(raw) {
		if len(s) < word || strings.ContainsAny(s, " \n") {
			out = append(out, s)
		}
	}
	return strings.Join(out, "\n")
}
