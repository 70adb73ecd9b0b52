package responses

import (
	"encoding/json"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/content"
	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/wire/chat"
)

// AppendMessages appends the JSON array of input items for a view. Unchanged items from this
// dialect are written with their own bytes. A message of another dialect becomes as many items as
// it needs; its reasoning, which this API cannot verify, is omitted.
func AppendMessages(dst []byte, view []precis.Message) []byte {
	w := writer{dst: append(dst, '['), kinds: map[string]string{}}
	for _, m := range view {
		w.message(m)
	}
	return append(w.dst, ']')
}

// writer writes items. kinds maps IDs to types of calls, because the answer must have the same
// type.
type writer struct {
	dst   []byte
	kinds map[string]string
}

func (w *writer) message(m precis.Message) {
	for _, b := range m.Content {
		if b, ok := b.(precis.ToolUse); ok {
			w.kinds[b.ID] = kindOf(b, m.Format)
		}
	}
	if m.Format == Format && jsonspan.Clean(m.Raw) {
		w.raw(m.Raw)
		return
	}
	var spoken []precis.Block
	for i, b := range m.Content {
		if m.Format == Format && itemFollows(m.Content[i:]) {
			continue
		}
		if part(b) {
			spoken = append(spoken, b)
			continue
		}
		w.spoken(m, spoken)
		spoken = nil
		w.item(m, b)
	}
	w.spoken(m, spoken)
}

// itemFollows reports whether the first block is a call and the block after it is its item.
func itemFollows(blocks []precis.Block) bool {
	if len(blocks) < 2 {
		return false
	}
	use, ok := blocks[0].(precis.ToolUse)
	item, opaque := blocks[1].(precis.Opaque)
	return ok && opaque && len(use.Input) == 0 && isItem(item)
}

// answerItem returns the item that an answer contains.
func answerItem(b precis.ToolResult) (precis.Opaque, bool) {
	if len(b.Content) != 1 {
		return precis.Opaque{}, false
	}
	o, ok := b.Content[0].(precis.Opaque)
	return o, ok && (strings.HasSuffix(o.Type, "_output") || o.Type == approvalResponse) &&
		jsonspan.Clean(o.Raw)
}

// kindOf returns the item type of a call: its original type, else the type that fits the shape of
// its input.
func kindOf(b precis.ToolUse, format string) string {
	if format != Format {
		return "function_call"
	}
	if b.Raw != nil {
		if f, err := jsonspan.Fields(b.Raw); err == nil {
			if kind, _ := jsonspan.String(f["type"]); calls[kind].field != "" {
				return kind
			}
		}
	}
	if jsonspan.Kind(b.Input) == '"' {
		return "custom_tool_call"
	}
	f, err := jsonspan.Fields(b.Input)
	switch {
	case err != nil:
	case b.Name == "local_shell" && f["type"] != nil:
		return "local_shell_call"
	case b.Name == "shell" && f["commands"] != nil:
		return "shell_call"
	case b.Name == "apply_patch" && f["type"] != nil && f["path"] != nil:
		return "apply_patch_call"
	}
	return "function_call"
}

// part reports whether a block belongs in a message item; other blocks are items of their own.
func part(b precis.Block) bool {
	switch b := b.(type) {
	case precis.Text, precis.Image, precis.Document:
		return true
	case precis.Opaque:
		return !isItem(b)
	}
	return false
}

// isItem reports whether an opaque block of this dialect was an item, not a part of one.
func isItem(b precis.Opaque) bool {
	return !strings.HasPrefix(b.Type, "input_") && !strings.HasPrefix(b.Type, "output_")
}

func (w *writer) comma() {
	if w.dst[len(w.dst)-1] != '[' {
		w.dst = append(w.dst, ',')
	}
}

func (w *writer) raw(raw []byte) {
	w.comma()
	w.dst = append(w.dst, raw...)
}

func (w *writer) open(kind string) {
	w.comma()
	w.dst = jsonspan.AppendStringField(append(w.dst, '{'), "type", kind)
}

func (w *writer) field(name, value string) {
	w.dst = jsonspan.AppendStringField(w.dst, name, value)
}

// spoken writes a message item.
func (w *writer) spoken(m precis.Message, blocks []precis.Block) {
	if len(blocks) == 0 {
		return
	}
	role, kind := "user", "input_text"
	switch m.Role {
	case precis.RoleAssistant:
		role, kind = "assistant", "output_text"
	case precis.RoleSystem:
		role = "developer"
	}
	w.open("message")
	w.field("role", role)
	w.dst = append(jsonspan.AppendField(w.dst, "content"), '[')
	w.parts(blocks, m.Format, kind, m.Role == precis.RoleUser)
	w.dst = append(w.dst, ']')
	if m.Format == Format {
		w.dst = content.AppendFields(w.dst, m.Fields)
	}
	w.dst = append(w.dst, '}')
}

