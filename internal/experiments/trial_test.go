package experiments_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/experiments"
)

// TestAssignKeepsToSharesAndWeights: a quarter takes part in a, half in b, whose arms
// are one to three; the rest in none.
func TestAssignKeepsToSharesAndWeights(t *testing.T) {
	trials := []experiments.Trial{
		{Name: "b", Share: 50, Arms: []experiments.Arm{{Name: "x"}, {Name: "control", Weight: 3}}},
		{Name: "a", Share: 25, Arms: []experiments.Arm{{Name: "only"}}},
	}
	const n = 20_000
	got := map[string]int{}
	for i := range n {
		got[experiments.Assign(trials, fmt.Sprint("conversation ", i))]++
	}
	for arm, want := range map[string]float64{"": 0.25, "a/only": 0.25, "b/x": 0.125, "b/control": 0.375} {
		if share := float64(got[arm]) / n; math.Abs(share-want) > 0.015 { // five standard deviations
			t.Errorf("%q: %g, want %g", arm, share, want)
		}
	}
	if len(got) != 4 {
		t.Errorf("%v", got)
	}
}

// TestAssignIsStable: in whatever order trials and arms are named.
func TestAssignIsStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		arms := []experiments.Arm{{Name: "a", Weight: 2}, {Name: "b"}, {Name: "control"}}
		trials := []experiments.Trial{{Name: "x", Share: 30, Arms: arms}, {Name: "y", Share: 30, Arms: arms[:2]}, {Name: "z", Share: 40, Arms: arms[2:]}}
		id := rapid.String().Draw(t, "id")
		want := experiments.Assign(trials, id)
		trials = rapid.Permutation(trials).Draw(t, "trials")
		for i := range trials {
			trials[i].Arms = rapid.Permutation(trials[i].Arms).Draw(t, "arms")
		}
		if got := experiments.Assign(trials, id); got != want || got == "" {
			t.Fatalf("%q became %q", want, got)
		}
	})
}

func TestTrialsThatCannotBeRun(t *testing.T) {
	one := []experiments.Arm{{Name: "a"}}
	for want, trials := range map[string][]experiments.Trial{
		"empty":           {{Share: 1, Arms: one}},
		"slash":           {{Name: "a/b", Share: 1, Arms: one}},
		"two are named":   {{Name: "a", Share: 1, Arms: one}, {Name: "a", Share: 1, Arms: one}},
		"share":           {{Name: "a", Arms: one}},
		"is NaN":          {{Name: "a", Share: math.NaN(), Arms: one}},
		"together":        {{Name: "a", Share: 60, Arms: one}, {Name: "b", Share: 60, Arms: one}},
		"no arm":          {{Name: "a", Share: 1}},
		"two arms":        {{Name: "a", Share: 1, Arms: []experiments.Arm{{Name: "a"}, {Name: "a"}}}},
		"weight":          {{Name: "a", Share: 1, Arms: []experiments.Arm{{Name: "a", Weight: -1}}}},
		"of the arm hold": {{Name: "a", Share: 1, Arms: []experiments.Arm{{Name: "a/b"}}}},
	} {
		err := experiments.CheckTrials(trials)
		if want == "of the arm hold" {
			want = "of the arm holds a slash"
		}
		if precis.CodeOf(err) != precis.CodeInvalid || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	if err := experiments.CheckTrials([]experiments.Trial{{Name: "a", Share: 100, Arms: one}}); err != nil {
		t.Error(err)
	}
	if got := experiments.Assign(nil, "x"); got != "" {
		t.Errorf("of none: %q", got)
	}
}

// TestWholeConversationsAreCompared: the means of an arm, the control first, and how far
// others are from it. Of conversations without a ledger only requests are known.
func TestWholeConversationsAreCompared(t *testing.T) {
	var all []experiments.Member
	for i, paid := range []float64{1, 2, 3} {
		all = append(all, experiments.Member{Arm: "x/b", Requests: 10 + i, Booked: true, Paid: paid, Condense: paid / 10, Sent: 100, NotSent: 50, Edits: 2})
		all = append(all, experiments.Member{Arm: "x/control", Requests: 10 + i, Booked: true, Paid: 100 * paid, Sent: 1000, Edits: 0})
	}
	all = append(all, experiments.Member{Arm: "a/b", Requests: 4}, experiments.Member{Arm: "a/control", Requests: 6})
	stats := experiments.CompareMembers(all)
	var order []string
	for _, s := range stats {
		order = append(order, fmt.Sprint(s.Experiment, "/", s.Variant, " ", s.Conversations, " ", s.Condensations, " ", s.Differences != nil))
	}
	if got := fmt.Sprint(order); got != "[a/control 1 0 false a/b 1 0 true x/control 3 0 false x/b 3 6 true]" {
		t.Fatal(got)
	}
	if _, known := stats[0].Means[experiments.MetricPaid]; known || stats[0].Means[experiments.MetricRequests].Mean != 6 {
		t.Errorf("without a ledger: %+v", stats[0].Means)
	}
	b := stats[3]
	if m := b.Means; m[experiments.MetricPaid].Mean != 2 || !near(m[experiments.MetricSummaries].Mean, 0.2) || m[experiments.MetricNotSent].Mean != 50 || m[experiments.MetricReductions].Mean != 2 || m[experiments.MetricSent].Mean != 100 {
		t.Errorf("%+v", m)
	}
	if d := b.Differences[experiments.MetricPaid]; !near(d.Mean, -198) || d.Conversations != 6 || d.Interval == nil {
		t.Errorf("%+v", d)
	}
	if stats[2].Means[experiments.MetricPaid].Mean != 200 {
		t.Errorf("%+v", stats[2])
	}
}
