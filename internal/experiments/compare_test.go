package experiments_test

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/precis-dev/precis/internal/experiments"
)

// outcomes are condensations of one variant that saved so many tokens of 1000,
// each in a conversation of its own.
func outcomes(variant string, saved ...int) []experiments.Outcome {
	var out []experiments.Outcome
	for i, n := range saved {
		out = append(out, experiments.Outcome{Conversation: fmt.Sprint(variant, i), Experiment: "x", Variant: variant, Before: 1000, Saved: n, Called: true})
	}
	return out
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-3*(1+math.Abs(b)) }

// is reports whether an estimate is mean ± half.
func is(e experiments.Estimate, n int, mean, half float64) bool {
	return e.Conversations == n && near(e.Mean, mean) && e.Interval != nil && near(e.Interval.Low, mean-half) && near(e.Interval.High, mean+half)
}

// TestCompareOfKnownSamples: the means are 4 and 8, the variances 4 and 1, so
// Welch has 2.941 degrees of freedom and t = 3.219.
func TestCompareOfKnownSamples(t *testing.T) {
	stats := experiments.Compare(append(outcomes("control", 200, 400, 600), outcomes("b", 700, 800, 900)...))
	if len(stats) != 2 || stats[0].Variant != "control" || stats[1].Variant != "b" || stats[1].Experiment != "x" || stats[0].Differences != nil {
		t.Fatalf("%+v", stats)
	}
	if e := stats[0].Means[experiments.MetricShare]; !is(e, 3, 0.4, 4.30265*0.2/math.Sqrt(3)) {
		t.Errorf("control: %+v", e)
	}
	d := stats[1].Differences[experiments.MetricSaved]
	if !is(d, 6, 400, 3.2187*100*math.Sqrt(5.0/3)) || d.BeyondChance() {
		t.Errorf("difference: %+v %+v", d, d.Interval)
	}
	more := experiments.Compare(append(outcomes("control", 200, 400, 600), outcomes("b", 970, 980, 990)...))
	if d := more[1].Differences[experiments.MetricSaved]; !d.BeyondChance() || !near(d.Mean, 580) {
		t.Errorf("a large difference: %+v", d)
	}
	less := experiments.Compare(append(outcomes("b", 970, 980, 990), outcomes("control", 200, 400, 600)...))
	if d := less[1].Differences[experiments.MetricSaved]; !d.BeyondChance() || !near(d.Mean, -580) {
		t.Errorf("the other way around: %+v", d)
	}
}

// TestCompareClaimsNothingOfTooLittle: one conversation has no interval, however
// often it was condensed; nor have values that are all alike.
func TestCompareClaimsNothingOfTooLittle(t *testing.T) {
	one := outcomes("a", 100, 200, 300)
	for i := range one {
		one[i].Conversation = "the same"
	}
	stats := experiments.Compare(append(one, outcomes("b", 900, 900, 900)...))
	if stats[0].Conversations != 1 || stats[0].Condensations != 3 || stats[0].Means[experiments.MetricSaved].Mean != 200 {
		t.Errorf("%+v", stats[0])
	}
	for _, s := range stats {
		if e := s.Means[experiments.MetricSaved]; e.Interval != nil {
			t.Errorf("%s: %+v", s.Variant, e)
		}
	}
	for m, e := range stats[1].Differences {
		if e.Interval != nil || e.BeyondChance() {
			t.Errorf("%s: %+v", m, e)
		}
	}
	if got := experiments.Compare(nil); got != nil {
		t.Errorf("nothing is %v", got)
	}
}

