package rules

import (
	"strings"
	"testing"
)

// BenchmarkFind reads a long text of a person; the time for a word is reported.
func BenchmarkFind(b *testing.B) {
	var text strings.Builder
	for range 20 {
		for _, l := range labelled[:len(labelled)-3] { // those with spaces between words
			for _, s := range append(l.rules, l.none...) {
				text.WriteString(s + "\n")
			}
		}
	}
	words := len(strings.Fields(text.String()))
	b.ReportAllocs()
	for b.Loop() {
		Find(text.String())
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*words), "ns/word")
}
