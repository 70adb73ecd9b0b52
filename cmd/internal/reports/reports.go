// Package reports prints what commands find and do, for people; a type that it prints
// is also the JSON of its command. Start with [New].
package reports

import (
	"slices"
	"strings"

	"precis"
	"precis/cmd/internal/console"
	"precis/cmd/internal/jobs"
	"precis/cmd/internal/term"
	"precis/conversation"
)

// Printer prints to a console.
type Printer struct{ *console.Console }

// New returns a printer.
func New(c *console.Console) *Printer { return &Printer{c} }

// edited is what an edit led to, as JSON.
type edited struct {
	Written string        `json:"written"`
	Status  precis.Status `json:"status"`

	TookBack []EditLine `json:"took_back,omitempty"` // by an undo
}

// Edited reports a change and the state after it.
func (p *Printer) Edited(where string, s precis.Status, format string, args ...any) error {
	if p.AsJSON {
		return p.JSON(edited{Written: where, Status: s})
	}
	p.Text.Title(format, args...)
	p.status(s, where)
	return nil
}

// Changed reports what a verb has changed.
func (p *Printer) Changed(j *jobs.Job, c conversation.Change, err error, format string, args ...any) error {
	if err != nil {
		return err
	}
	return p.Edited(j.File.Where(), c.Status, format, args...)
}

// TookBack reports what an undo took back.
func (p *Printer) TookBack(where string, back []conversation.EditInfo, s precis.Status) error {
	lines := make([]EditLine, len(back))
	kinds := []string{}
	for i, e := range back {
		lines[i] = lineOf(e)
		if !slices.Contains(kinds, string(e.Kind)) {
			kinds = append(kinds, string(e.Kind))
		}
	}
	if p.AsJSON {
		return p.JSON(edited{where, s, lines})
	}
	p.Text.Title("took back %s: %s", term.Count(len(back), "edit"), strings.Join(kinds, ", "))
	p.editLines(lines)
	p.Text.Printf("\n")
	p.status(s, where)
	return nil
}
