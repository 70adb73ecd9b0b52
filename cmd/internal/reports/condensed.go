package reports

import (
	"context"
	"fmt"
	"strings"

	"github.com/precis-dev/precis/archive/roo"
	"github.com/precis-dev/precis/cmd/internal/jobs"
	"github.com/precis-dev/precis/cmd/internal/term"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/conversation/diff"
	"github.com/precis-dev/precis/conversation/recording"
	"github.com/precis-dev/precis/policy"
)

// Condensed is the JSON result of a condensation.
type Condensed struct {
	Report  policy.Report `json:"report"`
	Written string        `json:"written,omitempty"`
	Diff    []diff.Part   `json:"diff,omitempty"` // with --dry-run
	// Loses is the content missing from the new view, with --dry-run; nil: none.
	Loses *policy.Loss `json:"would_lose,omitempty"`
}

// DryRun prints the result that a condensation would have.
func (p *Printer) DryRun(ctx context.Context, j *jobs.Job, done conversation.Condensed, full bool) error {
	res := done.Result
	changes, err := conversation.Diff(ctx, j.Home, j.Home.ID(), res.Edits, res.Report.Calibration)
	if err != nil {
		return err
	}
	if p.AsJSON {
		return p.JSON(Condensed{Report: res.Report, Diff: changes, Loses: done.Loses})
	}
	comp, err := conversation.CompositionOf(ctx, j.Home, j.Home.ID(), res.Edits...)
	if err != nil {
		return err
	}
	o := outcomeOf(j, res, editsAfter(j.Conversation, res))
	var next []term.Pair
	if k, ok := j.File.KeptInTask(res.Edits); ok {
		next = p.rangeNote(k)
	}
	p.printOutcome(j, res, o, comp, p.Words.Say("dryrun"), next...)
	if len(res.Edits) > 0 {
		p.printLosses(res.Report.Retention)
		p.diff(changes, full)
	}
	if done.Loses != nil && done.Loses.Refuses() {
		p.Text.Printf("\n")
		p.Text.Headline("bad", p.Words.Say("dry.refused",
			p.Words.Sentence(term.Plain((&conversation.LossError{Loss: *done.Loses}).Quoted()))))
	}
	p.Text.Printf("\n  %s\n", p.Words.Say("dry"))
	return nil
}

// Condensed prints the result, where it was written, and how to undo it.
func (p *Printer) Condensed(ctx context.Context, j *jobs.Job, res policy.Result, where string) error {
	if p.AsJSON {
		return p.JSON(Condensed{Report: res.Report, Written: where})
	}
	comp, err := conversation.CompositionOf(ctx, j.Home, j.Home.ID())
	if err != nil {
		return err
	}
	o := outcomeOf(j, res, editsAfter(j.Conversation, res))
	if where == "" {
		p.printOutcome(j, res, o, comp, p.Words.Say("unwritten"))
		return nil
	}
	file := ShellWord(where)
	k, ok := j.File.KeptInTask(res.Edits)
	if ok {
		where += ": " + p.inTask(k)
	}
	next := append([]term.Pair{{Name: p.Words.Say("writtento"), Value: where, Style: "good"}},
		p.rangeNote(k)...)
	p.printOutcome(j, res, o, comp, "", append(next,
		term.Pair{Name: p.Words.Say("undo"), Value: "precis undo " + file},
		term.Pair{Name: p.Words.Say("find"),
			Value: fmt.Sprintf("precis inspect %s, precis search %s WORD...", file, file)},
	)...)
	return nil
}

// rangeNote explains Cline's range if edits were written as one.
func (p *Printer) rangeNote(k recording.KeptInTask) []term.Pair {
	if k.Range == "" {
		return nil
	}
	return []term.Pair{{Name: p.Words.Say("range"), Value: p.Words.Say("range.note"), Style: "warn"}}
}

// inTask names the files of a task folder that hold the edits.
func (p *Printer) inTask(k recording.KeptInTask) string {
	var parts []string
	if len(k.Files) > 0 {
		parts = append(parts, p.Words.List(k.Files))
	}
	if k.Range != "" {
		parts = append(parts, p.Words.Say("range.where", k.Hidden, k.Range))
	}
	if k.Beside > 0 {
		parts = append(parts, p.Words.Say("onlyprecis", p.Words.Count(k.Beside, "edit"), roo.SidecarName))
	}
	return strings.Join(parts, p.Words.Say("semicolon"))
}

// printOutcome prints the result of a run: one sentence, the window, what was kept and lost, and next
// steps; with --verbose also the arithmetic.
func (p *Printer) printOutcome(j *jobs.Job, res policy.Result, o outcome, comp conversation.Composition,
	prefix string, next ...term.Pair) {
	w := p.Text
	r := res.Report
	style, text := o.headline(p.Words)
	w.Headline(style, prefix+text)
	p.bar(compositionOf(comp))
	pairs := []term.Pair{{Name: p.Words.Say("kept"), Value: keptText(p.Words, r)},
		{Name: p.Words.Say("lost"), Value: lossText(p.Words, r.Retention), Style: "bad"}}
	pairs = append(pairs, callPairs(p.Words, r)...)
	if n := len(r.Repairs); n > 0 {
		pairs = append(pairs, term.Pair{Name: p.Words.Text("mended"),
			Value: p.Words.Text("the recording was not a valid request; %s, the first: %s",
				p.Words.Count(n, "place"), r.Repairs[0]), Style: "warn"})
	}
	w.Styled(append(pairs, next...)...)
	if p.Verbose {
		p.arithmetic(j, r)
	}
}

// arithmetic prints the sizes, decision and steps that led to a result.
func (p *Printer) arithmetic(j *jobs.Job, r policy.Report) {
	w := p.Text
	w.Printf("\n")
	pairs := [][2]string{
		{"recording", p.kindOf(j.File.Format, j.File.Origin.Agent) + p.Words.Say("comma") +
			p.Words.Count(j.Conversation.Transcript.Len(), "message")},
		{"window", p.Words.Sentence(r.Decision.Window.String())},
		{"before", p.sizeText(r.Before, r.Decision.Window.Tokens)},
		{"after", p.sizeText(r.After, r.Decision.Window.Tokens)},
		{"decision", p.Words.Text(string(r.Decision.Action)) + ": " + p.Words.Sentence(r.Arithmetic)},
		{"counted", fmt.Sprintf("%s × %.2f", r.Counter, r.Calibration)},
	}
	p.Pairs(append(pairs, skipped(p.Words, r)...)...)
	p.edits(r)
}
