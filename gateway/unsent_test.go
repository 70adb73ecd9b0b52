package gateway

import (
	"testing"

	"precis"
	"precis/wire/anthropic"
	"precis/wire/chat"
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
