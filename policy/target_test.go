package policy_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/policy"
)

func TestOneReadingOfATarget(t *testing.T) {
	for text, want := range map[string]policy.Target{
		"": {}, " ": {}, "0": {}, "0.0": {}, "0%": {Share: -1}, "0k": {Share: -1},
		"0.2": {Share: .2}, ".2": {Share: .2}, "0.999": {Share: .999}, "1e-1": {Share: .1},
		"20%": {Share: .2}, "20 %": {Share: .2}, " 20% ": {Share: .2}, "20％": {Share: .2}, "100%": {Share: 1}, "12.5%": {Share: .125}, "1%": {Share: .01}, "0.5%": {Share: .005},
		"120%": {Share: -1}, "100.1%": {Share: -1}, "-20%": {Share: -1},
		"20k": {Tokens: 20_000}, "20K": {Tokens: 20_000}, "20 k": {Tokens: 20_000}, "0.5k": {Tokens: 500}, "1.5m": {Tokens: 1_500_000},
		"1000": {Tokens: 1000}, "1000.0": {Tokens: 1000}, "1e3": {Tokens: 1000}, "1E3": {Tokens: 1000}, "2e+4": {Tokens: 20_000}, "20,000": {Tokens: 20_000}, "20_000": {Tokens: 20_000}, "1000000000": {Tokens: 1_000_000_000},
		"20": {Share: -1}, "20.0": {Share: -1}, "1": {Share: -1}, "1.0": {Share: -1}, "999": {Share: -1}, "999.9": {Share: -1}, "1e2": {Share: -1}, "+20": {Share: -1},
		"-1": {Share: -1}, "-0.2": {Share: -1}, "NaN": {Share: -1}, "nan%": {Share: -1}, "inf": {Share: -1}, "Infinity": {Share: -1}, "1e30": {Share: -1}, "1e999": {Share: -1}, "9999999999": {Share: -1}, "9999999m": {Share: -1},
		"0x20": {Share: -1}, "twenty": {Share: -1}, "20 tokens": {Share: -1}, "0,2": {Share: -1}, "20.000,5": {Share: -1}, "%": {Share: -1}, "k": {Share: -1}, "20%%": {Share: -1}, "20k%": {Share: -1},
	} {
		got, err := policy.ParseTarget(text)
		if want.Share < 0 {
			if precis.CodeOf(err) != precis.CodeInvalid || got != (policy.Target{}) {
				t.Errorf("%q is %+v, %v", text, got, err)
			}
			continue
		}
		if err != nil || got != want {
			t.Errorf("%q is %+v, %v, want %+v", text, got, err, want)
		}
		for _, again := range []func() (policy.Target, error){
			func() (policy.Target, error) { return policy.ParseTarget(got.String()) },
			func() (out policy.Target, err error) {
				data, _ := json.Marshal(got)
				return out, json.Unmarshal(data, &out)
			},
		} {
			if back, err := again(); err != nil || back.String() != got.String() || math.Abs(float64(back.Share-got.Share)) > 1e-9 {
				t.Errorf("%q comes back as %+v, %v", text, back, err)
			}
		}
	}
}

// A small number without a unit is refused, and both of its readings are named.
func TestBothReadingsOfASmallNumber(t *testing.T) {
	for text, want := range map[string][]string{"20": {"20%", "20 tokens", "20k"}, "1.0": {"1%", "1 token"}, "500": {"500 tokens", "500k"}} {
		_, err := policy.ParseTarget(text)
		var e *precis.Error
		if !errors.As(err, &e) {
			t.Fatal(err)
		}
		for _, w := range want {
			if all := e.Error() + " " + e.Hint; !strings.Contains(all, w) {
				t.Errorf("%s: %q is not in %s", text, w, all)
			}
		}
	}
}

func TestTargetsInJSON(t *testing.T) {
	for text, want := range map[string]policy.Target{
		`0.2`: {Share: .2}, `"20%"`: {Share: .2}, `5000`: {Tokens: 5000}, `5e3`: {Tokens: 5000}, `"5k"`: {Tokens: 5000}, `null`: {}, `0`: {}, `""`: {}, `-0`: {Share: -1},
		`20`: {Share: -1}, `"20"`: {Share: -1}, `20.0`: {Share: -1}, `-5`: {Share: -1}, `true`: {Share: -1}, `[]`: {Share: -1}, `{}`: {Share: -1},
	} {
		got := struct{ Target policy.Target }{policy.Target{Share: -1}}
		err := json.Unmarshal([]byte(`{"Target":`+text+`}`), &got)
		if bad := want.Share < 0; (err != nil) != bad || !bad && got.Target != want {
			t.Errorf("%s is %+v, %v", text, got.Target, err)
		}
	}
	if got := (policy.Target{Share: .29}).String(); got != "29%" {
		t.Error(got)
	}
	if got := (policy.Target{Share: .2}).In(1001); got != 200 {
		t.Error(got)
	}
}

// Settings are in percent; a share is one there, too.
func TestOneReadingOfAPercentage(t *testing.T) {
	for text, want := range map[string]float64{"20": 20, "20%": 20, " 20 % ": 20, "20％": 20, "0.2": 20, "1": 1, "0": 0, "100": 100, "0.5%": .5, "33.5": 33.5,
		"120": -1, "-1": -1, "NaN": -1, "inf": -1, "20k": -1, "5000": -1, "": -1, "%": -1} {
		got, err := policy.ParsePercent(text)
		if bad := want < 0; bad != (precis.CodeOf(err) == precis.CodeInvalid) || !bad && got != want {
			t.Errorf("%q is %g, %v, want %g", text, got, err, want)
		}
	}
}
