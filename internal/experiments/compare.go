package experiments

import "github.com/precis-dev/precis/internal/interval"

// Metric is a measured property of condensations.
type Metric string

// The metrics.
const (
	MetricSaved        Metric = "tokens_saved"
	MetricShare        Metric = "share_saved" // of the view before, 0 to 1
	MetricCost         Metric = "cost_usd"
	MetricSeconds      Metric = "seconds" // total time of the model's answers
	MetricCalls        Metric = "calls"   // of models, retries included
	MetricGate         Metric = "gate_score"
	MetricRepaired     Metric = "repaired"      // facts and rules that the gate added
	MetricRereads      Metric = "rereads"       // see [Outcome.After]
	MetricRereadsShown Metric = "rereads_shown" // see [Outcome.After]
	MetricUndone       Metric = "undone"        // share that users undid, 0 to 1
)

// Metrics returns all metrics, in the order reports list them.
func Metrics() []Metric {
	return []Metric{
		MetricSaved, MetricShare, MetricCost, MetricSeconds, MetricCalls,
		MetricGate, MetricRepaired, MetricRereads, MetricRereadsShown, MetricUndone,
	}
}

// Value returns a metric of one outcome, and whether it is known: savings if the sizes are
// recorded; cost, time and calls if a model was called; the gate's score (the share of the likely
// facts that the summary contained) if there were likely facts; its repairs if it ran; repeated
// reads if the conversation continued.
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

// Estimate is a mean, or a difference of two means, with its uncertainty.
type Estimate struct {
	Conversations int       `json:"conversations"` // that it is based on
	Mean          float64   `json:"mean"`
	Interval      *Interval `json:"interval,omitempty"` // nil: too few values, or all equal
}

// BeyondChance reports whether a difference exceeds chance: its interval does not contain 0. One of
// twenty differences that are due to chance appears so.
func (e Estimate) BeyondChance() bool {
	return e.Interval != nil && (e.Interval.Low > 0 || e.Interval.High < 0)
}

// Stats are the statistics of the condensations of one variant or, without an experiment, of one
// rung and model.
type Stats struct {
	Experiment    string              `json:"experiment,omitempty"`
	Variant       string              `json:"variant"`
	Model         string              `json:"model,omitempty"` // without an experiment
	Conversations int                 `json:"conversations"`
	Condensations int                 `json:"condensations"`
	Means         map[Metric]Estimate `json:"means"` // without metrics that have no value

	// Differences are from the control, the first variant of the experiment. Nil for the control
	// itself and without an experiment, because the conversations are then not comparable.
	Differences map[Metric]Estimate `json:"differences,omitempty"`
}

// Compare summarizes outcomes by variant, in the order of their first occurrence. Condensations of
// one conversation are not independent, and experiments assign conversations; so means are taken
// over each conversation first and then over conversations, and intervals count conversations.
// Amounts have Student's intervals, their differences Welch's; the share undone has Wilson's and
// Newcombe's. A single conversation has no interval.
func Compare(outcomes []Outcome) []Stats {
	var out []Stats
	var samples []sample
	control := map[string]int{}
	for _, g := range grouped(outcomes) {
		s := Stats{Experiment: g[0].Experiment, Variant: g[0].Variant, Condensations: len(g),
			Means: map[Metric]Estimate{}}
		if s.Experiment == "" {
			s.Model = g[0].Model
		}
		values := sample{}
		for _, m := range Metrics() {
			if values[m] = byConversation(g, m); len(values[m]) > 0 {
				s.Means[m] = mean(m, values[m])
			}
		}
		s.Conversations = len(values[MetricUndone]) // known for all
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

// byConversation returns the mean of a metric in each conversation where it is known.
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

// differences returns the differences between the values and the control's.
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
