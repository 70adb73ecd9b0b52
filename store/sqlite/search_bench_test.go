package sqlite

import (
	"fmt"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/store"
)

// BenchmarkIndex is what a message costs that is brought into the index.
func BenchmarkIndex(b *testing.B) {
	s, at, _ := filled(b, 1)
	for i := 0; b.Loop(); i++ {
		b.StopTimer()
		var msgs []precis.Message
		for k := range 100 {
			msgs = append(msgs, message(1000*i+k))
		}
		var err error
		if at, err = s.Append(b.Context(), at, msgs...); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		for more := true; more; {
			if more, err = s.indexSome(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(100*b.N), "µs/message")
}

// BenchmarkSearch is for a word that all messages of 20000 have and one that one
// has.
func BenchmarkSearch(b *testing.B) {
	s, _, _ := filled(b, 1)
	for c := range 200 {
		var msgs []precis.Message
		for k := range 100 {
			msgs = append(msgs, message(1000*c+k+1))
		}
		at, err := s.Append(b.Context(), precis.Fingerprint{}, msgs...)
		if err != nil {
			b.Fatal(err)
		}
		if err := s.PutConversation(b.Context(), store.Record{ID: fmt.Sprint(c), Head: at}); err != nil {
			b.Fatal(err)
		}
	}
	if _, err := s.Search(b.Context(), store.SearchQuery{Text: "nothing"}); err != nil { // brings the index up to date
		b.Fatal(err)
	}
	for _, text := range []string{"message", "77042"} {
		b.Run(text, func(b *testing.B) {
			for b.Loop() {
				if found, err := s.Search(b.Context(), store.SearchQuery{Text: text}); err != nil || len(found) == 0 {
					b.Fatal(found, err)
				}
			}
		})
	}
}
