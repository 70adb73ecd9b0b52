package reports

import (
	"context"
	"fmt"

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
	// Loses is what a run that is not forced is refused for, with --dry-run; nil: nothing.
	Loses *precis.Gone `json:"would_lose,omitempty"`
}

// DryRun prints what would be done.
func (p *Printer) DryRun(ctx context.Context, j *jobs.Job, done conversation.Condensed, full bool) error {
	res := done.Result
	changes, err := conversation.Diff(ctx, j.Home, j.Home.ID(), res.Edits, res.Report.Calibration)
	if err != nil {
		return err
	}
	if p.AsJSON {
		return p.JSON(Condensed{Report: res.Report, Diff: changes, Loses: done.Loses})
	}
	o := outcomeOf(j, res, after(j.Conversation, res))
	p.outcome(j, res, o, p.Words.Say("dryrun"))
	if len(res.Edits) > 0 {
		p.lost(res.Report.Retention)
		p.diff(changes, full)
	}
	if done.Loses != nil {
		p.Text.Printf("\n")
		p.Text.Headline("bad", p.Words.Say("dry.refused", term.Plain((&conversation.LossError{Gone: *done.Loses}).Said())))
	}
	p.Text.Printf("\n  %s\n", p.Words.Say("dry"))
	return nil
}

// Condensed prints what was done, where it is, and how to take it back.
func (p *Printer) Condensed(j *jobs.Job, res precis.Result, where string) error {
	if p.AsJSON {
		return p.JSON(Condensed{Report: res.Report, Written: where})
	}
	o := outcomeOf(j, res, after(j.Conversation, res))
	if where == "" {
		p.outcome(j, res, o, p.Words.Say("unwritten"))
		return nil
	}
	file := ShellWord(where)
	p.outcome(j, res, o, "",
		term.Pair{Name: p.Words.Say("writtento"), Value: where, Style: "good"},
		term.Pair{Name: p.Words.Say("undo"), Value: "precis undo " + file},
		term.Pair{Name: p.Words.Say("find"), Value: fmt.Sprintf("precis inspect %s, precis search %s WORD...", file, file)},
	)
	return nil
}

// outcome prints the result of a run: one sentence, the window, what was kept and
// lost, what to do next; and the arithmetic when that is asked for.
func (p *Printer) outcome(j *jobs.Job, res precis.Result, o outcome, prefix string, next ...term.Pair) {
	w := p.Text
	r := res.Report
	style, text := o.headline(p.Words)
	w.Headline(style, prefix+text)
	p.bar(compositionOf(j.Conversation, after(j.Conversation, res), meterOf(j), r.After.Tokens, r.Decision))
	pairs := []term.Pair{{Name: p.Words.Say("kept"), Value: keptText(p.Words, r)}, {Name: p.Words.Say("lost"), Value: o.lossText(p.Words), Style: "bad"}}
	pairs = append(pairs, callPairs(p.Words, r)...)
	if n := len(r.Repairs); n > 0 {
		pairs = append(pairs, term.Pair{Name: "mended", Value: fmt.Sprintf("the recording was not a valid request; %s, the first: %s", term.Count(n, "place"), r.Repairs[0]), Style: "warn"})
	}
	w.Styled(append(pairs, next...)...)
	if p.Verbose {
		p.arithmetic(j, r)
	}
}

// arithmetic prints how a result came about.
func (p *Printer) arithmetic(j *jobs.Job, r precis.Report) {
	w := p.Text
	w.Printf("\n")
	pairs := [][2]string{
		{"recording", kindOf(j.File.Format, j.File.Origin.Agent) + ", " + term.Count(j.Conversation.Transcript.Len(), "message")},
		{"window", r.Decision.Window.String()},
		{"before", sizeText(r.Before, r.Decision.Window.Tokens)},
		{"after", sizeText(r.After, r.Decision.Window.Tokens)},
		{"decision", fmt.Sprintf("%s: %s", r.Decision.Action, r.Arithmetic)},
		{"counted", fmt.Sprintf("%s × %.2f", r.Counter, r.Calibration)},
	}
	w.Pairs(append(pairs, skipped(r)...)...)
	p.edits(r)
}
