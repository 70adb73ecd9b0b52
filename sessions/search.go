package sessions

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"hash/fnv"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation/find"
	"github.com/precis-dev/precis/internal/words"
	"github.com/precis-dev/precis/store"
)

// Hit is a match: a message, or a text as in [find.Passages].
type Hit struct {
	store.Hit
	Place   find.Place `json:"-"` // without its line
	Session *Session   `json:"-"`
}

const (
	mostCandidates = 200      // stretches read for one answer
	stretchBytes   = 32 << 10 // passages indexed together as one stretch
	textBatch      = 32 << 20 // bytes of messages indexed in one transaction
)

// Search finds messages, summaries, notes, system prompts and side conversations by their words,
// hidden or not, the best first. It first indexes sessions that are new or have changed since the
// last search, and reports this to [Options.Progress]; the first search reads all sessions. With a
// conversation, see [Library.Find], it reads only that one.
func (l *Library) Search(ctx context.Context, q store.SearchQuery) ([]Hit, error) {
	return l.SearchIn(ctx, Filter{}, q)
}

// SearchIn is Search among the sessions that a filter selects.
func (l *Library) SearchIn(ctx context.Context, f Filter, q store.SearchQuery) ([]Hit, error) {
	query := words.NewQuery(q.Text, q.Exact)
	if query.Empty() {
		return nil, nil
	}
	limit := cmp.Or(q.Limit, 20)
	if q.Conversation != "" {
		s, err := l.Find(ctx, q.Conversation)
		if err != nil {
			return nil, err
		}
		hits, err := l.searchOne(s, query, nil)
		return bestHits(hits, limit), err
	}
	if err := l.indexTexts(ctx); err != nil {
		return nil, err
	}
	look := looking{Library: l, filter: f, query: query, limit: limit, seen: map[string]bool{}}
	for _, step := range query.Steps() {
		if err := look.look(ctx, step); err != nil {
			return nil, err
		}
	}
	return bestHits(look.hits, limit), nil
}

// looking is the state of a search among sessions.
type looking struct {
	*Library
	filter Filter
	query  words.Query
	limit  int
	seen   map[string]bool // read stretches, by path and first message
	hits   []rankedHit
}

// look reads the stretches that the index finds for a step of the query and that were not read
// before, until there are enough hits of the step's rank.
func (l *looking) look(ctx context.Context, step words.Step) error {
	if l.enough(step.Rank) || len(l.seen) >= mostCandidates {
		return nil
	}
	places, err := l.candidates(ctx, l.filter, step)
	if err != nil {
		return err
	}
	for _, p := range places {
		if ctx.Err() != nil {
			return precis.Errorf(precis.CodeCanceled, "search", "%w", context.Cause(ctx))
		}
		if p.in = l.takeUnread(p); len(p.in) == 0 {
			continue
		}
		found, err := l.withCondition(ctx, "path = ?", 1, p.path)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			continue
		}
		some, err := l.searchOne(found[0], l.query, p.in)
		if err != nil {
			continue // the session was changed or removed since
		}
		if l.hits = append(l.hits, some...); l.enough(step.Rank) {
			break
		}
	}
	return nil
}

// takeUnread returns the unread stretches of a place and marks them as read.
func (l *looking) takeUnread(p place) (out []stretch) {
	for _, s := range p.in {
		key := p.path + "\x00" + strconv.Itoa(s.first)
		if !l.seen[key] && len(l.seen) < mostCandidates {
			l.seen[key] = true
			out = append(out, s)
		}
	}
	return out
}

// enough reports whether there are as many hits of this or a better rank as requested.
func (l *looking) enough(rank words.Rank) bool {
	n := 0
	for _, h := range l.hits {
		if h.rank <= rank {
			n++
		}
	}
	return n >= l.limit
}

// rankedHit is a hit with the rank of its match.
type rankedHit struct {
	Hit
	rank words.Rank
}

// bestHits returns the hits with the highest scores.
func bestHits(hits []rankedHit, limit int) []Hit {
	slices.SortStableFunc(hits, func(a, b rankedHit) int { return cmp.Compare(b.Score, a.Score) })
	var out []Hit
	for _, h := range hits[:min(len(hits), limit)] {
		out = append(out, h.Hit)
	}
	return out
}

