package reports

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/cmd/internal/jobs"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/internal/census"
	"github.com/precis-dev/precis/internal/content"
	"github.com/precis-dev/precis/policy"
)

// Inspection is the result of inspect.
type Inspection struct {
	Format     string            `json:"format"`
	Agent      string            `json:"agent,omitempty"` // the program, if several share the format
	Path       string            `json:"path"`
	Title      string            `json:"title,omitempty"`
	Model      string            `json:"model,omitempty"`
	Branches   int               `json:"branches"`
	Skipped    int               `json:"skipped_lines"`
	Ignored    int               `json:"ignored_entries"`
	Warnings   []archive.Warning `json:"warnings,omitempty"`
	View       census.Census     `json:"view"`       // what the model sees now
	Transcript census.Census     `json:"transcript"` // everything that was said
	Window     precis.Window     `json:"window"`
	Status     policy.Status     `json:"status"`
	Decision   policy.Decision   `json:"decision"`
	Arithmetic string            `json:"arithmetic"`
	Would      string            `json:"would"`
	// with the preset off: the action it would take otherwise
	Shadow *policy.Shadow `json:"shadow,omitempty"`
	Edits  []EditLine     `json:"edits,omitempty"`

	Composition conversation.Composition `json:"composition"`
	Loss        *conversation.LossReport `json:"loss,omitempty"` // nil: the view has no edits
}

// EditLine is one edit in force.
type EditLine struct {
	Name   string          `json:"name"` // short: e1 is the oldest edit there ever was
	ID     string          `json:"id"`
	Kind   precis.EditKind `json:"kind"`
	Seen   int             `json:"at_message"`
	Time   time.Time       `json:"time,omitzero"`
	Reason string          `json:"reason"`
	Before *int            `json:"tokens_before,omitempty"` // of the view; nil: unknown
	After  *int            `json:"tokens_after,omitempty"`
	// of the first edit of a run: the outcome of each rung
	Steps []precis.RungResult `json:"steps,omitempty"`
}

func lineOf(e conversation.EditInfo) EditLine {
	reason := e.Report.Reason
	if reason == "" && len(e.Pins) > 0 {
		reason = "keeps " + fmt.Sprint(e.Pins[0])
		if n := len(e.Pins) - 1; n > 0 {
			reason += fmt.Sprintf(" and %d more", n)
		}
	}
	before, after := e.Report.Sizes()
	return EditLine{e.Name, e.ID, e.Kind, e.Seen, e.Time, reason, before, after, e.Report.Steps}
}

// Inspect examines a conversation and the reduction that would be made.
func Inspect(ctx context.Context, j *jobs.Job) (Inspection, error) {
	r := j.Request()
	r.DryRun = true
	would := ""
	res, err := j.Manager.Manage(ctx, r)
	switch {
	case precis.CodeOf(err) == precis.CodeOverBudget:
		would = err.Error()
	case err != nil:
		return Inspection{}, err
	case res.Report.Shadow != nil:
		would = res.Report.Shadow.Outcome
	default:
		would = res.Report.Outcome
	}
	status, err := j.Manager.Status(r)
	if err != nil {
		return Inspection{}, err
	}
	comp, err := conversation.CompositionOf(ctx, j.Home, j.Home.ID())
	if err != nil {
		return Inspection{}, err
	}
	said, err := comp.Unreduced(ctx, j.Home, j.Home.ID())
	if err != nil {
		return Inspection{}, err
	}
	v := Inspection{
		Format: j.File.Format, Agent: j.File.Origin.Agent, Path: j.File.Path,
		Title: content.Title(j.Conversation), Model: j.Model,
		Branches: len(j.Conversation.Branches), Skipped: j.File.Skipped, Ignored: j.File.Ignored,
		Warnings: j.File.Warnings,
		View:     comp.View, Transcript: said, Composition: comp,
		Window: j.Window, Status: status, Decision: res.Report.Decision, Arithmetic: res.Report.Arithmetic,
		Would: would, Shadow: res.Report.Shadow,
	}
	for _, e := range conversation.EditsOf(j.Conversation).Items {
		if e.InForce && e.Kind != precis.KindUndo {
			v.Edits = append(v.Edits, lineOf(e))
		}
	}
	if len(v.Edits) > 0 {
		lost, err := conversation.Loss(ctx, j.Home, j.Home.ID())
		if err != nil {
			return v, err
		}
		v.Loss = &lost
	}
	return v, nil
}

// kindOf names a recording by its program, and adds the format if its name differs.
func (p *Printer) kindOf(format, agent string) string {
	if agent == "" || agent == format {
		return format
	}
	return p.Words.Text("%s (format %s)", agent, format)
}

// Inspection prints the usage, the window as a bar, and its content.
func (p *Printer) Inspection(v Inspection) {
	w := p.Text
	title := v.Title
	if title == "" {
		title = v.Path
	}
	w.Title("%s", oneLine(title, w.Width()-2))
	c := compositionOf(v.Composition)
	p.usage(v, c)
	p.bar(c)
	w.Printf("\n")
	said := map[string]int{}
	for _, k := range v.Transcript.Kinds {
		said[k.Name] = k.Tokens
	}
	p.legend(c, said, v.Transcript.Total)
	p.results(v)
	p.editLines(v.Edits)
	w.Printf("\n")
	repeats := ""
	if n := v.View.Duplicates; n.Blocks > 0 {
		repeats = p.Words.Text("%s in %s, word for word", p.Words.Count(n.Tokens, "token"),
			p.Words.Count(n.Blocks, "block"))
	}
	kept, lost := "", ""
	if v.Loss != nil {
		kept, lost = retainedText(p.Words, v.Loss.Retention, ""), lossText(p.Words, &v.Loss.Retention)
	}
	because := ""
	if p.Verbose {
		because = p.Words.Sentence(v.Arithmetic)
	}
	p.Pairs(
		[2]string{"recording", p.kindOf(v.Format, v.Agent) + p.Words.Say("comma") +
			p.Words.Count(v.Status.Messages, "message") + p.extras(v)},
		[2]string{"model", v.Model},
		[2]string{"window", p.Words.Sentence(v.Window.String())},
		[2]string{"repeats", repeats},
		[2]string{"condensed", historyText(p.Words, v.Status)},
		[2]string{"kept", kept}, [2]string{"lost", lost},
		[2]string{"acts", p.thresholdText(v.Decision, c)},
		[2]string{"would do", p.plannedReduction(v)},
		[2]string{"because", because},
	)
}

