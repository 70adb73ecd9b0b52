package chat

import (
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/content"
	"github.com/precis-dev/precis/internal/jsonspan"
)

// AppendMessages appends the JSON array of a view's messages. Unchanged messages from this dialect
// are written with their own bytes. Tool results become messages of role tool right after the
// message with the calls, followed by the other content. Messages without sendable content (only
// another dialect's signed reasoning) are omitted.
func AppendMessages(dst []byte, view []precis.Message) []byte {
	w := writer{dst: append(dst, '['), view: view}
	for w.at = range view {
		w.message(view[w.at])
	}
	w.flush()
	return append(w.dst, ']')
}

// writer writes messages and holds back those that must not come between a call and its answer.
type writer struct {
	dst  []byte
	open map[string]bool // calls of the last assistant message not yet answered
	held []precis.Message

	view  []precis.Message
	at    int             // the message being written
	ahead map[[2]int]bool // results, by message and block, that were already written
}

// answer writes the results of unanswered calls before the assistant continues, taken from later
// messages. Missing results are not made up.
func (w *writer) answer() {
	for i := w.at + 1; i < len(w.view) && len(w.open) > 0; i++ {
		for k, b := range w.view[i].Content {
			r, ok := b.(precis.ToolResult)
			if !ok || !w.open[r.ToolUseID] || w.ahead[[2]int{i, k}] {
				continue
			}
			delete(w.open, r.ToolUseID)
			if w.ahead == nil {
				w.ahead = map[[2]int]bool{}
			}
			w.ahead[[2]int{i, k}] = true
			w.result(w.view[i].Format, r)
		}
	}
}

// result writes one tool result that came from the named dialect.
func (w *writer) result(format string, r precis.ToolResult) {
	w.comma()
	if format == Format && jsonspan.Clean(r.Raw) {
		w.dst = append(w.dst, r.Raw...)
		return
	}
	w.dst = appendResult(w.dst, r)
	if format == Format {
		w.dst = content.AppendFields(w.dst, r.Fields)
	}
	w.dst = append(w.dst, '}')
}

func (w *writer) flush() {
	for _, m := range w.held {
		w.write(m)
	}
	w.held, w.open = nil, nil
}

func (w *writer) message(m precis.Message) {
	if m.Role == precis.RoleAssistant {
		w.answer()
		w.flush()
		w.open = map[string]bool{}
		for _, b := range m.Content {
			if b, ok := b.(precis.ToolUse); ok {
				w.open[b.ID] = true
			}
		}
		w.write(m)
		return
	}
	rest := w.results(m)
	if len(w.open) == 0 {
		w.flush()
	}
	switch {
	case rest == nil:
	case len(w.open) > 0:
		w.held = append(w.held, *rest)
	default:
		w.write(*rest)
	}
}

// results writes the tool results of m and returns the rest of m; nil if it is empty. Images in
// results, which a tool message cannot hold, are part of the rest.
func (w *writer) results(m precis.Message) *precis.Message {
	if !m.HasToolResult() {
		return &m
	}
	rest := precis.Message{Role: m.Role, Format: m.Format, ID: m.ID, Time: m.Time}
	for k, b := range m.Content {
		r, ok := b.(precis.ToolResult)
		if !ok {
			rest.Content = append(rest.Content, b)
			continue
		}
		delete(w.open, r.ToolUseID)
		own := m.Format == Format && jsonspan.Clean(r.Raw)
		switch {
		case w.ahead[[2]int{w.at, k}]:
		case len(m.Content) == 1 && m.Format == Format && jsonspan.Clean(m.Raw):
			w.comma()
			w.dst, own = append(w.dst, m.Raw...), true
		default:
			w.result(m.Format, r)
		}
		if own {
			continue
		}
		for _, c := range r.Content {
			if _, ok := c.(precis.Image); ok {
				rest.Content = append(rest.Content, c)
			}
		}
	}
	if len(rest.Content) == 0 {
		return nil
	}
	return &rest
}

func (w *writer) comma() {
	if w.dst[len(w.dst)-1] != '[' {
		w.dst = append(w.dst, ',')
	}
}

func (w *writer) write(m precis.Message) {
	if m.Format == Format && jsonspan.Clean(m.Raw) {
		w.comma()
		w.dst = append(w.dst, m.Raw...)
		return
	}
	p := arrange(m)
	if p.empty() && len(m.Content) > 0 {
		return
	}
	w.comma()
	if m.Role == precis.RoleAssistant {
		w.dst = append(content.AppendFields(p.appendAssistant(w.dst), p.fields), '}')
		return
	}
	role := "user"
	if m.Role == precis.RoleSystem {
		role = "system"
	}
	w.dst = jsonspan.AppendStringField(append(w.dst, '{'), "role", role)
	w.dst = appendContent(jsonspan.AppendField(w.dst, "content"), p.content, m.Format, role == "user")
	w.dst = append(content.AppendFields(w.dst, p.fields), '}')
}

// parts are a message's blocks by the fields they go to.
type parts struct {
	format   string
	thinking []precis.Thinking
	content  []precis.Block
	members  []precis.Opaque // fields of this dialect other than the content
	calls    []precis.ToolUse
	fields   []precis.Field // unread fields of this dialect
}

