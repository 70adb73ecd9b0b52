package main

import (
	"fmt"
	"hash/maphash"
	"math"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/retain"
)

// reuse learns which lines the assistant later repeats word for word, in sequences of four words.
type reuse struct {
	seed    maphash.Seed
	samples []sample
	fold    []int
}

func newReuse() *reuse { return &reuse{seed: maphash.MakeSeed()} }

// lineBytes is the size of the lines into which texts are split for learning.
const lineBytes = 120

// add adds the lines known before message t, each with the share that is repeated after it.
func (r *reuse) add(x *retain.Index, msgs []precis.Message, t, fold int) {
	future, fresh := map[uint64]bool{}, map[uint64]bool{}
	for i := t; i < min(len(msgs), t+horizon+1); i++ {
		for _, text := range retain.Read("", msgs[i:i+1]).Texts {
			r.shingles(text.Body, func(h uint64) {
				if msgs[i].Role != precis.RoleAssistant {
					fresh[h] = true
				} else if !fresh[h] {
					future[h] = true
				}
			})
		}
	}
	reuser := x.NewReusePredictor(x.Worths())
	seen := map[uint64]bool{}
	from, sum := len(r.samples), 0.0
	for k := len(x.Texts) - 1; k >= 0; k-- {
		body := x.Texts[k].Body
		for at := 0; at < len(body); at += lineBytes {
			end := min(at+lineBytes, len(body))
			n, again := 0.0, 0.0
			r.shingles(body[at:end], func(h uint64) {
				if n++; future[h] && !seen[h] { // the newest copy counts
					again++
				}
			})
			if n == 0 {
				continue
			}
			r.samples = append(r.samples,
				sample{x: append([]float64(nil), reuser.Features(k, at, end)...), share: again / n,
					weight: n})
			r.fold = append(r.fold, fold)
			sum += n
		}
		r.shingles(body, func(h uint64) { seen[h] = true })
	}
	for i := from; i < len(r.samples); i++ { // every cut has the same weight
		r.samples[i].weight *= 1000 / sum
	}
}

// fit returns the weights and a measure of their quality: the share of the
// repeated words in the tenth of the text that is ranked highest.
func (r *reuse) fit() ([]float64, string) {
	n := len(retain.LineFeatureNames())
	got, all := 0.0, 0.0
	for k := range folds {
		var train, test []sample
		for i, s := range r.samples {
			if r.fold[i] == k {
				test = append(test, s)
			} else {
				train = append(train, s)
			}
		}
		g, a := captured(fit(train, n, ridge), test)
		got, all = got+g, all+a
	}
	w := fit(r.samples, n, ridge)
	return w, fmt.Sprintf("%d lines; %.3f of the words repeated stand in the tenth of the text ranked highest, %d-fold", len(r.samples), got/math.Max(all, 1e-9), folds)
}

// captured returns the repetitions in the highest-ranked tenth of the samples
// and in all samples.
func captured(w []float64, test []sample) (got, all float64) {
	const bins = 1000
	var weight, again [bins]float64
	total := 0.0
	for _, s := range test {
		b := min(int(predict(w, s.x)*bins), bins-1)
		weight[b] += s.weight
		again[b] += s.weight * s.target()
		total += s.weight
		all += s.weight * s.target()
	}
	left := total / 10
	for b := bins - 1; b >= 0 && left > 0; b-- {
		part := math.Min(1, left/math.Max(weight[b], 1e-9))
		got += again[b] * part
		left -= weight[b]
	}
	return got, all
}

// shingles calls f with a hash of every four consecutive words.
func (r *reuse) shingles(text string, f func(uint64)) {
	var words [4]string
	n := 0
	for i := 0; i < len(text); {
		if !wordByte(text[i]) {
			i++
			continue
		}
		from := i
		for i < len(text) && wordByte(text[i]) {
			i++
		}
		copy(words[:], words[1:])
		words[3] = text[from:i]
		if n++; n >= 4 {
			var h maphash.Hash
			h.SetSeed(r.seed)
			for _, w := range words {
				h.WriteString(w)
				h.WriteByte(0)
			}
			f(h.Sum64())
		}
	}
}

func wordByte(c byte) bool {
	return c == '_' || c >= 0x80 || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
