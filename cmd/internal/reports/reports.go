// Package reports prints what commands find and do, for people; a type that it prints
// is also the JSON of its command. Start with [New].
package reports

import (
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
}

// Edited reports a change and the state after it.
func (p *Printer) Edited(where string, s precis.Status, format string, args ...any) error {
	if p.AsJSON {
		return p.JSON(edited{where, s})
	}
	p.Text.Title(format, args...)
	p.status(s)
	p.Text.Printf("  %s %s\n", p.Text.Style("good", "written to"), where)
	return nil
}

// Changed reports what a verb has changed.
func (p *Printer) Changed(j *jobs.Job, c conversation.Change, err error, format string, args ...any) error {
	if err != nil {
		return err
	}
	return p.Edited(j.File.Where(), c.Status, format, args...)
}
