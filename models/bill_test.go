package models

import (
	"testing"

	"github.com/precis-dev/precis"
)

// What a request is billed at, by the price lists of the makers.
func TestBill(t *testing.T) {
	const m = 1_000_000
	c := open(t)
	for _, tt := range []struct {
		name, model string
		p           Protocol
		u           precis.Usage
		usd         float64
	}{
		{"a cache for five minutes", "claude-sonnet-4-6", Anthropic, precis.Usage{CacheWrite: m}, 3.75},
		{"a cache for an hour", "claude-sonnet-4-6", Anthropic, precis.Usage{CacheWrite: m, CacheWriteHour: m}, 6},
		{"some of each", "claude-sonnet-4-6", Anthropic, precis.Usage{CacheWrite: 2 * m, CacheWriteHour: m}, 9.75},
		{"more for an hour than in all", "claude-sonnet-4-6", Anthropic, precis.Usage{CacheWrite: m, CacheWriteHour: 5 * m}, 6},
		{"in a batch", "claude-sonnet-4-6", Anthropic, precis.Usage{Input: m, Output: m, Tier: "batch"}, 9},
		{"a short request", "claude-sonnet-4-5", Anthropic, precis.Usage{Input: 100_000, CacheRead: 100_000, Output: 1000}, 0.3 + 0.03 + 0.015},
		{"a long request", "claude-sonnet-4-5[1m]", Anthropic, precis.Usage{Input: 100_000, CacheRead: 200_000, Output: 1000}, 0.6 + 0.12 + 0.0225},
		{"a long request that wrote a cache for an hour", "claude-sonnet-4-5[1m]", Anthropic, precis.Usage{CacheWrite: 300_000, CacheWriteHour: 300_000}, 3.6},
		{"one that is too long for its window", "claude-sonnet-4-5", Anthropic, precis.Usage{CacheWrite: m, CacheWriteHour: m}, 6},
		{"a long request of a model with one price", "claude-sonnet-4-6", Anthropic, precis.Usage{Input: 300_000}, 0.9},
		{"OpenAI", "gpt-5", OpenAI, precis.Usage{Input: m, CacheRead: m / 2, Output: m}, 0.625 + 0.0625 + 10},
		{"a cache for an hour by way of another protocol", "claude-sonnet-4-6", OpenAI, precis.Usage{Input: m, CacheWrite: m, CacheWriteHour: m}, 6},
		{"one that may wait", "gpt-5", OpenAI, precis.Usage{Input: m, Output: m, Tier: "flex"}, 5.625},
		{"one before others", "gpt-5", OpenAI, precis.Usage{Input: m, Output: m, Tier: "priority"}, 22.5},
		{"web searches, which no tier makes cheaper", "claude-sonnet-4-6", Anthropic, precis.Usage{Input: m, WebSearches: 3, Tier: "batch"}, 1.53},
		{"web searches of OpenAI", "gpt-5", OpenAI, precis.Usage{Input: m, WebSearches: 100}, 2.25},
		{"a tier that nobody knows", "gpt-5", OpenAI, precis.Usage{Input: m, Tier: "turbo"}, 1.25},
	} {
		found, ok := c.Find(tt.model)
		if !ok {
			t.Fatal(tt.model)
		}
		if got := Bill(tt.p, found, tt.u).USD; !near(got, tt.usd) {
			t.Errorf("%s: $%g, want $%g (%+v)", tt.name, got, tt.usd, found.Prices)
		}
	}
	for _, u := range []precis.Usage{{CacheWrite: m, CacheWriteHour: m}, {WebSearches: m}} {
		if usd := Bill(Anthropic, Model{ID: "claude-x"}, u).USD; usd != 0 {
			t.Errorf("a model without prices costs $%g", usd)
		}
	}
	for _, p := range perSearch {
		if usd := Bill(Anthropic, Model{ID: "maker/" + p.model + "-x", Prices: Prices{Sources: PriceSources{Input: precis.SourceCatalog, Output: precis.SourceCatalog}}}, precis.Usage{WebSearches: 1000}).USD; usd != p.usd {
			t.Errorf("%s: 1,000 searches cost $%g, want $%g", p.model, usd, p.usd)
		}
	}
}
