package storetest

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/store"
)

// fullRecord has every field set.
func fullRecord(id string) store.Record {
	return store.Record{
		ID: id, Title: "A <title> & 日本 \u2028", Dialect: "anthropic", Model: "claude", Client: "a client/1.0",
		Head: precis.Fingerprint{1, 2}, Messages: 3, Tokens: 4, Overhead: precis.Overhead{System: 7, Tools: 8}, Window: 5, MaxOutput: 9, Requests: 6,
		Created: time.Date(2026, 1, 2, 3, 4, 5, 678901234, time.UTC), Updated: time.Date(2026, 2, 3, 4, 5, 6, 789012345, time.UTC),
		Branched: "another", Arm: "early/sixty é", Profile: "small é", Continues: "a third", Summary: 2, Earlier: []precis.Fingerprint{{3}, {4}}, Hints: map[string]string{"x-id": "<1>", "": "\x00"},
	}
}

func (s *suite) put(rs ...store.Record) {
	s.Helper()
	for _, r := range rs {
		if err := need[store.Lister](s).PutConversation(s.ctx, r); err != nil {
			s.Fatalf("PutConversation %q: %v", r.ID, err)
		}
	}
}

func recordFields(s *suite) {
	c := need[store.Lister](s)
	for i := range reflect.TypeFor[store.Record]().NumField() {
		if reflect.ValueOf(fullRecord("x")).Field(i).IsZero() {
			s.Fatalf("field %d is not tested", i)
		}
	}
	ids := []string{"id", "ID", " id", "\x00", "raw \xff\xfe", "é", strings.Repeat("long", 100), "' OR 1=1 --"}
	for _, id := range ids {
		for _, r := range []store.Record{{ID: id}, fullRecord(id)} {
			s.put(r)
			if r.Hints != nil {
				r.Hints["given"] = "to the store" // the store must not see this change
				delete(r.Hints, "given")
			}
			got, err := c.Conversation(s.ctx, id)
			if err != nil || !reflect.DeepEqual(got, r) {
				s.Errorf("%v\n got %#v\nwant %#v", err, got, r)
			}
			if got.Hints != nil {
				got.Hints["changed"], got.Earlier[0] = "by the caller", precis.Fingerprint{9}
			}
		}
	}
	for _, r := range s.records(store.Query{}) {
		if !reflect.DeepEqual(r, fullRecord(r.ID)) || !slices.Contains(ids, r.ID) {
			s.Errorf("listed %#v", r)
		}
	}
	found, err := c.Headed(s.ctx, []precis.Fingerprint{{1, 2}})
	if err != nil || len(found) != len(ids) || !reflect.DeepEqual(found[0], fullRecord(found[0].ID)) {
		s.Errorf("%d headed, %v", len(found), err)
	}
	_, err = c.Conversation(s.ctx, "never")
	s.wantCode("an unknown record", err, precis.CodeNotFound)
	s.wantCode("a record without an ID", c.PutConversation(s.ctx, store.Record{}), precis.CodeInvalid)
	late := fullRecord("late")
	late.Updated = time.Date(20000, 1, 1, 0, 0, 0, 0, time.UTC) // has no JSON form
	s.wantCode("a record without a stored form", c.PutConversation(s.ctx, late), precis.CodeInvalid)
	bad := fullRecord("bad")
	bad.Title, bad.Hints = "\xff title", map[string]string{"\xff": "\xff"}
	s.put(bad) // only the call must succeed
}

func (s *suite) records(q store.Query) []store.Record {
	s.Helper()
	all, err := need[store.Lister](s).Conversations(s.ctx, q)
	if err != nil {
		s.Fatal(err)
	}
	return all
}

func recordsSelected(s *suite) {
	day := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	record := func(id, title string, updated time.Time) store.Record {
		return store.Record{ID: id, Title: title, Model: "Claude-X", Client: "RooCode", Updated: updated}
	}
	s.put(record("b", "ÄPFEL und Birnen", day), record("a", "100% _sure_\\", day), record("d", "", day.Add(time.Nanosecond)),
		record("c", "ΣΊΣΥΦΟΣ", day.Add(-time.Hour).In(time.FixedZone("", 9*3600))), record("e", "", time.Time{}), record("f", "later", day.Add(time.Hour)))
	for _, c := range []struct {
		q    store.Query
		want string
	}{
		{store.Query{}, "fdabce"}, {store.Query{Limit: 2}, "fd"}, {store.Query{Limit: 99}, "fdabce"},
		{store.Query{Before: day}, "ce"}, {store.Query{Since: day}, "fdab"}, {store.Query{Since: day.Add(1)}, "fd"},
		{store.Query{Before: day.Add(1), Since: day.Add(-time.Hour)}, "abc"}, {store.Query{Before: day, Since: day}, ""},
		{store.Query{Before: day.Add(2 * time.Hour), Limit: 1}, "f"}, {store.Query{Text: "äpfel"}, "b"},
		{store.Query{Text: "UND"}, "b"}, {store.Query{Text: "σίσυφος"}, "c"}, {store.Query{Text: "claude-x"}, "fdabce"},
		{store.Query{Text: "ROOc", Limit: 1}, "f"}, {store.Query{Text: "%"}, "a"}, {store.Query{Text: "_"}, "a"},
		{store.Query{Text: "\\"}, "a"}, {store.Query{Text: "' OR 1=1 --"}, ""}, {store.Query{Text: "\x00"}, ""},
		{store.Query{Text: "\xff"}, ""}, {store.Query{Text: "sure", Since: day.Add(1)}, ""}, {store.Query{Text: "rooclaude"}, ""},
	} {
		got := ""
		for _, r := range s.records(c.q) {
			got += r.ID
		}
		if got != c.want {
			s.Errorf("%+v: %s, want %s", c.q, got, c.want)
		}
	}
}

