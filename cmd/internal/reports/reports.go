// Package reports prints what commands find and do, for people; a type that it prints
// is also the JSON of its command. Start with [New].
package reports

import (
	"slices"
	"strings"

	"precis"
	"precis/cmd/internal/console"
	"precis/cmd/internal/jobs"
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

// Edited reports a change and the state after it; the title is a text of the command line.
func (p *Printer) Edited(where string, s precis.Status, title string, args ...any) error {
	if p.AsJSON {
		return p.JSON(edited{Written: where, Status: s})
	}
	p.Text.Title("%s", p.Words.Say(title, args...))
	p.status(s, where)
	return nil
}

// Changed reports what a verb has changed.
func (p *Printer) Changed(j *jobs.Job, c conversation.Change, err error, title string, args ...any) error {
	if err != nil {
		return err
	}
	return p.Edited(j.File.Where(), c.Status, title, args...)
}

// TookBack reports what an undo took back.
func (p *Printer) TookBack(where string, back []conversation.EditInfo, s precis.Status) error {
	lines := make([]EditLine, len(back))
	kinds := []string{}
	for i, e := range back {
		lines[i] = lineOf(e)
		if kind := p.Words.Kind(e.Kind); !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	if p.AsJSON {
		return p.JSON(edited{where, s, lines})
	}
	p.Text.Title("%s", p.Words.Say("tookback", p.Words.Count(len(back), "edit"), strings.Join(kinds, p.Words.Say("comma"))))
	p.editLines(lines)
	p.Text.Printf("\n")
	p.status(s, where)
	return nil
}
