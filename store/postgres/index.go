package postgres

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

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
	x := &indexer{s: s, appended: make(chan struct{}, 1), ctx: ctx, stop: stop, done: make(chan struct{})}
	go x.run()
	return x
}

// wake tells that something was appended.
func (x *indexer) wake() {
	select {
	case x.appended <- struct{}{}:
	default:
	}
}

func (x *indexer) close() {
	if x != nil { // while the store is being opened
		x.stop()
		<-x.done
	}
}

func (x *indexer) run() {
	defer close(x.done)
	timer := time.NewTimer(quiet) // another replica may have ended too early
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

// someBodies are indexed in one transaction.
const someBodies = 64

// indexSome adds some bodies to the index and reports whether there may be more.
// What another replica is just adding is left to it.
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

// wordsOfBodies returns the words of those that are still there, each behind
// that of its owner. A message that cannot be read has none.
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
		lists = append(lists, strings.Join(append([]string{ownerWord(owner)}, words.Distinct(textOf(data))...), " "))
	}
	return ids, lists, rows.Err()
}

// ownerWord is a word that no text has: it begins with a character for private
// use.
func ownerWord(owner int64) string { return "\ue000" + strconv.FormatInt(owner, 10) }

func textOf(data []byte) string {
	var m precis.Message
	if decode(data, &m) != nil {
		return ""
	}
	return words.Text(m)
}
