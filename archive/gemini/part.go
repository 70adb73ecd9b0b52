package gemini

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/internal/jsonspan"
)

// builder assembles the messages of one conversation.
type builder struct {
	*archive.Builder

	open     []call          // calls of the model's last turn without an answer
	callIDs  map[string]bool // IDs of calls
	answered map[string]bool // IDs of calls answered
	role     precis.Role     // role of the last message
	calls    int             // number of generated call IDs
	counted  map[string]bool // IDs of messages with usage already added; shared by all lists of a session
}

// call is a call of the model: its ID here, its recorded ID or "", and its name.
type call struct{ id, recorded, name string }

func newBuilder(rec *archive.Recording) *builder {
	return &builder{Builder: archive.NewBuilder(rec), callIDs: map[string]bool{}, answered: map[string]bool{},
		counted: map[string]bool{}}
}

// addMessage appends a message; one without content is ignored.
func (b *builder) addMessage(m precis.Message) {
	if b.Append(m) {
		b.role = m.Role
	}
}

// parts reads the content of a message: parts, one part, or a string.
func (b *builder) parts(raw []byte, role precis.Role) ([]precis.Block, error) {
	switch jsonspan.Kind(raw) {
	case 0, 'n':
		return nil, nil
	case '"', '{':
		block, err := b.part(raw, role)
		if block == nil || err != nil {
			return nil, err
		}
		return []precis.Block{block}, nil
	}
	var out []precis.Block
	for span, err := range jsonspan.Array(raw) {
		if err != nil {
			return nil, err
		}
		block, err := b.part(span.Raw, role)
		if err != nil {
			return nil, fmt.Errorf("part %d: %w", len(out), err)
		}
		if block != nil {
			out = append(out, block)
		}
	}
	if role == precis.RoleUser {
		markQuoted(out)
	}
	return out, nil
}

// The program puts files that a person referenced with @ between these parts.
const (
	filesBegin = "--- Content from referenced files ---"
	filesEnd   = "--- End of content ---"
)

// markQuoted marks the texts of referenced files as quoted by a tool, not written by a person.
func markQuoted(blocks []precis.Block) {
	within := false
	for i, b := range blocks {
		t, ok := b.(precis.Text)
		if !ok {
			continue
		}
		within = within || strings.TrimSpace(t.Text) == filesBegin
		if within {
			t.Attribution = precis.Attribution{Program: "gemini", Author: precis.AuthorTool,
				Act: precis.ActQuote}
			blocks[i] = t
		}
		within = within && strings.TrimSpace(t.Text) != filesEnd
	}
}

// part reads one part; it returns nil for a part without content.
func (b *builder) part(raw []byte, role precis.Role) (precis.Block, error) {
	if s, ok := jsonspan.String(raw); ok {
		return precis.Text{Text: s}, nil
	}
	f, err := jsonspan.Fields(raw)
	if err != nil {
		return nil, err
	}
	switch {
	case jsonspan.Kind(f["functionCall"]) == '{' && role == precis.RoleAssistant:
		return b.call(jsonspan.Members(f["functionCall"])), nil
	case jsonspan.Kind(f["functionResponse"]) == '{' && role == precis.RoleUser:
		return b.answer(jsonspan.Members(f["functionResponse"])), nil
	case jsonspan.Kind(f["text"]) == '"':
		return textBlock(f), nil
	case jsonspan.Kind(f["inlineData"]) == '{':
		d := jsonspan.Members(f["inlineData"])
		return media(jsonspan.Text(d, "mimeType"), jsonspan.Text(d, "displayName"), jsonspan.Text(d, "data"),
			""), nil
	case jsonspan.Kind(f["fileData"]) == '{':
		d := jsonspan.Members(f["fileData"])
		return media(jsonspan.Text(d, "mimeType"), jsonspan.Text(d, "displayName"), "",
			jsonspan.Text(d, "fileUri")), nil
	}
	for m, err := range jsonspan.Object(raw) {
		if err == nil && m.Name != "thoughtSignature" && m.Name != "thought" {
			return precis.Opaque{Type: m.Name, Raw: raw}, nil
		}
	}
	return nil, nil
}

// textBlock reads a text part. A marked part is a thought; a blank thought is dropped.
func textBlock(f map[string]json.RawMessage) precis.Block {
	s := jsonspan.Text(f, "text")
	switch {
	case jsonspan.Kind(f["thought"]) != 't':
		return precis.Text{Text: s}
	case strings.TrimSpace(s) == "":
		return nil
	}
	return precis.Thinking{Text: s}
}

