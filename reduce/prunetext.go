package reduce

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/preview"
	"github.com/precis-dev/precis/retain"
)

// shortened returns the block with the kept pieces of its texts, or nil if all pieces are kept.
func (r *pruner) shortened(b *pruned, keep []bool) precis.Block {
	texts := map[int32]string{} // by Text.Start
	for k := range b.parts {
		p := &b.parts[k]
		t := &r.x.Texts[p.text]
		if text, ok := r.partText(b, p, keep, t); ok {
			texts[t.Start] = text
		}
	}
	if len(texts) == 0 {
		return nil
	}
	switch block := b.block.(type) {
	case precis.ToolResult:
		content := slices.Clone(block.Content)
		for n, short := range texts {
			content[n] = precis.Text{Text: short}
		}
		return precis.ToolResult{ToolUseID: block.ToolUseID, IsError: block.IsError, Content: content}
	case precis.ToolUse:
		input, ok := replaceStrings(block.Input, texts)
		if !ok {
			return nil
		}
		return precis.ToolUse{ID: block.ID, Name: block.Name, Input: input}
	case precis.Text:
		return precis.Text{Text: r.splice(block.Text, b, texts)}
	}
	return nil
}

// splice replaces the originals in a text block by the shortened texts.
func (r *pruner) splice(text string, b *pruned, texts map[int32]string) string {
	var out strings.Builder
	last := 0
	for _, p := range b.parts {
		t := &r.x.Texts[p.text]
		short, ok := texts[t.Start]
		if !ok || int(t.Start) < last {
			continue
		}
		out.WriteString(text[last:t.Start])
		out.WriteString(short)
		last = int(t.Start) + len(t.Body)
	}
	out.WriteString(text[last:])
	return out.String()
}

// partText renders one text; it returns false if too little is omitted.
func (r *pruner) partText(b *pruned, p *part, keep []bool, t *retain.Text) (string, bool) {
	pieces := keep[p.first : p.first+len(p.split.Pieces)]
	kept := r.filled(p, pieces)
	left := 0
	for i, k := range kept {
		if !k {
			left += p.split.Pieces[i].End - p.split.Pieces[i].Start
		}
	}
	if left < 60 {
		return "", false
	}
	if own := r.userPreview(t); own != "" {
		return fmt.Sprintf("[%s, shortened]\n%s", b.h, own), true
	}
	w := previewWriter{h: b.h, numbered: numbered(t.Body)}
	if _, isText := b.block.(precis.Text); !isText && t.Source >= retain.SourceFile &&
		left*5 > len(t.Body)*2 {
		w.head = p.split.Head
	}
	return w.write(t.Body, p.split, kept, left == len(t.Body)), true
}

// userPreview returns the preview that the user's function writes for a result.
func (r *pruner) userPreview(t *retain.Text) string {
	if r.Preview == nil || t.Call < 0 || t.Source < retain.SourceFile {
		return ""
	}
	c := &r.x.Calls[t.Call]
	own := r.Preview(c.Name, c.Path, t.Body)
	if len(own) >= len(t.Body) {
		return ""
	}
	return own
}

// previewWriter renders one preview.
type previewWriter struct {
	h           precis.Handle
	head        string // a description of the text, if it comes first
	numbered    bool   // lines have numbers, which show the gaps
	handleGiven bool   // the handle has been given
}

func (w *previewWriter) write(text string, s preview.Split, kept []bool, none bool) string {
	var out strings.Builder
	switch {
	case w.head != "" && none:
		return fmt.Sprintf("[%s: %s; left out]", w.h, w.head)
	case w.head != "":
		fmt.Fprintf(&out, "[%s: %s; shortened]\n", w.h, w.head)
		w.handleGiven = true
	}
	body := s.Render(text, func(i int) bool { return kept[i] }, w.gap)
	if w.numbered {
		body = narrow(body)
	}
	out.WriteString(body)
	return out.String()
}

func (w *previewWriter) gap(lines, n int) string {
	switch {
	case !w.handleGiven:
		w.handleGiven = true
		return gapNamed(lines, n, w.h)
	case w.numbered && lines > 0:
		return "…"
	}
	return gapNote(lines, n)
}

// numbered reports whether most of the first lines have numbers.
func numbered(text string) bool {
	with, all := 0, 0
	for line := range strings.Lines(text) {
		if retain.NumberColumn(line) > 0 {
			with++
		}
		if all++; all == 12 {
			break
		}
	}
	return with*2 > all
}

