package storetest

import (
	"slices"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/store"
)

// sums compares the store's sums with the sums of its entries.
func sums(s *suite) {
	l, ok := s.Store.(precis.Ledger)
	sum, can := s.Store.(store.Summer)
	if !ok || !can {
		s.Skip("sums up no ledger")
	}
	day := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	before := time.Date(1969, 12, 30, 23, 59, 59, 999, time.UTC) // days before 1970 are negative
	request := precis.LedgerEntry{Kind: "request", Before: 90, After: 40, Usage: precis.Usage{Input: 1, Output: 2, CacheRead: 4, CacheWrite: 8}, CostUSD: 16, SavedUSD: 0.5}
	for i, at := range []time.Time{day.Add(30 * time.Hour), before, day.Add(-1), day, day.Add(time.Hour), day.Add(24*time.Hour - 1), day.In(time.FixedZone("", 7200))} {
		for k, e := range []precis.LedgerEntry{request, {Kind: "request", Before: 5, After: 9}, {Kind: "call", CostUSD: 0.25}, {Kind: "condensation", Before: 90, After: 9, CostUSD: 0.5}, {}} {
			e.Time, e.Conversation = at, []string{"a", "b\x00'", "c"}[(i+k)%3]
			if err := l.Book(s.ctx, e); err != nil {
				s.Fatal(err)
			}
		}
	}
	if sc, ok := s.Store.(store.Scoper); ok {
		other := request
		other.Time, other.Conversation = day, "a"
		if err := sc.Scope("nobody else").(precis.Ledger).Book(s.ctx, other); err != nil {
			s.Fatal(err)
		}
	}
	for _, since := range []time.Time{{}, before, day, day.Add(1), day.Add(90 * time.Minute), day.Add(100 * time.Hour)} {
		for _, id := range []string{"", "a", "b\x00'", "nobody"} {
			wantSums(s, l, sum, id, since)
		}
	}
}

func wantSums(s *suite, l precis.Ledger, sum store.Summer, id string, since time.Time) {
	entries, err := l.Entries(s.ctx, "", since)
	if err != nil {
		s.Fatal(err)
	}
	var days []store.DaySums
	var each []store.ConversationSums
	for _, e := range entries { // oldest first
		if id != "" && e.Conversation != id {
			continue
		}
		at := e.Time.UTC()
		day := time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, time.UTC)
		if n := len(days); n == 0 || !days[n-1].Day.Equal(day) {
			days = append(days, store.DaySums{Day: day})
		}
		days[len(days)-1].Add(e)
		i := slices.IndexFunc(each, func(c store.ConversationSums) bool { return c.Conversation == e.Conversation })
		if i < 0 {
			i, each = len(each), append(each, store.ConversationSums{Conversation: e.Conversation})
		}
		each[i].Add(e)
		each[i].Last = at.Truncate(time.Second)
	}
	if got, err := sum.SumsByDay(s.ctx, id, since); err != nil || !slices.Equal(got, days) {
		s.Errorf("days of %q since %v: %v\n got %+v\nwant %+v", id, since, err, got, days)
	}
	slices.SortFunc(each, store.CompareSums)
	for _, most := range []int{0, 1, 2, 3, 100} {
		want := each
		if most > 0 && most < len(each) {
			want = each[:most]
		}
		if got, all, err := sum.SumsByConversation(s.ctx, id, since, most); err != nil || all != len(each) || !slices.Equal(got, want) {
			s.Errorf("conversations of %q since %v, at most %d: %d, %v\n got %+v\nwant %+v", id, since, most, all, err, got, want)
		}
	}
}
