// Package shelf answers: which conversations do the owners of a home have, in memory and in a
// store? [List], [Count] and [Search] answer for homes with both; [InStore] is a home with a store
// alone.
package shelf

import (
	"cmp"
	"context"
	"encoding/base64"
	"slices"
	"strings"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/internal/content"
	"github.com/precis-dev/precis/internal/words"
	"github.com/precis-dev/precis/store"
)

// Shelf holds the conversations of one owner in a [conversation.Home]. Homes list and search with it.
type Shelf struct {
	Owner string
	// OpenConversation are the conversations in memory. They take precedence over catalog entries with
	// the same ID.
	Open []OpenConversation
	// Catalog lists the stored conversations; nil: none.
	Catalog store.Lister
}

// OpenConversation is a conversation in memory.
type OpenConversation struct {
	Record     store.Record
	Transcript *precis.Transcript
}

// List returns a page of the conversations of several owners.
func List(ctx context.Context, shelves []Shelf,
	q conversation.ListQuery) (conversation.Page[conversation.ListItem], error) {
	limit, err := conversation.PageSize(q.Limit)
	if err != nil {
		return conversation.Page[conversation.ListItem]{}, err
	}
	after, err := readCursor(q.Cursor)
	if err != nil {
		return conversation.Page[conversation.ListItem]{}, err
	}
	items := []conversation.ListItem{}
	for _, sh := range shelves {
		some, err := sh.list(ctx, q, after, limit+1)
		if err != nil {
			return conversation.Page[conversation.ListItem]{}, err
		}
		items = append(items, some...)
	}
	slices.SortFunc(items, order)
	out := conversation.Page[conversation.ListItem]{Items: items}
	if len(items) > limit {
		out.Items = items[:limit]
		out.Next = cursorAt(items[limit-1])
	}
	return out, nil
}

// Count returns the number of conversations of several owners; known is false if a catalog
// cannot count.
func Count(ctx context.Context, shelves []Shelf) (n int, known bool, err error) {
	for _, sh := range shelves {
		open := make([]string, len(sh.Open))
		for i, c := range sh.Open {
			open[i] = c.Record.ID
		}
		n += len(open)
		if sh.Catalog == nil {
			continue
		}
		catalog, ok := sh.Catalog.(store.Census)
		if !ok {
			return 0, false, nil
		}
		stored, err := catalog.CountConversations(ctx, open)
		if err != nil {
			return 0, false, err
		}
		n += stored
	}
	return n, true, nil
}

// list returns at least limit conversations after a position, or all of them if there are fewer.
func (sh Shelf) list(ctx context.Context, q conversation.ListQuery, after *conversation.ListItem,
	limit int) ([]conversation.ListItem, error) {
	var out []conversation.ListItem
	add := func(l conversation.ListItem) {
		if after == nil || order(l, *after) > 0 {
			out = append(out, l)
		}
	}
	open := map[string]bool{}
	for _, c := range sh.Open {
		open[c.Record.ID] = true
		if selects(q, c.Record) {
			add(conversation.NewListItem(sh.Owner, c.Record, true))
		}
	}
	if sh.Catalog == nil {
		return out, nil
	}
	query := store.Query{Text: q.Text, Since: q.Since, Before: q.Before}
	if after != nil { // conversations of the same time are requested again
		if end := after.Updated.Add(time.Microsecond); query.Before.IsZero() || end.Before(query.Before) {
			query.Before = end
		}
	}
	own := len(out)
	for query.Limit = limit + len(open); ; query.Limit *= 2 {
		records, err := sh.Catalog.Conversations(ctx, query)
		if err != nil {
			return nil, err
		}
		out = out[:own]
		for _, r := range records {
			if !open[r.ID] {
				add(conversation.NewListItem(sh.Owner, r, false))
			}
		}
		if len(records) < query.Limit || len(out)-own >= limit {
			return out, nil
		}
	}
}

// selects reports whether a query selects a record in memory, by the rules of catalogs.
func selects(q conversation.ListQuery, r store.Record) bool {
	if !q.Before.IsZero() && !r.Updated.Before(q.Before) || !q.Since.IsZero() && r.Updated.Before(q.Since) {
		return false
	}
	text := strings.ToLower(q.Text)
	return text == "" || slices.ContainsFunc([]string{r.Title, r.Model, r.Client, r.ID},
		func(field string) bool {
			return strings.Contains(strings.ToLower(field), text)
		})
}

// Search finds messages of several owners, with the index of a catalog that has one, else in
// the conversations in memory.
func Search(ctx context.Context, shelves []Shelf, q store.SearchQuery) (conversation.SearchResults, error) {
	out := conversation.SearchResults{Items: []conversation.SearchHit{}, Index: "memory"}
	limit := cmp.Or(q.Limit, 20)
	q.Limit = max(limit, mostCounted) + 1
	for _, sh := range shelves {
		hits, indexed, err := sh.search(ctx, q)
		if err != nil {
			return conversation.SearchResults{}, err
		}
		if indexed {
			out.Index = "store"
		}
		out.Items = append(out.Items, sh.found(ctx, hits)...)
	}
	slices.SortStableFunc(out.Items,
		func(a, b conversation.SearchHit) int { return cmp.Compare(b.Score, a.Score) })
	out.Cap(limit, q.Limit-1)
	return out, nil
}

