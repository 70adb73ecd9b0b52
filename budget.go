package precis

import "fmt"

// Source says where a number came from.
type Source string

// The sources of a number shown to a user.
const (
	SourceConfigured Source = "configured" // set by the user, in a file, a flag or the environment
	SourceCatalogue  Source = "catalogue"  // the model catalogue
	SourceServer     Source = "server"     // asked of the server
	SourceLearned    Source = "learned"    // read in an overflow error
	SourceAssumed    Source = "assumed"    // a documented default
)

// Window is a context window in tokens with its provenance.
type Window struct {
	Tokens int    `json:"tokens"`
	Source Source `json:"source"`
	Detail string `json:"detail,omitempty"` // e.g. the catalogue entry or the flag
}

// String returns "200000 tokens (catalogue: claude-sonnet-4-5)".
func (w Window) String() string {
	if w.Detail == "" {
		return fmt.Sprintf("%d tokens (%s)", w.Tokens, w.Source)
	}
	return fmt.Sprintf("%d tokens (%s: %s)", w.Tokens, w.Source, w.Detail)
}

// Usage is what one request consumed, in tokens, as a provider reports it.
type Usage struct {
	Input      int `json:"input"`
	Output     int `json:"output"`
	CacheRead  int `json:"cache_read,omitempty"`
	CacheWrite int `json:"cache_write,omitempty"`
}

// The constants of the decision, as in Roo Code.
const (
	DefaultReserve     = 8192 // output tokens reserved when none are requested
	DefaultBuffer      = 0.1  // share of the window never used
	MinPercent         = 5.0  // lowest valid threshold
	MaxPercent         = 100.0
	ForcedPercent      = 75.0 // what a forced reduction comes down to at most
	MaxForced          = 3    // reductions of one request that its provider refuses as too long
	SummaryMinWindow   = 8000 // smaller windows get no model summary
	reserveWindowShare = 0.2  // of the window, where the reserve would take most of it
)

// Reserve is the room kept for the model's answer, in tokens, and why.
type Reserve struct {
	Tokens int    `json:"tokens"`
	Source Source `json:"source"`
	Detail string `json:"detail,omitempty"`
}

// ReserveFor returns the output reserve for a window: the requested output, or
// [DefaultReserve] when requested is 0 or less (Roo's rule). Where that would
// leave less than half of the window, it is the smallest of the requested
// output, the model's output limit (0 when unknown) and a fifth of the window.
func ReserveFor(window, requested, limit int) Reserve {
	r := Reserve{Tokens: DefaultReserve, Source: SourceAssumed, Detail: "default output"}
	if requested > 0 {
		r = Reserve{Tokens: requested, Source: SourceConfigured, Detail: "requested output"}
	}
	if allowed(window, r.Tokens, DefaultBuffer) >= float64(window)/2 {
		return r
	}
	if limit > 0 && limit < r.Tokens {
		r = Reserve{Tokens: limit, Source: SourceCatalogue, Detail: "output limit of the model"}
	}
	if fifth := int(float64(window) * reserveWindowShare); fifth < r.Tokens {
		r = Reserve{Tokens: fifth, Source: SourceAssumed, Detail: "a fifth of the window"}
	}
	return r
}

// Budget is what a view may use: the window, the room kept for the answer, and
// the tokens that are not messages.
type Budget struct {
	Window   Window  `json:"window"`
	Reserve  Reserve `json:"reserve"`
	Overhead int     `json:"overhead"` // system prompt and tools, in tokens
	Buffer   float64 `json:"buffer"`   // share of the window never used, 0 to 1
}

// Allowed returns window × (1 − buffer) − reserve, in tokens. It may be
// negative.
func (b Budget) Allowed() float64 { return allowed(b.Window.Tokens, b.Reserve.Tokens, b.Buffer) }

func allowed(window, reserve int, buffer float64) float64 {
	return float64(window)*(1-buffer) - float64(reserve)
}

// Percent returns used tokens as a percentage of the window: 0 for an unknown
// window.
func (b Budget) Percent(used int) float64 {
	if b.Window.Tokens <= 0 {
		return 0
	}
	return 100 * float64(used) / float64(b.Window.Tokens)
}
