package words

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/visible"
)

// textBytes is the part of a message that is searched.
const textBytes = 64 << 10

// Text returns the searchable text of a message: its text, the keys and values of tool inputs, and
// the text of tool results, 64 KB at most.
func Text(m precis.Message) string {
	var t text
	t.blocks(m.Content)
	return visible.FirstBytes(t.String(), textBytes)
}

type text struct{ strings.Builder }

func (t *text) full() bool { return t.Len() >= textBytes }

func (t *text) add(s string) {
	if s == "" || t.full() {
		return
	}
	if t.Len() > 0 {
		t.WriteByte('\n')
	}
	t.WriteString(visible.FirstBytes(s, textBytes))
}

func (t *text) blocks(blocks []precis.Block) {
	for _, b := range blocks {
		switch b := b.(type) {
		case precis.Text:
			t.add(b.Text)
		case precis.ToolUse:
			t.input(b.Input)
		case precis.ToolResult:
			t.blocks(b.Content)
		}
	}
}

// input adds the strings and numbers of JSON without its escapes, which would become parts of
// words; invalid JSON is added unchanged.
func (t *text) input(raw json.RawMessage) {
	if len(raw) == 0 || t.full() {
		return
	}
	if !json.Valid(raw) {
		t.add(string(raw))
		return
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	for !t.full() {
		token, err := d.Token()
		if err != nil {
			return
		}
		switch v := token.(type) {
		case string:
			t.add(v)
		case json.Number:
			t.add(v.String())
		}
	}
}
