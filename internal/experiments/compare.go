package experiments

import "precis/internal/interval"

// Metric is something that is measured of condensations.
type Metric string

// The metrics.
const (
	MetricSaved        Metric = "tokens_saved"
	MetricShare        Metric = "share_saved" // of the view before, 0 to 1
	MetricCost         Metric = "cost_usd"
	MetricSeconds      Metric = "seconds" // for the model's answers
	MetricCalls        Metric = "calls"   // of models, retries included
	MetricGate         Metric = "gate_score"
	MetricRepaired     Metric = "repaired"      // facts and rules that the gate added
	MetricRereads      Metric = "rereads"       // see [Outcome.After]
	MetricRereadsShown Metric = "rereads_shown" // see [Outcome.After]
	MetricUndone       Metric = "undone"        // share that users took back, 0 to 1
)

// Metrics returns all metrics, in the order reports list them.
func Metrics() []Metric {
	return []Metric{
		MetricSaved, MetricShare, MetricCost, MetricSeconds, MetricCalls,
		MetricGate, MetricRepaired, MetricRereads, MetricRereadsShown, MetricUndone,
	}
}

// Value returns a metric of one outcome, and whether it is known: what was saved
// when the sizes are recorded; cost, time and calls when a model was asked; the
// gate's score (the share of the likely facts that the summary held by itself)
// when there were any; its repairs when it looked; asking anew when the
// conversation went on.
func (o Outcome) Value(m Metric) (value float64, known bool) {
	switch m {
	case MetricSaved:
		return float64(o.Saved), o.Before > 0
	case MetricShare:
		return ratio(o.Saved, o.Before), o.Before > 0
	case MetricCost:
		return o.CostUSD, o.Called || o.CostUSD > 0
	case MetricSeconds:
		return o.Took.Seconds(), o.Called
	case MetricCalls:
		return float64(o.Calls), o.Called
	case MetricGate:
		return ratio(o.Held, o.Likely), o.Likely > 0
	case MetricRepaired:
		return float64(o.Repaired), o.Likely > 0 || o.Repaired > 0
	case MetricRereads:
		return float64(o.Rereads), o.After > 0
	case MetricRereadsShown:
		return float64(o.RereadsShown), o.After > 0
	case MetricUndone:
		if o.Undone {
			return 1, true
		}
		return 0, true
	}
	return 0, false
}

func ratio(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// Interval is where the true value lies with 95 % confidence.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Estimate is a mean, or a difference of two, with what chance makes uncertain.
type Estimate struct {
	Conversations int       `json:"conversations"` // that it is from
	Mean          float64   `json:"mean"`
	Interval      *Interval `json:"interval,omitempty"` // nil: too few values, or all alike
}

// BeyondChance reports whether a difference is larger than chance explains: 0 is
// not in its interval. Of twenty that are chance alone, one looks so.
func (e Estimate) BeyondChance() bool {
	return e.Interval != nil && (e.Interval.Low > 0 || e.Interval.High < 0)
}

// Stats are the condensations of one variant or, without an experiment, of one
// rung and model.
type Stats struct {
	Experiment    string              `json:"experiment,omitempty"`
	Variant       string              `json:"variant"`
	Model         string              `json:"model,omitempty"` // without an experiment
	Conversations int                 `json:"conversations"`
	Condensations int                 `json:"condensations"`
	Means         map[Metric]Estimate `json:"means"` // without what is known of none

	// Differences are from the control: the variant of the experiment that comes
	// first. Nil for the control itself and without an experiment, where nothing
	// makes the conversations comparable.
	Differences map[Metric]Estimate `json:"differences,omitempty"`
}

// Compare sums outcomes up for each variant, in the order in which they first
// occur. Condensations of one conversation are alike, and it is conversations that
// an experiment assigns; so means are taken over each conversation first and then
// over the conversations, and the latter are what intervals count. Intervals of
// amounts are Student's, those of differences Welch's. Of the share undone they
// are Wilson's and Newcombe's. One conversation alone has none.
func Compare(outcomes []Outcome) []Stats {
	var out []Stats
	var samples []sample
	control := map[string]int{}
	for _, g := range grouped(outcomes) {
		s := Stats{Experiment: g[0].Experiment, Variant: g[0].Variant, Condensations: len(g), Means: map[Metric]Estimate{}}
		if s.Experiment == "" {
			s.Model = g[0].Model
		}
		values := sample{}
		for _, m := range Metrics() {
			if values[m] = byConversation(g, m); len(values[m]) > 0 {
				s.Means[m] = mean(m, values[m])
			}
		}
		s.Conversations = len(values[MetricUndone]) // which is known of all
		if first, ok := control[s.Experiment]; ok && s.Experiment != "" {
			s.Differences = differences(samples[first], values)
		} else {
			control[s.Experiment] = len(out)
		}
		out, samples = append(out, s), append(samples, values)
	}
	return out
}

// sample holds the values of each metric, one for each conversation.
type sample map[Metric][]float64

// grouped returns the outcomes of each variant.
func grouped(outcomes []Outcome) [][]Outcome {
	type key struct{ experiment, variant, model string }
	var out [][]Outcome
	at := map[key]int{}
	for _, o := range outcomes {
		k := key{o.Experiment, o.Variant, o.Model}
		if o.Experiment != "" {
			k.model = ""
		}
		i, ok := at[k]
		if !ok {
			i = len(out)
			at[k], out = i, append(out, nil)
		}
		out[i] = append(out[i], o)
	}
	return out
}

// byConversation returns the mean of a metric in each conversation that it is
// known of.
func byConversation(outcomes []Outcome, m Metric) []float64 {
	var order []string
	values := map[string][]float64{}
	for _, o := range outcomes {
		v, known := o.Value(m)
		if !known {
			continue
		}
		if values[o.Conversation] == nil {
			order = append(order, o.Conversation)
		}
		values[o.Conversation] = append(values[o.Conversation], v)
	}
	var out []float64
	for _, c := range order {
		mean, _ := interval.Moments(values[c])
		out = append(out, mean)
	}
	return out
}

func mean(m Metric, values []float64) Estimate {
	mean, iv, ok := interval.Mean(values)
	if m == MetricUndone {
		iv, ok = interval.Wilson(mean, len(values))
	}
	return estimate(len(values), mean, iv, ok)
}

// differences returns how far the values are from those of the control.
func differences(control, values sample) map[Metric]Estimate {
	out := map[Metric]Estimate{}
	for m, b := range values {
		a := control[m]
		if len(a) == 0 || len(b) == 0 {
			continue
		}
		diff, iv, ok := interval.Welch(a, b)
		if m == MetricUndone {
			shareA, _ := interval.Moments(a)
			shareB, _ := interval.Moments(b)
			diff, iv, ok = interval.Newcombe(shareA, len(a), shareB, len(b))
		}
		out[m] = estimate(len(a)+len(b), diff, iv, ok)
	}
	return out
}

func estimate(n int, value float64, iv interval.Interval, ok bool) Estimate {
	e := Estimate{Conversations: n, Mean: value}
	if ok {
		e.Interval = &Interval{iv.Low, iv.High}
	}
	return e
}