// TestCompareOfTheShareUndone: 0 of 10 and 8 of 10, by Wilson and Newcombe.
func TestCompareOfTheShareUndone(t *testing.T) {
	all := append(outcomes("a", make([]int, 10)...), outcomes("b", make([]int, 10)...)...)
	for i := 10; i < 18; i++ {
		all[i].Undone = true
	}
	stats := experiments.Compare(all)
	a, b, d := stats[0].Means[experiments.MetricUndone], stats[1].Means[experiments.MetricUndone], stats[1].Differences[experiments.MetricUndone]
	if a.Interval == nil || !near(a.Interval.High, 0.2775) || a.Interval.Low != 0 || b.Interval == nil || !near(b.Interval.Low, 0.4902) || !near(b.Interval.High, 0.9433) {
		t.Errorf("%+v %+v", a.Interval, b.Interval)
	}
	if !d.BeyondChance() || !near(d.Interval.Low, 0.8-math.Hypot(0.8-0.4902, 0.2775)) || !near(d.Interval.High, 0.8+math.Hypot(0.9433-0.8, 0)) {
		t.Errorf("%+v %+v", d, d.Interval)
	}
}

func TestCompareTellsRungsAndModelsApart(t *testing.T) {
	all := []experiments.Outcome{
		{Conversation: "1", Variant: "condense", Model: "m"}, {Conversation: "2", Variant: "condense", Model: "n"}, {Conversation: "3", Variant: "condense", Model: "m"},
		{Conversation: "4", Experiment: "x", Variant: "condense", Model: "m"}, {Conversation: "5", Experiment: "x", Variant: "condense", Model: "n"},
		{Conversation: "6", Experiment: "y", Variant: "condense"}, {Conversation: "7", Experiment: "y", Variant: "b"}, {Conversation: "8", Variant: "digest"},
	}
	var got []string
	for _, s := range experiments.Compare(all) {
		got = append(got, fmt.Sprint(s.Experiment, " ", s.Variant, " ", s.Model, " ", s.Conversations, " ", s.Differences != nil))
	}
	want := []string{" condense m 2 false", " condense n 1 false", "x condense  2 false", "y condense  1 false", "y b  1 true", " digest  1 false"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestValuesAreKnownOrNot(t *testing.T) {
	full := experiments.Outcome{
		Before: 1000, Saved: 600, CostUSD: 0.5, Took: 1500 * time.Millisecond, Calls: 2, Called: true,
		Likely: 8, Held: 6, Repaired: 1, After: 7, Rereads: 3, RereadsShown: 2, Undone: true,
	}
	values := func(o experiments.Outcome) string {
		s := ""
		for _, m := range experiments.Metrics() {
			if v, known := o.Value(m); known {
				s += fmt.Sprintf("%s %g\n", m, v)
			}
		}
		return s
	}
	want := "tokens_saved 600\nshare_saved 0.6\ncost_usd 0.5\nseconds 1.5\ncalls 2\ngate_score 0.75\nrepaired 1\nrereads 3\nrereads_shown 2\nundone 1\n"
	if d := cmp.Diff(want, values(full)); d != "" {
		t.Error(d)
	}
	if got := values(experiments.Outcome{}); got != "undone 0\n" {
		t.Errorf("of nothing recorded: %s", got)
	}
	free := experiments.Outcome{Called: true, Likely: 1, After: 1} // what is known to be 0
	if got := values(free); got != "cost_usd 0\nseconds 0\ncalls 0\ngate_score 0\nrepaired 0\nrereads 0\nrereads_shown 0\nundone 0\n" {
		t.Errorf("of zeros: %s", got)
	}
	if _, known := full.Value("another"); known {
		t.Error("an unknown metric has a value")
	}
}

// TestCompareCountsConversations: how often a conversation was condensed alike,
// and the order of outcomes, change no mean and no interval.
func TestCompareCountsConversations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.IntRange(0, 1000), 1, 8)
		all := append(outcomes("a", values.Draw(t, "a")...), outcomes("b", values.Draw(t, "b")...)...)
		want := experiments.Compare(all)
		for range rapid.IntRange(1, 3).Draw(t, "again") {
			all = append(all, all...)
		}
		tail := rapid.Permutation(all[1:]).Draw(t, "order") // the first names the control
		got := experiments.Compare(append(all[:1:1], tail...))
		for i := range got {
			if got[i].Condensations <= want[i].Condensations {
				t.Fatalf("%+v", got[i])
			}
			got[i].Condensations = want[i].Condensations
		}
		if d := cmp.Diff(want, got, cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-9*(1+math.Abs(a)) })); d != "" {
			t.Fatal(d)
		}
	})
}
