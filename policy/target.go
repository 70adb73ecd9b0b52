package policy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/number"
)

// Share is a part of a context window: 0.2 is a fifth of it.
type Share float64

// Tokens is a number of tokens.
type Tokens int

// Target is how far a reduction comes down: to a share of the context window or to a
// number of tokens. At most one of the two is set; the zero value leaves it to the
// settings. [ParseTarget] reads one.
type Target struct {
	Share  Share
	Tokens Tokens
}

// In returns the target in tokens, for a window of this size; 0 for the zero value. A
// share of a window is at least one token.
func (t Target) In(window int) Tokens {
	if t.Share > 0 {
		return max(Tokens(float64(t.Share)*float64(window)), 1)
	}
	return t.Tokens
}

// String writes the target as [ParseTarget] reads it; "" for the zero value.
func (t Target) String() string {
	switch {
	case t.Share > 0:
		return strconv.FormatFloat(roundTo(100*float64(t.Share), 1e9), 'f', -1, 64) + "%"
	case t.Tokens >= leastBare:
		return strconv.Itoa(int(t.Tokens))
	case t.Tokens > 0:
		return strconv.FormatFloat(float64(t.Tokens)/1000, 'f', -1, 64) + "k"
	}
	return ""
}

// roundTo removes the error of binary fractions from a decimal number.
func roundTo(v, places float64) float64 {
	return float64(int64(v*places+0.5)) / places
}

const (
	leastBare  = 1000          // smaller numbers without a unit may be a percentage
	mostTokens = 1_000_000_000 // of a target
)

// amount is a number as people write it, with its unit.
var amount = regexp.MustCompile(`^([0-9]{1,3}(?:,[0-9]{3})+|[0-9][0-9_]*(?:\.[0-9]*)?(?:e\+?[0-9]{1,3})?|\.[0-9]+|[0-9](?:\.[0-9]+)?e-[0-9]{1,3})\s*([%％km]?)$`)

// ParseTarget reads a target as people and programs write it: "20%" and "0.2" are a
// share of the context window, "20k", "1.5m", "20000" and "20,000" are tokens. "" and
// "0" are the zero value. A number from 1 to 999 without a unit could mean either and
// is refused with both readings. The error is [precis.CodeInvalid].
func ParseTarget(text string) (Target, error) {
	text = strings.ToLower(strings.TrimSpace(text))
	if text == "" {
		return Target{}, nil
	}
	parts := amount.FindStringSubmatch(text)
	if v, err := strconv.ParseFloat(text, 64); err == nil && v < 0 {
		return Target{}, errTarget("target is %g, want 0 or more", v)
	}
	if parts == nil {
		return Target{}, errTarget("target is %.40q, which is neither a share nor a number of tokens", text)
	}
	v, err := strconv.ParseFloat(strings.NewReplacer(",", "", "_", "").Replace(parts[1]), 64)
	if err != nil {
		return Target{}, errTarget("target is %.40q, which is neither a share nor a number of tokens", text)
	}
	switch parts[2] {
	case "%", "％":
		return shareOf(v/100, text)
	case "k":
		return tokensOf(v*1000, text)
	case "m":
		return tokensOf(v*1_000_000, text)
	}
	switch {
	case v == 0:
		return Target{}, nil
	case v < 1:
		return shareOf(v, text)
	case v < leastBare:
		return Target{}, errNoUnit(v)
	}
	return tokensOf(v, text)
}

func shareOf(share float64, text string) (Target, error) {
	if share <= 0 || share > 1 {
		return Target{}, errTarget("target is %.40q, which is not over 0%% and up to 100%% of the window",
			text)
	}
	return Target{Share: Share(share)}, nil
}

func tokensOf(v float64, text string) (Target, error) {
	if v < 1 || v > mostTokens {
		return Target{}, errTarget("target is %.40q, which is not from 1 to %s tokens", text,
			number.Thousands(mostTokens))
	}
	return Target{Tokens: Tokens(v)}, nil
}

func errTarget(format string, args ...any) error {
	return &precis.Error{Code: precis.CodeInvalid, Op: "read target", Err: fmt.Errorf(format, args...),
		Hint: "20% or 0.2 is a share of the context window; 20k, or a number from 1,000 on, is tokens"}
}

// errNoUnit refuses a small number without a unit, and gives its two readings.
func errNoUnit(v float64) error {
	n := strconv.FormatFloat(v, 'f', -1, 64)
	tokens := n + " tokens"
	if v == 1 {
		tokens = "1 token"
	}
	if v > MaxPercent {
		return errTarget("target is %s, without a unit: it may mean %s or %sk tokens", n, tokens, n)
	}
	return &precis.Error{Code: precis.CodeInvalid, Op: "read target",
		Err: fmt.Errorf("target is %s, without a unit: it may mean %s%% of the context window or %s", n, n,
			tokens),
		Hint: fmt.Sprintf("write %s%% for a share of the window; tokens are written as %sk, or as a number from 1,000 on", n, n)}
}

// UnmarshalJSON reads a number or a text as [ParseTarget] does; null is the zero value.
func (t *Target) UnmarshalJSON(data []byte) (err error) {
	data = bytes.TrimSpace(data)
	text := string(data)
	switch {
	case text == "null":
		*t = Target{}
		return nil
	case len(data) > 0 && data[0] == '"':
		if err := json.Unmarshal(data, &text); err != nil {
			return errTarget("%w", err)
		}
	case len(data) == 0 || data[0] != '-' && (data[0] < '0' || data[0] > '9'):
		return errTarget("it is neither a number nor a text")
	}
	*t, err = ParseTarget(text)
	return err
}

// MarshalJSON writes tokens as a number, and a share as a text such as "20%".
func (t Target) MarshalJSON() ([]byte, error) {
	if t.Share > 0 || t.Tokens > 0 && t.Tokens < leastBare {
		return json.Marshal(t.String())
	}
	return json.Marshal(int(t.Tokens))
}

// Percent returns a setting in percent of the window: a number over 0 and under 1 is a share, as
// everywhere, and is multiplied by 100; every other number is unchanged.
func Percent(v float64) float64 {
	if v > 0 && v < 1 {
		return roundTo(100*v, 1e9)
	}
	return v
}

// ParsePercent reads a setting in percent of the window: "20" and "20%" are a fifth of it,
// and so is the share "0.2". The error is [precis.CodeInvalid].
func ParsePercent(text string) (float64, error) {
	text = strings.TrimSpace(text)
	bare := strings.TrimSpace(strings.TrimSuffix(strings.TrimSuffix(text, "%"), "％"))
	v, err := strconv.ParseFloat(bare, 64)
	if err != nil || !(v >= 0 && v <= MaxPercent) {
		return 0, &precis.Error{Code: precis.CodeInvalid, Op: "read percentage",
			Err:  fmt.Errorf("%.20q is not from 0%% to %d%% of the window", text, int(MaxPercent)),
			Hint: "a setting has no number of tokens: 20 and 20% are a fifth of the window, and so is 0.2"}
	}
	if bare != text {
		return v, nil
	}
	return Percent(v), nil
}
