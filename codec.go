package precis

import (
	"encoding/json"
	"time"
)

// blockJSON is the stored form of every block: the fields of the kind named by
// Type. It is precis's own format, stable across versions; dialects have
// encoders of their own.
type blockJSON struct {
	Type      string          `json:"type"`
	Text      string          `json:"text,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	Content   []blockJSON     `json:"content,omitempty"`
	IsError   bool            `json:"is_error,omitempty"`
	MediaType string          `json:"media_type,omitempty"`
	Title     string          `json:"title,omitempty"`
	Data      string          `json:"data,omitempty"`
	URL       string          `json:"url,omitempty"`
	Width     int             `json:"width,omitempty"`
	Height    int             `json:"height,omitempty"`
	Signature string          `json:"signature,omitempty"`
	Kind      string          `json:"kind,omitempty"` // an opaque block's own type
	Raw       json.RawMessage `json:"raw,omitempty"`
}

type messageJSON struct {
	Role    Role            `json:"role"`
	ID      string          `json:"id,omitempty"`
	Time    time.Time       `json:"time,omitzero"`
	Format  string          `json:"format,omitempty"`
	Raw     json.RawMessage `json:"raw,omitempty"`
	Content []blockJSON     `json:"content"`
}

// MarshalJSON writes the message in precis's own stored form.
func (m Message) MarshalJSON() ([]byte, error) {
	v := messageJSON{Role: m.Role, ID: m.ID, Time: m.Time, Content: toBlocks(m.Content)}
	if json.Valid(m.Raw) {
		v.Raw, v.Format = m.Raw, m.Format
	}
	return json.Marshal(v)
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
	*m = Message{Role: v.Role, ID: v.ID, Time: v.Time, Raw: v.Raw, Format: v.Format, Content: content}
	return nil
}

// MarshalJSON writes the replacement with its block in stored form.
func (r Replacement) MarshalJSON() ([]byte, error) {
	type plain Replacement
	v := struct {
		plain
		WithBlock *blockJSON `json:"with_block,omitempty"`
	}{plain: plain(r)}
	if r.WithBlock != nil {
		b := toBlock(r.WithBlock)
		v.WithBlock = &b
	}
	return json.Marshal(v)
}

// UnmarshalJSON reads what MarshalJSON wrote. The error is [CodeInvalid].
func (r *Replacement) UnmarshalJSON(data []byte) error {
	type plain Replacement
	var v struct {
		plain
		WithBlock *blockJSON `json:"with_block"`
	}
	if err := json.Unmarshal(data, &v); err != nil {
		return Errorf(CodeInvalid, "read replacement", "%w", err)
	}
	*r = Replacement(v.plain)
	if v.WithBlock == nil {
		return nil
	}
	b, err := fromBlock(*v.WithBlock)
	r.WithBlock = b
	return err
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
		return blockJSON{Type: "text", Text: b.Text}
	case Image:
		return blockJSON{Type: "image", MediaType: b.MediaType, Data: b.Data, URL: b.URL, Width: b.Width, Height: b.Height}
	case Document:
		return blockJSON{Type: "document", MediaType: b.MediaType, Title: b.Title, Data: b.Data, URL: b.URL, Text: b.Text}
	case Thinking:
		return blockJSON{Type: "thinking", Text: b.Text, Signature: b.Signature}
	case RedactedThinking:
		return blockJSON{Type: "redacted_thinking", Data: b.Data}
	case ToolUse:
		v := blockJSON{Type: "tool_use", ID: b.ID, Name: b.Name}
		if json.Valid(b.Input) {
			v.Input = b.Input
		} else {
			v.Text = string(b.Input)
		}
		return v
	case ToolResult:
		return blockJSON{Type: "tool_result", ID: b.ToolUseID, Content: toBlocks(b.Content), IsError: b.IsError}
	case Opaque:
		v := blockJSON{Type: "opaque", Kind: b.Type}
		if json.Valid(b.Raw) {
			v.Raw = b.Raw
		} else {
			v.Text = string(b.Raw)
		}
		return v
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
		return Text{Text: v.Text}, nil
	case "image":
		return Image{MediaType: v.MediaType, Data: v.Data, URL: v.URL, Width: v.Width, Height: v.Height}, nil
	case "document":
		return Document{MediaType: v.MediaType, Title: v.Title, Data: v.Data, URL: v.URL, Text: v.Text}, nil
	case "thinking":
		return Thinking{Text: v.Text, Signature: v.Signature}, nil
	case "redacted_thinking":
		return RedactedThinking{Data: v.Data}, nil
	case "tool_use":
		return ToolUse{ID: v.ID, Name: v.Name, Input: rawOr(v.Input, v.Text)}, nil
	case "tool_result":
		content, err := fromBlocks(v.Content)
		return ToolResult{ToolUseID: v.ID, Content: content, IsError: v.IsError}, err
	case "opaque":
		return Opaque{Type: v.Kind, Raw: rawOr(v.Raw, v.Text)}, nil
	}
	return nil, Errorf(CodeInvalid, "read block", "unknown stored type %q", v.Type)
}

func rawOr(raw json.RawMessage, text string) json.RawMessage {
	if len(raw) == 0 && text != "" {
		return json.RawMessage(text)
	}
	return raw
}
