package models

import "github.com/precis-dev/precis"

// Prices are the prices of a model, in US dollars per million tokens. The zero value means unknown
// prices.
type Prices struct {
	// Input is the price of uncached prompt tokens.
	Input float64 `json:"input"`
	// Output is the price of generated tokens.
	Output float64 `json:"output"`
	// CacheRead is the price of prompt tokens read from the provider's cache.
	CacheRead float64 `json:"cache_read"`
	// CacheWrite is the price of prompt tokens written to that cache, with the provider's shortest
	// time to live.
	CacheWrite float64 `json:"cache_write"`
	// Long changes the prices of long requests; nil means they do not change.
	Long *LongContext `json:"long_context,omitempty"`
	// Sources are the sources of the four numbers.
	Sources PriceSources `json:"sources"`
}

// PriceSources is the provenance of each price. An empty source means that
// the number was never set.
type PriceSources struct {
	Input      precis.Source `json:"input,omitempty"`
	Output     precis.Source `json:"output,omitempty"`
	CacheRead  precis.Source `json:"cache_read,omitempty"`
	CacheWrite precis.Source `json:"cache_write,omitempty"`
}

// LongContext multiplies the prices of requests longer than a threshold, as some providers do. A
// multiplier of zero leaves its price unchanged.
type LongContext struct {
	// Threshold is in input tokens; a request of exactly that many is short.
	Threshold  int     `json:"threshold"`
	Input      float64 `json:"input,omitempty"`
	Output     float64 `json:"output,omitempty"`
	CacheRead  float64 `json:"cache_read,omitempty"`
	CacheWrite float64 `json:"cache_write,omitempty"`
	// Tiers lists the service tiers that the rule applies to; nil means all of them.
	Tiers []string `json:"tiers,omitempty"`
	// Source is the source of the rule.
	Source precis.Source `json:"source,omitempty"`
}

// Known reports whether the prices of input and output are stated. It is false for a model of a
// subscription or one missing from every price list: display "unknown" for such a model, not
// "$0.00".
func (p Prices) Known() bool {
	return stated(p.Sources.Input) && stated(p.Sources.Output)
}

func stated(s precis.Source) bool {
	return s != "" && s != precis.SourceAssumed
}

// normalizePrices converts the four price fields of the catalog into [Prices].
// The two cached prices mean different things for different providers:
// Anthropic's entry holds the write price in the first and the read price in
// the second, OpenAI's holds the read price in either.
//
// The write price is the first cached field if it exceeds the input price; the
// read price is the smaller of the non-zero cached fields if that is below the
// input price. Either falls back to the input price, and is then marked as
// assumed. A price of zero is accepted only when the model's name marks it as
// free: otherwise the price is unknown, and all four numbers are assumed.
func normalizePrices(in, out, inCached, outCached float64, free bool) Prices {
	p := Prices{Input: in, Output: out}
	if in == 0 && out == 0 && !free {
		p.Sources = PriceSources{precis.SourceAssumed, precis.SourceAssumed, precis.SourceAssumed,
			precis.SourceAssumed}
		return p
	}
	p.Sources.Input, p.Sources.Output = precis.SourceCatalog, precis.SourceCatalog
	if inCached > in {
		p.CacheWrite, p.Sources.CacheWrite = inCached, precis.SourceCatalog
	}
	for _, v := range []float64{inCached, outCached} {
		if v > 0 && v < in && (p.CacheRead == 0 || v < p.CacheRead) {
			p.CacheRead, p.Sources.CacheRead = v, precis.SourceCatalog
		}
	}
	p.assumeCached()
	return p
}

// assumeCached sets unstated cache prices to the input price, so that a cache with unknown prices
// neither saves nor costs anything.
func (p *Prices) assumeCached() {
	if !stated(p.Sources.CacheRead) {
		p.CacheRead, p.Sources.CacheRead = p.Input, precis.SourceAssumed
	}
	if !stated(p.Sources.CacheWrite) {
		p.CacheWrite, p.Sources.CacheWrite = p.Input, precis.SourceAssumed
	}
}