// mostCounted is the number of hits up to which a search counts exactly.
const mostCounted = 500

func (sh Shelf) search(ctx context.Context, q store.SearchQuery) (hits []store.Hit, indexed bool, err error) {
	if searcher, ok := sh.Catalog.(store.Searcher); ok {
		hits, err = searcher.Search(ctx, q)
		return hits, true, err
	}
	for _, c := range sh.Open {
		if q.Conversation != "" && q.Conversation != c.Record.ID {
			continue
		}
		some, err := scan(ctx, c, q)
		if err != nil {
			return nil, false, err
		}
		hits = append(hits, some...)
	}
	slices.SortFunc(hits, func(a, b store.Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Conversation, b.Conversation),
			cmp.Compare(b.Message, a.Message))
	})
	return hits[:min(len(hits), cmp.Or(q.Limit, 20))], false, nil
}

// found adds owner, title and handle to hits.
func (sh Shelf) found(ctx context.Context, hits []store.Hit) []conversation.SearchHit {
	titles := map[string]string{}
	for _, c := range sh.Open {
		titles[c.Record.ID] = c.Record.Title
	}
	var out []conversation.SearchHit
	for _, h := range hits {
		title, known := titles[h.Conversation]
		if !known && sh.Catalog != nil {
			if rec, err := sh.Catalog.Conversation(ctx, h.Conversation); err == nil {
				title = rec.Title
			}
			titles[h.Conversation] = title
		}
		out = append(out, conversation.SearchHit{Hit: h, Owner: sh.Owner, Title: title,
			Handle: precis.MessageHandle(h.Message)})
	}
	return out
}

// scan returns the messages of a conversation that match a query.
func scan(ctx context.Context, c OpenConversation, q store.SearchQuery) ([]store.Hit, error) {
	asked, other := strings.Fields(strings.ToLower(q.Text)), words.NewQuery(q.Text, false)
	exact := q.Exact || slices.ContainsFunc(asked,
		func(w string) bool { return !slices.Equal(words.Distinct(w), []string{words.Fold(w)}) })
	var out []store.Hit
	for i, m := range c.Transcript.Messages() {
		if err := ctx.Err(); err != nil {
			return nil, precis.Errorf(precis.CodeCanceled, "search", "%w", context.Cause(ctx))
		}
		hit, ok := matches(m, asked)
		if !ok && !exact {
			hit, ok = answers(m, other)
		}
		if ok {
			hit.Conversation, hit.Message = c.Record.ID, i
			out = append(out, hit)
		}
	}
	return out, nil
}

// matches reports whether a message contains all words. The score is the share of the words near
// the longest one.
func matches(m precis.Message, asked []string) (store.Hit, bool) {
	text := content.Words(m.Content)
	folded := strings.ToLower(text)
	longest := ""
	for _, w := range asked {
		if !strings.Contains(folded, w) {
			return store.Hit{}, false
		}
		if len(w) > len(longest) {
			longest = w
		}
	}
	if len(folded) != len(text) {
		text = folded // lower case changed the length of a character
	}
	snippet := content.Around(text, strings.Index(folded, longest))
	near := strings.ToLower(snippet)
	score := 0.0
	for _, w := range asked {
		if strings.Contains(near, w) {
			score++
		}
	}
	return store.Hit{Snippet: snippet, Score: score / float64(len(asked))}, true
}

// answers reports whether a message matches all words of a query by other forms.
func answers(m precis.Message, q words.Query) (store.Hit, bool) {
	text := words.Text(m)
	score, _ := q.Score(text)
	if score == 0 {
		return store.Hit{}, false
	}
	h := q.Show(text)
	h.Score = score
	return h, true
}

// order compares for lists: the last updated first.
func order(a, b conversation.ListItem) int {
	return cmp.Or(b.Updated.Compare(a.Updated), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Owner, b.Owner))
}

// cursorAt encodes the position of a conversation in the order of lists.
func cursorAt(l conversation.ListItem) string {
	return base64.RawURLEncoding.EncodeToString([]byte(l.Updated.UTC().Format(time.RFC3339Nano) + "\x00" +
		l.ID + "\x00" + l.Owner))
}

// readCursor decodes the result of cursorAt; nil for "".
func readCursor(s string) (*conversation.ListItem, error) {
	if s == "" {
		return nil, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(s)
	parts := strings.Split(string(raw), "\x00")
	if err == nil && len(parts) == 3 {
		var at time.Time
		if at, err = time.Parse(time.RFC3339Nano, parts[0]); err == nil {
			return &conversation.ListItem{Record: store.Record{Updated: at, ID: parts[1]}, Owner: parts[2]},
				nil
		}
	}
	return nil, conversation.BadCursor()
}
