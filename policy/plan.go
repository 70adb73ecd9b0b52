package policy

import (
	"fmt"
	"math"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/number"
)

// The constants of the decision, as in Roo Code.
const (
	defaultReserve     = 8192 // output tokens reserved when none are requested
	defaultBuffer      = 0.1  // share of the window never used
	MinPercent         = 5.0  // lowest valid threshold
	MaxPercent         = 100.0
	forcedPercent      = 75.0 // most percent that a forced reduction leaves
	MaxForced          = 3    // reductions of one request that its provider refuses as too long
	summaryMinWindow   = 8000 // smaller windows get no model summary
	reserveWindowShare = 0.2  // of the window, if the reserve would take most of it
)

// Reserve is the room kept for the model's answer, in tokens, and why.
type Reserve struct {
	Tokens int           `json:"tokens"`
	Source precis.Source `json:"source"`
	Detail string        `json:"detail,omitempty"`
}

// reserveFor returns the output reserve for a window: the requested output, or
// defaultReserve when requested is 0 or less (Roo's rule). Where that would
// leave less than half of the window, it is the smallest of the requested
// output, the model's output limit (0 when unknown) and a fifth of the window.
func reserveFor(window, requested, limit int) Reserve {
	r := Reserve{Tokens: defaultReserve, Source: precis.SourceAssumed, Detail: "default output"}
	if requested > 0 {
		r = Reserve{Tokens: requested, Source: precis.SourceConfigured, Detail: "requested output"}
	}
	if allowed(window, r.Tokens, defaultBuffer) >= float64(window)/2 {
		return r
	}
	if limit > 0 && limit < r.Tokens {
		r = Reserve{Tokens: limit, Source: precis.SourceCatalog, Detail: "output limit of the model"}
	}
	if fifth := int(float64(window) * reserveWindowShare); fifth < r.Tokens {
		r = Reserve{Tokens: fifth, Source: precis.SourceAssumed, Detail: "a fifth of the window"}
	}
	return r
}

// Budget is the room for a view: the window, the reserve for the answer, and the tokens that are
// not messages.
type Budget struct {
	Window   precis.Window `json:"window"`
	Reserve  Reserve       `json:"reserve"`
	Overhead int           `json:"overhead"` // system prompt and tools, in tokens
	Buffer   float64       `json:"buffer"`   // share of the window never used, 0 to 1
}

// Budget returns the room for a view in a window: maxOutput is the requested output, limit the
// model's output limit (0: unknown), overhead the tokens of system prompt and tools.
func (s Settings) Budget(w precis.Window, maxOutput, limit, overhead int) Budget {
	reserve := reserveFor(w.Tokens, maxOutput, limit)
	if s.ExactReserve {
		reserve = reserveFor(math.MaxInt32, maxOutput, limit)
	}
	return Budget{Window: w, Reserve: reserve, Overhead: overhead, Buffer: s.Buffer}
}

// Allowed returns window × (1 − buffer) − reserve, in tokens. It may be
// negative.
func (b Budget) Allowed() float64 { return allowed(b.Window.Tokens, b.Reserve.Tokens, b.Buffer) }

func allowed(window, reserve int, buffer float64) float64 {
	return float64(window)*(1-buffer) - float64(reserve)
}

// Percent returns used tokens as a percentage of the window: 0 for an unknown
// window.
func (b Budget) Percent(used int) float64 { return b.Window.Percent(used) }

// Action is what a [Decision] asks for.
type Action string

// The actions, mildest first.
const (
	ActionNone     Action = "none"
	ActionWarn     Action = "warn"     // warn the user that a reduction is near
	ActionPrepare  Action = "prepare"  // begin a reduction in the background
	ActionReduce   Action = "reduce"   // climb the ladder
	ActionTruncate Action = "truncate" // automatic reduction is off, but the view does not fit: truncate only
)

// Trigger names the rule that made the decision.
type Trigger string

// The triggers of a decision.
const (
	triggerNone      Trigger = ""
	triggerThreshold Trigger = "threshold"    // percent of the window reached
	triggerOver      Trigger = "over_allowed" // more than the window allows
	triggerForced    Trigger = "forced"       // an overflow error, or a user, asked for it
	triggerPins      Trigger = "pins"         // pinned content is hidden
)

// Load is how full a view is.
type Load struct {
	Used int // tokens of the view and the overhead
}

