package storetest

import (
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/store"
)

// purgeLikeTheModel applies random appends, edits, records and purges, and compares the store
// with a model that keeps each path separately.
func purgeLikeTheModel(s *suite) {
	need[store.Purger](s)
	run := 0
	rapid.Check(s.T, func(t *rapid.T) {
		if run++; run > 15 { // each run is slow on a disk
			return
		}
		s.purgeOf(store.PurgeQuery{All: true})
		m := &purgeModel{
			model:   &model{suite: s, paths: map[precis.Fingerprint][]precis.Message{}, root: fmt.Sprint("run ", run)},
			records: map[string]store.Record{},
		}
		t.Repeat(map[string]func(*rapid.T){
			"append": m.appendSome,
			"edit":   m.edit,
			"record": m.record,
			"purge":  m.purge,
			"":       m.check,
		})
	})
}

type purgeModel struct {
	*model
	records map[string]store.Record
}

var modelTime = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

func (m *purgeModel) record(t *rapid.T) {
	r := store.Record{
		ID: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "id"), Head: m.draw(t),
		Updated: modelTime.Add(time.Duration(rapid.IntRange(0, 3).Draw(t, "hour")) * time.Hour),
	}
	if rapid.Bool().Draw(t, "earlier") {
		r.Earlier = []precis.Fingerprint{m.draw(t)}
	}
	if err := m.Store.(store.Lister).PutConversation(m.ctx, r); err != nil {
		t.Fatal(err)
	}
	m.records[r.ID] = r
}

func (m *purgeModel) purge(t *rapid.T) {
	q := store.PurgeQuery{IDs: rapid.SliceOfDistinct(rapid.SampledFrom([]string{"a", "b", "c", "d"}), rapid.ID).Draw(t, "ids")}
	switch rapid.IntRange(0, 5).Draw(t, "kind") {
	case 0:
		q.All = true
	case 1: // by the records' times
		q.Before = modelTime.Add(2 * time.Hour)
	case 2:
		q.Before = time.Now().Add(time.Hour)
	}
	want := m.forget(q)
	if got, err := m.Store.(store.Purger).Purge(m.ctx, q); err != nil || got.Conversations != want {
		t.Fatalf("Purge %+v: %+v, %v, want %d conversations", q, got, err, want)
	}
	m.compare(t)
}

// forget applies Purge to the model.
func (m *purgeModel) forget(q store.PurgeQuery) (conversations int) {
	var kept, named, aged []precis.Fingerprint
	for id, r := range m.records {
		heads := append([]precis.Fingerprint{r.Head}, r.Earlier...)
		switch {
		case q.All || slices.Contains(q.IDs, id):
			named = append(named, heads...)
		case !q.Before.IsZero() && r.Updated.Before(q.Before):
			aged = append(aged, heads...)
		default:
			kept = append(kept, heads...)
			continue
		}
		delete(m.records, id)
		conversations++
	}
	needed, ofNamed, ofAged := m.ways(kept), m.ways(named), m.ways(aged)
	oldest := q.All || q.Before.After(time.Now())
	gone := map[precis.Fingerprint]bool{}
	guard := map[precis.Fingerprint]bool{}
	for f := range m.paths {
		if orphan := !needed[f] && !ofNamed[f] && !ofAged[f]; orphan && !oldest {
			for g := range m.ways([]precis.Fingerprint{f}) {
				guard[g] = true
			}
		}
	}
	for f := range m.paths {
		for g := range m.ways([]precis.Fingerprint{f}) {
			if !needed[g] && (ofNamed[g] || oldest || ofAged[g] && !guard[g]) {
				gone[f] = true
			}
		}
	}
	m.drop(gone)
	return conversations
}

// ways returns all nodes on the paths to the given nodes.
func (m *purgeModel) ways(to []precis.Fingerprint) map[precis.Fingerprint]bool {
	out := map[precis.Fingerprint]bool{}
	for _, f := range to {
		for _, g := range nodes(m.paths[f]) {
			out[g] = true
		}
	}
	return out
}

func (m *purgeModel) drop(gone map[precis.Fingerprint]bool) {
	m.order = slices.DeleteFunc(m.order, func(f precis.Fingerprint) bool { return gone[f] })
	m.edits = slices.DeleteFunc(m.edits, func(r recorded) bool { return gone[r.edit.At] })
	for f := range gone {
		delete(m.paths, f)
	}
	m.dropped = append(m.dropped, keysOf(gone)...)
}

func keysOf(set map[precis.Fingerprint]bool) (out []precis.Fingerprint) {
	for f := range set {
		out = append(out, f)
	}
	return out
}

// compare checks every node that ever existed.
func (m *purgeModel) compare(t *rapid.T) {
	for _, f := range m.dropped {
		if _, there := m.paths[f]; there {
			continue
		}
		if _, _, err := m.Load(m.ctx, f); precis.CodeOf(err) != precis.CodeNotFound {
			t.Fatalf("the purged node %s: %v", f.Short(), err)
		}
	}
	for f, path := range m.paths {
		got, edits, err := m.Load(m.ctx, f)
		if err != nil || form(got.Messages()) != form(path) || form(edits) != form(m.seen(f)) {
			t.Fatalf("node %s: %v\n got %s %s\nwant %s %s", f.Short(), err, form(got.Messages()), form(edits), form(path), form(m.seen(f)))
		}
		if _, err := m.Body(m.ctx, precis.HashMessage(path[len(path)-1])); err != nil {
			t.Fatal(err)
		}
	}
	for id, r := range m.records {
		if got, err := m.Store.(store.Lister).Conversation(m.ctx, id); err != nil || got.Head != r.Head {
			t.Fatalf("record %s: %v", id, err)
		}
	}
}
