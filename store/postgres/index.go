package postgres

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/precis-dev/precis/internal/words"
	"github.com/precis-dev/precis/store/internal/form"
)

// someBodies is how many bodies are indexed in one transaction.
const someBodies = 64

// indexSome adds some bodies to the index and reports whether there may be more. It skips bodies
// that another replica is adding.
func (s *Store) indexSome(ctx context.Context) (more bool, err error) {
	err = s.update(ctx, "index messages", func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `DELETE FROM unsearched
			WHERE ctid = ANY (ARRAY (SELECT ctid FROM unsearched LIMIT $1 FOR UPDATE SKIP LOCKED)) RETURNING body`, someBodies)
		if err != nil {
			return err
		}
		bodies, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		if more = len(bodies) > 0; err != nil || !more {
			return err
		}
		ids, lists, err := wordsOfBodies(ctx, tx, bodies)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `INSERT INTO search (body, words) SELECT body, array_to_tsvector(string_to_array(words, ' '))
			FROM unnest($1::bigint[], $2::text[]) AS a (body, words) ON CONFLICT DO NOTHING`, ids, lists)
		return err
	})
	return more, err
}

// wordsOfBodies returns the words of the bodies that still exist, each list starting with the word
// of its owner. An unreadable message has no further words.
func wordsOfBodies(ctx context.Context, tx pgx.Tx, bodies []int64) (ids []int64, lists []string, err error) {
	rows, err := tx.Query(ctx, `SELECT id, owner, data FROM bodies WHERE id = ANY ($1)`, bodies)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id, owner int64
		var data []byte
		if err := rows.Scan(&id, &owner, &data); err != nil {
			return nil, nil, err
		}
		ids = append(ids, id)
		lists = append(lists, strings.Join(append([]string{words.Owner(owner)},
			words.Distinct(form.Text(data))...), " "))
	}
	return ids, lists, rows.Err()
}
