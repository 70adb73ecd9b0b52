package registry

import (
	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/wire/anthropic"
)

// Sent is the size of a request, in tokens.
type Sent struct {
	Before int  // of the client's request
	After  int  // of the forwarded request
	Cached bool // the upstream read part of it from a prompt cache, or wrote it to one
}

// SavedUSD returns the saving of a request in US dollars: the cost of the content it left out, minus
// the cost of rewriting the upstream's prompt cache after the view was cut. It is negative when the
// cut costs more than it saves at once. Was is the request before; nil: there was none.
func (s Sent) SavedUSD(dialect string, cost func(precis.Usage) float64, used precis.Usage,
	was *Sent) float64 {
	usd := cost(unsent(dialect, s.Before-s.After, used))
	if was == nil || !was.Cached || s.Before-s.After <= was.Before-was.After {
		return usd // the cache was empty, or this request was not cut
	}
	fresh := used.Input + used.CacheWrite
	if dialect != anthropic.Format {
		fresh = used.Input - used.CacheRead
	}
	again := min(fresh-max(s.Before-was.Before, 0), was.After)
	if again <= 0 {
		return usd
	}
	written := precis.Usage{Input: again}
	if dialect == anthropic.Format && used.CacheWrite > 0 {
		written = precis.Usage{CacheWrite: again}
	}
	return usd + cost(unsent(dialect, again, precis.Usage{CacheRead: 1})) - cost(written)
}

// unsent returns the usage that left-out tokens would have caused: cache reads if the request used
// the prompt cache, which is the least they can cost, else plain input.
func unsent(dialect string, tokens int, used precis.Usage) precis.Usage {
	tokens = max(tokens, 0)
	switch {
	case used.CacheRead+used.CacheWrite == 0:
		return precis.Usage{Input: tokens}
	case dialect == anthropic.Format:
		return precis.Usage{CacheRead: tokens}
	}
	return precis.Usage{Input: tokens, CacheRead: tokens} // cached tokens are input, too
}
