package precis

import (
	"fmt"
	"time"
)

// Size is how big a view is.
type Size struct {
	Tokens   int `json:"tokens"`   // overhead included, calibrated
	Messages int `json:"messages"` // in the view
	Overhead int `json:"overhead"` // tokens of the system prompt and the tools
}

// Report says what one check of a conversation found and did. Every number
// carries its source or is counted by Counter.
type Report struct {
	Conversation string        `json:"conversation,omitempty"`
	Model        string        `json:"model,omitempty"`
	Preset       string        `json:"preset"`
	Counter      string        `json:"counter"`
	Calibration  float64       `json:"calibration"` // reported tokens divided by counted ones
	TriggeredBy  TriggeredBy   `json:"triggered_by"`
	Before       Size          `json:"before"`
	Said         int           `json:"said,omitempty"` // tokens with nothing replaced, overhead included; 0 without [Request.Meter]
	After        Size          `json:"after"`
	Decision     Decision      `json:"decision"`
	Arithmetic   string        `json:"arithmetic"`
	Outcome      string        `json:"outcome"` // one sentence: what was done, or why nothing was
	Steps        []Step        `json:"steps,omitempty"`
	Edits        []EditSummary `json:"edits"`
	Repairs      []Breach      `json:"repairs,omitempty"`   // what the recorded conversation lacked to be valid
	Retention    *Retention    `json:"retention,omitempty"` // nil when nothing was reduced or no gate is there to tell
	Warnings     []string      `json:"warnings,omitempty"`
	Status       Status        `json:"status"`
	Took         time.Duration `json:"took_ns"`
}

// EditSummary is one edit as reports show it.
type EditSummary struct {
	ID     string   `json:"id"`
	Kind   EditKind `json:"kind"`
	Rung   string   `json:"rung"`
	Reason string   `json:"reason"`
	Saved  int      `json:"tokens_saved"`
	Detail []string `json:"notes,omitempty"`
	Blocks int      `json:"blocks,omitempty"`
	Spans  int      `json:"messages,omitempty"`

	Call *CallReport   `json:"call,omitempty"` // the model calls behind it; nil: none
	Took time.Duration `json:"took_ns,omitempty"`

	// See [EditReport] for these.
	Variant  string `json:"variant,omitempty"`
	Likely   int    `json:"likely,omitempty"`
	Held     int    `json:"held,omitempty"`
	Repaired int    `json:"repaired,omitempty"`
}

// cost returns what the step's calls cost.
func (s Step) cost() float64 {
	if s.Call == nil {
		return 0
	}
	return s.Call.CostUSD
}

// CostUSD returns what the model calls of the check cost, those that led to
// nothing too.
func (r Report) CostUSD() float64 {
	sum := 0.0
	for _, s := range r.Steps {
		sum += s.cost()
	}
	return sum
}

// summarize lists edits for a report, their savings in real tokens.
func summarize(edits []Edit, factor float64) []EditSummary {
	out := make([]EditSummary, len(edits))
	for i, e := range edits {
		r := e.Report
		out[i] = EditSummary{ID: e.ID, Kind: e.Kind, Rung: r.Rung, Reason: r.Reason, Saved: int(float64(r.Saved())*factor + 0.5), Detail: r.Notes, Blocks: r.Blocks, Spans: r.Messages, Call: r.Call, Took: r.Took,
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
	Shown         int       `json:"shown"`    // in the view
	Condensations int       `json:"condensations"`
	Truncations   int       `json:"truncations"`
	Other         int       `json:"other_edits"` // edits of other kinds in force
	Last          time.Time `json:"last,omitzero"`
	Action        Action    `json:"action"` // what would be done now
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

// count fills in what the edits in force tell.
func (s *Status) count(edits []Edit) {
	for _, e := range Active(edits) {
		switch e.Kind {
		case KindCondensation:
			s.Condensations++
		case KindTruncation:
			s.Truncations++
		default:
			s.Other++
		}
		if e.reduces() && e.Time.After(s.Last) {
			s.Last = e.Time
		}
	}
}
