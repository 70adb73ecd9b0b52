package storetest

import (
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/store"
)

// purgeOf purges, if the store supports it.
func (s *suite) purgeOf(q store.PurgeQuery) store.PurgeResult {
	s.Helper()
	p, ok := s.Store.(store.Purger)
	if !ok {
		return store.PurgeResult{}
	}
	r, err := p.Purge(s.ctx, q)
	if err != nil {
		s.Fatalf("Purge: %v", err)
	}
	return r
}

func (s *suite) wantPurged(q store.PurgeQuery, conversations, messages int) {
	s.Helper()
	r := s.purgeOf(q)
	if r.Conversations != conversations || r.Messages != messages || r.Bytes < 0 || messages == 0 && r.Bytes != 0 {
		s.Errorf("purged %+v, want %d conversations and %d messages", r, conversations, messages)
	}
}

// wantGone checks that a message and the given nodes are not found.
func (s *suite) wantGone(m precis.Message, at ...precis.Fingerprint) {
	s.Helper()
	for _, f := range at {
		_, _, err := s.Load(s.ctx, f)
		s.wantCode("Load of a purged node", err, precis.CodeNotFound)
		_, err = s.Append(s.ctx, f, user("x"))
		s.wantCode("Append after a purged node", err, precis.CodeNotFound)
		s.wantCode("AddEdit at a purged node", s.AddEdit(s.ctx, "", pin(f, "x")), precis.CodeNotFound)
		if f, ok := s.Store.(store.Finder); ok {
			if i, err := f.Deepest(s.ctx, at); err != nil || i != -1 {
				s.Errorf("node %d of the purged ones is known, %v", i, err)
			}
		}
	}
	_, err := s.Body(s.ctx, precis.HashMessage(m))
	s.wantCode("Body of a purged message", err, precis.CodeNotFound)
	if _, ok := s.Store.(store.Searcher); ok {
		s.wantHits(m.PlainText())
	}
}

func testPurgeByID(s *suite) {
	need[store.Purger](s)
	a := s.converse("a", user("alpha one"), user("common words"), user("alpha two"))
	b := s.converse("b", user("beta one"), user("common words"))
	s.record(a[1], "", "edit of a")
	s.record(b[1], "", "edit of b")
	booked := s.book("a")
	r := s.purgeOf(store.PurgeQuery{IDs: []string{"a", "never"}})
	if r.Conversations != 1 || r.Messages != 2 || r.Bytes != int64(len(form(user("alpha one")))+len(form(user("alpha two")))) {
		s.Errorf("purged %+v", r)
	}
	s.wantGone(user("alpha one"), a...)
	s.wantGone(user("alpha two"))
	_, err := need[store.Lister](s).Conversation(s.ctx, "a")
	s.wantCode("a purged record", err, precis.CodeNotFound)
	if left := s.records(store.Query{}); len(left) != 1 || left[0].ID != "b" {
		s.Errorf("records left: %v", left)
	}
	s.wantEdits(b[1], "edit of b")
	s.wantBody(user("common words"))
	if _, ok := s.Store.(store.Searcher); ok {
		s.wantHits("common", "b:1")
		s.wantHits("beta", "b:0")
	}
	if l, ok := s.Store.(precis.Ledger); ok && booked {
		if all, err := l.Entries(s.ctx, "a", time.Time{}); err != nil || len(all) != 1 {
			s.Errorf("%d ledger entries, %v: they stay", len(all), err)
		}
	}
	s.wantPurged(store.PurgeQuery{IDs: []string{"a"}}, 0, 0)
	s.wantPurged(store.PurgeQuery{IDs: []string{"b"}}, 1, 2)
	s.wantGone(user("common words"), b...)
}

func (s *suite) book(id string) bool {
	l, ok := s.Store.(precis.Ledger)
	if ok {
		if err := l.Book(s.ctx, precis.LedgerEntry{Conversation: id}); err != nil {
			s.Fatal(err)
		}
	}
	return ok
}

func (s *suite) wantBody(m precis.Message) {
	s.Helper()
	if got, err := s.Body(s.ctx, precis.HashMessage(m)); err != nil || form(got) != form(m) {
		s.Errorf("Body: %s, %v", form(got), err)
	}
}

