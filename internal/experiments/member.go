package experiments

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Metrics of whole conversations, because a conversation that is left alone has no condensation to
// measure.
const (
	MetricRequests   Metric = "requests"
	MetricPaid       Metric = "paid_usd"        // for requests and for condensing
	MetricSummaries  Metric = "summaries_usd"   // for condensing, part of MetricPaid
	MetricSent       Metric = "tokens_sent"     // by all requests
	MetricNotSent    Metric = "tokens_not_sent" // sent by clients and not forwarded
	MetricReductions Metric = "reductions"
)

// WholeMetrics returns the metrics of whole conversations, in the order reports list
// them.
func WholeMetrics() []Metric {
	return []Metric{MetricRequests, MetricPaid, MetricSummaries, MetricSent, MetricNotSent, MetricReductions}
}

// Member is a conversation of an experiment arm, with its usage so far.
type Member struct {
	Arm      string // as "EXPERIMENT/ARM"
	Requests int
	Booked   bool // there is a ledger; otherwise the rest is unknown
	Paid     float64
	Condense float64 // for condensing, part of Paid
	Sent     int
	NotSent  int
	Edits    int
}

func (m Member) value(metric Metric) (value float64, known bool) {
	switch metric {
	case MetricRequests:
		return float64(m.Requests), true
	case MetricPaid:
		return m.Paid, m.Booked
	case MetricSummaries:
		return m.Condense, m.Booked
	case MetricSent:
		return float64(m.Sent), m.Booked
	case MetricNotSent:
		return float64(m.NotSent), m.Booked
	case MetricReductions:
		return float64(m.Edits), m.Booked
	}
	return 0, false
}

// CompareMembers summarizes whole conversations by arm: the arms of an experiment together, its
// [Control] first, then by name. Means, intervals and differences are computed as in [Compare];
// [Stats.Condensations] is the number of reductions.
func CompareMembers(members []Member) []Stats {
	byArm := map[string][]Member{}
	for _, m := range members {
		byArm[m.Arm] = append(byArm[m.Arm], m)
	}
	var out []Stats
	var first sample // the first arm of the experiment
	for _, name := range slices.SortedFunc(maps.Keys(byArm), compareArms) {
		s := Stats{Means: map[Metric]Estimate{}, Conversations: len(byArm[name])}
		s.Experiment, s.Variant, _ = strings.Cut(name, "/")
		values := sample{}
		for _, m := range byArm[name] {
			s.Condensations += m.Edits
			for _, metric := range WholeMetrics() {
				if v, known := m.value(metric); known {
					values[metric] = append(values[metric], v)
				}
			}
		}
		for metric, v := range values {
			s.Means[metric] = mean(metric, v)
		}
		if n := len(out); n > 0 && out[n-1].Experiment == s.Experiment {
			s.Differences = differences(first, values)
		} else {
			first = values
		}
		out = append(out, s)
	}
	return out
}

// compareArms orders arms by experiment, the control of each first.
func compareArms(a, b string) int {
	xa, va, _ := strings.Cut(a, "/")
	xb, vb, _ := strings.Cut(b, "/")
	return cmp.Or(cmp.Compare(xa, xb), cmp.Compare(notControl(va), notControl(vb)), cmp.Compare(va, vb))
}

func notControl(variant string) int {
	if variant == Control {
		return 0
	}
	return 1
}
