package window

import (
	"time"

	"github.com/precis-dev/precis"
)

// Doubt is a reason to distrust a window.
type Doubt string

// The doubts.
const (
	Assumed      Doubt = "assumed"      // no source states it, and no request has shown it
	Unconfirmed  Doubt = "unconfirmed"  // it is derived only from refusals without a number
	Contradicted Doubt = "contradicted" // the evidence is inconsistent, or conflicts with the user's setting
	Old          Doubt = "old"          // its evidence has not been confirmed for a long time
)

// oldAfter is how long evidence is assumed to apply to the current model.
const oldAfter = 30 * 24 * time.Hour

// Doubts returns why the window may be wrong, the most serious reason first; nil without one.
func (k Known) Doubts() (out []Doubt) {
	w, s, e, now := k.lasting(), k.Served, k.Evidence, k.Now
	old := func(t time.Time) bool { return now.Sub(t) > oldAfter }
	limit := func(tokens int, at time.Time) bool { return tokens > 0 && !old(at) }
	contradicted := false
	for _, below := range []struct {
		tokens int
		counts bool
	}{{s.Tokens, limit(s.Tokens, s.Asked)}, {e.Stated.Tokens, limit(e.Stated.Tokens, e.Stated.Time)},
		{e.Refused.Tokens, limit(e.Refused.Tokens, e.Refused.Time)}} {
		if !below.counts {
			continue
		}
		larger := func(tokens int) bool { return tokens > below.tokens && !isNear(tokens, below.tokens) }
		contradicted = contradicted || larger(e.Accepted.Tokens) ||
			w.Source == precis.SourceConfigured && larger(w.Tokens)
	}
	if s.Tokens > 0 && e.Stated.Tokens > 0 && !old(s.Asked) && !old(e.Stated.Time) &&
		!isNear(s.Tokens, e.Stated.Tokens) {
		contradicted = true
	}
	if contradicted {
		out = append(out, Contradicted)
	}
	switch w.Source {
	case precis.SourceAssumed, precis.SourceFamily:
		out = append(out, Assumed)
	case precis.SourceServer:
		if old(s.Asked) {
			out = append(out, Old)
		}
	case precis.SourceLearned:
		switch w.Tokens {
		case e.Stated.Tokens:
			if old(e.Stated.Time) {
				out = append(out, Old)
			}
		case e.Refused.Tokens:
			out = append(out, Unconfirmed)
		case e.Accepted.Tokens:
			if old(e.Accepted.Time) {
				out = append(out, Old)
			}
		}
	}
	return out
}
