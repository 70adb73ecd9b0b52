package conversation

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation/block"
	"github.com/precis-dev/precis/internal/content"
)

// ReadOptions select a piece of a text. The zero value selects its beginning.
type ReadOptions struct {
	Offset int // bytes to skip, the [Reading.Next] of an earlier answer; 0: none
	Lines  int // most lines; 0: 400
	Bytes  int // most bytes; 0: 16,000; at most 1,000,000
}

const (
	defaultLines = 400
	defaultBytes = 16_000
	mostBytes    = 1_000_000
)

// TextPiece is a piece of the content of a handle, as text: each block follows a line with its name.
// Bytes that are not UTF-8 are replaced.
type TextPiece struct {
	Conversation string        `json:"conversation"`
	Handle       precis.Handle `json:"handle"`
	Text         string        `json:"text"`
	Offset       int           `json:"offset"`
	Next         int           `json:"next_offset,omitempty"` // offset of the next piece; 0: this is the last
	Total        int           `json:"total_bytes"`           // of the whole text
}

// Read returns the content of a handle as text, hidden or not, one piece at a time. It keeps lines
// whole where they fit. The error is [precis.CodeInvalid] for an offset after the end.
func Read(ctx context.Context, h Home, id string, handle precis.Handle, o ReadOptions) (TextPiece, error) {
	if err := o.check(); err != nil {
		return TextPiece{}, err
	}
	s, err := snapshot(ctx, h, id)
	if err != nil {
		return TextPiece{}, err
	}
	pieces, err := s.pieces(ctx, handle)
	if err != nil {
		return TextPiece{}, err
	}
	out := TextPiece{Conversation: s.Record.ID, Handle: handle, Offset: o.Offset}
	for _, p := range pieces {
		out.Total += len(p)
	}
	if o.Offset > out.Total {
		return TextPiece{}, precis.Errorf(precis.CodeInvalid, "read "+handle.String(),
			"the offset is %d, and there are %d bytes", o.Offset, out.Total)
	}
	text := o.cut(pieces)
	if end := o.Offset + len(text); end < out.Total {
		out.Next = end
	}
	out.Text = strings.ToValidUTF8(text, "\uFFFD")
	return out, nil
}

func (o *ReadOptions) check() error {
	const op = "read options"
	for _, v := range []struct {
		name string
		n    int
	}{{"offset", o.Offset}, {"lines", o.Lines}, {"bytes", o.Bytes}} {
		if v.n < 0 {
			return precis.Errorf(precis.CodeInvalid, op, "%s is %d, want 0 or more", v.name, v.n)
		}
	}
	o.Lines, o.Bytes = cmp.Or(o.Lines, defaultLines), cmp.Or(o.Bytes, defaultBytes)
	if o.Bytes > mostBytes {
		return precis.Errorf(precis.CodeInvalid, op, "bytes is %d, at most %d are returned at once", o.Bytes,
			mostBytes)
	}
	return nil
}

// pieces returns the text of a handle. Each block is a line with its name, the block's text, and an
// end of line.
func (s *Subject) pieces(ctx context.Context, h precis.Handle) ([]string, error) {
	if _, err := s.Conversation.Transcript.Read(h); err != nil {
		return nil, err
	}
	var earlier []*precis.Transcript
	if s.Earlier != nil {
		var err error
		if earlier, err = s.Earlier(ctx); err != nil {
			return nil, err
		}
	}
	names := block.New(s.Conversation.Transcript.Messages())
	shown := precis.ShownBy(s.Conversation.Transcript, s.Conversation.Edits)
	var out []string
	for i := h.From; i < h.To; i++ {
		m, _ := s.fullest(earlier, i, h.Block)
		for b, block := range m.Content {
			if h.Block >= 0 && b != h.Block {
				continue
			}
			at, state, what := precis.BlockHandle(i, b), "", string(m.Role)
			if b < len(names.Messages[i].Content) {
				state, what = string(StateOf(shown.Block(i, b))), names.Name(at).String()
			}
			out = append(out, fmt.Sprintf("[%s, %s, %s]\n", at, what, cmp.Or(state, string(Hidden))),
				fullText(block), "\n")
		}
	}
	return out, nil
}

// fullest returns message i in the longest form it ever had; from: an earlier transcript has it.
func (s *Subject) fullest(earlier []*precis.Transcript, i, block int) (m precis.Message, from bool) {
	m = s.Conversation.Transcript.At(i)
	for _, t := range earlier {
		if i < t.Len() && block < len(t.At(i).Content) &&
			content.Size(t.At(i).Content) > content.Size(m.Content) {
			m, from = t.At(i), true
		}
	}
	return m, from
}

// fullText returns a block as complete text; for pictures and other data it returns the size.
func fullText(b precis.Block) string {
	switch b := b.(type) {
	case precis.Text:
		return b.Text
	case precis.Thinking:
		return b.Text
	case precis.ToolUse:
		return string(b.Input)
	case precis.ToolResult:
		parts := make([]string, len(b.Content))
		for i, c := range b.Content {
			parts[i] = fullText(c)
		}
		return strings.Join(parts, "\n")
	case precis.Document:
		if b.Text != "" {
			return b.Text
		}
	case precis.Opaque:
		return string(b.Raw)
	}
	return fmt.Sprintf("(%s, %d bytes that are no text)", content.Type(b), content.Size([]precis.Block{b}))
}

// cut returns the text after the offset, up to the limits of lines and bytes.
func (o ReadOptions) cut(pieces []string) string {
	var buf strings.Builder
	skip := o.Offset
	for _, p := range pieces {
		if skip >= len(p) {
			skip -= len(p)
			continue
		}
		p, skip = p[skip:], 0
		room := o.Bytes + utf8.UTFMax - buf.Len() // a little more, to detect that the text is cut
		if buf.WriteString(p[:min(len(p), room)]); buf.Len() > o.Bytes {
			break
		}
	}
	text := buf.String()
	if len(text) > o.Bytes {
		text = text[:runeStart(text, o.Bytes)]
		if line := strings.LastIndexByte(text, '\n') + 1; line > o.Bytes/2 {
			text = text[:line]
		}
	}
	at := 0
	for range o.Lines {
		line := strings.IndexByte(text[at:], '\n')
		if line < 0 {
			return text
		}
		at += line + 1
	}
	return text[:at]
}

// runeStart moves an offset inside a character back to its first byte.
func runeStart(text string, at int) int {
	for back := at; back > max(at-utf8.UTFMax, 0); back-- {
		if utf8.RuneStart(text[back]) {
			return back
		}
	}
	return at
}