func media(kind, title, data, url string) precis.Block {
	if strings.HasPrefix(kind, "image/") {
		return precis.Image{MediaType: kind, Data: data, URL: url}
	}
	return precis.Document{MediaType: kind, Title: title, Data: data, URL: url}
}

// call reads a functionCall. If its ID is missing or a duplicate, it gets a new one.
func (b *builder) call(f map[string]json.RawMessage) precis.ToolUse {
	if b.role != precis.RoleAssistant {
		b.open, b.role = nil, precis.RoleAssistant
	}
	c := call{id: jsonspan.Text(f, "id"), recorded: jsonspan.Text(f, "id"), name: jsonspan.Text(f, "name")}
	if c.id == "" || b.callIDs[c.id] {
		c.id = b.next()
	}
	b.callIDs[c.id] = true
	b.open = append(b.open, c)
	use := precis.ToolUse{ID: c.id, Name: c.name, Input: f["args"]}
	if jsonspan.Kind(use.Input) == 'n' {
		use.Input = nil
	}
	return use
}

func (b *builder) next() string {
	for {
		b.calls++
		if id := fmt.Sprintf("gemini_call_%d", b.calls); !b.callIDs[id] {
			return id
		}
	}
}

// answer reads a functionResponse; it returns nil if the call already has an answer, for example
// one read from a session's toolCalls.
func (b *builder) answer(f map[string]json.RawMessage) precis.Block {
	id := b.closeCall(jsonspan.Text(f, "id"), jsonspan.Text(f, "name"))
	if b.answered[id] {
		return nil
	}
	b.answered[id] = true
	result := precis.ToolResult{ToolUseID: id}
	var words string
	words, result.IsError = response(f["response"])
	if strings.TrimSpace(words) != "" {
		result.Content = append(result.Content, precis.Text{Text: words})
	}
	for span, err := range jsonspan.Array(f["parts"]) {
		if err != nil {
			break
		}
		if d := jsonspan.Members(jsonspan.Members(span.Raw)["inlineData"]); d != nil {
			result.Content = append(result.Content,
				media(jsonspan.Text(d, "mimeType"), jsonspan.Text(d, "displayName"), jsonspan.Text(d, "data"),
					""))
		}
	}
	return result
}

// find returns the index in open of the call for an answer: by its ID, or without an ID the first
// of that name, else the first. It returns -1 if no call matches.
func (b *builder) find(id, name string) int {
	if id != "" {
		return slices.IndexFunc(b.open, func(c call) bool { return c.recorded == id })
	}
	if i := slices.IndexFunc(b.open, func(c call) bool { return c.name == name }); i >= 0 {
		return i
	}
	return min(len(b.open), 1) - 1
}

// closeCall closes the call that an answer belongs to and returns the call's ID. An answer without a
// call keeps its own ID, or gets a new one.
func (b *builder) closeCall(id, name string) string {
	if i := b.find(id, name); i >= 0 {
		id = b.open[i].id
		b.open = slices.Delete(b.open, i, i+1)
	} else if id == "" {
		id = b.next()
		b.callIDs[id] = true
	}
	return id
}

// response returns the text of a function's response: its only member if that is output, result,
// error or content, else all of it as JSON.
func response(raw json.RawMessage) (words string, failed bool) {
	if s, ok := jsonspan.String(raw); ok {
		return s, false
	}
	f := jsonspan.Members(raw)
	failed = f["error"] != nil && jsonspan.Kind(f["error"]) != 'n'
	if len(f) == 1 {
		for _, name := range []string{"output", "result", "error", "content"} {
			if s, ok := jsonspan.String(f[name]); ok {
				return s, failed
			}
		}
	}
	if len(f) == 0 {
		return "", failed
	}
	return string(raw), failed
}

// instruction reads a system instruction: a content, a part or a string.
func instruction(raw []byte) precis.Message {
	m := precis.Message{Role: precis.RoleSystem}
	parts := raw
	if f := jsonspan.Members(raw); f["parts"] != nil {
		parts = f["parts"]
	}
	m.Content, _ = newBuilder(&archive.Recording{}).parts(parts, precis.RoleSystem)
	if m = archive.WithoutBlank(m); len(m.Content) == 0 {
		return precis.Message{}
	}
	return m
}
