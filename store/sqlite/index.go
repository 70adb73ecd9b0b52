package sqlite

import (
	"context"
	"strconv"
	"strings"
	"time"

	"precis"
	"precis/store/internal/words"
)

// indexer brings the full-text index up to date while nothing is appended.
type indexer struct {
	s        *Store
	appended chan struct{}
	ctx      context.Context
	stop     context.CancelFunc
	done     chan struct{}
}

// quiet is how long nothing must have been appended.
const quiet = 2 * time.Second

func startIndexer(s *Store) *indexer {
	ctx, stop := context.WithCancel(context.Background())
	x := &indexer{s: s.shared(), appended: make(chan struct{}, 1), ctx: ctx, stop: stop, done: make(chan struct{})}
	go x.run()
	return x
}

// wake tells that something was appended.
func (x *indexer) wake() {
	if x == nil { // while the store is being opened
		return
	}
	select {
	case x.appended <- struct{}{}:
	default:
	}
}

func (x *indexer) close() {
	if x != nil {
		x.stop()
		<-x.done
	}
}

func (x *indexer) run() {
	defer close(x.done)
	timer := time.NewTimer(quiet) // another process may have ended too early
	for {
		select {
		case <-x.ctx.Done():
			return
		case <-x.appended:
			timer.Reset(quiet)
		case <-timer.C:
			// What fails is done by the next search, which says so.
			for more := true; more && len(x.appended) == 0; {
				var err error
				if more, err = x.s.indexSome(x.ctx); err != nil {
					break
				}
			}
		}
	}
}

const (
	someBodies = 64      // that are indexed in one transaction, so that appends need not wait long
	someBytes  = 1 << 20 // of them, more or less
)

// indexSome adds some bodies to the index and reports whether there may be more.
func (s *Store) indexSome(ctx context.Context) (more bool, err error) {
	const op = "index messages"
	err = s.view(ctx, op, func(tx call) error {
		return tx.QueryRowContext(ctx, `SELECT version <> ? OR coalesce((SELECT max(id) FROM bodies), 0) > upto FROM searched`, words.Version).Scan(&more)
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

// indexed returns the last body in the index. One that was made by another
// version of package words is emptied: no word could be taken out of it again.
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

// bodiesAfter returns the next bodies to be indexed.
func bodiesAfter(ctx context.Context, tx call, upto int64) ([]entry, error) {
	rows, err := tx.QueryContext(ctx, `SELECT id, owner, data FROM bodies WHERE id > ? ORDER BY id LIMIT ?`, upto, someBodies)
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

// indexedWords returns the words of a stored message, behind that of its owner.
// The same ones take it out of the index again. A message that cannot be read
// has none.
func indexedWords(owner int64, data []byte) string {
	return ownerWord(owner) + " " + strings.Join(words.Distinct(textOf(data)), " ")
}

// ownerWord is a word that no text has: it begins with a character for private
// use, which FTS5 takes for a letter and package words does not.
func ownerWord(owner int64) string { return "\ue000" + strconv.FormatInt(owner, 10) }

func textOf(data []byte) string {
	var m precis.Message
	if decode(data, &m) != nil {
		return ""
	}
	return words.Text(m)
}
