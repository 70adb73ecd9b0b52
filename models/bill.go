package models

import (
	"strings"

	"github.com/precis-dev/precis"
)

// Bill returns the cost of a request as its provider bills it: [Cost] plus special rates. Tokens
// written to an hour-long cache cost twice the input price at Anthropic. A long request pays the
// prices of its band, based on all input tokens including cached ones, also if the protocol counts
// these separately. That applies only if the model's window exceeds the threshold, because
// Anthropic refuses longer requests otherwise. u.Tier, as named in the answer, lowers or raises the
// price.
func Bill(p Protocol, m Model, u precis.Usage) Charge {
	prices := m.Prices
	if long := prices.Long; p != OpenAI && long != nil && m.Window.Tokens > long.Threshold {
		prices, _ = prices.forRequest(u.Input+u.CacheRead+u.CacheWrite, u.Tier)
	}
	c := Cost(p, prices, u, u.Tier)
	if hour := min(u.CacheWriteHour, u.CacheWrite); hour > 0 { // only Anthropic reports such tokens
		c.USD += dollars(2*prices.Input-prices.CacheWrite, hour)
	}
	c.USD *= tierFactor(m.ID, u.Tier)
	if u.WebSearches > 0 && prices.Known() {
		c.USD += searchPrice(m.ID) / 1000 * float64(u.WebSearches)
	}
	return c
}

// perSearch are the makers' published prices of web searches by the provider's own tool, in US
// dollars per 1,000, by prefix of the model's name.
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

// Anthropic ("batch"), OpenAI ("flex") and Google ("batch") charge half the price for requests in a
// batch or with low priority. Requests with high priority ("priority", OpenAI's pricing page) cost
// more, depending on the model; Anthropic sells priority as a commitment, which is not visible in
// requests.
const waits = 0.5

var priority = []struct {
	model  string // prefix of its name, longer ones first
	factor float64
}{
	{"gpt-5-mini", 1.8}, {"gpt-5", 2}, {"gpt-4.1-mini", 1.75}, {"gpt-4.1-nano", 2}, {"gpt-4.1", 1.75},
	{"gpt-4o-mini", 5. / 3}, {"gpt-4o", 1.7}, {"o3", 1.75}, {"o4-mini", 20. / 11},
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

// bands are the prices of long requests that the catalog lacks, by prefix of the model's name, as
// published by its maker for its own API and for resellers at the same prices.
var bands = []struct {
	model string
	rule  LongContext
}{
	{"claude-sonnet-4-6", LongContext{}}, // one price for all lengths, as for later ones
	{"claude-sonnet-4-5", LongContext{Threshold: 200_000, Input: 2, Output: 1.5, CacheRead: 2, CacheWrite: 2,
		Source: precis.SourceCatalog}},
	// claude-sonnet-4-20250514
	{"claude-sonnet-4-2", LongContext{Threshold: 200_000, Input: 2, Output: 1.5, CacheRead: 2, CacheWrite: 2,
		Source: precis.SourceCatalog}},
	{"gemini-2.5-pro", LongContext{Threshold: 200_000, Input: 2, Output: 1.5, CacheRead: 2, CacheWrite: 2,
		Source: precis.SourceCatalog}},
	{"gemini-3-pro", LongContext{Threshold: 200_000, Input: 2, Output: 1.5, CacheRead: 2, CacheWrite: 2,
		Source: precis.SourceCatalog}},
	{"gemini-3.1-pro", LongContext{Threshold: 200_000, Input: 2, Output: 1.5, CacheRead: 2, CacheWrite: 2,
		Source: precis.SourceCatalog}},
	{"gpt-5.4", LongContext{Threshold: 272_000, Input: 2, Output: 1.5, CacheRead: 2, CacheWrite: 2,
		Source: precis.SourceCatalog}},
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
