package registry

import (
	"math"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/wire/anthropic"
	"github.com/precis-dev/precis/wire/chat"
)

// What a request left out would have been read from the cache, if it used one; each
// dialect counts that in its own way.
func TestWhatWasNotSentHasAPrice(t *testing.T) {
	t.Parallel()
	cached := precis.Usage{Input: 5, CacheRead: 100, Output: 7}
	for _, tt := range []struct {
		dialect string
		tokens  int
		used    precis.Usage
		want    precis.Usage
	}{
		{anthropic.Format, 1000, precis.Usage{Input: 300, Output: 9}, precis.Usage{Input: 1000}},
		{anthropic.Format, 1000, cached, precis.Usage{CacheRead: 1000}},
		{anthropic.Format, 1000, precis.Usage{Input: 5, CacheWrite: 100}, precis.Usage{CacheRead: 1000}},
		{chat.Format, 1000, precis.Usage{Input: 300}, precis.Usage{Input: 1000}},
		{chat.Format, 1000, cached, precis.Usage{Input: 1000, CacheRead: 1000}},
		{chat.Format, -50, cached, precis.Usage{}},
	} {
		if got := unsent(tt.dialect, tt.tokens, tt.used); got != tt.want {
			t.Errorf("%s, %d tokens with %+v: %+v, want %+v", tt.dialect, tt.tokens, tt.used, got, tt.want)
		}
	}
}

// A cut saves what it leaves out, and costs what the provider had in its cache and writes again.
func TestACutCostsWhatIsWrittenAgain(t *testing.T) {
	t.Parallel()
	anthropicPrice := func(u precis.Usage) float64 {
		return float64(u.Input) + .1*float64(u.CacheRead) + 1.25*float64(u.CacheWrite)
	}
	openAIPrice := func(u precis.Usage) float64 { return float64(u.Input-u.CacheRead) + .1*float64(u.CacheRead) }
	was := &Sent{Before: 9000, After: 9000, Cached: true}
	cut := Sent{Before: 10_000, After: 4000}
	for name, c := range map[string]struct {
		dialect string
		used    precis.Usage
		was     *Sent
		sent    Sent
		want    float64
	}{
		"nothing is cut":                    {anthropic.Format, precis.Usage{CacheRead: 9000, CacheWrite: 1000}, was, Sent{Before: 10_000, After: 10_000}, 0},
		"a cut":                             {anthropic.Format, precis.Usage{CacheRead: 500, CacheWrite: 3500}, was, cut, .1*6000 - 1.15*2500},
		"a cut that is not written":         {anthropic.Format, precis.Usage{CacheRead: 500, Input: 3500}, was, cut, .1*6000 - .9*2500},
		"the request after a cut":           {anthropic.Format, precis.Usage{CacheRead: 4000, CacheWrite: 1000}, &cut, Sent{Before: 11_000, After: 5000}, .1 * 6000},
		"the cache has expired":             {anthropic.Format, precis.Usage{CacheWrite: 5000}, &cut, Sent{Before: 11_000, After: 5000}, .1 * 6000},
		"the first request that is known":   {anthropic.Format, precis.Usage{CacheRead: 500, CacheWrite: 3500}, nil, cut, .1 * 6000},
		"a cut of what was not cached":      {anthropic.Format, precis.Usage{Input: 4000}, &Sent{Before: 9000, After: 9000}, cut, 6000},
		"more is written than there was":    {anthropic.Format, precis.Usage{CacheWrite: 90_000}, was, cut, .1*6000 - 1.15*9000},
		"a cut, with OpenAI":                {chat.Format, precis.Usage{Input: 4000, CacheRead: 500}, was, cut, .1*6000 - .9*2500},
		"a cut at the beginning, with them": {chat.Format, precis.Usage{Input: 4000}, was, cut, 6000 - .9*3000},
	} {
		price := anthropicPrice
		if c.dialect == chat.Format {
			price = openAIPrice
		}
		if got := c.sent.SavedUSD(c.dialect, price, c.used, c.was); math.Abs(got-c.want) > 1e-6 {
			t.Errorf("%s: %g, want %g", name, got, c.want)
		}
	}
}
