// Package precis keeps an LLM agent's conversation inside the model's context window without losing any
// of it. The package holds the model of a conversation; precis/policy decides what the model sees, and
// precis/preset puts both together in one call.
//
// The model is one idea. A [Transcript] holds the original messages ([Message]) of one [Conversation] and is
// never altered. An [Edit] is a recorded decision: show this instead of that span. A view, [View], is
// computed from a transcript and its edits: the messages sent to the model now. Condensing, truncating and
// pruning are all edits, so each can be undone by another one, and rewinding to an earlier point leaves
// every edit valid.
//
// A newcomer needs them in this order: [Message] and its [Block]s, [Transcript], [Edit] and [Replacement],
// [View] and [Units], [Check] (what an API would refuse) and [Repair], [Handle] (how messages are named),
// [ShownBy] (how each message is shown now), [SpeechOf] (who said a text), [Fingerprint], [Store].
//
// The promise: the same transcript and edits give the same bytes, every view can be made valid, and every
// number shown has a source ([Source]).
//
// This package imports only the standard library, precis/internal/harness and precis/internal/number. It
// names its other needs as small interfaces: [Counter], [Calibrator], [Dialect], [Store], [Ledger].
package precis

import (
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"
)

// Role says who speaks in a [Message].
type Role string

// The roles. Tool results travel in user messages, as in the Messages API.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleSystem    Role = "system"
)

// Message is one turn of a conversation. A message given to a [Transcript] is never changed
// afterwards; neither are its blocks.
type Message struct {
	Role        Role
	Content     []Block
	ID          string      // the provider's or client's identifier; "" if it has none
	Time        time.Time   // when it was said; zero when unknown
	Attribution Attribution // metadata about author and purpose from its reader

	// Raw holds the bytes the message came from, in the dialect named by
	// Format; nil when it was made in memory. An encoder of the same dialect
	// sends Raw as it is.
	Raw    json.RawMessage
	Format string
	Fields []Field // members of Raw that precis does not read, in order; nil: none, or unknown
}

// Block is one piece of a message's content. The union is sealed: the types in
// this file are all there are. A kind of content that precis does not know is
// an [Opaque], kept byte for byte.
type Block interface{ block() }

// Text is words.
type Text struct {
	Text        string
	Attribution Attribution     // metadata from its reader; zero: the message's
	Raw         json.RawMessage // bytes it came from, in the message's Format; nil when made in memory
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
	ID     string
	Name   string
	Input  json.RawMessage
	Raw    json.RawMessage
	Fields []Field // members of Raw that precis does not read
}

// ToolResult is the answer to the [ToolUse] with the same ID.
type ToolResult struct {
	ToolUseID string
	Content   []Block // text, images and the like; never a ToolUse or ToolResult
	IsError   bool
	Refused   bool // the recording states, apart from the text, that a person refused the call
	Raw       json.RawMessage
	Fields    []Field // members of Raw that precis does not read
}

// Opaque is content of an unknown type. It is forwarded byte for byte and never cut.
type Opaque struct {
	Type string // the provider's name for it
	Raw  json.RawMessage
}

func (Text) block() {}

func (Image) block() {}

func (Document) block() {}

func (Thinking) block() {}

func (RedactedThinking) block() {}

func (ToolUse) block() {}

func (ToolResult) block() {}

func (Opaque) block() {}

// Values of [Message.Format] whose API has rules of its own.
const (
	FormatMessages  = "anthropic" // the Messages API refuses a system message because of its place
	FormatResponses = "responses" // the Responses API takes an item only with its reasoning
)

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

// blockJSON is the stored form of every block: the fields of the kind named by
// Type. It is precis's own format, stable across versions; dialects have
// encoders of their own.
type blockJSON struct {
	Type      string      `json:"type"`
	Text      exactBytes  `json:"text,omitzero"`
	ID        string      `json:"id,omitempty"`
	Name      string      `json:"name,omitempty"`
	Input     exactBytes  `json:"input,omitzero"`
	Content   []blockJSON `json:"content,omitempty"`
	IsError   bool        `json:"is_error,omitempty"`
	By        Author      `json:"by,omitempty"` // of Said
	Act       Act         `json:"act,omitempty"`
	Program   string      `json:"program,omitempty"`
	Refused   bool        `json:"refused,omitempty"`
	Fields    []fieldJSON `json:"fields,omitempty"`
	MediaType string      `json:"media_type,omitempty"`
	Title     string      `json:"title,omitempty"`
	Data      string      `json:"data,omitempty"`
	URL       string      `json:"url,omitempty"`
	Width     int         `json:"width,omitempty"`
	Height    int         `json:"height,omitempty"`
	Signature string      `json:"signature,omitempty"`
	Kind      string      `json:"kind,omitempty"` // an opaque block's own type
	Raw       exactBytes  `json:"raw,omitzero"`
}

// exactBytes are bytes that must come back as they were. JSON inside JSON would
// not: encoders compact and escape it. They are stored as a string, or in base64
// when they are not valid UTF-8.
type exactBytes []byte

func (b exactBytes) MarshalJSON() ([]byte, error) {
	if utf8.Valid(b) {
		return json.Marshal(string(b))
	}
	return json.Marshal(map[string][]byte{"base64": b})
}

func (b *exactBytes) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '{' {
		var v struct{ Base64 []byte }
		err := json.Unmarshal(data, &v)
		*b = v.Base64
		return err
	}
	var s string
	err := json.Unmarshal(data, &s)
	*b = exactBytes(s)
	return err
}

