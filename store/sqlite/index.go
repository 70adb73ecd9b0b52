package sqlite

import (
	"context"
	"strings"

	"github.com/precis-dev/precis/internal/words"
	"github.com/precis-dev/precis/store/internal/form"
)

const (
	someBodies = 64      // bodies per transaction, so that appends need not wait long
	someBytes  = 1 << 20 // their size, roughly
)

// indexSome adds some bodies to the index and reports whether there may be more.
func (s finder) indexSome(ctx context.Context) (more bool, err error) {
	const op = "index messages"
	err = s.view(ctx, op, func(tx call) error {
		return tx.QueryRowContext(ctx,
			`SELECT version <> ? OR coalesce((SELECT max(id) FROM bodies), 0) > upto FROM searched`,
			words.Version).Scan(&more)
	})
	if err != nil || !more {
		return false, err
	}
	return more, s.shared().update(ctx, op, func(tx call) error {
		upto, err := indexed(ctx, tx)
		if err != nil {
			return err
		}
		some, err := bodiesAfter(ctx, tx, upto)
		if err != nil || len(some) == 0 {
			return err
		}
		add, err := tx.PrepareContext(ctx, `INSERT INTO search (rowid, words) VALUES (?, ?)`)
		if err != nil {
			return err
		}
		defer add.Close()
		for _, b := range some {
			if _, err := add.ExecContext(ctx, b.id, b.words); err != nil {
				return err
			}
		}
		_, err = tx.ExecContext(ctx, `UPDATE searched SET upto = ?`, some[len(some)-1].id)
		return err
	})
}

// indexed returns the last indexed body. It empties an index made by another version of package
// words, because its entries could no longer be removed.
func indexed(ctx context.Context, tx call) (upto int64, err error) {
	var version string
	err = tx.QueryRowContext(ctx, `SELECT upto, version FROM searched`).Scan(&upto, &version)
	if err != nil || version == words.Version {
		return upto, err
	}
	if _, err = tx.ExecContext(ctx, `INSERT INTO search (search) VALUES ('delete-all')`); err != nil {
		return 0, err
	}
	_, err = tx.ExecContext(ctx, `UPDATE searched SET upto = 0, version = ?`, words.Version)
	return 0, err
}

// entry is a body in the index.
type entry struct {
	id    int64
	words string
}

// bodiesAfter returns the next bodies to index.
func bodiesAfter(ctx context.Context, tx call, upto int64) ([]entry, error) {
	rows, err := tx.QueryContext(ctx, `SELECT id, owner, data FROM bodies WHERE id > ? ORDER BY id LIMIT ?`,
		upto, someBodies)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []entry
	for size := 0; size < someBytes && rows.Next(); {
		var id, owner int64
		var data []byte
		if err := rows.Scan(&id, &owner, &data); err != nil {
			return nil, err
		}
		out = append(out, entry{id: id, words: indexedWords(owner, data)})
		size += len(data)
	}
	return out, rows.Err()
}

// indexedWords returns the words of a stored message after the word of its owner. Removing the
// entry requires the same words. An unreadable message has no further words.
func indexedWords(owner int64, data []byte) string {
	return words.Owner(owner) + " " + strings.Join(words.Distinct(form.Text(data)), " ")
}
