package policy

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/precis-dev/precis"
)

// Size is how big a view is.
type Size struct {
	Tokens   int `json:"tokens"`   // overhead included, calibrated
	Messages int `json:"messages"` // in the view
	Overhead int `json:"overhead"` // tokens of the system prompt and the tools
	// Media are the tokens of messages with images, documents, or opaque blocks: providers' rules
	// determine them, not a tokenizer.
	Media int `json:"media,omitempty"`
	// Guessed are tokens that Tokens excludes: the estimated size of the newest attachments above
	// half of the target. They count once the provider has refused the view.
	Guessed int `json:"guessed,omitempty"`
}

// Report is the findings and actions of one check of a conversation. Every number carries its
// source or is counted by Counter.
type Report struct {
	Conversation string             `json:"conversation,omitempty"`
	Model        string             `json:"model,omitempty"`
	Preset       string             `json:"preset"`
	Counter      string             `json:"counter"`
	Calibration  float64            `json:"calibration"` // reported tokens divided by counted ones
	Overhead     precis.Overhead    `json:"-"`           // as counted
	TriggeredBy  precis.TriggeredBy `json:"triggered_by"`
	Before       Size               `json:"before"`
	// tokens of the unreduced conversation; 0 without [Request.Meter]
	Unreduced  int                 `json:"said,omitempty"`
	After      Size                `json:"after"`
	Decision   Decision            `json:"decision"`
	Arithmetic string              `json:"arithmetic"`
	Outcome    string              `json:"outcome"` // one sentence: the action, or the reason for none
	Ended      Ending              `json:"ended"`   // the same in one word
	Steps      []precis.RungResult `json:"steps,omitempty"`
	Edits      []EditSummary       `json:"edits"`
	// breaches of the recorded conversation that were mended
	Repairs   []precis.Breach `json:"repairs,omitempty"`
	Retention *Retention      `json:"retention,omitempty"` // nil without a reduction or an [Auditor]
	// a breach: content that the run removed from the view; nil: none
	Loss     *Loss    `json:"gone,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
	// the plan; nil unless the manager only observes
	Shadow *Shadow       `json:"shadow,omitempty"`
	Status Status        `json:"status"`
	Took   time.Duration `json:"took_ns"`
}

// Ending says in one word how a check ended, for programs and for texts in other
// languages.
type Ending string

// The endings of a check.
const (
	EndedNotDue   Ending = "not_due"        // no reduction was due
	EndedWatching Ending = "left_to_caller" // see [Request.Watch]
	EndedCapped   Ending = "capped"         // the cap stopped the run
	// the run would have removed content from the view entirely, see [Loss]
	EndedWouldLose  Ending = "spared"
	EndedReduced    Ending = "reduced"       // edits were made
	EndedNothing    Ending = "nothing_found" // no rung found a reduction
	EndedWithin     Ending = "within_target" // the view was small enough
	EndedWorthless  Ending = "worthless"     // the rungs would have saved too little
	EndedOverBudget Ending = "over_budget"   // too large after all cuts
	EndedUnrecorded Ending = "not_recorded"  // the store failed
)

// EditSummary is one edit as reports show it.
type EditSummary struct {
	ID       string          `json:"id"`
	Kind     precis.EditKind `json:"kind"`
	Rung     string          `json:"rung"`
	Reason   string          `json:"reason"`
	Saved    int             `json:"tokens_saved"`
	Detail   []string        `json:"notes,omitempty"`
	Blocks   int             `json:"blocks,omitempty"`
	Messages int             `json:"messages,omitempty"`

	Call *precis.CallReport `json:"call,omitempty"` // the model calls for it; nil: none
	Took time.Duration      `json:"took_ns,omitempty"`

	// See [precis.EditReport] for these.
	Variant  string `json:"variant,omitempty"`
	Likely   int    `json:"likely,omitempty"`
	Held     int    `json:"held,omitempty"`
	Repaired int    `json:"repaired,omitempty"`
}

// cost returns the cost of the step's calls.
func costOf(s precis.RungResult) float64 {
	if s.Call == nil {
		return 0
	}
	return s.Call.CostUSD
}

// CostUSD returns the cost of the check's model calls, including calls without an edit.
func (r Report) CostUSD() float64 {
	sum := 0.0
	for _, s := range r.Steps {
		sum += costOf(s)
	}
	return sum
}

// summarize lists edits for a report, their savings in real tokens.
func summarize(edits []precis.Edit, factor float64) []EditSummary {
	out := make([]EditSummary, len(edits))
	for i, e := range edits {
		r := e.Report
		out[i] = EditSummary{ID: e.ID, Kind: e.Kind, Rung: r.Rung, Reason: r.Reason,
			Saved: int(float64(r.Saved())*factor + 0.5), Detail: r.Notes, Blocks: r.Blocks,
			Messages: r.Messages,
			Call:     r.Call, Took: r.Took,
			Variant: r.Variant, Likely: r.Likely, Held: r.Held, Repaired: r.Repaired}
	}
	return out
}

// Status is a conversation at a glance.
type Status struct {
	Tokens        int       `json:"tokens"` // of the view and the overhead
	Window        int       `json:"window"`
	Percent       float64   `json:"percent"`
	Messages      int       `json:"messages"` // of the transcript
	Shown         int       `json:"shown"`    // of these in the view, whole or shortened
	Condensations int       `json:"condensations"`
	Truncations   int       `json:"truncations"`
	Other         int       `json:"other_edits"` // edits of other kinds in force
	Last          time.Time `json:"last,omitzero"`
	Action        Action    `json:"action"` // the action that is due now
}

// Ago returns how long before now the last edit was made, in words: "2 minutes
// ago", "never".
func (s Status) Ago(now time.Time) string { return ago(s.Last, now) }

func ago(t, now time.Time) string {
	if t.IsZero() {
		return "never"
	}
	d := now.Sub(t)
	for _, u := range []struct {
		name string
		size time.Duration
	}{{"day", 24 * time.Hour}, {"hour", time.Hour}, {"minute", time.Minute}, {"second", time.Second}} {
		if n := int(d / u.size); n == 1 {
			return "1 " + u.name + " ago"
		} else if n > 1 {
			return fmt.Sprintf("%d %ss ago", n, u.name)
		}
	}
	return "just now"
}

// count fills in the numbers of edits in force.
func (s *Status) count(edits []precis.Edit) {
	for _, e := range precis.Active(edits) {
		switch e.Kind {
		case precis.KindCondensation:
			s.Condensations++
		case precis.KindTruncation:
			s.Truncations++
		default:
			s.Other++
		}
		if e.Reduces() && e.Time.After(s.Last) {
			s.Last = e.Time
		}
	}
}

// Retention measures how much of the content needed later a view keeps.
type Retention struct {
	Anchors  int     `json:"anchors"`  // facts likely to be needed again
	Kept     int     `json:"kept"`     // of these, in the view
	Repaired int     `json:"repaired"` // of those kept, shown only in a digest or an addition of the gate
	Share    float64 `json:"share"`    // of all facts expected to be needed, weighted, 0 to 1

	Typed     int `json:"typed"`      // characters that the user typed, pasted text excluded
	TypedKept int `json:"typed_kept"` // of these, in the view word for word, in whole sentences

	// typed sentences with a word such as "never" or "you may"
	Rules     int          `json:"rules"`
	RulesLost []LostAnchor `json:"rules_lost,omitempty"` // of these, not in the view word for word

	Lost []LostAnchor `json:"lost,omitempty"` // most likely first, [MaxLost] at most
}

// MaxLost is the most a [Retention] lists as lost.
const MaxLost = 50

// FactsLost returns how many of the facts likely to be needed again are not in the view; Lost may
// list fewer.
func (r Retention) FactsLost() int { return r.Anchors - r.Kept }

// Loses returns how many facts and rules are not in the view.
func (r Retention) Loses() int { return r.FactsLost() + len(r.RulesLost) }

// Capped returns the retention with at most [MaxLost] facts listed as lost.
func (r Retention) Capped() Retention {
	r.Lost = r.Lost[:min(len(r.Lost), MaxLost)]
	return r
}

// LostAnchor is one fact that a view does not show, with the handle where it
// can be read.
type LostAnchor struct {
	Text   string        `json:"text"`
	Kind   string        `json:"kind"`
	Handle precis.Handle `json:"handle"`
	Worth  float64       `json:"worth,omitempty"` // how likely it is to be needed again, 0 to 1
}

// Loss is content in one view that the next view has in no form at all. The zero value is no loss.
type Loss struct {
	Rules    []LostAnchor    `json:"rules,omitempty"`          // sentences that set a rule of the user
	AllRules int             `json:"of_rules,omitempty"`       // all rules of the user, including lost ones
	Pins     []precis.Handle `json:"pins,omitempty"`           // pinned messages and blocks
	LastTurn *precis.Handle  `json:"last_user_turn,omitempty"` // the user's last words; nil: still shown
	// Hidden is the share of the tokens that is hidden or cut without a summary or digest; 0 up to
	// [MaxHidden].
	Hidden float64 `json:"hidden_share,omitempty"`
}

// MaxHidden is the largest share of a view that a reduction may hide without a summary or digest.
const MaxHidden = 0.9

// onlyHidden reports whether no rule, no pin and no turn is gone.
func (g *Loss) onlyHidden() bool { return len(g.Rules) == 0 && len(g.Pins) == 0 && g.LastTurn == nil }

// Empty reports whether g has no loss.
func (g Loss) Empty() bool { return g.onlyHidden() && g.Hidden == 0 }

// Refuses reports whether a requested change must be forced: it loses a pin, the last user turn, or
// most of the view without a summary. Rules are only listed.
func (g Loss) Refuses() bool { return len(g.Pins) > 0 || g.LastTurn != nil || g.Hidden > 0 }

// less reports whether g loses less than another.
func (g *Loss) less(than *Loss) bool {
	if turn := g.LastTurn != nil; turn != (than.LastTurn != nil) {
		return !turn
	}
	if len(g.Pins) != len(than.Pins) {
		return len(g.Pins) < len(than.Pins)
	}
	if len(g.Rules) != len(than.Rules) {
		return len(g.Rules) < len(than.Rules)
	}
	return g.Hidden < than.Hidden
}

// String describes the loss in one sentence without a full stop and without words of the
// conversation; "" for no loss.
func (g Loss) String() string {
	var parts []string
	if n := len(g.Pins); n > 0 {
		parts = append(parts, fmt.Sprintf("%d pins (first %s)", n, g.Pins[0]))
	}
	if n := len(g.Rules); n > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d rules of the user (first %s)", n, g.AllRules,
			g.Rules[0].Handle))
	}
	if g.LastTurn != nil {
		parts = append(parts, fmt.Sprintf("the last user turn (%s)", *g.LastTurn))
	}
	if g.Hidden > 0 {
		parts = append(parts, fmt.Sprintf("%.0f %% of the view, with neither a summary nor a digest in its place", 100*g.Hidden))
	}
	return strings.Join(parts, "; ")
}

// LossReporter is a [Gate] that can report content missing from the view of a situation entirely; before
// are the edits at the beginning of the run. An automatic run with such a loss is dropped if the
// view fits without it; see [Report.Loss].
type LossReporter interface {
	Loss(s *Situation, before []precis.Edit) Loss
}

// Auditor is a [Gate] that can report what a view keeps and has lost. made are the edits of this
// run, in force already in s.
type Auditor interface {
	Audit(s *Situation, made []precis.Edit) Retention
}

// log writes the one line per pass: total, window, usage, messages, action.
func (r Report) log(ctx context.Context, to *slog.Logger) {
	to.LogAttrs(ctx, slog.LevelInfo, "context check",
		slog.String("conversation", r.Conversation),
		slog.Int("total_tokens", r.Before.Tokens),
		slog.Int("window", r.Decision.Window.Tokens),
		slog.String("window_source", string(r.Decision.Window.Source)),
		slog.Float64("usage_percent", r.Decision.Percent),
		slog.Int("messages", r.Before.Messages),
		slog.String("action", string(r.Decision.Action)),
		slog.Int("tokens_after", r.After.Tokens),
		slog.Int("edits", len(r.Edits)),
	)
	for _, e := range r.Edits {
		r.logEdit(ctx, to, e)
	}
	if g := r.Loss; g != nil {
		to.LogAttrs(ctx, slog.LevelWarn, "breach: the view has lost something altogether",
			slog.String("conversation", r.Conversation),
			slog.Int("rules", len(g.Rules)), slog.Bool("last_user_turn", g.LastTurn != nil),
			slog.Float64("hidden_share", g.Hidden))
	}
	for _, s := range r.Steps {
		if s.Outcome == precis.OutcomeFailed {
			to.LogAttrs(ctx, slog.LevelWarn, "rung failed", slog.String("conversation", r.Conversation),
				slog.String("rung", s.Rung),
				slog.String("code", string(s.Code)), slog.Float64("cost_usd", costOf(s)),
				slog.Duration("took", s.Took))
		}
	}
}

// logEdit writes the metrics of one edit.
func (r Report) logEdit(ctx context.Context, to *slog.Logger, e EditSummary) {
	attrs := []slog.Attr{
		slog.String("conversation", r.Conversation), slog.String("edit", e.ID),
		slog.String("kind", string(e.Kind)), slog.String("rung", e.Rung),
		slog.String("trigger", string(r.TriggeredBy)), slog.Int("tokens_saved", e.Saved),
		slog.Int("messages", e.Messages), slog.Int("blocks", e.Blocks), slog.Duration("took", e.Took),
	}
	if c := e.Call; c != nil {
		attrs = append(attrs, slog.String("model", c.Model), slog.Int("calls", c.Calls),
			slog.Float64("cost_usd", c.CostUSD), slog.String("form", c.Form),
			slog.Bool("custom_prompt", c.Custom), slog.Bool("separate_profile", c.Separate))
	}
	to.LogAttrs(ctx, slog.LevelInfo, "view reduced", attrs...)
}
