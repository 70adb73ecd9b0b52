package memory

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/words"
	"github.com/precis-dev/precis/store"
)

// PutConversation stores a record, in place of the one with the same ID. The error is
// [precis.CodeInvalid] for an empty ID and for a record without a JSON form.
func (s *Store) PutConversation(ctx context.Context, r store.Record) error {
	const op = "record conversation"
	if r.ID == "" {
		return precis.Errorf(precis.CodeInvalid, op, "a record needs an ID")
	}
	stored, err := copyRecord(r)
	if err != nil {
		return precis.Errorf(precis.CodeInvalid, op, "%w", err)
	}
	done, err := s.begin(ctx, op)
	defer done()
	if err != nil {
		return err
	}
	s.own().catalog[r.ID] = stored
	return nil
}

// copyRecord returns r after a round trip through its stored form.
func copyRecord(r store.Record) (store.Record, error) {
	var back store.Record
	data, err := json.Marshal(r)
	if err == nil {
		err = json.Unmarshal(data, &back)
	}
	back.ID = r.ID // may be invalid UTF-8
	return back, err
}

// copyForCaller returns a copy for the caller.
func copyForCaller(r store.Record) store.Record {
	r, _ = copyRecord(r) // not expected to fail: it was copied before
	return r
}

// Conversation returns the record with the ID.
func (s *Store) Conversation(ctx context.Context, id string) (store.Record, error) {
	const op = "load record"
	done, err := s.begin(ctx, op)
	defer done()
	if err != nil {
		return store.Record{}, err
	}
	r, ok := s.mine().catalog[id]
	if !ok {
		return r, precis.Errorf(precis.CodeNotFound, op, "conversation %q is unknown", id)
	}
	return copyForCaller(r), nil
}

// Conversations returns the selected records, the last updated first; at equal times, ordered by
// ID.
func (s *Store) Conversations(ctx context.Context, q store.Query) ([]store.Record, error) {
	done, err := s.begin(ctx, "list conversations")
	defer done()
	if err != nil {
		return nil, err
	}
	var out []store.Record
	for _, r := range s.mine().records() {
		if q.Limit > 0 && len(out) == q.Limit {
			break
		}
		if selects(q, r) {
			out = append(out, copyForCaller(r))
		}
	}
	return out, nil
}

// CountConversations returns the number of records, see [store.Census].
func (s *Store) CountConversations(ctx context.Context, except []string) (int, error) {
	done, err := s.begin(ctx, "count conversations")
	defer done()
	if err != nil {
		return 0, err
	}
	catalog := s.mine().catalog
	n := len(catalog)
	for _, id := range except {
		if _, ok := catalog[id]; ok {
			n--
		}
	}
	return n, nil
}

// records returns all records, the last updated first.
func (d *data) records() []store.Record {
	var all []store.Record
	for _, r := range d.catalog {
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b store.Record) int {
		return cmp.Or(b.Updated.Compare(a.Updated), cmp.Compare(a.ID, b.ID))
	})
	return all
}

func selects(q store.Query, r store.Record) bool {
	if !q.Before.IsZero() && !r.Updated.Before(q.Before) || !q.Since.IsZero() && r.Updated.Before(q.Since) {
		return false
	}
	text := words.Fold(q.Text)
	return text == "" || slices.ContainsFunc([]string{r.Title, r.Model, r.Client, r.ID},
		func(field string) bool {
			return strings.Contains(words.Fold(field), text)
		})
}

// Headed returns the records with a Head among nodes.
func (s *Store) Headed(ctx context.Context, nodes []precis.Fingerprint) ([]store.Record, error) {
	done, err := s.begin(ctx, "find conversations")
	defer done()
	if err != nil {
		return nil, err
	}
	asked := make(map[precis.Fingerprint]bool, len(nodes))
	for _, f := range nodes {
		asked[f] = true
	}
	var out []store.Record
	for _, r := range s.mine().records() {
		if asked[r.Head] {
			out = append(out, copyForCaller(r))
		}
	}
	return out, nil
}
