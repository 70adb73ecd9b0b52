package sqlite

import (
	"context"
	"database/sql"
	"time"

	"github.com/precis-dev/precis/store"
	"github.com/precis-dev/precis/store/internal/form"
)

// SumsByDay returns the sums of each day, see [store.Summer].
func (s books) SumsByDay(ctx context.Context, conversation string, since time.Time) ([]store.DaySums, error) {
	var out []store.DaySums
	err := s.view(ctx, opSums, func(tx call) error {
		where, args := entriesOf(tx, conversation, since)
		return eachRow(ctx, tx, func(row *sql.Rows) error {
			var day int64
			var d store.DaySums
			err := row.Scan(append([]any{&day}, form.SumsInto(&d.Sums)...)...)
			d.Day = time.Unix(day*form.SecondsOfDay, 0).UTC()
			out = append(out, d)
			return err
		}, `SELECT day, `+form.SumOf+` FROM ledger `+where+` AND day >= ? GROUP BY day ORDER BY day`,
			append(args, form.Day(since))...)
	})
	return out, err
}

// SumsByConversation returns the sums of conversations, see [store.Summer]. The query names its
// index and hides the time from the planner; otherwise SQLite would read the entries by time and
// sort them.
func (s books) SumsByConversation(ctx context.Context, conversation string, since time.Time,
	most int) (sums []store.ConversationSums, all int, err error) {
	if most <= 0 {
		most = -1
	}
	err = s.view(ctx, opSums, func(tx call) error {
		where, args := entriesOf(tx, conversation, since)
		from := ` FROM ledger INDEXED BY ledger_by_conversation ` + where
		err := eachRow(ctx, tx, func(row *sql.Rows) error {
			var last int64
			var c store.ConversationSums
			err := row.Scan(append([]any{&c.Conversation, &last}, form.SumsInto(&c.Sums)...)...)
			c.Last = time.Unix(last, 0).UTC()
			sums = append(sums, c)
			return err
		}, `SELECT conversation, max(seconds), `+form.SumOf+from+` GROUP BY conversation
			ORDER BY sum(price) + sum(cost) DESC, max(seconds) DESC, conversation LIMIT ?`,
			append(args, most)...)
		if all = len(sums); err != nil || all < most || most < 0 {
			return err
		}
		return tx.QueryRowContext(ctx, `SELECT count(DISTINCT conversation)`+from, args...).Scan(&all)
	})
	return sums, all, err
}

const opSums = "sum up ledger"

// entriesOf returns the condition for the selected entries, with its arguments.
func entriesOf(tx call, conversation string, since time.Time) (where string, args []any) {
	where, args = `WHERE owner = ? AND (+seconds, nanos) >= (?, ?)`, []any{tx.owner, since.Unix(),
		since.Nanosecond()}
	if conversation != "" {
		where, args = where+` AND conversation = ?`, append(args, conversation)
	}
	return where, args[:len(args):len(args)]
}
