package precis

import (
	"time"
)

// EditReport describes an edit and its reason.
type EditReport struct {
	Rung         string        `json:"rung,omitempty"`    // the strategy that made it
	Trigger      string        `json:"trigger,omitempty"` // automatic, manual, forced, recorded
	Reason       string        `json:"reason,omitempty"`  // one sentence for people
	TokensBefore int           `json:"tokens_before,omitempty"`
	TokensAfter  int           `json:"tokens_after,omitempty"`
	Messages     int           `json:"messages,omitempty"` // whole messages replaced
	Blocks       int           `json:"blocks,omitempty"`   // single blocks replaced
	CostUSD      float64       `json:"cost_usd,omitempty"`
	Took         time.Duration `json:"took_ns,omitempty"` // by the rung that made it
	Notes        []string      `json:"notes,omitempty"`

	Code Reason      `json:"code,omitempty"` // why the rung proposed no edit; "" otherwise
	Call *CallReport `json:"call,omitempty"` // the model calls for it; nil: none

	Variant  string `json:"variant,omitempty"`  // "EXPERIMENT/VARIANT" that made it; "": none
	Likely   int    `json:"likely,omitempty"`   // facts likely to be needed again that the gate looked for
	Held     int    `json:"held,omitempty"`     // how many of them a summary contained by itself
	Repaired int    `json:"repaired,omitempty"` // additions of the gate: rules, requests and facts
	// statements of a summary that the conversation does not support
	Doubted int `json:"doubted,omitempty"`

	// of the first edit of a run: the outcome of each rung, the newest ones
	Steps []RungResult `json:"steps,omitempty"`
}

// Sizes returns the tokens of the view before the edit and after it; nil for an unknown number,
// such as the size after another program's own compaction.
func (r EditReport) Sizes() (before, after *int) {
	if r.TokensBefore > 0 {
		before = &r.TokensBefore
	}
	if r.TokensAfter > 0 {
		after = &r.TokensAfter
	}
	return before, after
}

// KnownSaving returns the tokens the edit saved when it was made; nil when unknown.
func (r EditReport) KnownSaving() *int {
	before, after := r.Sizes()
	if before == nil || after == nil {
		return nil
	}
	saved := *before - *after
	return &saved
}

// Saved returns the tokens the edit saved when it was made, for sums; 0 when unknown, see
// [EditReport.KnownSaving].
func (r EditReport) Saved() int {
	if saved := r.KnownSaving(); saved != nil {
		return *saved
	}
	return 0
}

// Outcome is how a rung ended.
type Outcome string

// The outcomes of a rung.
const (
	OutcomeAccepted Outcome = "accepted"
	OutcomeNothing  Outcome = "nothing" // the rung found no reduction
	OutcomeRefused  Outcome = "refused" // its edit broke a rule
	OutcomeFailed   Outcome = "failed"  // it returned an error
	OutcomeSkipped  Outcome = "skipped" // it was not tried
)

// RungResult is the result of one rung.
type RungResult struct {
	Rung    string        `json:"rung"`
	Outcome Outcome       `json:"outcome"`
	Code    Reason        `json:"code,omitempty"` // "" when accepted
	Reason  string        `json:"reason,omitempty"`
	Call    *CallReport   `json:"call,omitempty"` // what its model calls cost; nil when it made none
	Before  int           `json:"tokens_before"`
	After   int           `json:"tokens_after"`
	Took    time.Duration `json:"took_ns"`
}

// Reason is the outcome of a rung in one word. Reports, logs and metrics carry it; the accompanying
// sentence is for people.
type Reason string

// CallReport is the usage of the model calls for a summary. Its cost is recorded separately from
// the conversation's own.
type CallReport struct {
	Model    string        `json:"model,omitempty"`
	Provider string        `json:"provider,omitempty"`
	Calls    int           `json:"calls"` // requests made, retries included
	Usage    Usage         `json:"usage,omitzero"`
	CostUSD  float64       `json:"cost_usd"`
	Took     time.Duration `json:"took_ns,omitempty"`
	// "cache": rode on the live request; "compact": sent by itself; "parts": in several
	Form     string `json:"form,omitempty"`
	Why      string `json:"why,omitempty"`    // why this form
	Cached   bool   `json:"cached,omitempty"` // paid before: no call was made
	Custom   bool   `json:"custom_prompt,omitempty"`
	Separate bool   `json:"separate_profile,omitempty"` // not the conversation's own model
	// 0 to 100 by the model's own check; nil: none was requested
	Score    *int     `json:"score,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
}

// Add adds the calls, usage, cost and time of o; the newer model's name stays.
func (c *CallReport) Add(o CallReport) {
	c.Calls += o.Calls
	c.Usage.Add(o.Usage)
	c.CostUSD += o.CostUSD
	c.Took += o.Took
	if o.Model != "" {
		c.Model = o.Model
	}
}
