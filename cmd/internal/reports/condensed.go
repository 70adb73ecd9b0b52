package reports

import (
	"context"
	"fmt"
	"slices"

	"precis"
	"precis/cmd/internal/jobs"
	"precis/cmd/internal/term"
	"precis/conversation"
)

// Condensed is what was done, as JSON.
type Condensed struct {
	Report  precis.Report       `json:"report"`
	Written string              `json:"written,omitempty"`
	Diff    []conversation.Part `json:"diff,omitempty"` // with --dry-run
}

// DryRun prints what would be done.
func (p *Printer) DryRun(ctx context.Context, j *jobs.Job, res precis.Result, full bool) error {
	changes, err := conversation.Diff(ctx, j.Home, j.Home.ID(), res.Edits, res.Report.Calibration)
	if err != nil {
		return err
	}
	if p.AsJSON {
		return p.JSON(Condensed{Report: res.Report, Diff: changes})
	}
	p.reduced(j, res, "dry run: ")
	if len(res.Edits) > 0 {
		p.lost(res.Report.Retention)
		p.diff(changes, full)
	}
	p.Text.Printf("\n  nothing was written (--dry-run)\n")
	return nil
}

// Condensed prints what was done, where it is, and how to get at what is hidden.
func (p *Printer) Condensed(j *jobs.Job, res precis.Result, where string) error {
	if p.AsJSON {
		return p.JSON(Condensed{Report: res.Report, Written: where})
	}
	p.reduced(j, res, "")
	w := p.Text
	if where == "" {
		w.Printf("\n  nothing was written: there is nothing to change\n")
		return nil
	}
	w.Printf("\n  %s %s\n", w.Style("good", "written to"), where)
	file := ShellWord(where)
	next := [][2]string{{"find what is hidden", "precis search " + file + " WORD..."}}
	if h, ok := firstHidden(res.Edits); ok {
		next = append(next, [2]string{"read it", fmt.Sprintf("precis show %s %s", file, h)}, [2]string{"show it to the model", fmt.Sprintf("precis restore %s %s", file, h)})
	}
	w.Pairs(append(next, [2]string{"take all of it back", "precis undo " + file})...)
	return nil
}

func (p *Printer) reduced(j *jobs.Job, res precis.Result, prefix string) {
	w := p.Text
	r := res.Report
	w.Title("%s", prefix+r.Outcome)
	total := max(r.Before.Tokens, r.Decision.Window.Tokens)
	w.Printf("\n")
	w.Printf("  before %s\n", sizeText(r.Before, r.Decision.Window.Tokens))
	w.Bar(total, []term.Segment{{Name: "bad", Value: r.Before.Tokens}})
	w.Printf("  after  %s\n", sizeText(r.After, r.Decision.Window.Tokens))
	w.Bar(total, []term.Segment{{Name: "good", Value: r.After.Tokens}})
	w.Printf("\n")
	w.Pairs(append([][2]string{
		{"recording", fmt.Sprintf("%s, %s messages", j.File.Format, term.Number(j.Conversation.Transcript.Len()))},
		{"window", r.Decision.Window.String()},
		{"decision", r.Arithmetic},
		{"counted", fmt.Sprintf("%s × %.2f", r.Counter, r.Calibration)},
		{"kept", keptText(r)},
	}, callPairs(r)...)...)
	p.edits(r)
}

// firstHidden returns a handle to something that the edits hide.
func firstHidden(edits []precis.Edit) (precis.Handle, bool) {
	for _, e := range slices.Backward(edits) {
		if len(e.Replace) == 0 {
			continue
		}
		r := e.Replace[0]
		if r.Block != nil {
			return precis.BlockHandle(r.From, r.Block.Index), true
		}
		return precis.SpanHandle(r.From, r.To), true
	}
	return precis.Handle{}, false
}
