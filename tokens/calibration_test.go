package tokens_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/tokens"
)

func factor(c precis.Calibrator, model string) float64 {
	return math.Round(c.Factor(model)*1000) / 1000
}

func TestWhatOneOwnerTeachesIsNotBelievedOfAnother(t *testing.T) {
	var c tokens.Calibration
	for range 20 {
		c.ForOwner("bob").Observe("m", 1000, 2400)
	}
	if got := factor(c.ForOwner("bob"), "m"); got != 2.4 {
		t.Errorf("bob counts × %v", got)
	}
	c.ForOwner("eve").Observe("m", 1000, 2400)
	if got := factor(c.ForOwner("alice"), "m"); got != 1 {
		t.Errorf("after two owners alice counts × %v", got)
	}
	c.ForOwner("carol").Observe("m", 1000, 1200)
	if got := factor(c.ForOwner("alice"), "m"); got != 2.4 {
		t.Errorf("alice counts × %v, want the median of three owners", got)
	}
	c.ForOwner("dave").Observe("m", 1000, 1100)
	c.ForOwner("erin").Observe("m", 1000, 1000)
	if got := factor(c.ForOwner("alice"), "m"); got != 1.2 {
		t.Errorf("alice counts × %v, want the median of five owners", got)
	}
	c.ForOwner("alice").Observe("m", 1000, 900)
	if got := factor(c.ForOwner("alice"), "m"); got != 0.9 {
		t.Errorf("alice counts × %v, want what she was told", got)
	}
	if c.ForOwner("") != precis.Calibrator(&c) {
		t.Error("the owner without a name has another calibrator")
	}
}

func TestCalibrationsAreKeptByOwner(t *testing.T) {
	var before, after tokens.Calibration
	for i, owner := range []string{"", "key-bob", "p0123"} {
		own := before.ForOwner(owner).(precis.CalibrationState)
		own.(precis.Calibrator).Observe("vendor/m", 1000, 1000+100*i)
		if err := after.SetState(own.Key("vendor/m"), own.State("vendor/m")); err != nil {
			t.Fatal(err)
		}
	}
	for i, owner := range []string{"", "key-bob", "p0123"} {
		if got, want := factor(after.ForOwner(owner), "vendor/m"), 1+float64(i)/10; got != want {
			t.Errorf("%q counts × %v, want %v", owner, got, want)
		}
	}
}

func TestNamesDoNotFillMemory(t *testing.T) {
	var c tokens.Calibration
	for i := range 25_000 {
		c.ForOwner(fmt.Sprint(i%7)).Observe(fmt.Sprint("m", i), 1000, 1500)
		if got := factor(c.ForOwner(fmt.Sprint(i%7)), fmt.Sprint("m", i)); got != 1.5 {
			t.Fatalf("the newest is forgotten: × %v", got)
		}
	}
	kept := 0
	for i := range 25_000 {
		kept += c.ForOwner(fmt.Sprint(i % 7)).(interface{ Reports(string) int }).Reports(fmt.Sprint("m", i))
	}
	if kept != 20_000 {
		t.Errorf("%d are kept", kept)
	}
}

// What one way of counting has learned says nothing about another.
func TestCalibrationsAreKeptByCounter(t *testing.T) {
	own, usual := tokens.Calibrator("mine").(*tokens.Calibration), tokens.Calibrator("").(*tokens.Calibration)
	const m = "claude-sonnet-4-5"
	if own.Factor(m) != 1 || usual.Factor(m) != 1.18 {
		t.Errorf("%g and %g", own.Factor(m), usual.Factor(m))
	}
	own.Observe(m, 1000, 2000)
	for _, owner := range []string{"", "o"} {
		o := own.ForOwner(owner).(precis.CalibrationState)
		o.(precis.Calibrator).Observe(m, 1000, 2000)
		for _, to := range []*tokens.Calibration{tokens.Calibrator("mine").(*tokens.Calibration), usual} {
			if err := to.SetState(o.Key(m), o.State(m)); err != nil {
				t.Fatal(err)
			}
			if got := to.ForOwner(owner).Factor(m); (got > 1.9) != (to != usual) {
				t.Errorf("owner %q: %g", owner, got)
			}
		}
	}
}
