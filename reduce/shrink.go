package reduce

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"precis"
	"precis/internal/toolcall"
)

// Shrink shortens the long arguments of old tool calls: the content of a
// written file is on disk. Arguments stay valid JSON of the same shape; calls
// written as XML keep their tags.
type Shrink struct{}

// Name returns "shrink".
func (Shrink) Name() string { return "shrink" }

// Propose shortens arguments over Settings.Fractions.ShrinkOver characters,
// oldest first, until the view is at its target.
func (Shrink) Propose(_ context.Context, s *precis.Situation) (precis.Edit, error) {
	p := newProposal(s, precis.KindShrink)
	over := s.Settings.Fractions.ShrinkOver
	blocks := originals(s)
	for _, u := range s.Units {
		if over <= 0 || p.enough() {
			break
		}
		if !u.Original() || s.Transcript.At(u.From).Role != precis.RoleAssistant {
			continue
		}
		for b := range s.Transcript.At(u.From).Content {
			h := precis.BlockHandle(u.From, b)
			block, ok := blocks[h]
			if !ok || s.Kept.Block(u.From, b) {
				continue
			}
			if with, ok := shrunk(block, h, over); ok {
				p.block(h, precis.RoleAssistant, block, with)
			}
		}
	}
	p.edit.Report.Reason = "no old call has long arguments"
	if n := len(p.edit.Replace); n > 0 {
		p.edit.Report.Reason = fmt.Sprintf("arguments over %d characters shortened in %s", over, plural(n, "old call"))
	}
	return p.edit, nil
}

func shrunk(b precis.Block, h precis.Handle, over int) (precis.Block, bool) {
	switch b := b.(type) {
	case precis.ToolUse:
		input, ok := shrinkJSON(b.Input, h, over)
		return precis.ToolUse{ID: b.ID, Name: b.Name, Input: input}, ok
	case precis.Text:
		text, ok := shrinkXML(b.Text, h, over)
		return precis.Text{Text: text}, ok
	}
	return nil, false
}

// shrinkJSON shortens the long strings of a JSON value, wherever they stand.
func shrinkJSON(raw json.RawMessage, h precis.Handle, over int) (json.RawMessage, bool) {
	if len(raw) <= over {
		return nil, false
	}
	opts := []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}
	d := jsontext.NewDecoder(bytes.NewReader(raw), opts...)
	var out bytes.Buffer
	e := jsontext.NewEncoder(&out, opts...)
	changed, depth := false, -1
	for depth != 0 {
		t, err := d.ReadToken()
		if err != nil {
			return nil, false
		}
		kind, n := d.StackIndex(d.StackDepth())
		isName := kind == jsontext.KindBeginObject && n%2 == 1
		if t.Kind() == '"' && !isName && utf8.RuneCountInString(t.String()) > over {
			t, changed = jsontext.String(cutMiddle(t.String(), over/4, over/8, h)), true
		}
		if err := e.WriteToken(t); err != nil {
			return nil, false
		}
		depth = d.StackDepth()
	}
	return bytes.TrimSpace(out.Bytes()), changed
}

// shrinkXML shortens the long parameters of the XML calls in a text.
func shrinkXML(text string, h precis.Handle, over int) (string, bool) {
	var out []byte
	last := 0
	for _, x := range toolcall.ParseXML(text) {
		for _, p := range x.Params {
			if utf8.RuneCountInString(p.Value) <= over {
				continue
			}
			out = append(out, text[last:p.Start]...)
			out = append(out, cutMiddle(p.Value, over/4, over/8, h)...)
			last = p.End
		}
	}
	if last == 0 {
		return "", false
	}
	return string(append(out, text[last:]...)), true
}

// cutMiddle keeps the first head and the last tail bytes of s, moved to the
// nearest character, and says in between what is gone.
func cutMiddle(s string, head, tail int, h precis.Handle) string {
	if head+tail >= len(s) {
		return s
	}
	for head > 0 && !utf8.RuneStart(s[head]) {
		head--
	}
	from := len(s) - tail
	for from < len(s) && !utf8.RuneStart(s[from]) {
		from++
	}
	gone := utf8.RuneCountInString(s[head:from])
	return fmt.Sprintf("%s\n[… %d characters left out; all of it: %s …]\n%s", s[:head], gone, h, s[from:])
}