func recordsReplaced(s *suite) {
	c := need[store.Lister](s)
	first, second := fullRecord("a"), store.Record{ID: "a", Title: "renamed", Head: precis.Fingerprint{7}, Updated: time.Unix(1, 0).UTC()}
	s.put(first, second)
	if all := s.records(store.Query{}); len(all) != 1 || !reflect.DeepEqual(all[0], second) {
		s.Errorf("records %v", all)
	}
	if len(s.records(store.Query{Text: "title"})) != 0 || len(s.records(store.Query{Text: "renamed"})) != 1 {
		s.Error("found by an old title, or not by the new one")
	}
	for head, want := range map[precis.Fingerprint]int{first.Head: 0, second.Head: 1} {
		if found, err := c.Headed(s.ctx, []precis.Fingerprint{head}); err != nil || len(found) != want {
			s.Errorf("%d headed by %s, %v, want %d", len(found), head.Short(), err, want)
		}
	}
}

func headed(s *suite) {
	c := need[store.Lister](s)
	msgs := talk("headed", 5)
	at := nodes(msgs)
	for i, f := range []precis.Fingerprint{at[0], at[2], at[2], {}} {
		s.put(store.Record{ID: fmt.Sprint(i), Head: f})
	}
	many := nodes(talk("others", 5000))
	for _, t := range []struct {
		nodes []precis.Fingerprint
		want  string
	}{
		{nil, ""}, {at, "012"}, {at[1:2], ""}, {at[2:], "12"}, {[]precis.Fingerprint{at[0], at[0]}, "0"},
		{[]precis.Fingerprint{{}}, "3"}, {many, ""}, {append(many, at[2]), "12"},
	} {
		found, err := c.Headed(s.ctx, t.nodes)
		var got []string
		for _, r := range found {
			got = append(got, r.ID)
		}
		slices.Sort(got)
		if err != nil || strings.Join(got, "") != t.want {
			s.Errorf("headed by %d nodes: %s, %v, want %s", len(t.nodes), got, err, t.want)
		}
	}
}

func recordsTogether(s *suite) {
	c := need[store.Lister](s)
	errs := together(func(i int) error {
		for k := range 5 {
			r := fullRecord(fmt.Sprint("conversation ", k))
			r.Requests = i
			if err := c.PutConversation(s.ctx, r); err != nil {
				return err
			}
			got, err := c.Conversation(s.ctx, r.ID)
			if r.Requests = got.Requests; err != nil || !reflect.DeepEqual(got, r) {
				return fmt.Errorf("%#v, %w", got, err)
			}
		}
		return nil
	})
	if err := errors.Join(errs...); err != nil {
		s.Fatal(err)
	}
	if all := s.records(store.Query{}); len(all) != 5 {
		s.Errorf("%d records", len(all))
	}
}

func catalogReopened(s *suite) {
	if s.Reopen == nil {
		s.Skip("does not outlive Close")
	}
	sc := need[store.Scoper](s)
	for _, owner := range []string{"", "b", "a"} {
		in := s.within(owner)
		node := in.add(precis.Fingerprint{}, user("in scope "+owner), user("some words"))
		r := fullRecord("c")
		r.Head, r.Title = node, owner
		in.put(r)
	}
	if got, err := sc.Scope("a").(store.Searcher).Search(s.ctx, store.SearchQuery{Text: "words"}); err != nil || len(got) != 1 {
		s.Errorf("%v, %v", got, err)
	}
	s.Store = s.Reopen(s.T, s.Store)
	for _, owner := range []string{"a", "b", ""} {
		in := s.within(owner)
		r, err := need[store.Lister](in).Conversation(s.ctx, "c")
		if err != nil || r.Title != owner || in.records(store.Query{})[0].Head != r.Head {
			s.Errorf("%q: %v, %v", owner, r, err)
		}
		in.add(r.Head, user("more words"))
		in.wantHits("words", "c:1")
		in.wantHits("in scope "+owner, "c:0")
	}
}

// testCount compares the number of records with their list.
func testCount(s *suite) {
	c, ok := s.Store.(store.Census)
	if !ok {
		s.Skip("counts no records")
	}
	want := func(n int, except ...string) {
		s.Helper()
		if got, err := c.CountConversations(s.ctx, except); err != nil || got != n {
			s.Errorf("%d without %.60q, want %d: %v", got, except, n, err)
		}
	}
	want(0)
	want(0, "a")
	ids := []string{"raw \xff\xfe", "\x00"}
	for i := range 1200 { // more than a statement may have parameters
		ids = append(ids, fmt.Sprint("c", i))
	}
	for _, id := range ids {
		s.put(store.Record{ID: id})
	}
	s.put(store.Record{ID: "c1", Title: "again"})
	if sc, ok := s.Store.(store.Scoper); ok {
		if err := sc.Scope("another").(store.Lister).PutConversation(s.ctx, store.Record{ID: "c1"}); err != nil {
			s.Fatal(err)
		}
	}
	want(len(ids))
	want(len(ids)-2, "raw \xff\xfe", "c7", "not there")
	want(0, ids...)
}
