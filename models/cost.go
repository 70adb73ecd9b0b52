package models

import (
	"slices"

	"github.com/precis-dev/precis"
)

// Protocol is an API's way of counting the input tokens it reports.
type Protocol string

const (
	// Anthropic reports cached tokens separately: they are not part of the input tokens.
	Anthropic Protocol = "anthropic"
	// OpenAI includes cached tokens in the input tokens.
	OpenAI Protocol = "openai"
)

// Charge is the cost of one request.
type Charge struct {
	// TotalInput is the number of prompt tokens, cached or not.
	TotalInput int `json:"total_input"`
	// TotalOutput is the number of generated tokens.
	TotalOutput int `json:"total_output"`
	// USD is the cost in US dollars.
	USD float64 `json:"usd"`
}

// Breakdown is a Charge by kind of token, in US dollars.
type Breakdown struct {
	CacheWrite float64 `json:"cache_write"`
	CacheRead  float64 `json:"cache_read"`
	Input      float64 `json:"input"`
	Output     float64 `json:"output"`
	// BilledInput is how many tokens were billed at the uncached input price.
	BilledInput int `json:"billed_input"`
	// Long states that the prices of a long request were applied.
	Long bool `json:"long"`
}

// USD returns the sum, added in a fixed order so that equal requests cost
// equal amounts to the last bit.
func (b Breakdown) USD() float64 {
	return b.CacheWrite + b.CacheRead + b.Input + b.Output
}

// Cost returns the cost of a request. p is the protocol of the usage: with [OpenAI], u.Input
// includes u.CacheRead and u.CacheWrite; with any other protocol it does not. tier is the service
// tier that the request was billed at; empty means "default". It matters only to prices with a rule
// for long requests, which only [OpenAI] billing has.
//
// The formula, and the order of its float64 operations, follow Roo Code 3.52.1, so that costs agree
// with the ones it recorded.
func Cost(p Protocol, prices Prices, u precis.Usage, tier string) Charge {
	total := u.Input
	if p != OpenAI {
		total += u.CacheWrite + u.CacheRead
	}
	return Charge{
		TotalInput:  total,
		TotalOutput: u.Output,
		USD:         Itemize(p, prices, u, tier).USD(),
	}
}

// Itemize returns the summands of [Cost].
func Itemize(p Protocol, prices Prices, u precis.Usage, tier string) Breakdown {
	b := Breakdown{BilledInput: u.Input}
	if p == OpenAI {
		b.BilledInput = max(0, u.Input-u.CacheWrite-u.CacheRead)
		prices, b.Long = prices.forRequest(u.Input, tier)
	}
	b.CacheWrite = dollars(prices.CacheWrite, u.CacheWrite)
	b.CacheRead = dollars(prices.CacheRead, u.CacheRead)
	b.Input = dollars(prices.Input, b.BilledInput)
	b.Output = dollars(prices.Output, u.Output)
	return b
}

// dollars prices tokens. The conversion keeps the compiler from fusing the
// product with a later sum, which would round differently on some processors.
func dollars(perMillion float64, tokens int) float64 {
	return float64(perMillion / 1_000_000 * float64(tokens))
}

// forRequest returns the prices of a request with the given number of input tokens, and whether
// they are long-request prices.
func (p Prices) forRequest(input int, tier string) (Prices, bool) {
	l := p.Long
	if l == nil || input <= l.Threshold || !l.covers(tier) {
		return p, false
	}
	p.Input = times(p.Input, l.Input)
	p.Output = times(p.Output, l.Output)
	p.CacheRead = times(p.CacheRead, l.CacheRead)
	p.CacheWrite = times(p.CacheWrite, l.CacheWrite)
	return p, true
}

func (l *LongContext) covers(tier string) bool {
	if tier == "" {
		tier = "default"
	}
	return l.Tiers == nil || slices.Contains(l.Tiers, tier)
}

func times(price, multiplier float64) float64 {
	if multiplier == 0 {
		return price
	}
	return float64(price * multiplier)
}
