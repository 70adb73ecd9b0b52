package reports

import (
	"fmt"
	"strings"
	"time"

	"precis"
	"precis/cmd/internal/term"
)

func (p *Printer) edits(r precis.Report) {
	if len(r.Edits) == 0 {
		return
	}
	var rows [][]string
	for _, e := range r.Edits {
		rows = append(rows, []string{e.Rung, string(e.Kind), term.Number(e.Saved), e.Reason})
	}
	p.Text.Printf("\n")
	p.Text.Table([]string{"rung", "edit", "tokens saved", "what"}, []int{2}, rows)
}

func sizeText(s precis.Size, window int) string {
	return fmt.Sprintf("%s tokens (%s), %s", term.Number(s.Tokens), percent(s.Tokens, window), term.Count(s.Messages, "message"))
}

// callPairs lists the model calls and their cost, why rungs that call one failed, and
// warnings.
func callPairs(r precis.Report) []term.Pair {
	var pairs []term.Pair
	for _, s := range r.Steps {
		if c := s.Call; c != nil {
			pairs = append(pairs, term.Pair{Name: "model", Value: callText(*c)})
			for _, w := range c.Warnings {
				pairs = append(pairs, term.Pair{Name: "warning", Value: w, Style: "warn"})
			}
		}
		switch {
		case s.Outcome == precis.OutcomeFailed:
			pairs = append(pairs, term.Pair{Name: "failed", Value: stepText(s), Style: "bad"})
		case s.Code == precis.ReasonBudget, strings.HasPrefix(s.Reason, "dry run: "):
			pairs = append(pairs, term.Pair{Name: "not used", Value: stepText(s)})
		}
	}
	for _, w := range r.Warnings {
		pairs = append(pairs, term.Pair{Name: "warning", Value: w, Style: "warn"})
	}
	return pairs
}

func stepText(s precis.Step) string {
	return fmt.Sprintf("%s: %s (%s): %s", s.Rung, s.Outcome, s.Code, s.Reason)
}

// skipped lists the rungs that changed nothing, and why.
func skipped(r precis.Report) [][2]string {
	var pairs [][2]string
	for _, s := range r.Steps {
		if s.Outcome != precis.OutcomeAccepted && s.Outcome != precis.OutcomeFailed && s.Code != precis.ReasonBudget {
			pairs = append(pairs, [2]string{"not used", stepText(s)})
		}
	}
	return pairs
}

// callText is "claude-sonnet-4-5, 1 call, 12,000 tokens in, 800 out, $0.048; by
// itself: there is no live request".
func callText(c precis.CallReport) string {
	if c.Cached && c.Calls == 0 {
		return c.Model + ": paid before, nothing was called"
	}
	form := map[string]string{"cache": "through the prompt cache", "compact": "by itself", "parts": "in parts"}[c.Form]
	return fmt.Sprintf("%s, %s, %s tokens in, %s out, %s; %s: %s", c.Model, term.Count(c.Calls, "call"), term.Number(c.Usage.Input+c.Usage.CacheRead+c.Usage.CacheWrite), term.Number(c.Usage.Output), term.Dollars(c.CostUSD), form, c.Why)
}

// status prints a conversation at a glance, and where it was written.
func (p *Printer) status(s precis.Status, where string) {
	p.Text.Styled(
		term.Pair{Name: "usage", Value: fmt.Sprintf("%s, %s of %s tokens", term.Percent(s.Percent), term.Number(s.Tokens), term.Number(s.Window))},
		term.Pair{Name: "messages", Value: fmt.Sprintf("%s, %s shown to the model", term.Number(s.Messages), term.Number(s.Shown))},
		term.Pair{Name: "condensed", Value: historyText(s)},
		term.Pair{Name: "written to", Value: where, Style: "good"},
	)
}

// historyText counts the edits in force.
func historyText(s precis.Status) string {
	return fmt.Sprintf("%s, %s, %s, last %s", term.Count(s.Condensations, "condensation"), term.Count(s.Truncations, "truncation"), term.Count(s.Other, "other edit"), s.Ago(time.Now()))
}