// purgeBranch checks that messages shared with other branches are kept.
func purgeBranch(s *suite) {
	need[store.Purger](s)
	trunk := talk("trunk", 6)
	at := s.converse("trunk", trunk...)
	branch := func(id string, n int, own ...precis.Message) []precis.Fingerprint {
		return s.converse(id, append(trunk[:n:n], own...)...)
	}
	side := branch("side", 3, user("side one"), user("side two"))
	deep := s.converse("deep", append(append(trunk[:3:3], user("side one")), user("deep one"))...)
	s.record(at[2], "", "fork")
	s.record(at[4], "fork", "late")
	s.record(deep[4], "fork", "deep")
	s.wantPurged(store.PurgeQuery{IDs: []string{"trunk"}}, 1, 3)
	s.wantGone(trunk[3], at[3:]...)
	s.wantEdits(side[4], "fork")
	t, _ := s.load(side[4])
	s.wantMessages(t, append(trunk[:3:3], user("side one"), user("side two"))...)
	s.wantPurged(store.PurgeQuery{IDs: []string{"side"}}, 1, 1)
	s.wantGone(user("side two"), side[4])
	s.wantEdits(deep[4], "fork", "deep")
	s.add(at[2], trunk[3:]...) // without the edits recorded there before
	s.wantEdits(at[5], "fork")
	s.add(deep[3], user("side two"))
	s.wantEdits(side[4], "fork")
	s.wantPurged(store.PurgeQuery{IDs: []string{"deep"}}, 1, 9) // with its descendants that belong to no conversation
	s.wantGone(trunk[0], at...)
}

func purgeByAge(s *suite) {
	need[store.Purger](s)
	day := time.Date(2020, 5, 1, 12, 0, 0, 0, time.UTC)
	old := s.converse("old", user("start"), user("old end"))
	recent := s.converse("recent", user("start"), user("recent end"))
	s.put(store.Record{ID: "old", Head: old[1], Updated: day}, store.Record{ID: "recent", Head: recent[1], Updated: day.Add(time.Hour)})
	orphan := s.add(precis.Fingerprint{}, user("in no conversation"))
	s.keep(1, "kept")
	s.wantPurged(store.PurgeQuery{Before: day}, 0, 0)
	s.wantPurged(store.PurgeQuery{Before: day.Add(time.Minute)}, 1, 1) // stored later, but a part of it
	s.wantGone(user("old end"), old[1])
	s.load(orphan)
	s.load(recent[1])
	s.wantSummary(1, true)
	// A resumed conversation: its newest message is not in its record yet.
	live := s.add(recent[1], user("just said"))
	s.wantPurged(store.PurgeQuery{Before: day.Add(2 * time.Hour)}, 1, 0)
	s.load(live)
	s.put(store.Record{ID: "recent", Head: live, Updated: time.Now().Add(48 * time.Hour)})
	s.wantPurged(store.PurgeQuery{Before: time.Now().Add(24 * time.Hour)}, 0, 1) // the orphan
	s.wantGone(user("in no conversation"), orphan)
	s.load(live)
	s.wantSummary(1, false)
	other := s.converse("other", user("other"))
	s.wantPurged(store.PurgeQuery{IDs: []string{"recent"}, Before: day}, 2, 4)
	s.wantGone(user("just said"), live)
	s.wantGone(user("other"), other...)
}

func (s *suite) keep(key byte, text string) {
	s.Helper()
	if c, ok := s.Store.(store.Summaries); ok {
		if err := c.KeepSummary(s.ctx, precis.Fingerprint{key}, text); err != nil {
			s.Fatal(err)
		}
	}
}

func (s *suite) wantSummary(key byte, there bool) {
	s.Helper()
	if c, ok := s.Store.(store.Summaries); ok {
		_, err := c.Summary(s.ctx, precis.Fingerprint{key})
		if there && err != nil || !there && precis.CodeOf(err) != precis.CodeNotFound {
			s.Errorf("summary %d: %v", key, err)
		}
	}
}

