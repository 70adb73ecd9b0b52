package gateway_test

import (
	"runtime/debug"
	"testing"
)

// BenchmarkGuardTurn sends turns of one conversation of some 60,000 tokens, which fits into the
// window, through the gateway over a store. The guard reads the bytes that a turn allocates.
func BenchmarkGuardTurn(b *testing.B) {
	base, c := served(b, fastUpstream(b), 200_000), newClient()
	bodies := bodiesOf(b.Name(), 160<<10, b.N+1)
	c.send(b, base, bodies[0])
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a collection empties pools: the bytes would vary by 6 %
	b.ResetTimer()
	for _, body := range bodies[1:] {
		c.send(b, base, body)
	}
}
