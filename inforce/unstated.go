package inforce

import (
	"slices"
	"strings"

	"github.com/precis-dev/precis"
)

// noteShare is the share of the target that the notes of one edit may take.
const noteShare = 16

// noteOnUnstated returns the note on items named by the caller that lie in hidden blocks, are not kept,
// and are not stated in the replacing messages; "" when there are none.
func (c *Carrier) noteOnUnstated(with []precis.Message, hidden func(precis.Handle) bool) string {
	var said string
	var out strings.Builder
	for _, h := range c.Content.Items {
		if len(h.Required) == 0 || h.Kept() && c.edit.Kind != precis.KindClip ||
			!slices.ContainsFunc(h.At, hidden) {
			continue // only a clip cuts kept blocks
		}
		if said == "" {
			var texts []string
			for _, m := range with {
				texts = append(texts, folded(wordsOf(m)))
			}
			said = strings.Join(texts, " ")
		}
		lines := ""
		for _, text := range h.Required {
			if !strings.Contains(said, folded(text)) {
				lines += "\n- " + text
			}
		}
		switch n := c.Meter.Block(precis.RoleUser, precis.Text{Text: lines}); {
		case lines == "":
		case n > c.noteRoom:
			c.reportUnstated(h.Name)
		default:
			c.noteRoom -= n
			out.WriteString("\n" + h.Name + ":" + lines)
		}
	}
	if out.Len() == 0 {
		return ""
	}
	return precis.HeadHeld + ".]" + out.String()
}

// block adds to a shortened block the items of it that its text does not state.
func (c *Carrier) block(r *precis.Replacement) {
	said := r.WithBlock
	if use, ok := said.(precis.ToolUse); ok {
		said = precis.Text{Text: string(use.Input)}
	}
	note := c.noteOnUnstated([]precis.Message{{Content: []precis.Block{said}}}, func(at precis.Handle) bool {
		return at.From == r.From && (at.Block < 0 || at.Block == r.Block.Index)
	})
	if note == "" {
		return
	}
	switch with := r.WithBlock.(type) {
	case precis.Text:
		with.Text += "\n\n" + note
		r.WithBlock = with
	case precis.ToolResult:
		with.Content = append(slices.Clone(with.Content), precis.Text{Text: note})
		r.WithBlock = with
	case precis.ToolUse: // a call cannot be extended
		c.reportUnstated(strings.TrimSpace(strings.TrimPrefix(note, precis.HeadHeld+".]")))
	}
}

// reportUnstated reports an item that the view does not state.
func (c *Carrier) reportUnstated(what string) {
	name, _, _ := strings.Cut(what, "\n")
	c.report("what holds and is not said: " + strings.TrimSuffix(name, ":"))
}

// report adds a note to the report of the edit, once.
func (c *Carrier) report(note string) {
	if !slices.Contains(c.edit.Report.Notes, note) {
		c.edit.Report.Notes = append(slices.Clone(c.edit.Report.Notes), note)
	}
}

// States reports whether a message contains words, whatever white space is between them.
func States(m precis.Message, words string) bool {
	return strings.Contains(folded(wordsOf(m)), folded(words))
}

// wordsOf returns the texts of a message, including the texts of its results.
func wordsOf(m precis.Message) string {
	var out []string
	for _, b := range m.Content {
		switch b := b.(type) {
		case precis.Text:
			out = append(out, b.Text)
		case precis.ToolResult:
			out = append(out, b.Text())
		}
	}
	return strings.Join(out, "\n")
}

// folded returns a text with each run of white space as one space.
func folded(text string) string { return strings.Join(strings.Fields(text), " ") }
