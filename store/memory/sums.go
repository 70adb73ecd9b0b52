package memory

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/store"
)

// SumsByDay returns the sums of each day, see [store.Summer].
func (s books) SumsByDay(ctx context.Context, conversation string, since time.Time) ([]store.DaySums, error) {
	days := map[time.Time]store.DaySums{}
	err := s.summed(ctx, conversation, since, func(e precis.LedgerEntry) {
		y, m, d := e.Time.UTC().Date()
		day := time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
		sums := days[day]
		sums.Day = day
		sums.Add(e)
		days[day] = sums
	})
	return slices.SortedFunc(maps.Values(days), func(a, b store.DaySums) int { return a.Day.Compare(b.Day) }),
		err
}

// SumsByConversation returns the sums of each conversation, see [store.Summer].
func (s books) SumsByConversation(ctx context.Context, conversation string, since time.Time,
	most int) ([]store.ConversationSums, int, error) {
	all := map[string]store.ConversationSums{}
	err := s.summed(ctx, conversation, since, func(e precis.LedgerEntry) {
		sums := all[e.Conversation]
		sums.Conversation, sums.Last = e.Conversation, e.Time.UTC().Truncate(time.Second)
		sums.Add(e)
		all[e.Conversation] = sums
	})
	sorted := slices.SortedFunc(maps.Values(all), store.CompareSums)
	if most > 0 && len(sorted) > most {
		sorted = sorted[:most]
	}
	return sorted, len(all), err
}

// summed calls add with each selected entry, oldest first.
func (s books) summed(ctx context.Context, conversation string, since time.Time,
	add func(precis.LedgerEntry)) error {
	done, err := s.begin(ctx, "sum up ledger")
	defer done()
	if err != nil {
		return err
	}
	for _, e := range s.mine().ledger {
		if (conversation == "" || e.Conversation == conversation) && !e.Time.Before(since) {
			add(e)
		}
	}
	return nil
}
