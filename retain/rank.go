package retain

import (
	_ "embed"
	"encoding/json"
	"math"
	"slices"
	"sync"
)

// The features for predicting the worth of a fact, in the order of [Weights]. All are small numbers
// without a unit.
var featureNames = []string{
	"one", "age", "age_tokens", "messages", "said_in", "ever_said", "age_said", "span", "length",
	"by_user", "edited", "in_edited", "in_error", "in_written", "in_called", "read_only", "last_in_last",
	"common", "once",
	"near", "beside", "near_unsaid",
	"last_user", "last_said", "last_written", "last_called", "last_read", "last_output", "last_found",
	"last_harness",
	"identifier", "path", "error", "url", "hash", "number", "quote", "flag", "ticket",
}

// Weights predict from a fact's features how likely the agent is to use it in its next messages
// without seeing it again.
type Weights struct {
	// Run states how the weights were learned: data, method, figures.
	Run     string             `json:"run"`
	Weights map[string]float64 `json:"weights"`
	// Lines predict the share of a line's words that is repeated word for word.
	Lines map[string]float64 `json:"lines"`
	// Common are names that occur in most conversations and predict little.
	Common []string `json:"common"`
}

//go:embed weights.json
var weightsJSON []byte

// ranker is Weights prepared for prediction.
type ranker struct {
	w      []float64
	lines  []float64
	common map[string]struct{}
}

var shipped = sync.OnceValue(func() ranker {
	var w Weights
	if err := json.Unmarshal(weightsJSON, &w); err != nil {
		panic("retain: weights.json: " + err.Error())
	}
	return newRanker(w)
})

func newRanker(w Weights) ranker {
	r := ranker{w: make([]float64, len(featureNames)), common: map[string]struct{}{}}
	for i, n := range featureNames {
		r.w[i] = w.Weights[n]
	}
	for _, n := range lineFeatures {
		r.lines = append(r.lines, w.Lines[n])
	}
	for _, c := range w.Common {
		r.common[c] = struct{}{}
	}
	return r
}

// Worths returns for each of x.Facts the probability, 0 to 1, that it is needed
// again. A fact of the system prompt is always in the view and has worth 0.
func (x *Index) Worths() []float64 {
	return shipped().worths(x)
}

func (r ranker) worths(x *Index) []float64 {
	out := make([]float64, len(x.Facts))
	feat := make([]float64, len(featureNames))
	end := len(x.messages)
	for i := range x.Facts {
		if x.system[i] {
			continue
		}
		r.features(x, &x.Facts[i], end, feat)
		z := 0.0
		for k, v := range feat {
			z += float64(v * r.w[k]) // not fused: the same on every machine
		}
		out[i] = 1 / (1 + math.Exp(-z))
	}
	return out
}

// FeatureNames returns the names of the values of [Index.Features].
func FeatureNames() []string { return slices.Clone(featureNames) }

// Features returns the features for predicting the worth of fact f. The program that learns the
// weights uses it.
func (x *Index) Features(f int) []float64 {
	out := make([]float64, len(featureNames))
	shipped().features(x, &x.Facts[f], len(x.messages), out)
	return out
}

// features fills in the features of a fact at the point where the conversation
// has end messages.
func (r ranker) features(x *Index, f *Fact, end int, out []float64) {
	clear(out)
	age := float64(end - 1 - int(f.Last))
	_, common := r.common[f.Name]
	set := func(i int, v float64) { out[i] = v }
	flag := func(i int, b bool) {
		if b {
			out[i] = 1
		}
	}
	set(0, 1)
	set(1, math.Log1p(age)/5)
	set(2, math.Log1p(float64(x.tokens[len(x.tokens)-1]-x.tokens[f.Last])/1000)/4)
	set(3, math.Log1p(float64(f.Messages)))
	set(4, math.Log1p(float64(f.SaidIn)))
	flag(5, f.SaidIn > 0)
	if f.SaidIn > 0 {
		set(6, math.Log1p(float64(end-1-int(f.LastSaid)))/5)
	}
	set(7, math.Log1p(float64(f.Last-f.First))/5)
	set(8, min(float64(len(f.Name)), 80)/40)
	flag(9, f.Sources&(1<<SourceUser) != 0)
	flag(10, f.Edited)
	flag(11, f.InEdited)
	flag(12, f.InError)
	flag(13, f.Sources&(1<<SourceWritten) != 0)
	flag(14, f.Sources&(1<<SourceArguments) != 0)
	flag(15, f.Sources&^(1<<SourceFile) == 0)
	flag(16, age <= 1)
	flag(17, common)
	flag(18, f.Messages == 1)
	set(19, math.Log1p(float64(f.Near)))
	set(20, float64(f.Beside)*3)
	if f.SaidIn == 0 {
		set(21, out[19])
	}
	out[22+int(f.LastSource)] = 1
	out[22+int(sources)+int(f.Kind)] = 1
}
