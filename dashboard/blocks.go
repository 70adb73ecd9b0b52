package dashboard

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/conversation/block"
	"github.com/precis-dev/precis/internal/visible"
)

// Limits of the content shown of one block before it is opened.
const (
	blockShown = 1500    // bytes
	wholeShown = 1 << 20 // bytes on the page of the message itself
)

// drawn is a block of a message as pages show it.
type drawn struct {
	Handle string
	Type   string // key of its name: text, thinking, tool_use …
	Name   string // of the tool
	Text   string
	Cut    int // number of bytes that are not shown
	Failed bool
}

// blocksOf returns the blocks of a message, each cut to at most most bytes.
func blocksOf(blocks []block.Content, most int) []drawn {
	out := make([]drawn, 0, len(blocks))
	for _, c := range blocks {
		b := drawn{Handle: c.Handle, Type: c.Type, Name: c.Name, Failed: c.IsError}
		text := contentText(c)
		b.Text = visible.FirstBytes(text, most)
		b.Cut = len(text) - len(b.Text)
		out = append(out, b)
	}
	return out
}

// contentText returns the content of a block as text.
func contentText(c block.Content) string {
	switch c.Type {
	case "tool_use":
		return inputText(c.Input)
	case "tool_result":
		var parts []string
		for _, inner := range c.Content {
			parts = append(parts, contentText(inner))
		}
		return strings.Join(parts, "\n")
	case "image", "document":
		return strings.TrimSpace(strings.Join([]string{c.Title, c.MediaType, strconv.Itoa(c.Bytes) + " B",
			c.URL, c.Text}, " "))
	}
	return c.Text
}

// inputText writes the arguments of a call, one member per line, strings unquoted.
func inputText(raw json.RawMessage) string {
	d := json.NewDecoder(bytes.NewReader(raw))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return plain(raw)
	}
	var out strings.Builder
	for d.More() {
		name, err := d.Token()
		var value json.RawMessage
		if err != nil || d.Decode(&value) != nil {
			return string(raw)
		}
		text := plain(value)
		out.WriteString(name.(string) + ":") // names of members are strings
		if strings.Contains(text, "\n") {
			out.WriteString("\n")
		} else {
			out.WriteString(" ")
		}
		out.WriteString(text + "\n")
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// plain returns a JSON string decoded, and any other value unchanged.
func plain(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil && utf8.ValidString(s) {
		return s
	}
	return string(raw)
}

// blockDiff is a block that the view changes.
type blockDiff struct {
	Handle precis.Handle
	What   string
	Kind   precis.EditKind
	Gone   bool
	Rows   []diffRow
}

func diffsOf(changes []conversation.BlockChange) []blockDiff {
	var out []blockDiff
	for _, c := range changes {
		d := blockDiff{Handle: c.Handle, What: c.What, Kind: c.Kind, Gone: c.Gone}
		if c.Gone {
			d.Rows = goneRows(visible.FirstBytes(c.Was, wholeShown))
		} else {
			d.Rows = diffRows(visible.FirstBytes(c.Was, wholeShown), visible.FirstBytes(c.Now, wholeShown))
		}
		out = append(out, d)
	}
	return out
}
