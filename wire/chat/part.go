package chat

import (
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/jsonspan"
)

// appendContent appends blocks as content: a string if they are text made in memory, else parts.
// Only a user's content can contain more than text.
func appendContent(dst []byte, blocks []precis.Block, format string, user bool) []byte {
	if s, ok := plain(blocks, format, user); ok {
		return jsonspan.AppendString(dst, s)
	}
	dst = append(dst, '[')
	for i, b := range blocks {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendPart(dst, b, format, user)
	}
	return append(dst, ']')
}

// plain returns the content as one string if possible: no block has bytes of its own, and several
// texts of a user stay separate.
func plain(blocks []precis.Block, format string, user bool) (string, bool) {
	texts := make([]string, len(blocks))
	for i, b := range blocks {
		t, ok := b.(precis.Text)
		if !ok && !user {
			t.Text = Note(b)
		} else if !ok {
			return "", false
		}
		if format == Format && rawOf(b) != nil || user && len(blocks) > 1 {
			return "", false
		}
		texts[i] = t.Text
	}
	return strings.Join(texts, "\n"), true
}

func appendPart(dst []byte, b precis.Block, format string, user bool) []byte {
	if raw := rawOf(b); format == Format && jsonspan.Clean(raw) {
		return append(dst, raw...)
	}
	dst = append(dst, '{')
	switch b := b.(type) {
	case precis.Image:
		if user {
			url := b.URL
			if url == "" {
				url = DataURL(b.MediaType, b.Data)
			}
			dst = jsonspan.AppendStringField(dst, "type", "image_url")
			dst = append(jsonspan.AppendField(dst, "image_url"), '{')
			return append(jsonspan.AppendStringField(dst, "url", url), "}}"...)
		}
	case precis.Document:
		if user && b.Data != "" {
			dst = jsonspan.AppendStringField(dst, "type", "file")
			dst = append(jsonspan.AppendField(dst, "file"), '{')
			dst = jsonspan.AppendStringField(dst, "filename", fileName(b))
			return append(jsonspan.AppendStringField(dst, "file_data", DataURL(b.MediaType, b.Data)), "}}"...)
		}
	}
	dst = jsonspan.AppendStringField(dst, "type", "text")
	return append(jsonspan.AppendStringField(dst, "text", Note(b)), '}')
}

func fileName(b precis.Document) string {
	if b.Title == "" {
		return "document"
	}
	return b.Title
}

// DataURL returns base64 data as a data: URL.
func DataURL(media, data string) string { return "data:" + media + ";base64," + data }

// Note returns a block as text, for dialects without a better place for it.
func Note(b precis.Block) string {
	switch b := b.(type) {
	case precis.Text:
		return b.Text
	case precis.Image:
		return "[image" + after(b.MediaType) + after(b.URL) + "]"
	case precis.Document:
		if b.Text != "" {
			return strings.TrimPrefix(b.Title+"\n", "\n") + b.Text
		}
		return "[document" + after(b.Title) + after(b.MediaType) + after(b.URL) + "]"
	case precis.Opaque:
		const short = 1000 // longer ones are images and similar data, which no model reads as text
		if len(b.Raw) > short {
			return "[" + b.Type + "]"
		}
		return "[" + b.Type + "] " + string(b.Raw)
	}
	return ""
}

func after(s string) string {
	if s == "" {
		return ""
	}
	return " " + s
}

func rawOf(b precis.Block) []byte {
	switch b := b.(type) {
	case precis.Text:
		return b.Raw
	case precis.Image:
		return b.Raw
	case precis.Document:
		return b.Raw
	case precis.Opaque:
		return b.Raw
	}
	return nil
}
