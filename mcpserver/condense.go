package mcpserver

import (
	"context"
	"fmt"
	"slices"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/conversation/diff"
	"github.com/precis-dev/precis/policy"
)

type condenseIn struct {
	ID     string        `json:"id,omitempty" jsonschema:"omitted: the newest"`
	Focus  string        `json:"focus,omitempty" jsonschema:"what to keep"`
	Target policy.Target `json:"target,omitzero" jsonschema:"20% of the window, or tokens: 20k"`
	Range  string        `json:"range,omitempty" jsonschema:"only these, e.g. m0-m40"`
	Apply  bool          `json:"apply,omitempty" jsonschema:"do it, not only preview"`
	Force  bool          `json:"force,omitempty" jsonschema:"even if pins or the last request go"`
}

type condenseOut struct {
	ID      string        `json:"id"`
	Applied bool          `json:"applied"`
	Before  int           `json:"tokens_before"`
	After   int           `json:"tokens_after"`
	Outcome string        `json:"outcome"`
	Edits   []string      `json:"edits"`   // edits made; "" for a preview
	Changes []diff.Change `json:"changes"` // of a preview, the largest savings
	Notes   []string      `json:"notes,omitempty"`
}

// mostChanges is how many changes of a preview are listed.
const mostChanges = 20

var condense = tool[condenseIn, condenseOut]{
	name: "condense", description: "Preview what condensing a session would do, or with apply do it; it can be undone.", changes: true,
	run: func(ctx context.Context, c *call, in condenseIn) (out condenseOut, text string, err error) {
		verb, what := conversation.Preview, "working out what would be hidden"
		if in.Apply {
			if err := c.readOnly("condense"); err != nil {
				return out, "", err
			}
			verb, what = conversation.Condense, "condensing"
		}
		w, err := c.which(ctx, in.ID)
		if err != nil {
			return out, "", err
		}
		o := conversation.CondenseOptions{Focus: in.Focus, Target: in.Target.Tokens, Share: in.Target.Share,
			Force: in.Force}
		if in.Range != "" {
			h, err := precis.ParseHandle(in.Range)
			if err != nil {
				return out, "", err
			}
			o.From, o.To = h.From, h.To
		}
		var done conversation.Condensed
		err = c.progress.during(ctx, what, func() error {
			done, err = verb(ctx, c.home, w.id, o)
			return err
		})
		if err != nil {
			return out, "", err
		}
		if in.Apply {
			c.edited(ctx, w.id, done.Made()...)
		}
		out = condensed(w, done, in.Apply)
		return out, w.line() + out.text(), nil
	},
}

func condensed(w chosenConversation, done conversation.Condensed, apply bool) condenseOut {
	out := condenseOut{ID: w.id, Applied: apply && done.Changed, Before: done.Report.Before.Tokens,
		After: done.Report.After.Tokens, Outcome: done.Report.Outcome,
		Edits: []string{}, Changes: changesOf(done.Diff), Notes: append(done.Notes, done.Prices...)}
	if w.note != "" {
		out.Notes = append(out.Notes, w.note)
	}
	if n := len(out.Changes) - mostChanges; n > 0 {
		out.Changes = out.Changes[:mostChanges]
		out.Notes = append(out.Notes, fmt.Sprintf("%d more changes are not listed", n))
	}
	if done.Loses != nil {
		note := (&conversation.LossError{Loss: *done.Loses}).Quoted()
		if done.Loses.Refuses() {
			note = "refused without force: " + note
		}
		out.Notes = append(out.Notes, note)
	}
	for _, e := range done.Report.Edits {
		if apply {
			out.Edits = append(out.Edits, e.ID)
		}
	}
	return out
}

// changesOf returns the parts in which two views differ, largest savings first.
func changesOf(all []diff.Change) []diff.Change {
	out := []diff.Change{}
	for _, c := range all {
		if c.Change != diff.Same {
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b diff.Change) int { return (b.Before - b.After) - (a.Before - a.After) })
	return out
}

// text describes what was done, or would be.
func (o condenseOut) text() string {
	head := "preview, nothing is changed: "
	if o.Applied {
		head = "done: "
	}
	text := fmt.Sprintf("%s%d → %d tokens; %s\n", head, o.Before, o.After, o.Outcome)
	return text + lines(o.Changes, func(c diff.Change) string {
		return fmt.Sprintf("%s %s: %d → %d tokens", c.Handle, c.Change, c.Before, c.After)
	}) + lines(o.Notes, func(n string) string { return "note: " + n })
}
