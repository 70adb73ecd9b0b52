package precis

import (
	"fmt"
	"github.com/precis-dev/precis/internal/number"
)

// Source is the origin of a number.
type Source string

// The sources of a number shown to a user.
const (
	SourceConfigured Source = "configured" // set by the user, in a file, a flag or the environment
	SourceCatalog    Source = "catalog"    // the model catalog
	SourceServer     Source = "server"     // reported by the server
	SourceLearned    Source = "learned"    // read in an overflow error
	SourceRecorded   Source = "recorded"   // by the program that recorded the conversation
	SourceFamily     Source = "family"     // of the newest known model of the same family
	SourceAssumed    Source = "assumed"    // a documented default
)

// Window is a context window in tokens with its provenance.
type Window struct {
	Tokens int    `json:"tokens"`
	Source Source `json:"source"`
	Detail string `json:"detail,omitempty"` // e.g. the catalog entry or the flag
}

// Percent returns used tokens as a percentage of the window; 0 for an unknown window.
func (w Window) Percent(used int) float64 {
	if w.Tokens <= 0 {
		return 0
	}
	return 100 * float64(used) / float64(w.Tokens)
}

// Guessed reports whether the window is a guess: an assumption, or the window of a related model.
func (w Window) Guessed() bool { return w.Source == SourceAssumed || w.Source == SourceFamily }

// String returns "200,000 tokens (catalog: claude-sonnet-4-5)".
func (w Window) String() string {
	if w.Detail == "" {
		return fmt.Sprintf("%s tokens (%s)", number.Thousands(w.Tokens), w.Source)
	}
	return fmt.Sprintf("%s tokens (%s: %s)", number.Thousands(w.Tokens), w.Source, w.Detail)
}

// Usage is what one request consumed, in tokens, as a provider reports it.
type Usage struct {
	Input      int `json:"input"`
	Output     int `json:"output"`
	CacheRead  int `json:"cache_read,omitempty"`
	CacheWrite int `json:"cache_write,omitempty"`

	CacheWriteHour int `json:"cache_write_hour,omitempty"` // part of CacheWrite with a lifetime of an hour
	// of one request: the service tier, in the provider's word; "": the default one
	Tier string `json:"tier,omitempty"`

	WebSearches int `json:"web_searches,omitempty"` // by the provider's own tool, billed by number
	// the cost as the provider states it, in US dollars; 0: not stated
	StatedUSD float64 `json:"stated_usd,omitempty"`
}

// Add adds the usage of another request. The tier stays.
func (u *Usage) Add(o Usage) {
	u.Input += o.Input
	u.Output += o.Output
	u.CacheRead += o.CacheRead
	u.CacheWrite += o.CacheWrite
	u.CacheWriteHour += o.CacheWriteHour
	u.WebSearches += o.WebSearches
	u.StatedUSD += o.StatedUSD
}
