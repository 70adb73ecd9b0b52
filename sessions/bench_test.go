package sessions_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/precis-dev/precis/sessions"
	"github.com/precis-dev/precis/store"
)

// many returns a library over n sessions of 20 messages, which is read and indexed.
func many(b *testing.B, n int) *sessions.Library {
	b.Helper()
	h := newHome(b)
	for i := range n {
		said := make([]string, 10)
		for k := range said {
			said[k] = fmt.Sprintf("word%d of session%d %s", k, i, strings.Repeat("and so on and on ", 20))
		}
		h.claude(fmt.Sprintf("%08x-0000", i), said...)
	}
	lib := h.library()
	if _, err := lib.Refresh(b.Context()); err != nil {
		b.Fatal(err)
	}
	if _, err := lib.Search(b.Context(), store.SearchQuery{Text: "nowhere"}); err != nil {
		b.Fatal(err)
	}
	return lib
}

func BenchmarkSessions(b *testing.B) {
	lib := many(b, 2000)
	b.Run("refresh", func(b *testing.B) {
		for b.Loop() {
			if r, err := lib.Refresh(b.Context()); err != nil || r.Read > 0 {
				b.Fatal(r, err)
			}
		}
	})
	b.Run("list", func(b *testing.B) {
		for b.Loop() {
			if some, err := lib.List(b.Context(), sessions.Filter{Limit: 50}); err != nil || len(some) != 50 {
				b.Fatal(len(some), err)
			}
		}
	})
	for name, text := range map[string]string{"rare": "session77 word3", "common": "and so on"} {
		b.Run("search "+name, func(b *testing.B) {
			for b.Loop() {
				if hits, err := lib.Search(b.Context(), store.SearchQuery{Text: text}); err != nil || len(hits) == 0 {
					b.Fatal(len(hits), err)
				}
			}
		})
	}
}
