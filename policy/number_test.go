package policy_test

import (
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/policy"
)

// Numbers in the texts for people have thousands apart and one form of percentages.
func TestNumbersForPeople(t *testing.T) {
	d := policy.Plan(policy.Load{Used: 5900}, policy.Settings{Auto: true, Percent: 75, Target: 50, Buffer: 0.1}.Budget(precis.Window{Tokens: 128_000, Source: precis.SourceConfigured, Detail: "flag"}, 0, 0, 0), policy.Settings{Percent: 75, Target: 50}, "")
	if got, want := d.Window.String(), "128,000 tokens (configured: flag)"; got != want {
		t.Errorf("window: %s", got)
	}
	if got, want := d.Arithmetic(), "used 5,900 of 128,000 (4.6 %), threshold 75 % (global), allowed 128,000 × (1 − 0.1) − 8,192 = 107,008, target 64,000"; got != want {
		t.Errorf("arithmetic: %s", got)
	}
	d.Allowed, d.Window.Tokens = -1200, 100
	if got, want := d.Arithmetic(), "used 5,900 of 100 (4.6 %), threshold 75 % (global), allowed 100 × (1 − 0.1) − 8,192 = -1,200, target 64,000"; got != want {
		t.Errorf("arithmetic: %s", got)
	}
}
