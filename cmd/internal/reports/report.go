package reports

import (
	"fmt"
	"strings"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/cmd/internal/console"
	"github.com/precis-dev/precis/cmd/internal/term"
	"github.com/precis-dev/precis/condense"
	"github.com/precis-dev/precis/policy"
)

func (p *Printer) edits(r policy.Report) {
	if len(r.Edits) == 0 {
		return
	}
	var rows [][]string
	for _, e := range r.Edits {
		rows = append(rows, []string{e.Rung, p.Words.Kind(e.Kind), p.Words.Number(e.Saved),
			p.Words.Sentence(e.Reason)})
	}
	p.Text.Printf("\n")
	p.Text.Table(p.Words.Heads("rung", "edit", "tokens saved", "what"), []int{2}, rows)
}

func (p *Printer) sizeText(s policy.Size, window int) string {
	return p.Words.Text("%s tokens (%s), %s", p.Words.Number(s.Tokens), percent(p.Words, s.Tokens, window),
		p.Words.Count(s.Messages, "message"))
}

// callPairs lists the model calls with their cost, the failures of rungs, and warnings.
func callPairs(w *console.Words, r policy.Report) []term.Pair {
	var pairs []term.Pair
	for _, s := range r.Steps {
		if c := s.Call; c != nil {
			pairs = append(pairs, term.Pair{Name: w.Say("model"), Value: callText(w, *c)})
			for _, warning := range c.Warnings {
				pairs = append(pairs, term.Pair{Name: w.Say("warning"), Value: w.Sentence(warning),
					Style: "warn"})
			}
		}
		switch {
		case s.Outcome == precis.OutcomeFailed:
			pairs = append(pairs, term.Pair{Name: w.Say("failed"), Value: failureText(w, s), Style: "bad"})
		case s.Code == policy.ReasonBudget, strings.HasPrefix(s.Reason, "dry run: "):
			pairs = append(pairs, term.Pair{Name: w.Say("unused"), Value: stepText(w, s)})
		}
	}
	for _, warning := range r.Warnings {
		pairs = append(pairs, term.Pair{Name: w.Say("warning"), Value: w.Sentence(warning), Style: "warn"})
	}
	return pairs
}

// failureText explains why a rung failed. For rungs that call a model it adds the failure's name
// and an explanation for users.
func failureText(w *console.Words, s precis.RungResult) string {
	if s.Rung != (condense.Full{}).Name() && s.Rung != (condense.Selective{}).Name() {
		return stepText(w, s)
	}
	name := condense.ErrorName(s.Code)
	return stepText(w, s) + "; " + name + ": " + w.Failure(name)
}

// stepText states how a rung ended and why. The rung's name and the reason's code are the same in
// every language.
func stepText(w *console.Words, s precis.RungResult) string {
	return fmt.Sprintf("%s: %s (%s): %s", s.Rung, w.Outcome(s.Outcome), s.Code, w.Reason(s))
}

// skipped lists the rungs that made no change, and why.
func skipped(w *console.Words, r policy.Report) [][2]string {
	var pairs [][2]string
	for _, s := range r.Steps {
		if s.Outcome != precis.OutcomeAccepted && s.Outcome != precis.OutcomeFailed &&
			s.Code != policy.ReasonBudget {
			pairs = append(pairs, [2]string{"not used", stepText(w, s)})
		}
	}
	return pairs
}

// callText is "claude-sonnet-4-5, 1 call, 12,000 tokens in, 800 out, $0.048; by
// itself: there is no live request".
func callText(w *console.Words, c precis.CallReport) string {
	if c.Cached && c.Calls == 0 {
		return w.Text("%s: paid before, nothing was called", c.Model)
	}
	form := map[string]string{"cache": w.Text("through the prompt cache"), "compact": w.Text("by itself"),
		"parts": w.Text("in parts")}[c.Form]
	return w.Text("%s, %s, %s tokens in, %s out, %s; %s: %s", c.Model, w.Count(c.Calls, "call"),
		w.Number(c.Usage.Input+c.Usage.CacheRead+c.Usage.CacheWrite), w.Number(c.Usage.Output),
		w.Dollars(c.CostUSD), form, w.Sentence(c.Why))
}

// status prints a conversation's status and the file it was written to.
func (p *Printer) status(s policy.Status, where string) {
	w := p.Words
	p.Text.Styled(
		term.Pair{Name: w.Say("usage"),
			Value: w.Say("usage.text", w.Percent(s.Percent), w.Number(s.Tokens), w.Number(s.Window))},
		term.Pair{Name: w.Say("messages"),
			Value: w.Say("messages.text", w.Number(s.Messages), w.Number(s.Shown))},
		term.Pair{Name: w.Say("condensed"), Value: historyText(w, s)},
		term.Pair{Name: w.Say("writtento"), Value: where, Style: "good"},
	)
}

// historyText counts the edits in force by kind.
func historyText(w *console.Words, s policy.Status) string {
	var parts []string
	if s.Condensations > 0 {
		parts = append(parts, w.Count(s.Condensations, "condensation"))
	}
	if s.Truncations > 0 {
		parts = append(parts, w.Count(s.Truncations, "truncation"))
	}
	if s.Other > 0 {
		parts = append(parts, w.Count(s.Other, "other edit"))
	}
	if len(parts) == 0 {
		return w.Say("nothing")
	}
	if !s.Last.IsZero() {
		parts = append(parts, w.Say("last", w.Ago(s, time.Now())))
	}
	return strings.Join(parts, w.Say("comma"))
}
