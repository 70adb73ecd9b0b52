package form

import (
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/store"
)

// SumColumns are the summed columns of a ledger, in the order of [SumsOf] and [SumsInto]; the older
// column cost comes last.
const SumColumns = "requests, input, output, cache_read, cache_write, price, sent, saved, edits, saved_usd"

// SumOf is an aggregate of SQL over each of [SumColumns] and cost.
const SumOf = `sum(requests), sum(input), sum(output), sum(cache_read), sum(cache_write), sum(price), sum(sent), sum(saved), sum(edits), sum(saved_usd), sum(cost)`

// SumsOf returns the contribution of an entry to sums.
func SumsOf(e precis.LedgerEntry) (s store.Sums) {
	s.Add(e)
	return s
}

// SumsInto returns the scan destinations for [SumOf].
func SumsInto(s *store.Sums) []any {
	return []any{&s.Requests, &s.Usage.Input, &s.Usage.Output, &s.Usage.CacheRead, &s.Usage.CacheWrite,
		&s.CostUSD, &s.Sent, &s.Saved, &s.Edits, &s.SavedUSD, &s.Condensing}
}

// SecondsOfDay is the length of a day in UTC.
const SecondsOfDay = 24 * 60 * 60

// Day returns the number of the day of a time since 1970, in UTC.
func Day(t time.Time) int64 {
	seconds := t.Unix()
	day := seconds / SecondsOfDay
	if seconds%SecondsOfDay < 0 {
		day--
	}
	return day
}
