package sessions

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/precis-dev/precis/archive"
)

// spendOnce subtracts the requests that a fork repeats from its spending. Claude Code copies the
// lines of a session into a new one when it is forked, and older versions also when it is resumed.
// Answers with the same ID belong to the same request.
func (l *Library) spendOnce(ctx context.Context, some []*Session) error {
	forks, err := l.index.forks(ctx)
	if err != nil || len(forks) == 0 {
		return err
	}
	inOrder := slices.Clone(some)
	slices.SortFunc(inOrder, func(a, b *Session) int {
		return cmp.Or(a.used().Compare(b.used()),
			cmp.Compare(a.Path, b.Path))
	})
	seen := map[string]bool{}
	for _, s := range inOrder {
		var again []archive.Request
		for _, r := range forks[s.row] {
			if seen[r.ID] {
				again = append(again, r)
			}
			seen[r.ID] = true
		}
		if len(again) > 0 {
			s.Spent = subtractRequests(s.Spent, again)
			l.read.price(s)
		}
	}
	return nil
}

// subtractRequests subtracts requests from spending. Programs that record IDs of requests record no cost.
func subtractRequests(spent []archive.ModelUsage, some []archive.Request) []archive.ModelUsage {
	out := slices.Clone(spent)
	for _, r := range some {
		i := slices.IndexFunc(out, func(sp archive.ModelUsage) bool { return sp.Model == r.Model })
		if i < 0 {
			continue
		}
		sp := &out[i]
		sp.Requests--
		sp.Usage.Input -= r.Usage.Input
		sp.Usage.Output -= r.Usage.Output
		sp.Usage.CacheRead -= r.Usage.CacheRead
		sp.Usage.CacheWrite -= r.Usage.CacheWrite
		sp.Usage.CacheWriteHour -= r.Usage.CacheWriteHour
		sp.Usage.WebSearches -= r.Usage.WebSearches
		sp.Unpriced = sp.Usage
	}
	return slices.DeleteFunc(out, func(sp archive.ModelUsage) bool { return sp.Requests == 0 })
}

// forks returns the requests of sessions that begin with the same request, by file row.
func (x *index) forks(ctx context.Context) (map[int64][]archive.Request, error) {
	rows, err := x.db.QueryContext(ctx,
		`SELECT file, list FROM requests WHERE first IN (SELECT first FROM requests GROUP BY first HAVING count(*) > 1)`)
	if err != nil {
		return nil, indexError(err)
	}
	defer rows.Close()
	out := map[int64][]archive.Request{}
	for rows.Next() {
		var file int64
		var list []byte
		if err := rows.Scan(&file, &list); err != nil {
			return nil, indexError(err)
		}
		var requests []archive.Request
		if err := json.Unmarshal(list, &requests); err != nil {
			return nil, indexError(err)
		}
		out[file] = requests
	}
	return out, indexError(rows.Err())
}
