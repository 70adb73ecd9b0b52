package recall

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/gateway/tool"
	"github.com/precis-dev/precis/internal/content"
	"github.com/precis-dev/precis/measure"
)

// Library answers calls of the tool from the transcript of a conversation.
type Library struct {
	Transcript *precis.Transcript
	// Earlier loads the transcripts that the conversation had before its client cleared results;
	// nil: there are none. It is called at most once.
	Earlier func() []*precis.Transcript
	// Before loads the conversations that the client has condensed into the beginning of this one;
	// nil: there are none. It is called at most once.
	Before func() []Linked
	Meter  *measure.Meter

	earlier []*precis.Transcript
	loaded  bool
	before  []Linked
	linked  bool
}

// Linked is a conversation that is continued by another one.
type Linked struct {
	Prefix     string // of its handles there: "c3f9ab:"
	Transcript *precis.Transcript
}

// Returns the conversations before this one, loaded once.
func (b *Library) previous() []Linked {
	if !b.linked && b.Before != nil {
		b.before = b.Before()
	}
	b.linked = true
	return b.before
}

// of returns the library of an earlier conversation.
func (b *Library) of(l Linked) *Library { return &Library{Transcript: l.Transcript, Meter: b.Meter} }

// Answer answers calls with at most limit tokens in all; 0: each answer only states that the
// content is too long. When ctx ends, a search stops with the results so far.
func (b *Library) Answer(ctx context.Context, calls []tool.Call, limit int) []tool.Result {
	out := make([]tool.Result, len(calls))
	for i, c := range calls {
		in, problem := ReadInput(c.Input)
		switch {
		case limit == 0:
			out[i] = tool.Result{Text: "What was asked for does not fit into the context window any more. Ask for less, or go on without it.", Failed: true}
		case problem != "":
			out[i] = tool.Result{Text: problem, Failed: true}
		case in.Search != "":
			out[i] = b.search(ctx, in.Search, limit/len(calls))
		default:
			out[i] = b.read(in, limit/len(calls))
		}
	}
	return out
}

// at returns a message in its fullest form.
func (b *Library) at(i int) precis.Message {
	if !b.loaded && b.Earlier != nil {
		b.earlier = b.Earlier()
	}
	b.loaded = true
	m := b.Transcript.At(i)
	for _, t := range b.earlier {
		if i < t.Len() && len(t.At(i).Content) == len(m.Content) &&
			content.Size(t.At(i).Content) > content.Size(m.Content) {
			m = t.At(i)
		}
	}
	return m
}

// read returns the content of a handle, from an offset on.
func (b *Library) read(in Input, limit int) tool.Result {
	if i := strings.IndexByte(in.Handle, ':'); i >= 0 {
		prefix := in.Handle[:i+1]
		for _, l := range b.previous() {
			if l.Prefix == prefix {
				in.Handle = in.Handle[i+1:]
				return b.of(l).readAs(prefix, in, limit)
			}
		}
		return tool.Result{Text: fmt.Sprintf("No conversation before this one has handles that begin with %.40s. Those of this one look like m12.", prefix), Failed: true}
	}
	return b.readAs("", in, limit)
}

// readAs is read for handles with a prefix.
func (b *Library) readAs(prefix string, in Input, limit int) tool.Result {
	h, err := precis.ParseHandle(in.Handle)
	if err == nil {
		_, err = b.Transcript.Read(h)
	}
	if err != nil {
		n := b.Transcript.Len()
		return tool.Result{Text: fmt.Sprintf("%s. Handles look like m12, m12-m14 or m12.b3; this conversation has %sm0 to m%d.", plainText(err), prefix, n-1), Failed: true}
	}
	var out strings.Builder
	offset := in.Offset
	for i := h.From; i < h.To; i++ {
		text := b.render(prefix, i, h.Block)
		if offset >= len(text) {
			offset -= len(text)
			continue
		}
		from := runeStart(text, offset)
		offset = 0
		shown := b.fitTokens(text[from:], limit)
		out.WriteString(shown)
		if limit -= b.count(shown); len(shown) < len(text)-from {
			rest := precis.SpanHandle(i, h.To)
			rest.Block = h.Block
			fmt.Fprintf(&out, "\n\n[Cut here, more follows. Go on with {\"handle\":\"%s%s\",\"offset\":%d}.]",
				prefix, rest, from+len(shown))
			break
		}
	}
	if out.Len() == 0 {
		return tool.Result{Text: fmt.Sprintf("There is nothing in %s from offset %d on.", h, in.Offset),
			Failed: true}
	}
	return tool.Result{Text: out.String()}
}

// runeStart returns the offset at, moved back to the start of its character.
func runeStart(text string, at int) int {
	for at > 0 && !utf8.RuneStart(text[at]) {
		at--
	}
	return at
}

// plainText returns the text of an error for the model.
func plainText(err error) string {
	s := err.Error()
	return strings.ToUpper(s[:1]) + s[1:]
}

func (b *Library) count(text string) int {
	if text == "" {
		return 0
	}
	return b.Meter.Block(precis.RoleUser, precis.Text{Text: text})
}

// fitTokens returns the beginning of a text with at most limit tokens, cut at a line end if lines are
// short enough.
func (b *Library) fitTokens(text string, limit int) string {
	text = strings.ToValidUTF8(text[:min(len(text), max(limit, 0)*16)], "")
	for text != "" {
		n := b.count(text)
		if n <= limit {
			return text
		}
		to := runeStart(text, min(len(text)*limit/n, len(text)*19/20))
		if line := strings.LastIndexByte(text[:to], '\n') + 1; line > to*3/4 {
			to = line
		}
		text = text[:to]
	}
	return ""
}

// render writes a message, or one block of it, with its handle.
func (b *Library) render(prefix string, i, block int) string {
	m := b.at(i)
	var out strings.Builder
	for n, c := range m.Content {
		if block >= 0 && n != block {
			continue
		}
		text := strings.ToValidUTF8(blockText(c), "\uFFFD")
		fmt.Fprintf(&out, "[%s%s, %s: %s]\n%s\n\n", prefix, precis.BlockHandle(i, n), m.Role, blockName(c),
			text)
	}
	return out.String()
}

// blockName names the kind of a block.
func blockName(b precis.Block) string {
	switch b := b.(type) {
	case precis.ToolUse:
		return "call of " + b.Name
	case precis.ToolResult:
		if b.IsError {
			return "tool result, an error"
		}
	case precis.Opaque:
		return b.Type
	case precis.Document:
		return strings.TrimSpace("document " + b.Title)
	}
	return strings.ReplaceAll(content.Type(b), "_", " ")
}

// blockText returns the content of a block as text.
func blockText(b precis.Block) string {
	switch b := b.(type) {
	case precis.Text:
		return b.Text
	case precis.Thinking:
		return b.Text
	case precis.ToolUse:
		return string(b.Input)
	case precis.ToolResult:
		var parts []string
		for _, c := range b.Content {
			parts = append(parts, blockText(c))
		}
		return strings.Join(parts, "\n")
	case precis.Document:
		if b.Text != "" {
			return b.Text
		}
	case precis.Opaque:
		return string(b.Raw)
	}
	return fmt.Sprintf("(%d bytes that cannot be shown as text)", content.Size([]precis.Block{b}))
}
