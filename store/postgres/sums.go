package postgres

import (
	"context"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/precis-dev/precis/store"
	"github.com/precis-dev/precis/store/internal/form"
)

// sumOf sums up with casts to the column types, because sums of integers have another type.
const sumOf = `sum(requests)::bigint, sum(input)::bigint, sum(output)::bigint, sum(cache_read)::bigint, sum(cache_write)::bigint,
	sum(price), sum(sent)::bigint, sum(saved)::bigint, sum(edits)::bigint, sum(saved_usd), sum(cost)`

// SumsByDay returns the sums of each day, see [store.Summer].
func (s books) SumsByDay(ctx context.Context, conversation string, since time.Time) ([]store.DaySums, error) {
	return summed(ctx, s, `SELECT day, `+sumOf, `day ORDER BY day`, conversation, since,
		func(row pgx.CollectableRow) (d store.DaySums, err error) {
			var day int64
			err = row.Scan(append([]any{&day}, form.SumsInto(&d.Sums)...)...)
			d.Day = time.Unix(day*form.SecondsOfDay, 0).UTC()
			return d, err
		})
}

// SumsByConversation returns the sums of conversations, see [store.Summer].
func (s books) SumsByConversation(ctx context.Context, conversation string, since time.Time,
	most int) (sums []store.ConversationSums, all int, err error) {
	groups := `conversation ORDER BY sum(price) + sum(cost) DESC, max(seconds) DESC, conversation`
	if most > 0 {
		groups += ` LIMIT ` + strconv.Itoa(most)
	}
	sums, err = summed(ctx, s, `SELECT count(*) OVER (), conversation, max(seconds), `+sumOf, groups,
		conversation, since, func(row pgx.CollectableRow) (c store.ConversationSums, err error) {
			var name []byte
			var last int64
			err = row.Scan(append([]any{&all, &name, &last}, form.SumsInto(&c.Sums)...)...)
			c.Conversation, c.Last = string(name), time.Unix(last, 0).UTC()
			return c, err
		})
	return sums, all, err
}

// summed reads one value per group of the selected entries.
func summed[T any](ctx context.Context, s books, what, groups, conversation string, since time.Time,
	read pgx.RowToFunc[T]) (out []T, err error) {
	const op = "sum up ledger"
	owner, err := s.ownerID(ctx, op)
	if err != nil {
		return nil, err
	}
	where, args := `owner = $1 AND (seconds, nanos) >= ($2, $3)`, []any{owner, since.Unix(),
		since.Nanosecond()}
	if conversation != "" {
		where, args = where+` AND conversation = $4`, append(args, []byte(conversation))
	}
	err = s.do(ctx, op, func() error {
		rows, err := s.pool.Query(ctx, what+` FROM ledger WHERE `+where+` GROUP BY `+groups, args...)
		if err != nil {
			return err
		}
		out, err = pgx.CollectRows(rows, read)
		return err
	})
	return out, err
}
