package interval_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/precis-dev/precis/internal/interval"
)

// TestQuantileIsThatOfTheTables compares with the tables of Student's
// distribution that every textbook has, and with closed forms for 1 and 2 degrees
// of freedom.
func TestQuantileIsThatOfTheTables(t *testing.T) {
	for _, tt := range []struct{ p, df, want, within float64 }{
		{0.975, 1, 12.706, 5e-4}, {0.975, 2, 4.303, 5e-4}, {0.975, 3, 3.182, 5e-4}, {0.975, 5, 2.571, 5e-4},
		{0.975, 10, 2.228, 5e-4}, {0.975, 30, 2.042, 5e-4}, {0.975, 120, 1.980, 5e-4}, {0.975, 1e9, 1.959964, 1e-6},
		{0.95, 4, 2.132, 5e-4}, {0.99, 7, 2.998, 5e-4}, {0.995, 20, 2.845, 5e-4}, {0.5, 3, 0, 1e-9},
		{0.975, 1, math.Tan(math.Pi * 0.475), 1e-9}, {0.9, 2, 0.8 / math.Sqrt(2*0.9*0.1), 1e-9},
	} {
		if got := interval.TQuantile(tt.p, tt.df); math.Abs(got-tt.want) > tt.within {
			t.Errorf("t(%g, %g) = %.6f, want %.6f", tt.p, tt.df, got, tt.want)
		}
	}
	for _, bad := range [][2]float64{{0.4, 3}, {1, 3}, {0.9, 0}, {0.9, -1}, {math.NaN(), 3}, {0.9, math.NaN()}} {
		if got := interval.TQuantile(bad[0], bad[1]); !math.IsNaN(got) {
			t.Errorf("t(%g, %g) = %g, want none", bad[0], bad[1], got)
		}
	}
}

func TestQuantileFallsWithDegreesOfFreedom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		df := rapid.Float64Range(0.5, 500).Draw(t, "df")
		p := rapid.Float64Range(0.6, 0.999).Draw(t, "p")
		if a, b := interval.TQuantile(p, df), interval.TQuantile(p, df*1.1); !(a > b) {
			t.Fatalf("t(%g, %g) = %g is not more than %g", p, df, a, b)
		}
		if a, b := interval.TQuantile(p, df), interval.TQuantile((1+p)/2, df); !(a < b) {
			t.Fatalf("t(%g, %g) = %g is not less than %g", p, df, a, b)
		}
	})
}

// TestMeanOfAKnownSample: 2 4 4 4 5 5 7 9 has the mean 5 and the variance 32/7.
func TestMeanOfAKnownSample(t *testing.T) {
	mean, iv, ok := interval.Mean([]float64{2, 4, 4, 4, 5, 5, 7, 9})
	half := 2.364624 * math.Sqrt(32.0/7/8)
	if !ok || mean != 5 || math.Abs(iv.Low-(5-half)) > 1e-5 || math.Abs(iv.High-(5+half)) > 1e-5 {
		t.Errorf("mean %g in %v (%v)", mean, iv, ok)
	}
	tenth := 0.1 // tenth+0.2 is not 0.3
	for _, none := range [][]float64{nil, {3}, {3, 3, 3}, {tenth + 0.2, 0.3, 0.3}} {
		if mean, iv, ok := interval.Mean(none); ok || len(none) > 0 && math.Abs(mean-none[0]) > 1e-15 {
			t.Errorf("%v has the mean %g in %v", none, mean, iv)
		}
	}
}

// TestWelchOfAKnownSample goes by the first worked example of Wikipedia's page on
// the test: means 20.8 and 23.0, t = −2.46 with 25.0 degrees of freedom.
func TestWelchOfAKnownSample(t *testing.T) {
	a := []float64{27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1, 21.9, 22.6, 23.1, 19.6, 19.0, 21.7, 21.4}
	b := []float64{27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0, 24.8, 20.2, 21.9, 22.1, 22.9, 20.5, 24.4}
	diff, iv, ok := interval.Welch(a, b)
	half := (iv.High - iv.Low) / 2
	if tt := diff / (half / interval.TQuantile(0.975, 25)); !ok || math.Abs(tt-2.46) > 0.01 {
		t.Errorf("difference %.3f in %v, t = %.3f", diff, iv, tt)
	}
	back, rev, _ := interval.Welch(b, a)
	if back != -diff || math.Abs(rev.Low+iv.High) > 1e-12 {
		t.Errorf("turned around it is %g in %v", back, rev)
	}
	if _, _, ok := interval.Welch(a, b[:1]); ok {
		t.Error("one value has an interval")
	}
	if _, _, ok := interval.Welch([]float64{1, 1, 1}, []float64{0.1, 0.1, 0.1, 0.1, 0.1, 0.1}); ok {
		t.Error("values that do not vary have an interval")
	}
}

// TestScoreIntervals compares with the tables of Newcombe's two papers of 1998:
// the single proportion (method 3), and 56/70 against 48/80 (method 10).
func TestScoreIntervals(t *testing.T) {
	near := func(got, want float64) bool { return math.Abs(got-want) < 5e-5 }
	for _, tt := range []struct {
		r, n      int
		low, high float64
	}{{81, 263, 0.2553, 0.3662}, {15, 148, 0.0624, 0.1605}, {0, 20, 0, 0.1611}, {1, 29, 0.0061, 0.1718}} {
		iv, ok := interval.Wilson(float64(tt.r)/float64(tt.n), tt.n)
		if !ok || !near(iv.Low, tt.low) || !near(iv.High, tt.high) {
			t.Errorf("%d of %d: %v, want %g to %g", tt.r, tt.n, iv, tt.low, tt.high)
		}
	}
	diff, iv, ok := interval.Newcombe(48.0/80, 80, 56.0/70, 70)
	if !ok || !near(diff, 0.2) || !near(iv.Low, 0.0524) || !near(iv.High, 0.3339) {
		t.Errorf("56/70 less 48/80: %g in %v", diff, iv)
	}
	if _, ok := interval.Wilson(0, 1); ok {
		t.Error("one case has an interval")
	}
	if _, _, ok := interval.Newcombe(0, 1, 1, 9); ok {
		t.Error("one case has an interval of its difference")
	}
}

// TestIntervalsHoldTheTruth draws samples whose truth is known: close to 95 of
// 100 intervals hold it.
func TestIntervalsHoldTheTruth(t *testing.T) {
	const rounds = 4000
	r := rand.New(rand.NewPCG(1, 2))
	normal := func(n int, mean, sd float64) []float64 {
		out := make([]float64, n)
		for i := range out {
			out[i] = mean + sd*r.NormFloat64()
		}
		return out
	}
	holds := map[string]int{}
	count := func(name string, iv interval.Interval, truth float64) {
		if iv.Low <= truth && truth <= iv.High {
			holds[name]++
		}
	}
	for range rounds {
		_, iv, _ := interval.Mean(normal(4, 10, 3))
		count("mean", iv, 10)
		_, iv, _ = interval.Welch(normal(5, 10, 1), normal(12, 14, 5))
		count("difference", iv, 4)
		hits, truth := 0.0, r.Float64()
		for range 25 {
			if r.Float64() < truth {
				hits++
			}
		}
		iv, _ = interval.Wilson(hits/25, 25)
		count("share", iv, truth)
	}
	for name, n := range holds {
		if share := float64(n) / rounds; share < 0.935 || share > 0.97 {
			t.Errorf("%s: %.3f of the intervals hold the truth", name, share)
		}
	}
	if len(holds) != 3 {
		t.Errorf("only %v was drawn", holds)
	}
}
