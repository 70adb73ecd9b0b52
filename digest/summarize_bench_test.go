package digest_test

import (
	"fmt"
	"testing"

	"github.com/precis-dev/precis/digest"
	"github.com/precis-dev/precis/policy"
)

// BenchmarkSummarize writes digests of a long session.
func BenchmarkSummarize(b *testing.B) {
	s := newSession(1)
	for range 60 {
		s.turn()
	}
	for _, size := range []int{3500, 20_000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			for b.Loop() {
				if _, err := (digest.Writer{}).Summarize(b.Context(), policy.SummaryRequest{Messages: s.msgs, MaxTokens: size}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
