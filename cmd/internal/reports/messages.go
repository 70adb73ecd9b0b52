package reports

import (
	"context"
	"fmt"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/cmd/internal/jobs"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/policy"
)

// View prints the messages of a view, one line for each block, and the result of the run.
func (p *Printer) View(ctx context.Context, j *jobs.Job, res policy.Result) error {
	w := p.Text
	for i, m := range res.View {
		w.Printf("%s %s\n", w.Style("dim", fmt.Sprintf("%4d", i)), w.Style(string(m.Role), string(m.Role)))
		for _, b := range m.Content {
			w.Printf("     %s\n", describe(b, w.Width()-6))
		}
	}
	w.Printf("\n")
	comp, err := conversation.CompositionOf(ctx, j.Home, j.Home.ID(), unrecordedEdits(j.Conversation, res)...)
	if err != nil {
		return err
	}
	o := outcomeOf(j, res, editsAfter(j.Conversation, res))
	p.printOutcome(j, res, o, comp, "")
	return nil
}

// unrecordedEdits returns the edits of a run that are not recorded yet.
func unrecordedEdits(conv *precis.Conversation, res policy.Result) []precis.Edit {
	return editsAfter(conv, res)[len(conv.Edits):]
}

// describe formats a block on one line.
func describe(b precis.Block, width int) string {
	switch b := b.(type) {
	case precis.Text:
		return oneLine(b.Text, width)
	case precis.Thinking:
		return "thinking: " + oneLine(b.Text, width-10)
	case precis.ToolUse:
		return "→ " + b.Name + " " + oneLine(string(b.Input), width-len(b.Name)-3)
	case precis.ToolResult:
		mark := "← "
		if b.IsError {
			mark = "← error: "
		}
		return mark + oneLine(b.Text(), width-len(mark))
	case precis.Image:
		return "[image " + b.MediaType + "]"
	case precis.Document:
		return "[document " + b.Title + " " + b.MediaType + "]"
	case precis.Opaque:
		return "[" + b.Type + "]"
	}
	return "[reasoning]"
}

// Messages prints messages in full; first is the number of the first one.
func (p *Printer) Messages(first int, msgs []precis.Message) {
	for i, m := range msgs {
		at := precis.MessageHandle(first + i).String()
		p.Text.Printf("%s %s\n", p.Text.Style("dim", at), p.Text.Style(string(m.Role), string(m.Role)))
		for _, b := range m.Content {
			p.Text.Printf("%s\n", fullText(b))
		}
		p.Text.Printf("\n")
	}
}

// fullText returns a block in full.
func fullText(b precis.Block) string {
	switch b := b.(type) {
	case precis.Text:
		return b.Text
	case precis.Thinking:
		return "[thinking]\n" + b.Text
	case precis.ToolUse:
		return "[tool use " + b.ID + ": " + b.Name + "]\n" + string(b.Input)
	case precis.ToolResult:
		out := "[tool result " + b.ToolUseID + "]"
		for _, c := range b.Content {
			out += "\n" + fullText(c)
		}
		return out
	case precis.Opaque:
		return "[" + b.Type + "]\n" + string(b.Raw)
	}
	return describe(b, 200)
}
