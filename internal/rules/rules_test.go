package rules

import (
	"slices"
	"testing"
)

// TestRulesInTheWordsThatPeopleUse measures what is found among the labelled sentences of
// all languages.
func TestRulesInTheWordsThatPeopleUse(t *testing.T) {
	const precision, recall = .95, .95
	right, wrong, missed := 0, 0, 0
	for _, l := range labelled {
		for _, s := range l.rules {
			if slices.Equal(Texts(s), []string{s}) {
				right++
			} else {
				missed++
				t.Logf("%s: missed: %s", l.language, s)
			}
		}
		for _, s := range l.none {
			if got := Texts(s); len(got) > 0 {
				wrong++
				t.Logf("%s: no rule: %s", l.language, s)
			}
		}
	}
	p, r := float64(right)/float64(right+wrong), float64(right)/float64(right+missed)
	t.Logf("precision %.3f, recall %.3f of %d rules", p, r, right+missed)
	if p < precision || r < recall {
		t.Errorf("precision %.3f, recall %.3f", p, r)
	}
}
