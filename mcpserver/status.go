package mcpserver

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/policy"
)

type statusIn struct {
	ID string `json:"id,omitempty" jsonschema:"omitted: the newest"`
}

type statusOut struct {
	ID     string                    `json:"id"`
	Status policy.Status             `json:"status"`
	Room   conversation.Room         `json:"room"`
	Kinds  []conversation.KindTokens `json:"composition"`
	Edits  []edit                    `json:"edits"` // the newest last
	statusRest
}

// statusRest contains fields that the schema of a status omits.
type statusRest struct {
	Title   string                    `json:"title,omitempty"`
	Model   string                    `json:"model,omitempty"`
	Window  precis.Window             `json:"window"`
	Results []conversation.KindTokens `json:"tool_results"`
	InForce int                       `json:"edits_in_force"`
	// including those taken back; Edits are the newest of them
	Made    int      `json:"edits_made"`
	Free    int      `json:"free"`
	Reserve int      `json:"reserved"` // for the answer
	Notes   []string `json:"notes,omitempty"`
}

// edit is an edit in a list.
type edit struct {
	ID      string          `json:"id"`
	Kind    precis.EditKind `json:"kind"`
	Time    time.Time       `json:"time,omitzero"`
	InForce bool            `json:"in_force"`
	Before  *int            `json:"tokens_before,omitempty"` // of the view; nil: unknown
	After   *int            `json:"tokens_after,omitempty"`
	Saved   *int            `json:"tokens_saved,omitempty"`
	Reason  string          `json:"reason,omitempty"`
	Pins    []precis.Handle `json:"pins,omitempty"`

	// of the first edit of a run: rungs that were not tried, refused or failed, and why
	Declined []string `json:"declined,omitempty"`
}

// declined lists the rungs of a run that did not act although they might have, and why.
func declined(steps []precis.RungResult) (out []string) {
	for _, s := range steps {
		if s.Outcome != precis.OutcomeAccepted && s.Outcome != precis.OutcomeNothing {
			out = append(out, fmt.Sprintf("%s: %s: %s", s.Rung, s.Outcome, s.Reason))
		}
	}
	return out
}

// lastEdits and topResults bound lists of a status.
const (
	lastEdits  = 5
	topResults = 8
)

var status = tool[statusIn, statusOut]{
	name: "status", description: "Who fills a session's window, how far and how many turns until it is condensed, the last edits.",
	run: func(ctx context.Context, c *call, in statusIn) (statusOut, string, error) {
		w, err := c.which(ctx, in.ID)
		if err != nil {
			return statusOut{}, "", err
		}
		out, err := statusOf(ctx, c.home, w.id)
		if err != nil {
			return statusOut{}, "", err
		}
		if w.note != "" {
			out.Notes = append([]string{w.note}, out.Notes...)
		}
		return out, w.line() + out.text(), nil
	},
}

// statusOf puts a status together.
func statusOf(ctx context.Context, h conversation.Home, id string) (statusOut, error) {
	d, err := conversation.Status(ctx, h, id)
	if err != nil {
		return statusOut{}, err
	}
	who, err := conversation.CompositionOf(ctx, h, id)
	if err != nil {
		return statusOut{}, err
	}
	edits, err := conversation.Edits(ctx, h, id)
	if err != nil {
		return statusOut{}, err
	}
	out := statusOut{d.ID, d.Status, d.Room, who.Kinds, []edit{}, statusRest{
		Title: d.Title, Model: d.Model, Window: d.Window, Results: first(who.Results, topResults),
		InForce: d.Edits.InForce, Made: d.Edits.Total, Free: who.Free, Reserve: who.Reserved, Notes: d.Notes,
	}}
	for _, e := range newest(edits.Items, lastEdits) {
		out.Edits = append(out.Edits,
			edit{ID: e.ID, Kind: e.Kind, Time: e.Time, InForce: e.InForce, Before: e.Before(),
				After: e.After(), Saved: e.Report.KnownSaving(), Reason: e.Report.Reason, Pins: e.Pins,
				Declined: declined(e.Report.Steps)})
	}
	return out, nil
}

// text says the status in a few lines.
func (o statusOut) text() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%d of %d tokens (%.1f %%), %d of %d messages shown\n", o.Status.Tokens,
		o.Status.Window, o.Status.Percent, o.Status.Shown, o.Status.Messages)
	if o.Room.Limit > 0 {
		fmt.Fprintf(&out, "condensed from %d tokens on: %d left", o.Room.Limit, o.Room.Left)
		if o.Room.TurnsLeft != nil {
			fmt.Fprintf(&out, ", about %d turns of %d tokens", *o.Room.TurnsLeft, o.Room.Growth)
		}
		out.WriteString("\n")
	}
	out.WriteString(lines(o.Kinds, func(s conversation.KindTokens) string {
		return fmt.Sprintf("%s %d (%.1f %%)", s.Kind, s.Tokens,
			precis.Window{Tokens: o.Status.Window}.Percent(s.Tokens))
	}))
	if n := len(o.Edits); n < o.Made {
		fmt.Fprintf(&out, "the newest %d of %d edits:\n", n, o.Made)
	}
	for _, e := range o.Edits {
		state := ""
		if !e.InForce {
			state = ", undone"
		}
		fmt.Fprintf(&out, "edit %s %s%s: %s\n", e.ID, e.Kind, state, e.Reason)
		for _, d := range e.Declined {
			out.WriteString("  declined: " + d + "\n")
		}
	}
	return out.String()
}
