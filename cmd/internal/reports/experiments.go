package reports

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/precis-dev/precis/cmd/internal/term"
	"github.com/precis-dev/precis/internal/experiments"
)

// Gathered holds the condensations found in recordings.
type Gathered struct {
	Recordings    int                   `json:"recordings"`
	Skipped       []SkippedFile         `json:"skipped,omitempty"`
	Stats         []experiments.Stats   `json:"stats"`
	Condensations []experiments.Outcome `json:"condensations"`
	// whole conversations of the gateway's store; nil if recordings were read
	Arms []experiments.Stats `json:"arms,omitempty"`
}

// SkippedFile is a file of a folder that is not a recording.
type SkippedFile struct {
	Path string `json:"path"`
	Why  string `json:"why"`
}

// Experiments prints a table for each experiment, and one for condensations outside experiments.
func (p *Printer) Experiments(r Gathered) {
	w := p.Text
	if !p.Quiet {
		for _, s := range r.Skipped {
			p.Warn("skipped: %s", s.Why)
		}
	}
	if r.Arms != nil {
		p.arms(r)
	} else if len(r.Stats) == 0 {
		w.Title("%s", p.Words.Text("no condensation in %s", p.Words.Count(r.Recordings, "recording")))
		w.Printf("\n")
		w.Paragraph("", p.Words.Text("precis condense FILE makes one and records it in FILE.precis"))
		return
	}
	if r.Arms == nil {
		w.Title("%s", p.Words.Text("%s in %s", p.Words.Count(distinctRuns(r.Condensations), "condensation"),
			p.Words.Count(r.Recordings, "recording")))
	}
	for rest := r.Stats; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].Experiment == rest[0].Experiment {
			n++
		}
		p.experiment(rest[:n], experiments.Metrics())
		rest = rest[n:]
	}
}

// distinctRuns counts runs; a run in several experiments counts once.
func distinctRuns(outcomes []experiments.Outcome) int {
	runs := map[[2]string]bool{}
	for _, o := range outcomes {
		runs[[2]string{o.Conversation, o.Run}] = true
	}
	return len(runs)
}

// arms prints whole conversations, grouped by the arms of experiments.
func (p *Printer) arms(r Gathered) {
	w := p.Text
	if len(r.Arms) == 0 {
		w.Title("%s", p.Words.Text("no conversation belongs to an experiment"))
		w.Printf("\n")
		w.Paragraph("", p.Words.Text("experiments are set up in the configuration file of a gateway: docs/experiments.md"))
		return
	}
	w.Title("%s", p.Words.Text("%s of experiments", p.Words.Count(r.Recordings, "conversation")))
	for rest := r.Arms; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].Experiment == rest[0].Experiment {
			n++
		}
		p.experiment(rest[:n], experiments.WholeMetrics())
		rest = rest[n:]
	}
	if len(r.Stats) > 0 {
		w.Printf("\n")
		w.Title("%s", p.Words.Text("their condensations"))
	}
}

func (p *Printer) experiment(stats []experiments.Stats, metrics []experiments.Metric) {
	w := p.Text
	title := p.Words.Text("of no experiment, by rung and model")
	if x := stats[0].Experiment; x != "" {
		title = p.Words.Text("experiment %s", term.Plain(x))
	}
	w.Printf("\n")
	w.Title("%s", title)
	const first, column = 20, 26
	per := max(1, (w.Width()-first)/column)
	for from := 0; from < len(stats); from += per {
		w.Printf("\n")
		p.variants(stats[from:min(from+per, len(stats))], metrics)
	}
	w.Printf("\n")
	if stats[0].Experiment == "" {
		w.Printf("  %s\n", p.Words.Text("nobody assigned these by chance: what differs may be the conversations"))
		return
	}
	for _, line := range p.claims(stats, metrics) {
		w.Printf("  %s\n", line)
	}
}

// variants prints one column for each of the stats.
func (p *Printer) variants(stats []experiments.Stats, metrics []experiments.Metric) {
	headers, right := []string{""}, []int{}
	rows := [][]string{p.Words.Heads("conversations"), p.Words.Heads("condensations")}
	if slices.Contains(metrics, experiments.MetricReductions) { // these count reductions by their mean
		rows = rows[:1]
	}
	for i, s := range stats {
		headers, right = append(headers,
			oneLine(term.Plain(strings.TrimSpace(s.Variant+" "+s.Model)), 24)), append(right, i+1)
		rows[0] = append(rows[0], p.Words.Number(s.Conversations))
		if len(rows) > 1 {
			rows[1] = append(rows[1], p.Words.Number(s.Condensations))
		}
	}
	for _, m := range metrics {
		row := p.Words.Heads(metricNames[m])
		for _, s := range stats {
			row = append(row, p.meanText(m, s))
		}
		rows = append(rows, row)
	}
	p.Text.Table(headers, right, rows)
}