// parts writes blocks as parts; images and files only if media is set.
func (w *writer) parts(blocks []precis.Block, format, kind string, media bool) {
	for _, b := range blocks {
		w.comma()
		if raw := rawOf(b); format == Format && jsonspan.Clean(raw) {
			w.dst = append(w.dst, raw...)
			continue
		}
		w.dst = append(w.dst, '{')
		switch b := b.(type) {
		case precis.Image:
			if media && b.URL+b.Data != "" {
				w.field("type", "input_image")
				w.field("detail", "auto")
				w.field("image_url", source(b.URL, b.MediaType, b.Data))
				w.dst = append(w.dst, '}')
				continue
			}
		case precis.Document:
			if media && b.URL+b.Data != "" {
				w.file(b)
				continue
			}
		}
		w.field("type", kind)
		w.field("text", chat.Note(b))
		w.dst = append(w.dst, '}')
	}
}

func (w *writer) file(b precis.Document) {
	w.field("type", "input_file")
	if b.URL != "" {
		w.field("file_url", b.URL)
	} else {
		w.field("filename", cmpOr(b.Title, "document"))
		w.field("file_data", chat.DataURL(b.MediaType, b.Data))
	}
	w.dst = append(w.dst, '}')
}

func cmpOr(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

func source(url, media, data string) string {
	if url != "" {
		return url
	}
	return chat.DataURL(media, data)
}

// item writes a block that is an item of its own.
func (w *writer) item(m precis.Message, b precis.Block) {
	if raw := rawOf(b); m.Format == Format && jsonspan.Clean(raw) {
		w.raw(raw)
		return
	}
	switch b := b.(type) {
	case precis.Opaque:
		w.spoken(m, []precis.Block{precis.Text{Text: chat.Note(b)}})
	case precis.Thinking:
		if m.Format == Format {
			w.reasoning(b)
		}
	case precis.ToolUse:
		w.call(b, w.kinds[b.ID])
		w.close(m, b.Fields)
	case precis.ToolResult:
		if item, ok := answerItem(b); ok && m.Format == Format {
			w.raw(item.Raw)
			return
		}
		w.result(m, b)
		w.close(m, b.Fields)
	}
}

// close ends an item and, if it came from this dialect, adds its unread fields.
func (w *writer) close(m precis.Message, fields []precis.Field) {
	if m.Format == Format {
		w.dst = content.AppendFields(w.dst, fields)
	}
	w.dst = append(w.dst, '}')
}

func (w *writer) reasoning(b precis.Thinking) {
	w.open("reasoning")
	w.dst = append(jsonspan.AppendField(w.dst, "summary"), '[')
	if b.Text != "" {
		w.dst = append(w.dst, '{')
		w.field("type", "summary_text")
		w.field("text", b.Text)
		w.dst = append(w.dst, '}')
	}
	w.dst = append(w.dst, ']')
	if b.Signature != "" {
		w.field("encrypted_content", b.Signature)
	}
	w.dst = append(w.dst, '}')
}

func (w *writer) call(b precis.ToolUse, kind string) {
	w.open(kind)
	w.field("call_id", b.ID)
	switch kind {
	case "function_call":
		w.field("name", b.Name)
		w.field("arguments", chat.ArgumentText(b.Input))
	case "custom_tool_call":
		w.field("name", b.Name)
		w.field("input", chat.ArgumentText(b.Input))
	default:
		w.field("status", "completed")
		w.dst = jsonspan.AppendField(w.dst, calls[kind].field)
		if len(b.Input) == 0 {
			b.Input = json.RawMessage("{}")
		}
		w.dst = append(w.dst, b.Input...)
	}
}

// result writes an answer with the type that its call requires.
func (w *writer) result(m precis.Message, b precis.ToolResult) {
	kind := cmpOr(w.kinds[b.ToolUseID], "function_call")
	w.open(kind + "_output")
	if kind == "local_shell_call" {
		w.field("id", b.ToolUseID)
	} else {
		w.field("call_id", b.ToolUseID)
	}
	switch {
	case kind == "shell_call":
		w.dst = append(jsonspan.AppendField(w.dst, "output"),
			`[{"outcome":{"type":"exit","exit_code":0},"stderr":""`...)
		w.field("stdout", plain(b))
		w.dst = append(w.dst, "}]"...)
	case kind == "apply_patch_call":
		w.field("status", "completed")
		w.field("output", plain(b))
	case kind == "local_shell_call" || allText(b):
		w.field("output", plain(b))
	default:
		w.dst = append(jsonspan.AppendField(w.dst, "output"), '[')
		w.parts(b.Content, m.Format, "input_text", true)
		w.dst = append(w.dst, ']')
	}
}

func allText(b precis.ToolResult) bool {
	for _, c := range b.Content {
		if _, ok := c.(precis.Text); !ok {
			return false
		}
	}
	return true
}

func plain(b precis.ToolResult) string {
	texts := make([]string, len(b.Content))
	for i, c := range b.Content {
		texts[i] = chat.Note(c)
	}
	return strings.Join(texts, "\n")
}

func rawOf(b precis.Block) json.RawMessage {
	switch b := b.(type) {
	case precis.Text:
		return b.Raw
	case precis.Image:
		return b.Raw
	case precis.Document:
		return b.Raw
	case precis.Thinking:
		return b.Raw
	case precis.ToolUse:
		return b.Raw
	case precis.ToolResult:
		return b.Raw
	case precis.Opaque:
		return b.Raw
	}
	return nil
}