// searchOne searches the given stretches of a session; nil: all.
func (l *Library) searchOne(s *Session, query words.Query, in []stretch) ([]rankedHit, error) {
	rec, err := open(s.Path)
	if err != nil {
		return nil, err
	}
	var out []rankedHit
	i := -1
	for p := range find.Passages(rec.Conversation) {
		i++
		if in != nil && !slices.ContainsFunc(in,
			func(s stretch) bool { return s.first <= i && i < s.after }) {
			continue
		}
		var best rankedHit
		for text := range pieces(p.Text()) {
			if score, rank := query.Score(text); score > best.Score {
				best = rankedHit{Hit: Hit{Hit: query.Show(text), Place: p.Place, Session: s}, rank: rank}
				best.Conversation, best.Message, best.Score = s.ID, p.Handle.From, score
			}
		}
		if best.Score > 0 {
			out = append(out, best)
		}
	}
	return out, nil
}

// Scores apply to texts of at most 64 KB, see [words.Query]. Longer ones are split into pieces that
// overlap by sharedBytes, so that each line of ordinary length is whole in some piece.
const (
	pieceBytes  = 64 << 10
	sharedBytes = 2 << 10
)

// pieces yields a text in pieces.
func pieces(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for len(text) > pieceBytes {
			if !yield(strings.ToValidUTF8(text[:pieceBytes], "")) {
				return
			}
			text = text[pieceBytes-sharedBytes:]
		}
		yield(strings.ToValidUTF8(text, ""))
	}
}

// stretch is the passages [first, after) of a session, see [find.Passages].
type stretch struct{ first, after int }

// place lists the stretches of a session where words occur near one another.
type place struct {
	path string
	in   []stretch
}

// candidates returns the places where words of all clauses occur near one another. Sessions indexed
// last come first.
func (l *Library) candidates(ctx context.Context, f Filter, step words.Step) ([]place, error) {
	where, args := l.where(f)
	var all []any
	all = append(append(append(all, match(step.Clauses)), args...), mostCandidates)
	rows, err := l.index.db.QueryContext(ctx,
		`SELECT path, first, after FROM text CROSS JOIN texts ON texts.rowid = text.rowid
		CROSS JOIN files ON files.rowid = texts.file CROSS JOIN sessions ON sessions.file = files.rowid WHERE text MATCH ? AND `+where+` ORDER BY text.rowid DESC LIMIT ?`, all...)
	if err != nil {
		return nil, indexError(err)
	}
	defer rows.Close()
	var out []place
	at := map[string]int{}
	for rows.Next() {
		var path string
		var part stretch
		if err := rows.Scan(&path, &part.first, &part.after); err != nil {
			return nil, indexError(err)
		}
		i, ok := at[path]
		if !ok {
			i = len(out)
			at[path] = i
			out = append(out, place{path: path})
		}
		out[i].in = append(out[i].in, part)
	}
	return out, indexError(rows.Err())
}

// term is a word in the index: a short hash that FTS5 reads as one word. The text cannot be read
// from it. Matches are verified against the message itself.
func term(word string) string {
	h := fnv.New64a()
	_, _ = io.WriteString(h, word)
	return strconv.FormatUint(h.Sum64()>>24, 36)
}

// match writes an FTS5 query for a word of each clause.
func match(clauses [][]string) string {
	var all []string
	for _, c := range clauses {
		var terms []string
		for _, w := range c {
			terms = append(terms, term(w))
		}
		all = append(all, "("+strings.Join(terms, " OR ")+")")
	}
	return strings.Join(all, " AND ")
}

// indexTexts indexes the words of new sessions. It begins with those used longest ago, so that the
// newest get the highest row numbers.
func (l *Library) indexTexts(ctx context.Context) error {
	l.texting.Lock()
	defer l.texting.Unlock()
	where, args := l.where(Filter{})
	todo, err := l.query(ctx, `SELECT facts, path, file`+fromTables+where+` AND state <> 'unreadable'
		AND texted = 0 ORDER BY used`, args...)
	if err != nil {
		return err
	}
	if len(todo) == 0 {
		return nil
	}
	w := textWriter{index: l.index}
	i := 0
	for p := range l.texts(ctx, todo) {
		if err == nil {
			err = w.add(p)
		}
		if i++; l.o.Progress != nil {
			l.o.Progress(i, len(todo))
		}
	}
	if err == nil {
		err = w.flush()
	}
	if err == nil && ctx.Err() != nil {
		return precis.Errorf(precis.CodeCanceled, "search", "%w", context.Cause(ctx))
	}
	return err
}

