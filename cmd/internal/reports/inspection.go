package reports

import (
	"context"
	"fmt"
	"time"

	"precis"
	"precis/archive"
	"precis/cmd/internal/jobs"
	"precis/cmd/internal/term"
	"precis/internal/census"
)

// Inspection is what inspect prints.
type Inspection struct {
	Format     string            `json:"format"`
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
	ID     string          `json:"id"`
	Kind   precis.EditKind `json:"kind"`
	Seen   int             `json:"at_message"`
	Time   time.Time       `json:"time,omitzero"`
	Reason string          `json:"reason"`
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
	meter := j.Manager.NewMeter()
	v := Inspection{
		Format: j.File.Format, Path: j.File.Path, Title: j.Conversation.Title, Model: j.Model,
		Branches: len(j.Conversation.Branches), Skipped: j.File.Skipped, Ignored: j.File.Ignored, Warnings: j.File.Warnings,
		View:       census.Take(j.Conversation, precis.View(j.Conversation.Transcript, j.Conversation.Edits), meter),
		Transcript: census.Take(j.Conversation, j.Conversation.Transcript.Messages(), meter),
		Window:     j.Window, Status: status, Decision: res.Report.Decision, Arithmetic: res.Report.Arithmetic, Would: would,
	}
	for _, e := range precis.Active(j.Conversation.Edits) {
		v.Edits = append(v.Edits, EditLine{e.ID, e.Kind, e.Seen, e.Time, e.Report.Reason})
	}
	return v, nil
}

func (p *Printer) Inspection(v Inspection) {
	w := p.Text
	title := v.Title
	if title == "" {
		title = v.Path
	}
	w.Title("%s", oneLine(title, 90))
	w.Pairs(
		[2]string{"recording", fmt.Sprintf("%s, %s messages%s", v.Format, term.Number(v.Status.Messages), extras(v))},
		[2]string{"model", v.Model},
		[2]string{"window", v.Window.String()},
	)
	p.status(v.Status)
	w.Printf("\n")
	var segments []term.Segment
	for _, k := range v.View.Kinds {
		segments = append(segments, term.Segment{Name: k.Name, Value: k.Tokens})
	}
	w.Bar(max(v.Window.Tokens, v.View.Total), segments)
	w.Printf("\n")
	p.shares(v)
	p.results(v)
	if n := v.View.Duplicates; n.Blocks > 0 {
		w.Printf("\n  %s in %s are word for word repeats\n", term.Count(n.Tokens, "token"), term.Count(n.Blocks, "block"))
	}
	p.editLines(v.Edits)
	w.Printf("\n")
	w.Pairs([2]string{"would do", string(v.Decision.Action) + ": " + v.Would}, [2]string{"because", v.Arithmetic})
}

func extras(v Inspection) string {
	s := ""
	if v.Branches > 0 {
		s += ", " + term.Count(v.Branches, "side conversation")
	}
	if v.Ignored > 0 {
		s += fmt.Sprintf(", %s entries that are no messages", term.Number(v.Ignored))
	}
	if v.Skipped > 0 {
		s += ", " + term.Count(v.Skipped, "malformed line") + " skipped"
	}
	return s
}

func (p *Printer) shares(v Inspection) {
	said := map[string]int{}
	for _, k := range v.Transcript.Kinds {
		said[k.Name] = k.Tokens
	}
	var rows [][]string
	for i, k := range v.View.Kinds {
		rows = append(rows, []string{
			p.Text.Mark(i, k.Name) + " " + k.Name, term.Number(k.Tokens), percent(k.Tokens, v.View.Total),
			term.Number(k.Blocks), term.Number(said[k.Name]),
		})
	}
	rows = append(rows, []string{"  total", term.Number(v.View.Total), "", "", term.Number(v.Transcript.Total)})
	p.Text.Table([]string{"who", "tokens", "share", "blocks", "ever said"}, []int{1, 2, 3, 4}, rows)
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
		rows = append(rows, []string{oneLine(r.Name, 40), term.Number(r.Tokens), percent(r.Tokens, v.View.Total), term.Number(r.Blocks)})
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
		rows = append(rows, []string{e.ID, string(e.Kind), term.Number(e.Seen), e.Reason})
	}
	p.Text.Printf("\n")
	p.Text.Table([]string{"edit in force", "kind", "at message", "what"}, []int{2}, rows)
}

func percent(n, total int) string {
	if total == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(n)/float64(total))
}
