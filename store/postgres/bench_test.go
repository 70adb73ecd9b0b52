//go:build unix

package postgres_test

import (
	"fmt"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/store/postgres"
)

func BenchmarkAppendEdit(b *testing.B) {
	for _, depth := range []int{1, 2000} {
		b.Run(fmt.Sprint("depth=", depth), func(b *testing.B) {
			s, at, t := filled(b, depth)
			after := ""
			b.ResetTimer()
			for i := 0; b.Loop(); i++ {
				m := message(depth + i)
				next, err := s.Append(b.Context(), at, m)
				if err != nil {
					b.Fatal(err)
				}
				t.Append(m)
				e := precis.Edit{Kind: precis.KindPruning, Replace: []precis.Replacement{precis.ReplaceBlock(t, 0, 0, precis.Text{Text: fmt.Sprint(i)})}}
				if err := e.Identify(t); err != nil {
					b.Fatal(err)
				}
				if err := s.AddEdit(b.Context(), after, e); err != nil {
					b.Fatal(err)
				}
				at, after = next, e.ID
			}
			b.ReportMetric(2*float64(b.N)/b.Elapsed().Seconds(), "tx/s")
		})
	}
}

func BenchmarkAppend(b *testing.B) {
	for _, depth := range []int{1, 2000} {
		b.Run(fmt.Sprint("depth=", depth), func(b *testing.B) {
			s, at, _ := filled(b, depth)
			for i := 0; b.Loop(); i++ { // siblings, so that the depth stays
				if _, err := s.Append(b.Context(), at, message(depth+i)); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "tx/s")
		})
	}
}

// BenchmarkAppendWhole is a gateway's request: all of it again, and one more.
func BenchmarkAppendWhole(b *testing.B) {
	s, _, t := filled(b, 2000)
	for i := 0; b.Loop(); i++ {
		if _, err := s.Append(b.Context(), precis.Fingerprint{}, append(t.Messages(), message(2000+i))...); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAddEdit(b *testing.B) {
	for _, depth := range []int{1, 2000} {
		b.Run(fmt.Sprint("depth=", depth), func(b *testing.B) {
			s, at, _ := filled(b, depth)
			after := ""
			for i := 0; b.Loop(); i++ {
				e := precis.Edit{ID: fmt.Sprint(i), Kind: precis.KindPin, At: at, Seen: depth}
				if err := s.AddEdit(b.Context(), after, e); err != nil {
					b.Fatal(err)
				}
				after = e.ID
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "tx/s")
		})
	}
}

func BenchmarkLoad(b *testing.B) {
	for _, n := range []int{20, 200, 2000} {
		b.Run(fmt.Sprint("messages=", n), func(b *testing.B) {
			s, at, _ := filled(b, n)
			for b.Loop() {
				if t, _, err := s.Load(b.Context(), at); err != nil || t.Len() != n {
					b.Fatal(err)
				}
			}
		})
	}
}

func filled(b *testing.B, n int) (*postgres.Store, precis.Fingerprint, *precis.Transcript) {
	s := open(b, database(b))
	msgs := make([]precis.Message, n)
	for i := range msgs {
		msgs[i] = message(i)
	}
	return s, add(b, s, precis.Fingerprint{}, msgs...), precis.NewTranscript(msgs...)
}