// Decision says what to do with a view, with the arithmetic that led to it.
type Decision struct {
	Action    Action  `json:"action"`
	Trigger   Trigger `json:"trigger,omitempty"`
	Used      int     `json:"used"`
	Percent   float64 `json:"percent"` // of the window
	Threshold float64 `json:"threshold"`
	Origin    string  `json:"threshold_from"`
	Allowed   float64 `json:"allowed"` // window × (1 − buffer) − reserve
	Target    int     `json:"target"`  // tokens a reduction comes down to
	// tokens from which on a view is reduced; 0: never, see [Settings.Observe]
	ReduceAt int           `json:"acts_at"`
	Window   precis.Window `json:"window"`
	Reserve  Reserve       `json:"reserve"`
	Buffer   float64       `json:"buffer"`
	Near     bool          `json:"near"` // the warn level is reached, whatever the action
	Warnings []string      `json:"warnings,omitempty"`
}

// Arithmetic returns the decision's computation as one line.
func (d Decision) Arithmetic() string {
	return fmt.Sprintf("used %s of %s (%s), threshold %.4g %% (%s), allowed %s × (1 − %g) − %s = %s, target %s",
		number.Thousands(d.Used), number.Thousands(d.Window.Tokens), number.Percent(d.Percent), d.Threshold,
		d.Origin, number.Thousands(d.Window.Tokens), d.Buffer, number.Thousands(d.Reserve.Tokens),
		number.Thousands(int(math.Round(d.Allowed))), number.Thousands(d.Target))
}

// Plan decides what to do with a view of the given load. It is pure. A
// reduction is due when percent ≥ threshold or used > allowed; with automatic
// reduction off, only a view that does not fit is truncated. Preset off (Observe) always answers none.
func Plan(load Load, b Budget, s Settings, profile string) Decision {
	percent, origin, warnings := s.Threshold(profile)
	s, percent, origin = s.within(b.Window.Tokens, percent, origin)
	d := Decision{
		Action: ActionNone, Used: load.Used, Percent: b.Percent(load.Used),
		Threshold: percent, Origin: origin, Allowed: b.Allowed(), Target: targetOf(b, s),
		Window: b.Window, Reserve: b.Reserve, Buffer: b.Buffer, Warnings: warnings,
	}
	d.ReduceAt = d.reduceFrom(s)
	if warning := d.capTarget(s, percent); warning != "" {
		d.Warnings = append(d.Warnings, warning)
	}
	over := float64(load.Used) > d.Allowed
	switch {
	case s.Observe:
	case over:
		d.Action, d.Trigger = ActionReduce, triggerOver
	case d.Percent >= percent:
		d.Action, d.Trigger = ActionReduce, triggerThreshold
	case s.Prepare > 0 && d.Percent >= s.Prepare:
		d.Action, d.Trigger = ActionPrepare, triggerThreshold
	case s.Warn > 0 && d.Percent >= s.Warn:
		d.Action, d.Trigger = ActionWarn, triggerThreshold
	}
	d.Near = s.Warn > 0 && d.Percent >= s.Warn
	if !s.Auto && d.Action != ActionNone {
		d.Action, d.Trigger = ActionNone, triggerNone
		if d.Near {
			d.Action, d.Trigger = ActionWarn, triggerThreshold
		}
		if over {
			d.Action, d.Trigger = ActionTruncate, triggerOver
		}
	}
	return d
}

// reduceFrom returns the tokens from which on a view is reduced: at the threshold, or just over the
// allowed tokens.
func (d *Decision) reduceFrom(s Settings) int {
	if s.Observe {
		return 0
	}
	at := math.Floor(max(d.Allowed, 0)) + 1
	if s.Auto {
		at = min(at, math.Ceil(d.Threshold*float64(d.Window.Tokens)/100))
	}
	return int(at)
}

// capTarget lowers the target below the threshold by the least worthwhile saving, so that a view at the
// threshold shrinks. It returns a warning when the configured target is not below the threshold.
func (d *Decision) capTarget(s Settings, percent float64) (warning string) {
	trigger := float64(d.Window.Tokens) * percent / 100
	if trigger >= d.Allowed {
		return "" // the allowed tokens are reached first
	}
	if s.Target >= percent {
		warning = fmt.Sprintf("the threshold of %.4g %% is not above the target of %.4g %%: reductions come down to %.4g %%", percent, s.Target, percent*(1-s.MinSaving))
	}
	d.Target = min(d.Target, int(trigger*(1-s.MinSaving)))
	return warning
}

// targetOf returns the tokens a reduction comes down to: the target share of the window, never more
// than allowed and never negative.
func targetOf(b Budget, s Settings) int {
	most := max(b.Allowed(), 0)
	if s.Target > 0 {
		most = min(most, float64(b.Window.Tokens)*s.Target/100)
	}
	return int(most)
}
