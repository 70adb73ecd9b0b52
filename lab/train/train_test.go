package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/retain"

	"pgregory.net/rapid"
)

func TestFitRecoversWeights(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	want := []float64{-0.5, 2, -1.5, 0}
	var drawn, shares []sample
	for range 20_000 {
		x := []float64{1, r.Float64(), r.NormFloat64(), float64(r.IntN(2))}
		p := predict(want, x)
		drawn = append(drawn, sample{x: x, y: r.Float64() < p, weight: 1})
		shares = append(shares, sample{x: x, share: p, weight: 0.5})
	}
	for name, tt := range map[string]struct {
		data []sample
		off  float64
	}{"from draws": {drawn, 0.15}, "from shares": {shares, 0.01}} {
		got := fit(tt.data, len(want), 0.01)
		for i := range want {
			if math.Abs(got[i]-want[i]) > tt.off {
				t.Errorf("%s: %v, want %v", name, got, want)
				break
			}
		}
	}
	strong, weak := fit(drawn[:200], 4, 100), fit(drawn[:200], 4, 0.01)
	for i := range strong {
		if math.Abs(strong[i]) > math.Abs(weak[i])+0.1 {
			t.Errorf("a strong ridge gives %v, a weak one %v", strong, weak)
		}
	}
	if w := fit(nil, 3, ridge); !slices.Equal(w, []float64{0, 0, 0}) {
		t.Errorf("from nothing %v is learned", w)
	}
}

func TestFitWeighsSamples(t *testing.T) {
	one := []float64{1}
	w := fit([]sample{{x: one, y: true, weight: 3}, {x: one, weight: 1}}, 1, 1e-9)
	if p := predict(w, one); math.Abs(p-0.75) > 1e-6 {
		t.Errorf("three of four in weight are needed: %v", p)
	}
}

func TestSolve(t *testing.T) {
	if x := solve([][]float64{{0, 2}, {4, 1}}, []float64{6, 7}); math.Abs(x[0]-1) > 1e-12 || math.Abs(x[1]-3) > 1e-12 {
		t.Errorf("with a zero on the diagonal: %v", x)
	}
	if x := solve([][]float64{{1, 0}, {0, 0}}, []float64{5, 0}); x[0] != 5 || math.IsNaN(x[1]) {
		t.Errorf("a singular matrix: %v", x)
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "n")
		entry := rapid.Float64Range(-1, 1)
		a, x := newMatrix(n), make([]float64, n)
		b, work := make([]float64, n), newMatrix(n)
		for i := range n {
			x[i] = entry.Draw(t, "x")
			for j := range n {
				a[i][j] = entry.Draw(t, "a")
			}
			a[i][i] += float64(2 * n) // well conditioned
		}
		for i := range n {
			for j := range n {
				b[i] += a[i][j] * x[j]
			}
			copy(work[i], a[i])
		}
		for i, v := range solve(work, slices.Clone(b)) {
			if math.Abs(v-x[i]) > 1e-9 {
				t.Fatalf("%v x = %v: %v, want %v", a, b, v, x)
			}
		}
	})
}

func TestCovered(t *testing.T) {
	cut := []sample{ // ranked by x[0], for their size
		{x: []float64{3}, length: 8, y: true},
		{x: []float64{2}, length: 8},
		{x: []float64{1}, length: 8, y: true},
		{x: []float64{-9}, length: 8, y: true},
	}
	w := []float64{1}
	for chars, want := range map[int]float64{0: 0, 9: 0, 10: 1. / 3, 20: 1. / 3, 30: 2. / 3, 39: 2. / 3, 40: 1} {
		if got := covered(w, cut, chars); got != want {
			t.Errorf("in %d characters: %v, want %v", chars, got, want)
		}
	}
	cut[0].length = 10_000 // likely, but dear: others come first
	if got := covered(w, cut, 20); got != 1./3 {
		t.Errorf("a long name: %v", got)
	}
	if got := covered(w, nil, 10); got != 0 {
		t.Errorf("nothing needed: %v", got)
	}
}

func TestCaptured(t *testing.T) {
	var best, worst []sample
	for i := range 100 {
		s := sample{x: []float64{float64(i)/10 - 5}, weight: 1}
		if i >= 90 {
			s.share = 0.5
		}
		best = append(best, s)
		s.x = []float64{-s.x[0]}
		worst = append(worst, s)
	}
	if got, all := captured([]float64{1}, best); math.Abs(all-5) > 1e-9 || math.Abs(got-all) > 0.5 {
		t.Errorf("the best tenth holds %v of %v", got, all)
	}
	if got, all := captured([]float64{1}, worst); got != 0 || math.Abs(all-5) > 1e-9 {
		t.Errorf("the wrong tenth holds %v of %v", got, all)
	}
}