// usage prints how full the window is.
func (p *Printer) usage(v Inspection, c composition) {
	style := ""
	switch {
	case c.used > c.window:
		style = "bad"
	case v.Decision.Action != policy.ActionNone:
		style = "warn"
	}
	p.Text.Paragraph(style, p.Words.Text("%s of %s tokens (%s), %s of %s shown to the model",
		p.Words.Number(c.used), p.Words.Number(c.window), percent(p.Words, c.used, c.window),
		p.Words.Number(v.Status.Shown), p.Words.Count(v.Status.Messages, "message")))
}

// plannedReduction describes the reduction that would be made.
func (p *Printer) plannedReduction(v Inspection) string {
	w := p.Words
	reduces := strings.HasPrefix(v.Would, "reduced ")
	switch {
	case w.English():
		return plannedReductionEnglish(v)
	case v.Shadow != nil && reduces:
		return w.Text("nothing, since it only watches (preset off); otherwise: %s", w.Sentence(v.Would))
	case reduces, v.Decision.Action == policy.ActionNone:
		return w.Sentence(v.Would)
	}
	return w.Text(string(v.Decision.Action)) + ": " + w.Sentence(v.Would)
}

// plannedReductionEnglish is the English form, which rewrites the verb for an action not taken yet.
func plannedReductionEnglish(v Inspection) string {
	rest, reduces := strings.CutPrefix(v.Would, "reduced ")
	switch {
	case v.Shadow != nil && reduces:
		return "nothing, since it only watches (preset off); else it would be reduced " + rest
	case reduces && v.Decision.Action != policy.ActionNone:
		return "reduce it " + rest
	case v.Decision.Action == policy.ActionNone:
		return v.Would
	}
	return string(v.Decision.Action) + ": " + v.Would
}

func (p *Printer) extras(v Inspection) string {
	w, s := p.Words, ""
	if v.Branches > 0 {
		s += w.Say("comma") + w.Count(v.Branches, "side conversation")
	}
	if v.Ignored > 0 {
		s += w.Say("comma") + w.Text("%s without a message", w.Count(v.Ignored, "entry"))
	}
	if v.Skipped > 0 {
		s += w.Say("comma") + w.Text("%s skipped", w.Count(v.Skipped, "malformed line"))
	}
	return s
}

func (p *Printer) results(v Inspection) {
	if len(v.View.Results) == 0 {
		return
	}
	const most = 10
	var rows [][]string
	for i, r := range v.View.Results {
		if i == most {
			rows = append(rows, []string{p.Words.Text("… %d more", len(v.View.Results)-most), "", "", ""})
			break
		}
		rows = append(rows, []string{oneLine(r.Name, 40), p.Words.Number(r.Tokens),
			percent(p.Words, r.Tokens, v.Window.Tokens), p.Words.Number(r.Blocks)})
	}
	p.Text.Printf("\n")
	p.Text.Table(p.Words.Heads("tool results of", "tokens", "share", "results"), []int{1, 2, 3}, rows)
}

func (p *Printer) editLines(edits []EditLine) {
	if len(edits) == 0 {
		return
	}
	heads, right := p.Words.Heads("edit", "kind", "at message"), []int{2}
	sized := p.Text.Width() >= 80 && slices.ContainsFunc(edits,
		func(e EditLine) bool { return e.Before != nil || e.After != nil })
	if sized {
		heads, right = append(heads, p.Words.Text("tokens")), append(right, 3)
	}
	var rows [][]string
	for _, e := range edits {
		row := []string{e.Name, p.Words.Kind(e.Kind), p.Words.Number(e.Seen)}
		if sized {
			row = append(row, p.sizes(e.Before, e.After))
		}
		rows = append(rows, append(row, p.Words.Sentence(e.Reason)))
	}
	p.Text.Printf("\n")
	p.Text.Table(append(heads, p.Words.Text("what")), right, rows)
	if p.Verbose {
		p.unusedRungs(edits)
	}
}

// sizes formats the tokens of a view before and after an edit; "" if both are unknown.
func (p *Printer) sizes(before, after *int) string {
	if before == nil && after == nil {
		return ""
	}
	return p.Words.Known(before) + " → " + p.Words.Known(after)
}

// unusedRungs lists the rungs that made no change in the runs of the edits, and why.
func (p *Printer) unusedRungs(edits []EditLine) {
	var rows [][]string
	for _, e := range edits {
		for _, s := range e.Steps {
			if s.Outcome != precis.OutcomeAccepted {
				rows = append(rows, []string{e.Name, s.Rung, p.Words.Outcome(s.Outcome), p.Words.Reason(s)})
			}
		}
	}
	if len(rows) > 0 {
		p.Text.Printf("\n")
		p.Text.Table(p.Words.Heads("run of", "rung declined", "outcome", "why"), nil, rows)
	}
}
