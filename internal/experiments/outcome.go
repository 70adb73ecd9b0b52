package experiments

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/precis-dev/precis"
)

// Outcome is the result of one condensation: of one run that condensed or pruned. The condensations
// and prunings of a run count together; its other edits do not count. Sums are 0 where no data is
// recorded; [Outcome.Value] reports which of them are known.
type Outcome struct {
	Conversation string `json:"conversation"` // identity that an [Experiment] uses
	Run          string `json:"run"`          // of the edits; the edit's ID without a run
	Experiment   string `json:"experiment,omitempty"`
	Variant      string `json:"variant"`         // without an experiment, the leading rung of the run
	Model        string `json:"model,omitempty"` // the model that was called; "": none, or unknown

	Before  int           `json:"tokens_before"` // of the view
	Saved   int           `json:"tokens_saved"`
	CostUSD float64       `json:"cost_usd"`
	Took    time.Duration `json:"took_ns"` // total time of the model's answers
	Calls   int           `json:"calls"`
	Called  bool          `json:"called"` // calls are recorded, possibly only cached ones

	Likely   int  `json:"likely"` // facts likely to be needed again, as counted by a gate
	Held     int  `json:"held"`   // likely facts in the summary
	Repaired int  `json:"repaired"`
	Undone   bool `json:"undone"` // an undo in force took an edit of the run back; a rewind does not count

	// After is how many messages the transcript has after the run, until it was undone, at most
	// [Following]. In them, Rereads calls requested again a result that the run hid or shortened,
	// and RereadsShown calls one that it left in the view.
	//
	// Such a call reads a file, identified by its path, or runs a command, identified by its
	// arguments, and an earlier result was there before the run. It was left in the view if the
	// view after the run showed any result of that file or command unchanged. It was hidden if none
	// was shown, and the view before the run showed one that only the run's condensations and
	// prunings hide or shorten. Results hidden earlier do not count. Each file and command counts
	// once, because the view then contains it again. It does not count if the old result was
	// outdated: a file that was written since the run, or a command after any file was.
	After        int `json:"messages_after"`
	Rereads      int `json:"rereads"`
	RereadsShown int `json:"rereads_shown"`
}

// Following is how many messages after a run are searched for repeated calls.
const Following = 40

// Outcomes returns the results of a conversation's recorded condensations, including undone ones,
// in order. Edits without a report have no data and are skipped. A run with several experiments is
// an outcome of each.
func Outcomes(conv *precis.Conversation) []Outcome {
	if conv == nil {
		return nil
	}
	var out []Outcome
	w := newWitness(conv)
	gone := precis.Undone(conv.Edits)
	for _, r := range runs(conv.Edits) {
		o := r.sum()
		o.Conversation, o.Run = identity(conv), r.id
		until := conv.Transcript.Len()
		for _, e := range r.edits {
			if by, ok := gone[e.ID]; ok && by.Kind == precis.KindUndo && by.Run == "" {
				o.Undone, until = true, min(until, by.Seen)
			}
		}
		o.After, o.Rereads, o.RereadsShown = w.rereads(r, until)
		for _, e := range r.leading() {
			o.Experiment, o.Variant, o.Model = "", cmp.Or(e.Report.Rung, e.Report.Trigger, string(e.Kind)), ""
			if name, variant, ok := strings.Cut(e.Report.Variant, "/"); ok {
				o.Experiment, o.Variant = name, variant
			}
			if e.Report.Call != nil {
				o.Model = e.Report.Call.Model
			}
			out = append(out, o)
		}
	}
	return out
}

// condensingRun is one decision: the edits [first,last] of a conversation, with some that
// condense or prune.
type condensingRun struct {
	id          string
	first, last int
	edits       []precis.Edit // those that condense or prune, with a report
}

// runs groups edits by their run and returns the groups that condense or prune.
func runs(edits []precis.Edit) []*condensingRun {
	var all []*condensingRun
	byID := map[string]*condensingRun{}
	for i, e := range edits {
		id := cmp.Or(e.Run, e.ID)
		r := byID[id]
		if r == nil {
			r = &condensingRun{id: id, first: i}
			byID[id] = r
			all = append(all, r)
		}
		r.last = i
		condenses := e.Kind == precis.KindCondensation || e.Kind == precis.KindPruning
		if condenses && !reflect.ValueOf(e.Report).IsZero() {
			r.edits = append(r.edits, e)
		}
	}
	return slices.DeleteFunc(all, func(r *condensingRun) bool { return len(r.edits) == 0 })
}

// sum sums up the reports of a run.
func (r *condensingRun) sum() Outcome {
	var o Outcome
	for _, e := range r.edits {
		p := e.Report
		if s := p.Saved(); s != 0 {
			o.Before = cmp.Or(o.Before, p.TokensBefore)
			o.Saved += s
		}
		cost := p.CostUSD
		if c := p.Call; c != nil {
			cost = cmp.Or(cost, c.CostUSD)
			o.Called = true
			o.Took += c.Took
			o.Calls += c.Calls
		}
		o.CostUSD += cost
		o.Likely += p.Likely
		o.Held += p.Held
		o.Repaired += p.Repaired
	}
	return o
}

// leading returns the edits that give a run its name: the first of each variant; without variants
// the first one that called a model, or else the first condensation.
func (r *condensingRun) leading() []precis.Edit {
	var out []precis.Edit
	for _, e := range r.edits {
		same := func(o precis.Edit) bool { return o.Report.Variant == e.Report.Variant }
		if strings.Contains(e.Report.Variant, "/") && !slices.ContainsFunc(out, same) {
			out = append(out, e)
		}
	}
	if len(out) > 0 {
		return out
	}
	for _, leads := range []func(precis.Edit) bool{
		func(e precis.Edit) bool { return e.Report.Call != nil },
		func(e precis.Edit) bool { return e.Kind == precis.KindCondensation },
	} {
		if i := slices.IndexFunc(r.edits, leads); i >= 0 {
			return r.edits[i : i+1]
		}
	}
	return r.edits[:1]
}
