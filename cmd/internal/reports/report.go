package reports

import (
	"fmt"
	"strings"
	"time"

	"precis"
	"precis/cmd/internal/jobs"
	"precis/cmd/internal/term"
)

// Report prints what a check found and did.
func (p *Printer) Report(j *jobs.Job, r precis.Report) {
	w := p.Text
	w.Pairs(
		[2]string{"recording", fmt.Sprintf("%s, %s messages", j.File.Format, term.Number(j.Conversation.Transcript.Len()))},
		[2]string{"window", r.Decision.Window.String()},
		[2]string{"before", sizeText(r.Before, r.Decision.Window.Tokens)},
		[2]string{"after", sizeText(r.After, r.Decision.Window.Tokens)},
		[2]string{"decision", fmt.Sprintf("%s — %s", r.Decision.Action, r.Arithmetic)},
		[2]string{"counted", fmt.Sprintf("%s × %.2f", r.Counter, r.Calibration)},
		[2]string{"kept", keptText(r)},
	)
	p.edits(r)
	if n := len(r.Repairs); n > 0 {
		w.Printf("  %s the recording was not a valid request; %d places were mended, the first: %s\n", w.Style("warn", "note"), n, r.Repairs[0])
	}
}

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
	percent := 100 * float64(s.Tokens) / float64(window)
	return fmt.Sprintf("%s tokens (%.1f %%), %s messages", term.Number(s.Tokens), percent, term.Number(s.Messages))
}

// callPairs lists the model calls and their cost, and why rungs that call one were not
// used.
func callPairs(r precis.Report) [][2]string {
	var pairs [][2]string
	for _, s := range r.Steps {
		if c := s.Call; c != nil {
			pairs = append(pairs, [2]string{"model", callText(*c)})
			for _, w := range c.Warnings {
				pairs = append(pairs, [2]string{"", w})
			}
		}
		if s.Outcome == precis.OutcomeFailed || s.Code == precis.ReasonBudget || s.Code == precis.ReasonCapped || strings.HasPrefix(s.Reason, "dry run: ") {
			pairs = append(pairs, [2]string{"not used", fmt.Sprintf("%s: %s (%s): %s", s.Rung, s.Outcome, s.Code, s.Reason)})
		}
	}
	for _, w := range r.Warnings {
		pairs = append(pairs, [2]string{"warning", w})
	}
	return pairs
}

// callText is "claude-sonnet-4-5, 1 call, 12,000 tokens in, 800 out, $0.0480; by
// itself: there is no live request".
func callText(c precis.CallReport) string {
	if c.Cached && c.Calls == 0 {
		return c.Model + ": paid before, nothing was called"
	}
	calls := "1 call"
	if c.Calls != 1 {
		calls = fmt.Sprintf("%d calls", c.Calls)
	}
	form := map[string]string{"cache": "through the prompt cache", "compact": "by itself", "parts": "in parts"}[c.Form]
	return fmt.Sprintf("%s, %s, %s tokens in, %s out, $%.4f; %s: %s", c.Model, calls, term.Number(c.Usage.Input+c.Usage.CacheRead+c.Usage.CacheWrite), term.Number(c.Usage.Output), c.CostUSD, form, c.Why)
}

// status prints a conversation at a glance.
func (p *Printer) status(s precis.Status) {
	p.Text.Pairs(
		[2]string{"usage", fmt.Sprintf("%.1f %%, %s of %s tokens", s.Percent, term.Number(s.Tokens), term.Number(s.Window))},
		[2]string{"messages", fmt.Sprintf("%s, %s shown to the model", term.Number(s.Messages), term.Number(s.Shown))},
		[2]string{"condensed", fmt.Sprintf("%s, %s, %s, last %s", term.Count(s.Condensations, "condensation"), term.Count(s.Truncations, "truncation"), term.Count(s.Other, "other edit"), s.Ago(time.Now()))},
	)
}