// texts reads sessions concurrently and returns their words in order. The caller must read the
// channel to its end, which comes early if ctx ends.
func (l *Library) texts(ctx context.Context, todo []*Session) <-chan pendingText {
	slots := make(chan chan pendingText, l.o.Workers)
	go func() {
		defer close(slots)
		for _, s := range todo {
			if ctx.Err() != nil {
				return
			}
			one := make(chan pendingText, 1)
			slots <- one
			go func() {
				p := pendingText{file: s.row}
				if rec, err := open(s.Path); err == nil {
					// on an error the file has changed; the next refresh reads it again
					p.read(rec.Conversation)
				}
				one <- p
			}()
		}
	}()
	out := make(chan pendingText)
	go func() {
		defer close(out)
		for one := range slots {
			out <- <-one
		}
	}()
	return out
}

// textWriter adds words of messages to the index, many sessions per transaction.
type textWriter struct {
	index   *index
	pending []pendingText
	size    int
}

type pendingText struct {
	file  int64 // row of the file
	parts []pendingPart
	size  int // bytes of messages
}

// pendingPart is a stretch of messages and its words.
type pendingPart struct {
	stretch
	terms string
}

// read collects the words of a conversation.
func (p *pendingText) read(c *precis.Conversation) {
	var text strings.Builder
	part := stretch{}
	end := func() {
		if text.Len() > 0 {
			p.parts = append(p.parts, pendingPart{stretch: part, terms: terms(text.String())})
			p.size += text.Len()
			text.Reset()
		}
		part.first = part.after
	}
	for passage := range find.Passages(c) {
		text.WriteString(passage.Text())
		text.WriteByte('\n')
		if part.after++; text.Len() >= stretchBytes {
			end()
		}
	}
	end()
}

// add adds the words of a session. A session that could not be read is left out.
func (w *textWriter) add(p pendingText) error {
	if len(p.parts) == 0 {
		return nil
	}
	w.size += p.size
	if w.pending = append(w.pending, p); w.size < textBatch {
		return nil
	}
	return w.flush()
}

// terms returns the distinct words of a text as index terms.
func terms(text string) string {
	var b strings.Builder
	for _, word := range words.Distinct(text) {
		b.WriteString(term(word))
		b.WriteByte(' ')
	}
	return b.String()
}

func (w *textWriter) flush() error {
	some := w.pending
	w.pending, w.size = nil, 0
	if len(some) == 0 {
		return nil
	}
	ctx := context.Background() // store the work even if the search was canceled
	return w.index.change(ctx, func(tx *sql.Tx) error {
		for _, p := range some {
			if err := p.write(ctx, tx); err != nil {
				return err
			}
		}
		return nil
	})
}

func (p pendingText) write(ctx context.Context, tx *sql.Tx) error {
	var todo int
	err := tx.QueryRowContext(ctx, `SELECT 1 FROM sessions WHERE file = ? AND texted = 0`, p.file).Scan(&todo)
	if errors.Is(err, sql.ErrNoRows) {
		return nil // the file was read again meanwhile, or another process was faster
	}
	if err != nil {
		return err
	}
	note, err := tx.PrepareContext(ctx, `INSERT INTO texts (file, first, after) VALUES (?, ?, ?)`)
	if err != nil {
		return err
	}
	defer note.Close()
	add, err := tx.PrepareContext(ctx, `INSERT INTO text (rowid, words) VALUES (?, ?)`)
	if err != nil {
		return err
	}
	defer add.Close()
	for _, part := range p.parts {
		row, err := note.ExecContext(ctx, p.file, part.first, part.after)
		if err != nil {
			return err
		}
		id, err := row.LastInsertId()
		if err != nil {
			return err
		}
		if _, err := add.ExecContext(ctx, id, part.terms); err != nil {
			return err
		}
	}
	_, err = tx.ExecContext(ctx, `UPDATE sessions SET texted = 1 WHERE file = ?`, p.file)
	return err
}
