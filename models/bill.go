package models

import (
	"strings"

	"precis"
)

// Bill returns what a request cost as its provider bills it: [Cost] with what only some
// requests pay. Tokens that were written to a cache for an hour cost twice the input price at
// Anthropic. Long requests of models with a band of prices pay it by all input tokens, cached
// ones included, also where the protocol counts these apart, if the model's window is the long
// one: who does not ask Anthropic for that is not let in with more. u.Tier, as the answer names it,
// makes a request cheaper or dearer.
func Bill(p Protocol, m Model, u precis.Usage) Charge {
	prices := m.Prices
	if long := prices.Long; p != OpenAI && long != nil && m.Window.Tokens > long.Threshold {
		prices, _ = prices.forRequest(u.Input+u.CacheRead+u.CacheWrite, u.Tier)
	}
	c := Cost(p, prices, u, u.Tier)
	if hour := min(u.CacheWriteHour, u.CacheWrite); hour > 0 { // nobody else reports such tokens
		c.USD += dollars(2*prices.Input-prices.CacheWrite, hour)
	}
	c.USD *= tierFactor(m.ID, u.Tier)
	if u.WebSearches > 0 && prices.Known() {
		c.USD += searchPrice(m.ID) / 1000 * float64(u.WebSearches)
	}
	return c
}

// perSearch are the prices of web searches by the provider's own tool, in US dollars per 1,000, by the
// beginning of the model's name, as its maker publishes them.
var perSearch = []struct {
	model string
	usd   float64
}{
	{"claude", 10}, {"gpt-", 10}, {"o3", 10}, {"o4", 10},
}

func searchPrice(model string) float64 {
	model = strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
	for _, p := range perSearch {
		if strings.HasPrefix(model, p.model) {
			return p.usd
		}
	}
	return 0
}

// Of requests in a batch, and of those that may wait, half the price is charged by Anthropic
// ("batch"), OpenAI ("flex") and Google ("batch"). What is served before others ("priority",
// OpenAI's pricing page) costs more, by the model; Anthropic sells that as a commitment, which
// no request shows.
const waits = 0.5

var priority = []struct {
	model  string // the beginning of its name, longer ones first
	factor float64
}{
	{"gpt-5-mini", 1.8}, {"gpt-5", 2}, {"gpt-4.1-mini", 1.75}, {"gpt-4.1-nano", 2}, {"gpt-4.1", 1.75}, {"gpt-4o-mini", 5. / 3}, {"gpt-4o", 1.7}, {"o3", 1.75}, {"o4-mini", 20. / 11},
}

func tierFactor(model, tier string) float64 {
	switch tier {
	case "batch", "flex":
		return waits
	case "priority":
		model = model[strings.LastIndexByte(model, '/')+1:]
		for _, p := range priority {
			if strings.HasPrefix(model, p.model) {
				return p.factor
			}
		}
	}
	return 1
}

// bands are the prices of long requests that the catalog does not have, by the beginning of
// the model's name: as its maker publishes them, for its own API and for those that sell it at
// its prices.
var bands = []struct {
	model string
	rule  LongContext
}{
	{"claude-sonnet-4-6", LongContext{}}, // one price for all lengths, as have later ones
	{"claude-sonnet-4-5", LongContext{Threshold: 200_000, Input: 2, Output: 1.5, CacheRead: 2, CacheWrite: 2, Source: precis.SourceCatalog}},
	{"claude-sonnet-4-2", LongContext{Threshold: 200_000, Input: 2, Output: 1.5, CacheRead: 2, CacheWrite: 2, Source: precis.SourceCatalog}}, // claude-sonnet-4-20250514
	{"gemini-2.5-pro", LongContext{Threshold: 200_000, Input: 2, Output: 1.5, CacheRead: 2, CacheWrite: 2, Source: precis.SourceCatalog}},
	{"gemini-3-pro", LongContext{Threshold: 200_000, Input: 2, Output: 1.5, CacheRead: 2, CacheWrite: 2, Source: precis.SourceCatalog}},
	{"gemini-3.1-pro", LongContext{Threshold: 200_000, Input: 2, Output: 1.5, CacheRead: 2, CacheWrite: 2, Source: precis.SourceCatalog}},
	{"gpt-5.4", LongContext{Threshold: 272_000, Input: 2, Output: 1.5, CacheRead: 2, CacheWrite: 2, Source: precis.SourceCatalog}},
}

// bandOf returns the rule for long requests of a model; nil: its prices do not change.
func bandOf(id string) *LongContext {
	id = strings.ToLower(id[strings.LastIndexByte(id, '/')+1:])
	for i := range bands {
		if b := &bands[i]; strings.HasPrefix(id, b.model) && b.rule.Threshold > 0 {
			return &b.rule
		}
	}
	return nil
}
