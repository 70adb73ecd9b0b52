package gateway

import (
	"cmp"
	"context"
	"encoding/base64"
	"slices"
	"strings"
	"time"

	"precis"
)

// Listing selects conversations. The zero value selects the newest 50.
type Listing struct {
	Text   string    // only those whose title, model, client or ID contains it, in any case
	Since  time.Time // only those updated at or after
	Before time.Time // only those updated before
	Limit  int       // at most so many; 0: 50; at most 500
	Cursor string    // where an earlier page ended; "": the newest first
}

// Page is part of a list. Next, when not empty, is the cursor of what follows.
type Page[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next_cursor,omitempty"`
}

// Listed is a conversation in a list.
type Listed struct {
	precis.ConversationRecord
	Owner    string  `json:"owner"`
	InMemory bool    `json:"in_memory"` // a client is, or was lately, at it
	Percent  float64 `json:"percent"`   // of the window that the newest view uses
}

func listed(owner string, r precis.ConversationRecord, inMemory bool) Listed {
	l := Listed{ConversationRecord: r, Owner: owner, InMemory: inMemory}
	if r.Window > 0 {
		l.Percent = 100 * float64(r.Tokens) / float64(r.Window)
	}
	return l
}

// order is the order of lists: the last updated first.
func order(a, b Listed) int {
	return cmp.Or(b.Updated.Compare(a.Updated), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Owner, b.Owner))
}

// Conversations lists conversations, the last updated first.
func (g *Gateway) Conversations(ctx context.Context, owner string, q Listing) (Page[Listed], error) {
	limit, err := pageSize(q.Limit)
	if err != nil {
		return Page[Listed]{}, err
	}
	after, err := readCursor(q.Cursor)
	if err != nil {
		return Page[Listed]{}, err
	}
	owners, err := g.owners(ctx, owner)
	if err != nil {
		return Page[Listed]{}, err
	}
	items := []Listed{}
	for _, o := range owners {
		some, err := g.listOwner(ctx, o, q, after, limit+1)
		if err != nil {
			return Page[Listed]{}, err
		}
		items = append(items, some...)
	}
	slices.SortFunc(items, order)
	out := Page[Listed]{Items: items}
	if len(items) > limit {
		out.Items = items[:limit]
		out.Next = cursorAt(items[limit-1])
	}
	return out, nil
}

const mostListed = 500

func pageSize(limit int) (int, error) {
	if limit < 0 || limit > mostListed {
		return 0, precis.Errorf(precis.CodeInvalid, "read limit", "limit is %d, want 1 to %d", limit, mostListed)
	}
	return cmp.Or(limit, 50), nil
}

// listOwner returns at least so many of the conversations of one owner that come
// after a place, or all of them.
func (g *Gateway) listOwner(ctx context.Context, owner string, q Listing, after *Listed, limit int) ([]Listed, error) {
	memory := g.remembered(owner)
	var out []Listed
	add := func(l Listed) {
		if after == nil || order(l, *after) > 0 {
			out = append(out, l)
		}
	}
	for _, h := range memory {
		if r := h.recordNow(); selects(q, r) {
			add(listed(owner, r, true))
		}
	}
	cat := g.catalog(owner)
	if cat == nil {
		return out, nil
	}
	query := precis.ConversationQuery{Text: q.Text, Since: q.Since, Before: q.Before}
	if after != nil { // those of the same time are asked for again
		if end := after.Updated.Add(time.Microsecond); query.Before.IsZero() || end.Before(query.Before) {
			query.Before = end
		}
	}
	own := len(out)
	for query.Limit = limit + len(memory); ; query.Limit *= 2 {
		records, err := cat.Conversations(ctx, query)
		if err != nil {
			return nil, err
		}
		out = out[:own]
		for _, r := range records {
			if memory[r.ID] == nil {
				add(listed(owner, r, false))
			}
		}
		if len(records) < query.Limit || len(out)-own >= limit {
			return out, nil
		}
	}
}

// remembered returns the conversations of an owner that are in memory, by ID.
func (g *Gateway) remembered(owner string) map[string]*held {
	out := map[string]*held{}
	for _, l := range g.table.Lines() {
		if l.Owner != owner || g.table.Line(owner, l.ID) != l { // an older form of another line
			continue
		}
		if h := heldOf(l); h != nil {
			out[l.ID] = h
		}
	}
	return out
}

// selects reports whether a record in memory is asked for, as catalogs do.
func selects(q Listing, r precis.ConversationRecord) bool {
	if !q.Before.IsZero() && !r.Updated.Before(q.Before) || !q.Since.IsZero() && r.Updated.Before(q.Since) {
		return false
	}
	text := strings.ToLower(q.Text)
	return text == "" || slices.ContainsFunc([]string{r.Title, r.Model, r.Client, r.ID}, func(field string) bool {
		return strings.Contains(strings.ToLower(field), text)
	})
}

// cursorAt writes the place of a conversation in the order of lists.
func cursorAt(l Listed) string {
	return base64.RawURLEncoding.EncodeToString([]byte(l.Updated.UTC().Format(time.RFC3339Nano) + "\x00" + l.ID + "\x00" + l.Owner))
}

func readCursor(s string) (*Listed, error) {
	if s == "" {
		return nil, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(s)
	parts := strings.Split(string(raw), "\x00")
	if err == nil && len(parts) == 3 {
		var at time.Time
		if at, err = time.Parse(time.RFC3339Nano, parts[0]); err == nil {
			return &Listed{ConversationRecord: precis.ConversationRecord{Updated: at, ID: parts[1]}, Owner: parts[2]}, nil
		}
	}
	return nil, &precis.Error{Code: precis.CodeInvalid, Op: "read cursor", Place: "cursor", Hint: "use next_cursor of an earlier answer as it is"}
}
