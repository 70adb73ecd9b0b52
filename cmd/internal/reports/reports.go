// Package reports prints the results of commands for people; a type that it prints is also the
// JSON of its command. Start with [New].
package reports

import (
	"slices"
	"strings"

	"github.com/precis-dev/precis/cmd/internal/console"
	"github.com/precis-dev/precis/cmd/internal/jobs"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/policy"
)

// Printer prints to a console.
type Printer struct{ *console.Console }

// New returns a printer.
func New(c *console.Console) *Printer { return &Printer{c} }

// edited is the JSON result of an edit.
type edited struct {
	Written string        `json:"written"`
	Status  policy.Status `json:"status"`

	TookBack []EditLine `json:"took_back,omitempty"` // by an undo
}

// Edited prints a change and the status after it; title is a text key of the command line.
func (p *Printer) Edited(where string, s policy.Status, title string, args ...any) error {
	if p.AsJSON {
		return p.JSON(edited{Written: where, Status: s})
	}
	p.Text.Title("%s", p.Words.Say(title, args...))
	p.status(s, where)
	return nil
}

// Changed prints the change of a verb, or returns its error.
func (p *Printer) Changed(j *jobs.Job, c conversation.Change, err error, title string, args ...any) error {
	if err != nil {
		return err
	}
	return p.Edited(j.File.EditsPath(), c.Status, title, args...)
}

// TookBack prints the edits that an undo removed.
func (p *Printer) TookBack(where string, back []conversation.EditInfo, s policy.Status) error {
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
	p.Text.Title("%s", p.Words.Say("tookback", p.Words.Count(len(back), "edit"),
		strings.Join(kinds, p.Words.Say("comma"))))
	p.editLines(lines)
	p.Text.Printf("\n")
	p.status(s, where)
	return nil
}