func TestShingles(t *testing.T) {
	r := newReuse()
	of := func(text string) (out []uint64) {
		r.shingles(text, func(h uint64) { out = append(out, h) })
		return out
	}
	if n := len(of("one two three")); n != 0 {
		t.Errorf("three words make %d", n)
	}
	if a, b := of("one two three four five"), of("ONE, one; two(three)four\n five."); len(a) != 2 || len(b) != 3 || !slices.Equal(a, b[1:]) {
		t.Errorf("signs count: %v %v", a, b)
	}
	if slices.Equal(of("ab c d e"), of("a bc d e")) {
		t.Error("words are run together")
	}
}

func TestOriginIsTheFirstTwoWords(t *testing.T) {
	for name, want := range map[string]string{"demo-a-1.json": "demo-a", "demo-a.json": "demo-a.json", "one.json": "one.json", "a-b-c-d": "a-b"} {
		if got := origin(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func TestNeeded(t *testing.T) {
	msgs := []precis.Message{
		precis.NewText("user", "known_one known_two known_three known_four"),
		precis.NewText("assistant", "known_one is used"),                   // needed
		precis.NewText("user", "known_two is shown again"),                 // fresh
		precis.NewText("assistant", "known_two and new_name"),              // was shown; was not known
		precis.NewText("user", "known_one again"),                          // needed before
		precis.NewText("assistant", "known_one and known_three once more"), // needed
	}
	x := retain.Read("", msgs[:1])
	l := newLearner(nil)
	need := map[string]bool{}
	for f := range l.needed(x, msgs, 1) {
		need[x.Facts[f].Name] = true
	}
	if len(need) != 2 || !need["known_one"] || !need["known_three"] {
		t.Errorf("%v", need)
	}
	l.common["known_one"] = map[string]bool{}
	for i := range 8 {
		l.common["known_one"][fmt.Sprint(i)] = true
	}
	if got := l.needed(x, msgs, 1); len(got) != 1 {
		t.Errorf("what all conversations name counts: %v", got)
	}
}

func TestOthersLeaveTheOwnOriginOut(t *testing.T) {
	l := newLearner(nil)
	l.common["x"] = map[string]bool{"a": true, "b": true}
	if l.others("x", "a") != 1 || l.others("x", "c") != 2 || l.others("y", "a") != 0 {
		t.Error("others")
	}
}

// recording returns a conversation in the plain format: the assistant goes on
// using what it said, and never what it read.
func recording(seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 7))
	type message struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	var msgs []message
	kept := fmt.Sprintf("kept_name_%d", seed)
	for i := range 40 {
		var noise strings.Builder
		for range 120 {
			fmt.Fprintf(&noise, "noise_%d words of no use ", r.IntN(1_000_000))
		}
		msgs = append(msgs, message{"user", noise.String()},
			message{"assistant", fmt.Sprintf("I go on with %s in src/kept_%d.go and call handler_%d as before", kept, seed, i/20)})
	}
	out, err := json.Marshal(map[string]any{"system": "Use system_name.", "messages": msgs})
	if err != nil {
		panic(err)
	}
	return out
}

func TestLearnsFromRecordings(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, data []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("demo-one-1.json", recording(1))
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write(recording(2))
	z.Close()
	write("demo-two-1.json.gz", packed.Bytes())
	write("notes.txt", []byte("not a recording"))

	out := output(t, func() error { return run(dir) })
	var w retain.Weights
	if err := json.Unmarshal(out, &w); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	if !strings.HasPrefix(w.Run, "2 conversations of 2 origins, ") || strings.Contains(w.Run, "NaN") || strings.Contains(w.Run, " 0 cuts") {
		t.Errorf("run: %s", w.Run)
	}
	for _, n := range retain.FeatureNames() {
		if v, ok := w.Weights[n]; !ok || math.IsNaN(v) {
			t.Errorf("%s: %v %v", n, v, ok)
		}
	}
	for _, n := range retain.LineFeatureNames() {
		if v, ok := w.Lines[n]; !ok || math.IsNaN(v) {
			t.Errorf("line %s: %v %v", n, v, ok)
		}
	}
	if len(w.Weights) != len(retain.FeatureNames()) || len(w.Lines) != len(retain.LineFeatureNames()) {
		t.Error("weights without a feature")
	}
	if w.Weights["ever_said"] <= 0 || w.Weights["last_user"] >= 0 || w.Lines["said"] <= w.Lines["user"] {
		t.Errorf("it learned nothing: %v %v", w.Weights, w.Lines)
	}
}

func TestBadFoldersAreErrors(t *testing.T) {
	dir := t.TempDir()
	for name, data := range map[string]string{"bad.json": `{"nothing":1}`, "bad.json.gz": "not packed"} {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := run(dir); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
		os.Remove(p)
	}
}

// output returns what f writes to standard output.
func output(t *testing.T, f func() error) []byte {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	std := os.Stdout
	os.Stdout = file
	err = f()
	os.Stdout = std
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
