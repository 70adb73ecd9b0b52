package memory

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"slices"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/store"
	"github.com/precis-dev/precis/store/internal/cut"
)

// Purge forgets conversations, see [store.Purger].
func (s *Store) Purge(ctx context.Context, q store.PurgeQuery) (store.PurgeResult, error) {
	var r store.PurgeResult
	done, err := s.begin(ctx, "purge")
	defer done()
	if err != nil {
		return r, err
	}
	d := s.mine()
	tree := d.tree(q)
	plan, gone, err := cut.NewPlan(q, d.records(), func(f precis.Fingerprint) (cut.Place, bool, error) {
		place, ok := tree.place(d.nodes[f])
		return place, ok, nil
	})
	if err != nil {
		return r, err
	}
	plan.Branches = tree.branches
	for _, id := range gone {
		delete(d.catalog, id)
	}
	r.Conversations = len(gone)
	for key, kept := range d.summaries {
		if old(q, kept.stored) {
			delete(d.summaries, key)
		}
	}
	r.Messages, r.Bytes = d.remove(tree.cut(plan.Cuts()))
	return r, nil
}

// old reports whether data without a conversation is to be removed.
func old(q store.PurgeQuery, stored time.Time) bool {
	return q.All || !q.Before.IsZero() && stored.Before(q.Before)
}

// tree presents the nodes as branches of one message each, numbered in the order of their storing.
type tree struct {
	nodes    []*node
	branches []cut.Branch
	ids      map[*node]int64
}

func (d *data) tree(q store.PurgeQuery) tree {
	t := tree{ids: map[*node]int64{}}
	for _, n := range d.nodes {
		if n.depth > 0 {
			t.nodes = append(t.nodes, n)
		}
	}
	slices.SortFunc(t.nodes, func(a, b *node) int { return cmp.Compare(a.seq, b.seq) })
	for i, n := range t.nodes {
		t.ids[n] = int64(i + 1)
		b := cut.Branch{ID: int64(i + 1), Parent: t.ids[n.parent], Depth: n.depth - 1, End: n.depth}
		if !old(q, n.stored) {
			b.Recent = n.depth
		}
		t.branches = append(t.branches, b)
	}
	return t
}

// place returns the place of a node; false for nil and for the empty conversation.
func (t tree) place(n *node) (cut.Place, bool) {
	if n == nil || n.depth == 0 {
		return cut.Place{}, false
	}
	return cut.Place{Branch: t.ids[n], Depth: n.depth}, true
}

// cut returns the nodes to remove, and the remaining ones in the order of their storing.
func (t tree) cut(cuts []cut.Place) (gone, stay []*node) {
	cutOff := map[int64]bool{}
	for _, c := range cuts {
		cutOff[c.Branch] = true
	}
	for i, n := range t.nodes {
		if cutOff[int64(i+1)] {
			gone = append(gone, n)
		} else {
			stay = append(stay, n)
		}
	}
	return gone, stay
}

// remove removes nodes and returns the number and size of the stored messages removed with them.
func (d *data) remove(gone, stay []*node) (messages int, size int64) {
	if len(gone) == 0 {
		return 0, 0
	}
	needed, lost := map[[sha256.Size]byte]bool{}, map[[sha256.Size]byte]bool{}
	d.bodies = map[precis.Fingerprint]precis.Message{}
	for _, n := range stay {
		needed[sha256.Sum256(jsonOf(n.message()))] = true
		d.keep(n.message())
	}
	for _, n := range gone {
		data := jsonOf(n.message())
		if key := sha256.Sum256(data); !needed[key] && !lost[key] {
			lost[key] = true
			messages, size = messages+1, size+int64(len(data))
		}
		delete(d.nodes, n.run.Fingerprint(n.depth))
	}
	shorten(stay)
	return messages, size
}

func jsonOf(m precis.Message) []byte {
	data, _ := json.Marshal(m) // not expected to fail: it was marshaled before
	return data
}

// shorten gives the remaining nodes runs without the removed messages.
func shorten(stay []*node) {
	ends := map[*precis.Transcript]int{}
	for _, n := range stay {
		ends[n.run] = max(ends[n.run], n.depth)
	}
	runs := map[*precis.Transcript]*precis.Transcript{}
	for _, n := range stay {
		old := n.run
		if old.Len() == ends[old] {
			continue
		}
		if runs[old] == nil {
			runs[old] = precis.NewTranscript(slices.Clone(old.Messages()[:ends[old]])...)
		}
		n.run = runs[old]
	}
}
