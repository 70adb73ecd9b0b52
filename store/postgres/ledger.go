package postgres

import (
	"context"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/store"
	"github.com/precis-dev/precis/store/internal/form"
)

// SaveCalibration replaces the stored state of a model.
func (s books) SaveCalibration(ctx context.Context, model string, state []byte) error {
	return s.exec(ctx, "save calibration", `INSERT INTO calibrations (model, state) VALUES ($1, $2)
		ON CONFLICT (model) DO UPDATE SET state = excluded.state`, []byte(model), append([]byte{}, state...))
}

// LoadCalibrations returns the stored state of all models.
func (s books) LoadCalibrations(ctx context.Context) (map[string][]byte, error) {
	var all map[string][]byte
	err := s.do(ctx, "load calibrations", func() error {
		all = map[string][]byte{}
		rows, err := s.pool.Query(ctx, `SELECT model, state FROM calibrations`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var model, state []byte
			if err := rows.Scan(&model, &state); err != nil {
				return err
			}
			all[string(model)] = state
		}
		return rows.Err()
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// Book adds an entry to the ledger. The error is [precis.CodeInvalid] when it
// has no JSON form.
func (s books) Book(ctx context.Context, e precis.LedgerEntry) error {
	return s.BookAll(ctx, []store.OwnedEntry{{Owner: s.owner, LedgerEntry: e}})
}

// counted are the columns of a ledger with numbers that are summed up.
const counted = "requests, input, output, cache_read, cache_write, sent, saved, edits"

// BookAll adds entries to the ledgers of their owners, see [store.Booker].
func (s books) BookAll(ctx context.Context, entries []store.OwnedEntry) error {
	const op = "book entries"
	owners, seconds, nanos := make([]int64, len(entries)), make([]int64, len(entries)), make([]int32,
		len(entries))
	conversations, data, costs := make([][]byte, len(entries)), make([][]byte, len(entries)), make([]float64,
		len(entries))
	days, prices, saved, counts := make([]int64, len(entries)), make([]float64, len(entries)), make([]float64,
		len(entries)), [8][]int64{}
	for i, e := range entries {
		var err error
		if data[i], err = form.Entry(op, e.LedgerEntry); err != nil {
			return err
		}
		own := part{s.database, e.Owner}
		if owners[i], err = own.ownID(ctx, op); err != nil {
			return err
		}
		conversations[i], seconds[i], nanos[i] = []byte(e.Conversation), e.Time.Unix(), int32(e.Time.Nanosecond())
		sums := form.SumsOf(e.LedgerEntry)
		days[i], costs[i], prices[i], saved[i] = form.Day(e.Time), sums.Condensing, sums.CostUSD, sums.SavedUSD
		for k, n := range []int{sums.Requests, sums.Usage.Input, sums.Usage.Output, sums.Usage.CacheRead,
			sums.Usage.CacheWrite, sums.Sent, sums.Saved, sums.Edits} {
			counts[k] = append(counts[k], int64(n))
		}
	}
	return s.exec(ctx, op, `INSERT INTO ledger (owner, conversation, seconds, nanos, cost, data, day, price, saved_usd, `+counted+`)
		SELECT owner, conversation, seconds, nanos, cost, data, day, price, saved_usd, `+counted+`
		FROM unnest($1::bigint[], $2::bytea[], $3::bigint[], $4::integer[], $5::double precision[], $6::bytea[], $7::bigint[], $8::double precision[], $9::double precision[],
				$10::bigint[], $11::bigint[], $12::bigint[], $13::bigint[], $14::bigint[], $15::bigint[], $16::bigint[], $17::bigint[])
			WITH ORDINALITY AS a (owner, conversation, seconds, nanos, cost, data, day, price, saved_usd, `+
		counted+`, n) ORDER BY n`,
		owners, conversations, seconds, nanos, costs, data, days, prices, saved, counts[0], counts[1],
		counts[2], counts[3], counts[4], counts[5], counts[6], counts[7])
}

// Entries returns the entries of a conversation, or of all for "", made at or
// after since, oldest first; entries of the same time in the order of booking.
func (s books) Entries(ctx context.Context, conversation string,
	since time.Time) ([]precis.LedgerEntry, error) {
	const op = "read ledger"
	owner, err := s.ownerID(ctx, op)
	if err != nil {
		return nil, err
	}
	where, args := `owner = $1 AND (seconds, nanos) >= ($2, $3)`, []any{owner, since.Unix(),
		since.Nanosecond()}
	if conversation != "" {
		where, args = `conversation = $4 AND `+where, append(args, []byte(conversation))
	}
	return query[precis.LedgerEntry](ctx, s.part, op,
		`SELECT data FROM ledger WHERE `+where+` ORDER BY seconds, nanos, id`, args...)
}

// Spent returns the cost of the entries of all owners made at or after since,
// requests left out.
func (s books) Spent(ctx context.Context, since time.Time) (sum float64, err error) {
	err = s.do(ctx, "sum up ledger", func() error {
		return s.pool.QueryRow(ctx, `SELECT coalesce(sum(cost), 0) FROM ledger WHERE cost <> 0 AND (seconds, nanos) >= ($1, $2)`,
			since.Unix(), since.Nanosecond()).Scan(&sum)
	})
	return sum, err
}

// exec runs one statement.
func (s *database) exec(ctx context.Context, op, text string, args ...any) error {
	return s.do(ctx, op, func() error {
		_, err := s.pool.Exec(ctx, text, args...)
		return err
	})
}