var metricNames = map[experiments.Metric]string{
	experiments.MetricSaved: "tokens saved", experiments.MetricShare: "share saved",
	experiments.MetricCost: "cost", experiments.MetricSeconds: "seconds",
	experiments.MetricCalls: "model calls", experiments.MetricGate: "gate score",
	experiments.MetricRepaired: "repaired",
	experiments.MetricRereads:  "re-reads of hidden", experiments.MetricRereadsShown: "re-reads of shown",
	experiments.MetricUndone:   "undone",
	experiments.MetricRequests: "requests", experiments.MetricPaid: "paid, all in all",
	experiments.MetricSummaries: "of it to condense",
	experiments.MetricSent:      "tokens sent", experiments.MetricNotSent: "tokens not sent",
	experiments.MetricReductions: "edits",
}

// meanText returns a mean with its interval, or "–" if it is unknown.
func (p *Printer) meanText(m experiments.Metric, s experiments.Stats) string {
	e, ok := s.Means[m]
	if !ok {
		return "–"
	}
	text := p.amount(m, e.Mean)
	switch {
	case e.Interval == nil:
	case m == experiments.MetricUndone: // its interval is not symmetric
		text += p.Words.Text(" (%s to %s)", p.amount(m, e.Interval.Low), p.amount(m, e.Interval.High))
	default:
		text += " ± " + strings.TrimPrefix(p.amount(m, (e.Interval.High-e.Interval.Low)/2), "$")
	}
	if e.Conversations < s.Conversations {
		text += p.Words.Text(", of %s", p.Words.Number(e.Conversations))
	}
	return text
}

// amount writes a value in the unit of its metric.
func (p *Printer) amount(m experiments.Metric, v float64) string {
	switch m {
	case experiments.MetricSaved, experiments.MetricSent, experiments.MetricNotSent:
		return p.Words.Number(int(math.Round(v)))
	case experiments.MetricShare, experiments.MetricGate, experiments.MetricUndone:
		return p.Words.Decimal(strconv.FormatFloat(100*v, 'f', 1, 64)) + " %"
	case experiments.MetricCost, experiments.MetricPaid, experiments.MetricSummaries:
		return p.Words.Amount(v, 4)
	case experiments.MetricSeconds:
		return p.Words.Decimal(strconv.FormatFloat(v, 'f', 1, 64))
	}
	return p.Words.Decimal(strconv.FormatFloat(v, 'f', 2, 64))
}

// claims lists the differences from the control that are larger than chance.
func (p *Printer) claims(stats []experiments.Stats, metrics []experiments.Metric) []string {
	if len(stats) < 2 {
		return []string{p.Words.Text("there is no other variant to compare with")}
	}
	var out []string
	looked := 0
	for _, s := range stats[1:] {
		for _, m := range metrics {
			d, ok := s.Differences[m]
			if !ok || d.Interval == nil {
				continue
			}
			looked++
			if d.BeyondChance() {
				out = append(out, p.claim(m, s.Variant, stats[0].Variant, d))
			}
		}
	}
	switch {
	case looked == 0:
		return []string{p.Words.Text("there are too few conversations to tell any difference from chance")}
	case len(out) == 0:
		return []string{p.Words.Text("no difference is larger than chance with so few")}
	}
	byChance := p.Words.Decimal(strconv.FormatFloat(float64(looked)/20, 'f', 1, 64))
	return append(out, p.Words.Text("of %s looked at, %s would look larger than chance by chance alone",
		p.Words.Count(looked, "difference"), byChance))
}

func (p *Printer) claim(m experiments.Metric, variant, against string, d experiments.Estimate) string {
	more, mean, low, high := "more", d.Mean, d.Interval.Low, d.Interval.High
	if mean < 0 {
		more, mean, low, high = "less", -mean, -high, -low
	}
	return p.Words.Text("larger than chance: %s of %s is %s %s than of %s (%s to %s)",
		p.Words.Text(metricNames[m]), term.Plain(variant), p.amount(m, mean), p.Words.Text(more),
		term.Plain(against), p.amount(m, low), p.amount(m, high))
}
