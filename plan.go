package precis

import "fmt"

// Action is what a [Decision] asks for.
type Action string

// The actions, mildest first.
const (
	ActionNone     Action = "none"
	ActionWarn     Action = "warn"     // tell the user that a reduction is near
	ActionPrepare  Action = "prepare"  // begin a reduction in the background
	ActionReduce   Action = "reduce"   // climb the ladder
	ActionTruncate Action = "truncate" // automatic reduction is off, but the view does not fit: truncate only
)

// Trigger names the rule that made the decision.
type Trigger string

// The triggers of a decision.
const (
	TriggerNone      Trigger = ""
	TriggerThreshold Trigger = "threshold"    // percent of the window reached
	TriggerOver      Trigger = "over_allowed" // more than the window allows
	TriggerMessages  Trigger = "messages"     // too many messages
	TriggerTurns     Trigger = "turns"        // too many user turns
	TriggerForced    Trigger = "forced"       // an overflow error, or a user, asked for it
)

// Load is how full a view is.
type Load struct {
	Used     int // tokens of the view and the overhead
	Messages int // messages in the view
	Turns    int // user turns in the view
}

// Decision says what to do with a view, with the arithmetic that led to it.
type Decision struct {
	Action    Action   `json:"action"`
	Trigger   Trigger  `json:"trigger,omitempty"`
	Used      int      `json:"used"`
	Percent   float64  `json:"percent"` // of the window
	Threshold float64  `json:"threshold"`
	Origin    string   `json:"threshold_from"`
	Allowed   float64  `json:"allowed"` // window × (1 − buffer) − reserve
	Target    int      `json:"target"`  // tokens a reduction comes down to
	Window    Window   `json:"window"`
	Reserve   Reserve  `json:"reserve"`
	Buffer    float64  `json:"buffer"`
	Near      bool     `json:"near"` // the warn level is reached, whatever the action
	Warnings  []string `json:"warnings,omitempty"`
}

// Arithmetic returns the decision's reckoning as one line.
func (d Decision) Arithmetic() string {
	return fmt.Sprintf("used %d of %d (%.1f %%), threshold %g %% (%s), allowed %d × (1 − %g) − %d = %.0f, target %d",
		d.Used, d.Window.Tokens, d.Percent, d.Threshold, d.Origin, d.Window.Tokens, d.Buffer, d.Reserve.Tokens, d.Allowed, d.Target)
}

// Plan decides what to do with a view of the given load. It is pure. A
// reduction is due when percent ≥ threshold or used > allowed, or when the view
// has too many messages or turns; with automatic reduction off, only a view
// that does not fit is truncated. Preset off (Observe) always answers none.
func Plan(load Load, b Budget, s Settings, profile string) Decision {
	percent, origin, warnings := s.Threshold(profile)
	d := Decision{
		Action: ActionNone, Used: load.Used, Percent: b.Percent(load.Used),
		Threshold: percent, Origin: origin, Allowed: b.Allowed(), Target: targetOf(b, s),
		Window: b.Window, Reserve: b.Reserve, Buffer: b.Buffer, Warnings: warnings,
	}
	over := float64(load.Used) > d.Allowed
	switch {
	case s.Observe:
	case over:
		d.Action, d.Trigger = ActionReduce, TriggerOver
	case d.Percent >= percent:
		d.Action, d.Trigger = ActionReduce, TriggerThreshold
	case s.MaxMessages > 0 && load.Messages >= s.MaxMessages:
		d.Action, d.Trigger = ActionReduce, TriggerMessages
	case s.MaxTurns > 0 && load.Turns >= s.MaxTurns:
		d.Action, d.Trigger = ActionReduce, TriggerTurns
	case s.Prepare > 0 && d.Percent >= s.Prepare:
		d.Action, d.Trigger = ActionPrepare, TriggerThreshold
	case s.Warn > 0 && d.Percent >= s.Warn:
		d.Action, d.Trigger = ActionWarn, TriggerThreshold
	}
	d.Near = s.Warn > 0 && d.Percent >= s.Warn
	if !s.Auto && d.Action != ActionNone {
		d.Action, d.Trigger = ActionNone, TriggerNone
		if d.Near {
			d.Action, d.Trigger = ActionWarn, TriggerThreshold
		}
		if over {
			d.Action, d.Trigger = ActionTruncate, TriggerOver
		}
	}
	return d
}

// targetOf returns the tokens a reduction comes down to: the target share of
// the window, never more than allowed and never negative.
func targetOf(b Budget, s Settings) int {
	most := max(b.Allowed(), 0)
	if s.Target > 0 {
		most = min(most, float64(b.Window.Tokens)*s.Target/100)
	}
	return int(most)
}