func arrange(m precis.Message) parts {
	p := parts{format: m.Format}
	if m.Format == Format && !m.HasToolResult() {
		p.fields = m.Fields
	}
	for _, b := range m.Content {
		switch b := b.(type) {
		case precis.Thinking:
			if m.Format == Format || b.Signature == "" {
				p.thinking = append(p.thinking, b)
			}
		case precis.RedactedThinking:
		case precis.ToolUse:
			p.calls = append(p.calls, b)
		case precis.Opaque:
			if m.Format == Format && b.Type == "audio" {
				p.members = append(p.members, b)
			} else {
				p.content = append(p.content, b)
			}
		default:
			p.content = append(p.content, b)
		}
	}
	return p
}

func (p parts) empty() bool {
	return len(p.thinking)+len(p.content)+len(p.members)+len(p.calls) == 0
}

func (p parts) appendAssistant(dst []byte) []byte {
	dst = jsonspan.AppendStringField(append(dst, '{'), "role", "assistant")
	dst = jsonspan.AppendField(dst, "content")
	if len(p.content) == 0 && len(p.calls)+len(p.members) > 0 {
		dst = append(dst, "null"...)
	} else {
		dst = appendContent(dst, p.content, p.format, false)
	}
	dst = p.appendThinking(dst)
	for _, b := range p.members {
		dst = appendMembers(dst, b.Raw)
	}
	first := true
	for _, b := range p.calls {
		if name, legacy := legacyName(b.ID); legacy && p.format == Format {
			dst = appendFunction(append(jsonspan.AppendField(dst, "function_call"), '{'), name, b)
			continue
		}
		if first {
			dst = append(jsonspan.AppendField(dst, "tool_calls"), '[')
			first = false
		} else {
			dst = append(dst, ',')
		}
		dst = appendCall(dst, b, p.format)
	}
	if !first {
		dst = append(dst, ']')
	}
	return dst
}

// appendThinking appends reasoning in its original fields, else in reasoning_content, the name that
// most servers know.
func (p parts) appendThinking(dst []byte) []byte {
	var texts []string
	for _, b := range p.thinking {
		if p.format == Format && jsonspan.Clean(b.Raw) {
			dst = appendMembers(dst, b.Raw)
		} else if b.Text != "" {
			texts = append(texts, b.Text)
		}
	}
	if len(texts) > 0 {
		dst = jsonspan.AppendStringField(dst, "reasoning_content", strings.Join(texts, "\n"))
	}
	return dst
}

// appendMembers appends the members of an object to the object at the end of dst.
func appendMembers(dst, object []byte) []byte {
	for m, err := range jsonspan.Object(object) {
		if err != nil {
			return dst
		}
		dst = append(jsonspan.AppendField(dst, m.Name), m.Raw...)
	}
	return dst
}

func appendCall(dst []byte, b precis.ToolUse, format string) []byte {
	if format == Format && jsonspan.Clean(b.Raw) {
		return append(dst, b.Raw...)
	}
	dst = jsonspan.AppendStringField(append(dst, '{'), "id", b.ID)
	dst = jsonspan.AppendStringField(dst, "type", "function")
	dst = append(jsonspan.AppendField(dst, "function"), '{')
	dst = appendFunction(dst, b.Name, b)
	if format == Format {
		dst = content.AppendFields(dst, b.Fields)
	}
	return append(dst, '}')
}

func appendFunction(dst []byte, name string, b precis.ToolUse) []byte {
	dst = jsonspan.AppendStringField(dst, "name", name)
	return append(jsonspan.AppendStringField(dst, "arguments", ArgumentText(b.Input)), '}')
}

// ArgumentText returns arguments as the API's text: JSON unchanged, a JSON string unquoted, {} if
// empty.
func ArgumentText(input []byte) string {
	if len(input) == 0 {
		return "{}"
	}
	if s, ok := jsonspan.String(input); ok {
		return s
	}
	return string(input)
}

// legacyName returns the name of the function that a deprecated call made.
func legacyName(id string) (string, bool) {
	rest, ok := strings.CutPrefix(id, legacyID)
	if !ok {
		return "", false
	}
	_, name, ok := strings.Cut(rest, "_")
	return name, ok
}

func appendResult(dst []byte, b precis.ToolResult) []byte {
	dst = append(dst, '{')
	if name, legacy := legacyName(b.ToolUseID); legacy {
		dst = jsonspan.AppendStringField(dst, "role", "function")
		dst = jsonspan.AppendStringField(dst, "name", name)
	} else {
		dst = jsonspan.AppendStringField(dst, "role", "tool")
		dst = jsonspan.AppendStringField(dst, "tool_call_id", b.ToolUseID)
	}
	return jsonspan.AppendStringField(dst, "content", toolContent(b))
}

// toolContent returns a result as text, the only format that every server accepts in a tool
// message. Images follow in a message of their own.
func toolContent(b precis.ToolResult) string {
	var texts []string
	for _, c := range b.Content {
		switch c := c.(type) {
		case precis.Text:
			texts = append(texts, c.Text)
		case precis.Image:
			texts = append(texts, "[image: see the next user message]")
		default:
			texts = append(texts, Note(c))
		}
	}
	return strings.Join(texts, "\n")
}
