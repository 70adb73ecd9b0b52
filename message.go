package precis

import (
	"encoding/json"
	"strings"
	"time"
)

// Role says who speaks in a [Message].
type Role string

// The roles. Tool results travel in user messages, as in the Messages API.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleSystem    Role = "system"
)

// Message is one turn of a conversation. A message given to a [Transcript] is
// never changed afterwards; neither are its blocks.
type Message struct {
	Role    Role
	Content []Block
	ID      string    // the provider's or client's identifier; "" when there is none
	Time    time.Time // when it was said; zero when unknown

	// Raw holds the bytes the message came from, in the dialect named by
	// Format; nil when it was made in memory. An encoder of the same dialect
	// sends Raw as it is.
	Raw    json.RawMessage
	Format string
}

// Block is one piece of a message's content. The union is sealed: the types in
// this file are all there are. A kind of content that precis does not know is
// an [Opaque], kept byte for byte.
type Block interface{ block() }

// Text is words.
type Text struct {
	Text string
	Raw  json.RawMessage // bytes it came from, in the message's Format; nil when made in memory
}

// Image is a picture: base64 data or a URL. Width and Height are in pixels, 0
// when unknown.
type Image struct {
	MediaType     string
	Data          string // base64, without a data: prefix
	URL           string
	Width, Height int
	Raw           json.RawMessage
}

// Document is a file given to the model: base64 data, a URL or plain text.
type Document struct {
	MediaType string
	Title     string
	Data      string
	URL       string
	Text      string
	Raw       json.RawMessage
}

// Thinking is a model's visible reasoning. A non-empty Signature binds it to
// the messages before it: it is sent unchanged or not at all.
type Thinking struct {
	Text      string
	Signature string
	Raw       json.RawMessage
}

// RedactedThinking is reasoning that only its provider can read.
type RedactedThinking struct {
	Data string
	Raw  json.RawMessage
}

// ToolUse is a call of a tool. Input is the call's arguments, normally a JSON
// object; nil means none were given.
type ToolUse struct {
	ID    string
	Name  string
	Input json.RawMessage
	Raw   json.RawMessage
}

// ToolResult is the answer to the [ToolUse] with the same ID.
type ToolResult struct {
	ToolUseID string
	Content   []Block // text, images and the like; never a ToolUse or ToolResult
	IsError   bool
	Raw       json.RawMessage
}

// Opaque is content precis does not understand. It is forwarded byte for byte
// and never cut.
type Opaque struct {
	Type string // the provider's name for it
	Raw  json.RawMessage
}

func (Text) block()             {}
func (Image) block()            {}
func (Document) block()         {}
func (Thinking) block()         {}
func (RedactedThinking) block() {}
func (ToolUse) block()          {}
func (ToolResult) block()       {}
func (Opaque) block()           {}

// NewText returns a message of one text block.
func NewText(role Role, text string) Message {
	return Message{Role: role, Content: []Block{Text{Text: text}}}
}

// PlainText returns the message's text blocks joined by newlines. Tool results,
// thinking and everything else are left out.
func (m Message) PlainText() string { return joinText(m.Content) }

// Text returns the result's text blocks joined by newlines.
func (r ToolResult) Text() string { return joinText(r.Content) }

func joinText(blocks []Block) string {
	var texts []string
	for _, b := range blocks {
		if t, ok := b.(Text); ok {
			texts = append(texts, t.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// HasToolResult reports whether the message answers a tool use.
func (m Message) HasToolResult() bool {
	for _, b := range m.Content {
		if _, ok := b.(ToolResult); ok {
			return true
		}
	}
	return false
}

func blank(s string) bool {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case ' ', '\t', '\n', '\r', '\v', '\f':
		default:
			return false
		}
	}
	return true
}
