package reports

import (
	"context"
	"fmt"
	"strings"
	"time"

	"precis"
	"precis/archive"
	"precis/cmd/internal/jobs"
	"precis/cmd/internal/term"
	"precis/conversation"
	"precis/internal/census"
	"precis/internal/content"
)

// Inspection is what inspect prints.
type Inspection struct {
	Format     string            `json:"format"`
	Agent      string            `json:"agent,omitempty"` // the program, where several share the format
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
	Status     precis.Status     `json:"status"`
	Decision   precis.Decision   `json:"decision"`
	Arithmetic string            `json:"arithmetic"`
	Would      string            `json:"would"`
	Edits      []EditLine        `json:"edits,omitempty"`
}

// EditLine is one edit in force.
type EditLine struct {
	Name   string          `json:"name"` // short: e1 is the oldest edit there ever was
	ID     string          `json:"id"`
	Kind   precis.EditKind `json:"kind"`
	Seen   int             `json:"at_message"`
	Time   time.Time       `json:"time,omitzero"`
	Reason string          `json:"reason"`
	Steps  []precis.Step   `json:"steps,omitempty"` // of the first edit of a run: what became of each rung
}

func lineOf(e conversation.EditInfo) EditLine {
	reason := e.Report.Reason
	if reason == "" && len(e.Pins) > 0 {
		reason = "keeps " + fmt.Sprint(e.Pins[0])
		if n := len(e.Pins) - 1; n > 0 {
			reason += fmt.Sprintf(" and %d more", n)
		}
	}
	return EditLine{e.Name, e.ID, e.Kind, e.Seen, e.Time, reason, e.Report.Steps}
}

// Inspect looks at a conversation, and at what would be done.
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
	default:
		would = res.Report.Outcome
	}
	status, err := j.Manager.Status(r)
	if err != nil {
		return Inspection{}, err
	}
	meter := meterOf(j)
	said := census.Take(j.Conversation, precis.Units(j.Conversation.Transcript, nil), meter)
	view := said
	if len(precis.Active(j.Conversation.Edits)) > 0 {
		view = census.Take(j.Conversation, precis.Units(j.Conversation.Transcript, j.Conversation.Edits), meter)
	}
	counted := view.Total
	view = view.Of(status.Tokens)
	said = said.Of(int(int64(said.Total) * int64(status.Tokens) / int64(max(counted, 1)))) // by the same measure
	v := Inspection{
		Format: j.File.Format, Agent: j.File.Origin.Agent, Path: j.File.Path, Title: content.Title(j.Conversation), Model: j.Model,
		Branches: len(j.Conversation.Branches), Skipped: j.File.Skipped, Ignored: j.File.Ignored, Warnings: j.File.Warnings,
		View: view, Transcript: said,
		Window: j.Window, Status: status, Decision: res.Report.Decision, Arithmetic: res.Report.Arithmetic, Would: would,
	}
	for _, e := range conversation.EditsOf(j.Conversation).Items {
		if e.InForce && e.Kind != precis.KindUndo {
			v.Edits = append(v.Edits, lineOf(e))
		}
	}
	return v, nil
}

// kindOf names a recording: by the program that made it, and by the format where that is
// called otherwise.
func kindOf(format, agent string) string {
	if agent == "" || agent == format {
		return format
	}
	return agent + " (format " + format + ")"
}

// Inspection prints it: the usage, the window as a bar, and what is in it.
func (p *Printer) Inspection(v Inspection) {
	w := p.Text
	title := v.Title
	if title == "" {
		title = v.Path
	}
	w.Title("%s", oneLine(title, w.Width()-2))
	c := compose(v.View, v.Status.Tokens, v.Decision)
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
		repeats = fmt.Sprintf("%s in %s, word for word", term.Count(n.Tokens, "token"), term.Count(n.Blocks, "block"))
	}
	because := ""
	if p.Verbose {
		because = v.Arithmetic
	}
	w.Pairs(
		[2]string{"recording", kindOf(v.Format, v.Agent) + ", " + term.Count(v.Status.Messages, "message") + extras(v)},
		[2]string{"model", v.Model},
		[2]string{"window", v.Window.String()},
		[2]string{"repeats", repeats},
		[2]string{"condensed", historyText(p.Words, v.Status)},
		[2]string{"acts", actsText(v.Decision, c)},
		[2]string{"would do", would(v)},
		[2]string{"because", because},
	)
}

// usage says how full the window is.
func (p *Printer) usage(v Inspection, c composition) {
	style := ""
	switch {
	case c.used > c.window:
		style = "bad"
	case v.Decision.Action != precis.ActionNone:
		style = "warn"
	}
	p.Text.Paragraph(style, fmt.Sprintf("%s of %s tokens (%s), %s of %s shown to the model",
		term.Number(c.used), term.Number(c.window), percent(c.used, c.window), term.Number(v.Status.Shown), term.Count(v.Status.Messages, "message")))
}

// would says what would be done.
func would(v Inspection) string {
	if v.Decision.Action == precis.ActionNone {
		return v.Would
	}
	if rest, ok := strings.CutPrefix(v.Would, "reduced "); ok {
		return "reduce it " + rest
	}
	return string(v.Decision.Action) + ": " + v.Would
}

func extras(v Inspection) string {
	s := ""
	if v.Branches > 0 {
		s += ", " + term.Count(v.Branches, "side conversation")
	}
	if v.Ignored > 0 {
		s += ", " + term.Count(v.Ignored, "entry") + " without a message"
	}
	if v.Skipped > 0 {
		s += ", " + term.Count(v.Skipped, "malformed line") + " skipped"
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
			rows = append(rows, []string{fmt.Sprintf("… %d more", len(v.View.Results)-most), "", "", ""})
			break
		}
		rows = append(rows, []string{oneLine(r.Name, 40), term.Number(r.Tokens), percent(r.Tokens, v.Window.Tokens), term.Number(r.Blocks)})
	}
	p.Text.Printf("\n")
	p.Text.Table([]string{"tool results of", "tokens", "share", "results"}, []int{1, 2, 3}, rows)
}

func (p *Printer) editLines(edits []EditLine) {
	if len(edits) == 0 {
		return
	}
	var rows [][]string
	for _, e := range edits {
		rows = append(rows, []string{e.Name, string(e.Kind), term.Number(e.Seen), e.Reason})
	}
	p.Text.Printf("\n")
	p.Text.Table([]string{"edit", "kind", "at message", "what"}, []int{2}, rows)
	if p.Verbose {
		p.declined(edits)
	}
}

// declined lists the rungs that changed nothing in the runs that made the edits, and why.
func (p *Printer) declined(edits []EditLine) {
	var rows [][]string
	for _, e := range edits {
		for _, s := range e.Steps {
			if s.Outcome != precis.OutcomeAccepted {
				rows = append(rows, []string{e.Name, s.Rung, string(s.Outcome), s.Reason})
			}
		}
	}
	if len(rows) > 0 {
		p.Text.Printf("\n")
		p.Text.Table([]string{"run of", "rung declined", "outcome", "why"}, nil, rows)
	}
}
