package retain

import (
	"math"
	"slices"
	"strings"

	"github.com/precis-dev/precis/internal/toolcall"
)

// The features for predicting the reuse of a line: the share of its words that the assistant will
// repeat word for word.
var lineFeatures = []string{
	"one", "age_tokens", "age", "worth_most", "worth_sum", "facts", "length", "has_path", "path_edited",
	"path_age", "superseded", "repeated",
	"user", "said", "written", "called", "read", "output", "found", "harness",
}

// LineFeatureNames returns the names of the values of [Reuser.Features].
func LineFeatureNames() []string { return append([]string(nil), lineFeatures...) }

// ReusePredictor predicts word-for-word repetition. Make one with [Index.NewReusePredictor]; it is
// not safe for concurrent use.
type ReusePredictor struct {
	x     *Index
	worth []float64
	w     []float64
	texts []textReuse
	row   []float64
	scale float64
}

// textReuse holds the features common to all lines of a text.
type textReuse struct {
	age, ageTokens              float64
	hasPath, edited, superseded bool
	pathAge                     float64
	repeated                    bool
	work                        bool // written by one of the newest edits
}

// NewReusePredictor returns a predictor for the conversation, given the worths of its
// facts.
func (x *Index) NewReusePredictor(worth []float64) *ReusePredictor {
	r := &ReusePredictor{x: x, worth: worth, w: shipped().lines, row: make([]float64, len(lineFeatures))}
	r.survey()
	r.calibrate()
	return r
}

// survey computes for each text whether its file or command was read, written
// or run again later.
func (r *ReusePredictor) survey() {
	x := r.x
	last, edited, runs := map[string]int{}, map[string]bool{}, map[string]int{}
	newest := map[string]int{} // path → last call that showed or wrote it
	for i := range x.Calls {
		c := &x.Calls[i]
		if c.Path != "" {
			last[c.Path] = c.Use.From
			newest[c.Path] = i
		}
		for _, e := range c.Effects {
			edited[e.Path] = true
		}
		if c.Kind == toolcall.Command {
			runs[c.Line]++
		}
	}
	newestWork := x.newestWork()
	end := len(x.messages)
	r.texts = make([]textReuse, len(x.Texts))
	for i := range x.Texts {
		t := &x.Texts[i]
		u := &r.texts[i]
		u.age = math.Log1p(float64(end-1-t.Handle.From)) / 5
		u.ageTokens = math.Log1p(float64(x.tokens[len(x.tokens)-1]-x.tokens[t.Handle.From])/1000) / 4
		if t.Call < 0 {
			continue
		}
		c := &x.Calls[t.Call]
		if c.Path != "" {
			u.hasPath, u.edited = true, edited[c.Path]
			u.pathAge = math.Log1p(float64(end-1-last[c.Path])) / 5
			u.superseded = newest[c.Path] != int(t.Call)
		}
		u.repeated = c.Kind == toolcall.Command && runs[c.Line] > 1
		u.work = newestWork[t.Call] &&
			(t.Source == SourceWritten && !replaced(t.Field) ||
				t.Source == SourceArguments && c.Kind == toolcall.Command)
	}
}

// newestEdits is how many of the newest edits count as current work: agents build on what they have
// just written.
const newestEdits = 8

// newestWork returns the newest calls that have written to files.
func (x *Index) newestWork() map[int32]bool {
	out := map[int32]bool{}
	for i := len(x.Calls) - 1; i >= 0 && len(out) < newestEdits; i-- {
		c := &x.Calls[i]
		if len(c.Results) == 0 || !slices.ContainsFunc(c.Effects,
			func(e toolcall.Effect) bool { return !e.Removed }) {
			continue
		}
		if end := c.Outcome().End; end == toolcall.OK || end == toolcall.Unknown {
			out[int32(i)] = true
		}
	}
	return out
}

// replaced reports whether an argument of an edit holds the replaced text.
func replaced(field string) bool { return strings.HasPrefix(strings.ToLower(field), "old") }

// IsRecentEdit reports whether a text was written by one of the newest edits.
func (r *ReusePredictor) IsRecentEdit(text int) bool { return r.texts[text].work }

// Features returns the features of [start,end) of a text. The slice is
// overwritten by the next call.
func (r *ReusePredictor) Features(text, start, end int) []float64 {
	t, u := &r.x.Texts[text], &r.texts[text]
	row := r.row
	clear(row)
	most, sum, n := 0.0, 0.0, 0
	for _, m := range r.x.within(text, start, end) {
		w := r.worth[m.fact]
		most = max(most, w)
		sum += w
		n++
	}
	row[0], row[1], row[2] = 1, u.ageTokens, u.age
	row[3], row[4], row[5] = most, math.Log1p(sum), math.Log1p(float64(n))
	row[6] = min(float64(end-start), 200) / 100
	for i, b := range [...]bool{u.hasPath, u.edited} {
		if b {
			row[7+i] = 1
		}
	}
	row[9] = u.pathAge
	if u.superseded {
		row[10] = 1
	}
	if u.repeated {
		row[11] = 1
	}
	row[12+int(t.Source)] = 1
	return row
}

// Share returns the share of a line's words that is expected to be repeated.
func (r *ReusePredictor) Share(text, start, end int) float64 {
	z := 0.0
	for i, v := range r.Features(text, start, end) {
		z += float64(v * r.w[i]) // not fused: the same on every machine
	}
	return 1 / (1 + math.Exp(-z))
}

// verbatimWorth is the total worth of all expected repetitions, relative to the total worth of
// all facts. Measured at 0.3, 0.5, 1, 2 and 4: flat up to 2.
const verbatimWorth = 1.0

// ownWords multiplies the worth of the assistant's own words. They are repeated in whole
// passages, and a passage with gaps cannot be repeated, so the predicted share alone is too low.
// Measured at 1, 2.5 and 6: word for word 0.778, 0.795, 0.798; facts 0.962, 0.964, 0.959.
const ownWords = 2.5

// workWorth multiplies the worth of the newest edits' text. Measured at 1, 3 and 8, with views of
// half the window: .911, .918, .918 of the last eight edits' text is shown, .879 when their lines
// must mention facts; older facts .979, .979, .978.
const workWorth = 3.0

// calibrate computes the scale that makes the worth of repetitions comparable with the worth of
// facts.
func (r *ReusePredictor) calibrate() {
	facts, repeats := 0.0, 0.0
	for _, w := range r.worth {
		facts += w
	}
	for i := range r.x.Texts {
		n := len(r.x.Texts[i].Body)
		for at := 0; at < n; at += 2000 { // a sample will do
			end := min(at+100, n)
			repeats += r.Share(i, at, end) * float64(min(2000, n-at))
		}
	}
	r.scale = verbatimWorth * facts / max(repeats, 1)
}

// Worth returns the worth of keeping [start,end) of a text for word-for-word repetition.
func (r *ReusePredictor) Worth(text, start, end int) float64 {
	w := r.scale * r.Share(text, start, end) * float64(end-start)
	switch r.x.Texts[text].Source {
	case SourceAssistant, SourceWritten, SourceArguments:
		w *= ownWords
	}
	if r.texts[text].work {
		w *= workWorth
	}
	return w
}
