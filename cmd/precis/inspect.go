package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"precis"
	"precis/archive"
	"precis/cmd/internal/term"
	"precis/internal/census"
	"precis/tokens"
)

func (a *app) inspectCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "inspect FILE",
		Short: "Show who uses the context, and what would be done",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			done := a.progress("reading " + args[0])
			j, err := a.open(cmd.Context(), args[0])
			if err != nil {
				done()
				return err
			}
			v, err := j.inspect(cmd.Context(), a)
			done()
			if err != nil {
				return err
			}
			if a.opts.json {
				return a.printJSON(v)
			}
			a.printInspection(j, v)
			return nil
		},
	}
}

// inspection is what inspect prints.
type inspection struct {
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
	Edits      []editLine        `json:"edits,omitempty"`
}

// editLine is one edit in force.
type editLine struct {
	ID     string          `json:"id"`
	Kind   precis.EditKind `json:"kind"`
	Seen   int             `json:"at_message"`
	Time   time.Time       `json:"time,omitzero"`
	Reason string          `json:"reason"`
}

func (j *job) inspect(ctx context.Context, a *app) (inspection, error) {
	counter, err := tokens.New(tokens.Options{Name: j.cfg.Estimate, Images: imageRule(j.model)})
	if err != nil {
		return inspection{}, err
	}
	r := j.request(a)
	r.DryRun = true
	would := ""
	res, err := j.manager.Manage(ctx, r)
	switch {
	case precis.IsOverBudget(err):
		would = err.Error()
	case err != nil:
		return inspection{}, err
	default:
		would = res.Report.Outcome
	}
	status, err := j.manager.Status(r)
	if err != nil {
		return inspection{}, err
	}
	meter := precis.NewMeter(counter)
	v := inspection{
		Format: j.rec.Format, Path: j.rec.Path, Title: j.conv.Title, Model: j.model,
		Branches: len(j.conv.Branches), Skipped: j.rec.Skipped, Ignored: j.rec.Ignored, Warnings: j.rec.Warnings,
		View:       census.Take(j.conv, precis.View(j.conv.Transcript, j.conv.Edits), meter),
		Transcript: census.Take(j.conv, j.conv.Transcript.Messages(), meter),
		Window:     j.window, Status: status, Decision: res.Report.Decision, Arithmetic: res.Report.Arithmetic, Would: would,
	}
	for _, e := range precis.Active(j.conv.Edits) {
		v.Edits = append(v.Edits, editLine{e.ID, e.Kind, e.Seen, e.Time, e.Report.Reason})
	}
	return v, nil
}

func (a *app) printInspection(j *job, v inspection) {
	w := a.term
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
	a.printStatus(v.Status)
	w.Printf("\n")
	var segments []term.Segment
	for _, k := range v.View.Kinds {
		segments = append(segments, term.Segment{Name: k.Name, Value: k.Tokens})
	}
	w.Bar(max(v.Window.Tokens, v.View.Total), segments)
	w.Printf("\n")
	a.printShares(v)
	a.printResults(v)
	if n := v.View.Duplicates; n.Blocks > 0 {
		w.Printf("\n  %s in %s are word for word repeats\n", term.Count(n.Tokens, "token"), term.Count(n.Blocks, "block"))
	}
	a.printEditLines(v.Edits)
	w.Printf("\n")
	w.Pairs([2]string{"would do", string(v.Decision.Action) + ": " + v.Would}, [2]string{"because", v.Arithmetic})
}

func extras(v inspection) string {
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

func (a *app) printShares(v inspection) {
	said := map[string]int{}
	for _, k := range v.Transcript.Kinds {
		said[k.Name] = k.Tokens
	}
	var rows [][]string
	for i, k := range v.View.Kinds {
		rows = append(rows, []string{
			a.term.Mark(i, k.Name) + " " + k.Name, term.Number(k.Tokens), percent(k.Tokens, v.View.Total),
			term.Number(k.Blocks), term.Number(said[k.Name]),
		})
	}
	rows = append(rows, []string{"  total", term.Number(v.View.Total), "", "", term.Number(v.Transcript.Total)})
	a.term.Table([]string{"who", "tokens", "share", "blocks", "ever said"}, []int{1, 2, 3, 4}, rows)
}

func (a *app) printResults(v inspection) {
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
	a.term.Printf("\n")
	a.term.Table([]string{"tool results of", "tokens", "share", "results"}, []int{1, 2, 3}, rows)
}

func (a *app) printEditLines(edits []editLine) {
	if len(edits) == 0 {
		return
	}
	var rows [][]string
	for _, e := range edits {
		rows = append(rows, []string{e.ID, string(e.Kind), term.Number(e.Seen), e.Reason})
	}
	a.term.Printf("\n")
	a.term.Table([]string{"edit in force", "kind", "at message", "what"}, []int{2}, rows)
}

func (a *app) printStatus(s precis.Status) {
	a.term.Pairs(
		[2]string{"usage", fmt.Sprintf("%.1f %%, %s of %s tokens", s.Percent, term.Number(s.Tokens), term.Number(s.Window))},
		[2]string{"messages", fmt.Sprintf("%s, %s shown to the model", term.Number(s.Messages), term.Number(s.Shown))},
		[2]string{"condensed", fmt.Sprintf("%s, %s, %s, last %s", term.Count(s.Condensations, "condensation"), term.Count(s.Truncations, "truncation"), term.Count(s.Other, "other edit"), s.Ago(time.Now()))},
	)
}

func percent(n, total int) string {
	if total == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(n)/float64(total))
}