type messageJSON struct {
	Role    Role        `json:"role"`
	ID      string      `json:"id,omitempty"`
	Time    time.Time   `json:"time,omitzero"`
	Format  string      `json:"format,omitempty"`
	Raw     exactBytes  `json:"raw,omitzero"`
	Said    Attribution `json:"said,omitzero"`
	Fields  []fieldJSON `json:"fields,omitempty"`
	Content []blockJSON `json:"content"`
}

// MarshalJSON writes the message in precis's own stored form.
func (m Message) MarshalJSON() ([]byte, error) {
	return json.Marshal(messageJSON{
		Role: m.Role, ID: m.ID, Time: m.Time, Raw: exactBytes(m.Raw), Format: m.Format, Said: m.Attribution,
		Fields: toFields(m.Fields), Content: toBlocks(m.Content),
	})
}

// UnmarshalJSON reads what MarshalJSON wrote. The error is [CodeInvalid].
func (m *Message) UnmarshalJSON(data []byte) error {
	var v messageJSON
	if err := json.Unmarshal(data, &v); err != nil {
		return Errorf(CodeInvalid, "read message", "%w", err)
	}
	content, err := fromBlocks(v.Content)
	if err != nil {
		return err
	}
	*m = Message{Role: v.Role, ID: v.ID, Time: v.Time, Raw: rawOrNil(v.Raw), Format: v.Format,
		Attribution: v.Said,
		Fields:      fromFields(v.Fields), Content: content}
	return nil
}

func toBlocks(blocks []Block) []blockJSON {
	out := make([]blockJSON, len(blocks))
	for i, b := range blocks {
		out[i] = toBlock(b)
	}
	return out
}

func toBlock(b Block) blockJSON {
	switch b := b.(type) {
	case Text:
		return blockJSON{Type: "text", Text: exactBytes(b.Text), By: b.Attribution.Author,
			Act:     b.Attribution.Act,
			Program: b.Attribution.Program}
	case Image:
		return blockJSON{Type: "image", MediaType: b.MediaType, Data: b.Data, URL: b.URL, Width: b.Width,
			Height: b.Height}
	case Document:
		return blockJSON{Type: "document", MediaType: b.MediaType, Title: b.Title, Data: b.Data, URL: b.URL,
			Text: exactBytes(b.Text)}
	case Thinking:
		return blockJSON{Type: "thinking", Text: exactBytes(b.Text), Signature: b.Signature}
	case RedactedThinking:
		return blockJSON{Type: "redacted_thinking", Data: b.Data}
	case ToolUse:
		return blockJSON{Type: "tool_use", ID: b.ID, Name: b.Name, Input: exactBytes(b.Input),
			Fields: toFields(b.Fields)}
	case ToolResult:
		return blockJSON{Type: "tool_result", ID: b.ToolUseID, Content: toBlocks(b.Content),
			IsError: b.IsError, Refused: b.Refused, Fields: toFields(b.Fields)}
	case Opaque:
		return blockJSON{Type: "opaque", Kind: b.Type, Raw: exactBytes(b.Raw)}
	}
	return blockJSON{Type: "opaque"}
}

func fromBlocks(list []blockJSON) ([]Block, error) {
	var out []Block
	for _, v := range list {
		b, err := fromBlock(v)
		if err != nil {
			return nil, err
		}
		out = append(out, b)
	}
	return out, nil
}

func fromBlock(v blockJSON) (Block, error) {
	switch v.Type {
	case "text":
		return Text{Text: string(v.Text),
			Attribution: Attribution{Program: v.Program, Author: v.author(), Act: v.Act}}, nil
	case "image":
		return Image{MediaType: v.MediaType, Data: v.Data, URL: v.URL, Width: v.Width, Height: v.Height}, nil
	case "document":
		return Document{MediaType: v.MediaType, Title: v.Title, Data: v.Data, URL: v.URL,
			Text: string(v.Text)}, nil
	case "thinking":
		return Thinking{Text: string(v.Text), Signature: v.Signature}, nil
	case "redacted_thinking":
		return RedactedThinking{Data: v.Data}, nil
	case "tool_use":
		return ToolUse{ID: v.ID, Name: v.Name, Input: rawOrNil(v.Input), Fields: fromFields(v.Fields)}, nil
	case "tool_result":
		content, err := fromBlocks(v.Content)
		return ToolResult{ToolUseID: v.ID, Content: content, IsError: v.IsError, Refused: v.Refused,
			Fields: fromFields(v.Fields)}, err
	case "opaque":
		return Opaque{Type: v.Kind, Raw: rawOrNil(v.Raw)}, nil
	}
	return nil, Errorf(CodeInvalid, "read block", "unknown stored type %q", v.Type)
}

// author returns the author of a text. "summary" was once the name of recap.
func (v blockJSON) author() Author {
	if v.By == "summary" {
		return AuthorRecap
	}
	return v.By
}

func rawOrNil(b exactBytes) json.RawMessage {
	if len(b) == 0 {
		return nil
	}
	return json.RawMessage(b)
}

// WithoutRaw returns a block without its raw bytes, as it reads back from a stored edit. Opaque
// blocks keep theirs.
func WithoutRaw(b Block) Block {
	stored, err := fromBlock(toBlock(b))
	if err != nil {
		return b
	}
	return stored
}
