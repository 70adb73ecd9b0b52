package dashboard

import (
	"fmt"
	"math"

	"github.com/precis-dev/precis/conversation/ledger"
	"github.com/precis-dev/precis/internal/experiments"
	"github.com/precis-dev/precis/internal/texts"
)

// experimentsPage compares the arms of experiments on their conversations.
type experimentsPage struct {
	Tables []experimentTable
}

// experimentTable is one experiment: a column for each arm, the reference arm first.
type experimentTable struct {
	Name string
	Arms []experiments.Stats
	Rows []experimentRow
}

// experimentRow is a metric of each arm.
type experimentRow struct {
	Metric experiments.Metric
	Cells  []experimentCell
}

// experimentCell is a mean over conversations.
type experimentCell struct {
	Mean string // "": unknown
	Half string // of the interval; "": none
	Diff string // from the first arm, if it exceeds chance; "": it does not
}

func (c *call) experiments() error {
	all, err := ledger.Arms(c.ctx(), c.home)
	if err != nil {
		return err
	}
	var members []experiments.Member
	for _, m := range all {
		members = append(members, experiments.Member{
			Arm: m.Arm, Requests: m.Requests, Booked: m.Booked, Paid: m.CostUSD + m.Condensing,
			Condense: m.Condensing, Sent: m.Sent, NotSent: m.Saved, Edits: m.Edits,
		})
	}
	var p experimentsPage
	for _, s := range experiments.CompareMembers(members) {
		if n := len(p.Tables); n == 0 || p.Tables[n-1].Name != s.Experiment {
			p.Tables = append(p.Tables, experimentTable{Name: s.Experiment})
		}
		t := &p.Tables[len(p.Tables)-1]
		t.Arms = append(t.Arms, s)
	}
	for i := range p.Tables {
		p.Tables[i].fill(c.prefs.Lang)
	}
	return c.show("experiments", page{Title: c.text("experiments.title"), Tab: "settings", Data: p})
}

// fill writes the rows of a table, without metrics that have no data.
func (t *experimentTable) fill(lang string) {
	for _, m := range experiments.WholeMetrics() {
		r, known := experimentRow{Metric: m}, false
		for _, s := range t.Arms {
			var cell experimentCell
			if e, ok := s.Means[m]; ok {
				known = true
				cell.Mean = amountOf(lang, m, e.Mean)
				if e.Interval != nil {
					cell.Half = amountOf(lang, m, (e.Interval.High-e.Interval.Low)/2)
				}
			}
			if d, ok := s.Differences[m]; ok && d.BeyondChance() {
				cell.Diff = amountOf(lang, m, math.Abs(d.Mean))
				if d.Mean > 0 {
					cell.Diff = "+" + cell.Diff
				} else {
					cell.Diff = "−" + cell.Diff
				}
			}
			r.Cells = append(r.Cells, cell)
		}
		if known {
			t.Rows = append(t.Rows, r)
		}
	}
}

// amountOf writes a value in the unit of its metric.
func amountOf(lang string, m experiments.Metric, v float64) string {
	switch m {
	case experiments.MetricPaid, experiments.MetricSummaries:
		return texts.Dollars(lang, v)
	case experiments.MetricSent, experiments.MetricNotSent:
		return texts.Number(lang, int(math.Round(v)))
	}
	return fmt.Sprintf("%.1f", v)
}
