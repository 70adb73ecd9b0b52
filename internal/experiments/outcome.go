package experiments

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
	"time"

	"precis"
)

// Outcome is what came of one condensation: of one run that condensed or pruned.
// The condensations and prunings of a run count together, other edits of it do
// not count. Sums are 0 where nothing is recorded; [Outcome.Value] states which
// of them are known.
type Outcome struct {
	Conversation string `json:"conversation"` // what an [Experiment] goes by
	Run          string `json:"run"`          // of the edits; the edit's ID when it is alone
	Experiment   string `json:"experiment,omitempty"`
	Variant      string `json:"variant"`         // without an experiment the rung that leads the run
	Model        string `json:"model,omitempty"` // that was asked; "": none, or unknown

	Before  int           `json:"tokens_before"` // of the view
	Saved   int           `json:"tokens_saved"`
	CostUSD float64       `json:"cost_usd"`
	Took    time.Duration `json:"took_ns"` // for the model's answers
	Calls   int           `json:"calls"`
	Called  bool          `json:"called"` // there is a record of calls, if only of cached ones

	Likely   int  `json:"likely"` // facts likely to be needed again that a gate looked for
	Held     int  `json:"held"`   // of them those in the summary
	Repaired int  `json:"repaired"`
	Undone   bool `json:"undone"` // an undo took an edit of the run back, and stands; a rewind is none

	// After is how many messages the transcript has after the run, until it was
	// undone, at most [Following]. In them Rereads calls asked anew for a result that the run hid or
	// shortened, and RereadsShown for one that it left in the view.
	//
	// Such a call reads a file, known by its path, or runs a command, known by its
	// arguments. Its result was there before the run. It counts as left in the view
	// when the view after the run showed any result of that file or command as it
	// was; as hidden when none, and the view before the run showed one that the
	// run's condensations and prunings alone hide or shorten. What was hidden
	// earlier counts as neither. Each file and command counts once, since from then
	// on the view has it again, and not when it had to be asked for anew: a file
	// that was written since the run, a command after any file was.
	After        int `json:"messages_after"`
	Rereads      int `json:"rereads"`
	RereadsShown int `json:"rereads_shown"`
}

// Following is how many messages after a run are searched for calls that ask for
// the same again.
const Following = 40

// Outcomes returns what came of the condensations that a conversation records,
// undone ones too, in their order. An edit without a report holds no data and is
// left out. A run in which several experiments took part is an outcome of each.
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

// condensingRun is one decision: edits [first,last] of a conversation are of it,
// and some of them condense or prune.
type condensingRun struct {
	id          string
	first, last int
	edits       []precis.Edit // that condense or prune, with a report
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

// sum adds up the reports of a run.
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

// leading returns the edits that a run is named after: the first of each variant;
// without any the first that called a model, or else the first condensation.
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
