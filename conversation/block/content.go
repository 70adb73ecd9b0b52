package block

import (
	"encoding/json"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/content"
	"github.com/precis-dev/precis/internal/jsonspan"
)

// Content is a block of a message as verbs return it. It is complete except for the data of images
// and files: only their size is given.
type Content struct {
	// text, image, document, thinking, redacted_thinking, tool_use, tool_result or opaque
	Type      string          `json:"type"`
	Handle    string          `json:"handle,omitempty"`
	Text      string          `json:"text,omitempty"`
	ID        string          `json:"id,omitempty"` // of the tool use
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`   // of a tool use; a string when it is not JSON
	Content   []Content       `json:"content,omitempty"` // of a tool result
	IsError   bool            `json:"is_error,omitempty"`
	MediaType string          `json:"media_type,omitempty"`
	Title     string          `json:"title,omitempty"`
	URL       string          `json:"url,omitempty"`
	Bytes     int             `json:"bytes"`
}

// ContentOf returns a block as verbs return it.
func ContentOf(b precis.Block) Content {
	c := Content{Type: content.Type(b), Bytes: content.Size([]precis.Block{b})}
	switch b := b.(type) {
	case precis.Text:
		c.Text = b.Text
	case precis.Thinking:
		c.Text = b.Text
	case precis.Image:
		c.MediaType, c.URL = b.MediaType, b.URL
	case precis.Document:
		c.MediaType, c.Title, c.URL, c.Text = b.MediaType, b.Title, b.URL, b.Text
	case precis.ToolUse:
		c.ID, c.Name, c.Input = b.ID, b.Name, jsonOr(b.Input)
	case precis.ToolResult:
		c.ID, c.IsError = b.ToolUseID, b.IsError
		for _, inner := range b.Content {
			c.Content = append(c.Content, ContentOf(inner))
		}
	case precis.Opaque:
		c.Name = b.Type
	}
	return c
}

// jsonOr returns a tool's input, as a string when it is not JSON.
func jsonOr(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return nil
	}
	if json.Valid(raw) && utf8.Valid(raw) {
		return raw
	}
	return jsonspan.AppendString(nil, string(raw))
}

// Contents returns blocks as verbs return them.
func Contents(blocks []precis.Block) []Content {
	out := make([]Content, len(blocks))
	for i, b := range blocks {
		out[i] = ContentOf(b)
	}
	return out
}

// Brief puts a message on one line: the first block that has text; prose is preferred to other
// blocks.
func Brief(m precis.Message) string {
	first := ""
	for _, b := range m.Content {
		line := briefBlock(b)
		if _, text := b.(precis.Text); text && line != "" {
			return line
		}
		if first == "" {
			first = line
		}
	}
	return first
}

const briefLen = 120

func briefBlock(b precis.Block) string {
	switch b := b.(type) {
	case precis.Text:
		return flat(b.Text)
	case precis.Thinking:
		return flat("thinking: " + b.Text)
	case precis.ToolUse:
		return flat("→ " + b.Name + " " + string(b.Input[:min(len(b.Input), 4*briefLen)]))
	case precis.ToolResult:
		mark := "← "
		if b.IsError {
			mark = "← error: "
		}
		return flat(mark + b.Text())
	case precis.Document:
		return flat("document " + b.Title + " " + b.MediaType)
	case precis.Image:
		return flat("image " + b.MediaType)
	case precis.Opaque:
		return flat(b.Type)
	}
	return content.Type(b)
}

// flat returns the beginning of a text without line breaks and control
// characters.
func flat(s string) string {
	var out strings.Builder
	n, space := 0, false
	for _, r := range s[:min(len(s), 16*briefLen)] {
		if unicode.IsSpace(r) || unicode.IsControl(r) || r == utf8.RuneError {
			space = out.Len() > 0
			continue
		}
		if space {
			out.WriteByte(' ')
			space = false
			n++
		}
		if n++; n > briefLen {
			out.WriteString("…")
			break
		}
		out.WriteRune(r)
	}
	return out.String()
}

// Message is a message as verbs return it.
type Message struct {
	Role   precis.Role `json:"role"`
	ID     string      `json:"id,omitempty"`
	Time   time.Time   `json:"time,omitzero"`
	Blocks []Content   `json:"blocks"`
}

// MessageOf returns a message as verbs return it.
func MessageOf(m precis.Message) Message {
	return Message{Role: m.Role, ID: m.ID, Time: m.Time, Blocks: Contents(m.Content)}
}