// narrow removes the white space before line numbers.
func narrow(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		if retain.NumberColumn(line) > 0 {
			line = strings.TrimLeft(line, " ")
		}
		out.WriteString(line)
	}
	return out.String()
}

// filled fills gaps that are no longer than the note that would replace them.
func (r *pruner) filled(p *part, keep []bool) []bool {
	const note = 24
	out := slices.Clone(keep)
	// the message to be answered keeps its beginning
	last := r.x.Texts[p.text].Handle.From == r.s.Transcript.Len()-1
	for i, piece := range p.split.Pieces {
		out[i] = out[i] || piece.Class == fixed || last && piece.Start < beginning
	}
	for i := 0; i < len(out); i++ {
		if out[i] {
			continue
		}
		end, n := i, 0
		for end < len(out) && !out[end] {
			n += p.split.Pieces[end].End - p.split.Pieces[end].Start
			end++
		}
		if n <= note {
			for k := i; k < end; k++ {
				out[k] = true
			}
		}
		i = end
	}
	return out
}

// beginning is how many bytes at the start of the last message's texts always
// stay.
const beginning = 200

func gapNote(lines, n int) string {
	switch {
	case lines == 1:
		return "[… 1 line]"
	case lines > 1:
		return fmt.Sprintf("[… %d lines]", lines)
	}
	return fmt.Sprintf("[… %d bytes]", n)
}

func gapNamed(lines, n int, h precis.Handle) string {
	note := gapNote(lines, n)
	return note[:len(note)-1] + " left out, see " + h.String() + "]"
}

// replaceStrings returns a JSON value with the strings of the given numbers
// replaced; strings and numbers count in the order of jsonspan.Strings.
func replaceStrings(raw []byte, texts map[int32]string) ([]byte, bool) {
	opts := []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}
	d := jsontext.NewDecoder(bytes.NewBuffer(raw), opts...)
	var out bytes.Buffer
	e := jsontext.NewEncoder(&out, opts...)
	n, depth := int32(0), -1
	for depth != 0 {
		t, err := d.ReadToken()
		if err != nil {
			return nil, false
		}
		kind, at := d.StackIndex(d.StackDepth())
		isName := kind == jsontext.KindBeginObject && at%2 == 1 && t.Kind() == '"'
		if (t.Kind() == '"' || t.Kind() == '0') && !isName {
			if short, ok := texts[n]; ok && t.Kind() == '"' {
				t = jsontext.String(short)
			}
			n++
		}
		if err := e.WriteToken(t); err != nil {
			return nil, false
		}
		depth = d.StackDepth()
	}
	return bytes.TrimSpace(out.Bytes()), true
}

const fence = "```"

func hasFence(text string) bool { return strings.Contains(text, fence) }

// opener returns where the content of the next code block begins: after a line that begins with a
// fence and has no second one; -1 for none.
func opener(text string, at int) int {
	for at < len(text) {
		i := strings.Index(text[at:], fence)
		if i < 0 {
			return -1
		}
		i += at
		line, _, more := strings.Cut(text[i+len(fence):], "\n")
		if !more {
			return -1
		}
		body := i + len(fence) + len(line) + 1
		if (i == 0 || text[i-1] == '\n') && !strings.Contains(line, fence) {
			return body
		}
		at = i + len(fence)
	}
	return -1
}

// fixed is the class of pieces that must stay.
const fixed = preview.Headline + 1

// fences splits a text so that only the content of its long code blocks may be omitted.
func fences(text string) preview.Split {
	const long = 600
	var s preview.Split
	at := 0
	add := func(end int, c preview.Class) {
		if end > at {
			s.Pieces = append(s.Pieces, preview.Piece{Start: at, End: end, Class: c})
			at = end
		}
	}
	for {
		body := opener(text, at)
		if body < 0 {
			break
		}
		end := strings.Index(text[body-1:], "\n"+fence)
		if end < 0 {
			break
		}
		end += body
		add(body, fixed)
		if end-body > long {
			sub := preview.Of(text[body:end], preview.Hint{})
			for _, p := range sub.Pieces {
				add(body+p.End, p.Class)
			}
		}
		add(end, fixed)
		at = max(at, end)
		add(min(end+len(fence), len(text)), fixed)
	}
	add(len(text), fixed)
	return s
}
