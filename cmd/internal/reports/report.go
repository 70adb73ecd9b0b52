package reports

import (
	"fmt"
	"strings"
	"time"

	"precis"
	"precis/cmd/internal/console"
	"precis/cmd/internal/term"
	"precis/condense"
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
func callPairs(w *console.Words, r precis.Report) []term.Pair {
	var pairs []term.Pair
	for _, s := range r.Steps {
		if c := s.Call; c != nil {
			pairs = append(pairs, term.Pair{Name: w.Say("model"), Value: callText(*c)})
			for _, warning := range c.Warnings {
				pairs = append(pairs, term.Pair{Name: w.Say("warning"), Value: warning, Style: "warn"})
			}
		}
		switch {
		case s.Outcome == precis.OutcomeFailed:
			pairs = append(pairs, term.Pair{Name: w.Say("failed"), Value: failureText(w, s), Style: "bad"})
		case s.Code == precis.ReasonBudget, strings.HasPrefix(s.Reason, "dry run: "):
			pairs = append(pairs, term.Pair{Name: w.Say("unused"), Value: stepText(s)})
		}
	}
	for _, warning := range r.Warnings {
		pairs = append(pairs, term.Pair{Name: w.Say("warning"), Value: warning, Style: "warn"})
	}
	return pairs
}

// failureText says why a rung failed: of one that calls a model also by the name of the
// failure, and in words that users know.
func failureText(w *console.Words, s precis.Step) string {
	if s.Rung != (condense.Full{}).Name() && s.Rung != (condense.Selective{}).Name() {
		return stepText(s)
	}
	name := condense.ErrorName(s.Code)
	return stepText(s) + "; " + name + ": " + w.Failure(name)
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
	w := p.Words
	p.Text.Styled(
		term.Pair{Name: w.Say("usage"), Value: w.Say("usage.text", term.Percent(s.Percent), term.Number(s.Tokens), term.Number(s.Window))},
		term.Pair{Name: w.Say("messages"), Value: w.Say("messages.text", term.Number(s.Messages), term.Number(s.Shown))},
		term.Pair{Name: w.Say("condensed"), Value: historyText(w, s)},
		term.Pair{Name: w.Say("writtento"), Value: where, Style: "good"},
	)
}

// historyText counts the edits in force.
func historyText(w *console.Words, s precis.Status) string {
	return strings.Join([]string{w.Count(s.Condensations, "condensation"), w.Count(s.Truncations, "truncation"), w.Count(s.Other, "other"), w.Say("last", w.Ago(s, time.Now()))}, w.Say("comma"))
}