func purgeNothing(s *suite) {
	need[store.Purger](s)
	s.wantPurged(store.PurgeQuery{}, 0, 0)
	s.wantPurged(store.PurgeQuery{All: true, IDs: []string{"a"}, Before: time.Now()}, 0, 0)
	at := s.converse("a", user("a"))
	orphan := s.add(at[0], user("b"))
	s.keep(1, "kept")
	for _, q := range []store.PurgeQuery{{}, {IDs: []string{"b", "", "A"}}, {IDs: []string{}}, {Before: time.Unix(0, 0)}, {Before: time.Unix(-1e9, 0)}} {
		if q.Before.IsZero() {
			s.wantPurged(q, 0, 0)
			continue
		}
		s.put(store.Record{ID: "a", Head: at[0], Updated: time.Now()})
		s.wantPurged(q, 0, 0)
	}
	s.load(orphan)
	s.wantSummary(1, true)
}

func purgeAll(s *suite) {
	need[store.Purger](s)
	msgs := everyKind()
	at := s.converse("a", msgs...)
	s.record(at[0], "", "edit")
	s.put(store.Record{ID: "b", Head: precis.Fingerprint{1}}) // of nothing
	orphan := s.add(precis.Fingerprint{}, user("in no conversation"))
	s.keep(1, "kept")
	if c, ok := s.Store.(precis.CalibrationStore); ok {
		if err := c.SaveCalibration(s.ctx, "m", []byte("state")); err != nil {
			s.Fatal(err)
		}
	}
	s.wantPurged(store.PurgeQuery{All: true}, 2, len(msgs)+1)
	s.wantGone(user("in no conversation"), append(at, orphan)...)
	s.wantSummary(1, false)
	if left := s.records(store.Query{}); len(left) != 0 {
		s.Errorf("records left: %v", left)
	}
	if c, ok := s.Store.(precis.CalibrationStore); ok {
		if all, err := c.LoadCalibrations(s.ctx); err != nil || string(all["m"]) != "state" {
			s.Errorf("calibrations %q, %v: they stay", all, err)
		}
	}
	s.converse("a", msgs...)
	s.wantEdits(at[0])
	t, _ := s.load(at[len(at)-1])
	s.wantMessages(t, msgs...)
}

// purgeEarlier checks that a conversation's earlier forms are kept and purged with it.
func purgeEarlier(s *suite) {
	need[store.Purger](s)
	first := nodes([]precis.Message{user("start"), user("first form")})
	s.add(precis.Fingerprint{}, user("start"), user("first form"))
	now := s.converse("a", user("start"), user("second form"))
	s.put(store.Record{ID: "a", Head: now[1], Earlier: []precis.Fingerprint{first[1], {9}}})
	s.converse("b", user("start"), user("first form"), user("b alone"))
	s.wantPurged(store.PurgeQuery{IDs: []string{"b"}}, 1, 1)
	s.load(first[1])
	s.wantPurged(store.PurgeQuery{IDs: []string{"a"}}, 1, 3)
	s.wantGone(user("first form"), first...)
	s.wantGone(user("second form"), now...)
}

// purgedComesBack checks that purged messages can be stored and found again, repeatedly.
func purgedComesBack(s *suite) {
	need[store.Purger](s)
	msgs := []precis.Message{user("said again"), user("and more"), user("said again")}
	for range 3 {
		s.converse("a", msgs...)
		s.converse("b", user("another"), user("said again"))
		if _, ok := s.Store.(store.Searcher); ok {
			s.wantHits("said", "a:0", "a:2", "b:1")
			s.wantHits("more", "a:1")
		}
		s.wantPurged(store.PurgeQuery{IDs: []string{"a"}}, 1, 1)
		s.wantBody(user("said again"))
		s.wantPurged(store.PurgeQuery{IDs: []string{"b"}}, 1, 2)
		s.wantGone(user("said again"))
	}
}

// removeAndWipe checks that removed data of two scopes is not found even before Wipe, and that
// Wipe keeps all other data.
func removeAndWipe(s *suite) {
	w, sc := need[store.Wiper](s), need[store.Scoper](s)
	stays := s.converse("stays", user("stays"))
	for _, owner := range []string{"a", "b"} {
		in := s.within(owner)
		at := in.converse("c", user("goes"))
		r, err := sc.Scope(owner).(store.Wiper).Remove(s.ctx, store.PurgeQuery{IDs: []string{"c"}})
		if err != nil || r.Conversations != 1 || r.Messages != 1 {
			s.Errorf("removed %+v, %v", r, err)
		}
		in.wantGone(user("goes"), at[0])
	}
	for range 2 {
		if err := w.Wipe(s.ctx); err != nil {
			s.Error(err)
		}
	}
	s.load(stays[0])
}
