package content

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/precis-dev/precis"
)

// Type returns what kind of block it is, as the Messages API calls it; "opaque" for
// one that is not understood.
func Type(b precis.Block) string {
	switch b.(type) {
	case precis.Text:
		return "text"
	case precis.Image:
		return "image"
	case precis.Document:
		return "document"
	case precis.Thinking:
		return "thinking"
	case precis.RedactedThinking:
		return "redacted_thinking"
	case precis.ToolUse:
		return "tool_use"
	case precis.ToolResult:
		return "tool_result"
	}
	return "opaque"
}

// Size returns the bytes of what blocks say. Data of images and files counts as it
// is before it is encoded.
func Size(blocks []precis.Block) int {
	n := 0
	for _, b := range blocks {
		n += size(b)
	}
	return n
}

func size(b precis.Block) int {
	switch b := b.(type) {
	case precis.Text:
		return len(b.Text)
	case precis.Image:
		return len(b.Data) * 3 / 4
	case precis.Document:
		return len(b.Text) + len(b.Data)*3/4
	case precis.Thinking:
		return len(b.Text)
	case precis.RedactedThinking:
		return len(b.Data)
	case precis.ToolUse:
		return len(b.Name) + len(b.Input)
	case precis.ToolResult:
		return Size(b.Content)
	case precis.Opaque:
		return len(b.Raw)
	}
	return 0
}

// Around returns at most 300 bytes of a text from a little before a place on.
func Around(text string, at int) string {
	from := max(at-60, 0)
	for from < at && !utf8.RuneStart(text[from]) {
		from++
	}
	to := min(from+300, len(text))
	for to > from && to < len(text) && !utf8.RuneStart(text[to]) {
		to--
	}
	return strings.ToValidUTF8(text[from:to], "")
}

// Words returns what searches look at: texts, tool inputs and tool results.
func Words(blocks []precis.Block) string {
	var parts []string
	for _, b := range blocks {
		switch b := b.(type) {
		case precis.Text:
			parts = append(parts, b.Text)
		case precis.ToolUse:
			parts = append(parts, b.Name, string(b.Input))
		case precis.ToolResult:
			parts = append(parts, Words(b.Content))
		}
	}
	return strings.Join(parts, "\n")
}

// FirstLine returns the first line with anything on it, cut to at most n bytes
// between letters.
func FirstLine(s string, n int) string {
	for line := range strings.Lines(s[:min(len(s), 4096)]) {
		line = strings.TrimFunc(strings.ToValidUTF8(line, ""),
			func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) })
		if line == "" {
			continue
		}
		if len(line) > n {
			for n > 0 && !utf8.RuneStart(line[n]) {
				n--
			}
			line = strings.TrimSpace(line[:n]) + "…"
		}
		return line
	}
	return ""
}
