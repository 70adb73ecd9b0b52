package ledger

import (
	"reflect"
	"testing"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/conversation/shelf"
	"github.com/precis-dev/precis/store"
	"github.com/precis-dev/precis/store/memory"
)

// TestEachOwnersCostsAreSummedUp: the most expensive owner first, whether the store sums up
// or its entries are read; who has no entry is left out.
func TestEachOwnersCostsAreSummedUp(t *testing.T) {
	st := memory.New()
	now := time.Unix(1_760_000_000, 0)
	book := func(owner string, e precis.LedgerEntry) {
		t.Helper()
		e.Time = now
		if err := st.Scope(owner).(precis.Ledger).Book(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	book("ann", precis.LedgerEntry{Conversation: "c", Kind: "request", CostUSD: 1})
	book("bob", precis.LedgerEntry{Conversation: "c", Kind: "request", CostUSD: 0.75})
	book("bob", precis.LedgerEntry{Conversation: "d", Kind: precis.KindCall, CostUSD: 0.5})
	if err := st.Scope("carl").(store.Lister).PutConversation(t.Context(), store.Record{ID: "c"}); err != nil {
		t.Fatal(err)
	}
	for _, most := range []int{0, 1, -1} {
		out, err := Of(t.Context(), shelf.InStore(shelf.StoreOptions{Store: st, Owner: conversation.AllOwners}), Query{Since: now, Limit: most})
		if err != nil || len(out.Owners) != 2 {
			t.Fatalf("%+v, %v", out.Owners, err)
		}
		if b, a := out.Owners[0], out.Owners[1]; b.Owner != "bob" || b.CostUSD != 0.75 || b.Condensing != 0.5 || a.Owner != "ann" || a.CostUSD != 1 || a.Condensing != 0 {
			t.Errorf("%+v", out.Owners)
		}
	}
}

func TestTheLedgerIsSummedUp(t *testing.T) {
	st := memory.New()
	day := time.Date(2026, 1, 2, 23, 0, 0, 0, time.FixedZone("", -2*3600)) // the next day in UTC
	for _, e := range []precis.LedgerEntry{
		{Conversation: "c", Time: day, Kind: "request", CostUSD: 0.5, Before: 100, After: 40, Usage: precis.Usage{Input: 40, Output: 2}},
		{Conversation: "c", Time: day, Kind: string(precis.KindPruning)},
		{Conversation: "d", Time: day, Kind: precis.KindCall, CostUSD: 1},
		{Conversation: "d", Time: day.Add(-1), Kind: precis.KindCall, CostUSD: 64},
	} {
		if err := st.Book(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	var all []Summary
	for _, st := range []precis.Store{st, plainLedger{st, st, st}} { // by the store, and entry by entry
		out, err := Since(t.Context(), shelf.InStore(shelf.StoreOptions{Store: st}), "", day)
		if err != nil || !out.Booked {
			t.Fatalf("%+v, %v", out, err)
		}
		all = append(all, out)
		out, err = Of(t.Context(), shelf.InStore(shelf.StoreOptions{Store: st}), Query{Since: day, Limit: 1})
		if err != nil || out.More != 1 || len(out.Conversations) != 1 || out.Total != all[0].Total {
			t.Errorf("the most expensive one: %+v, %v", out, err)
		}
		if out, err = Of(t.Context(), shelf.InStore(shelf.StoreOptions{Store: st}), Query{Since: day, Limit: -1}); err != nil || len(out.Conversations) != 0 || out.Total != all[0].Total {
			t.Errorf("totals alone: %+v, %v", out, err)
		}
	}
	if !reflect.DeepEqual(all[0], all[1]) {
		t.Errorf("the store sums up\n%+v, its entries are\n%+v", all[0], all[1])
	}
	out := all[0]
	if len(out.Days) != 1 || out.Days[0].Day != "2026-01-03" || len(out.Conversations) != 2 || out.Conversations[0].Conversation != "d" {
		t.Errorf("%+v", out)
	}
	if len(out.Owners) != 1 || out.Owners[0].Sums != out.Total {
		t.Errorf("owners %+v, the total is %+v", out.Owners, out.Total)
	}
	if s := out.Total; s.Requests != 1 || s.Edits != 1 || s.Saved != 60 || s.Sent != 40 || s.CostUSD != 0.5 || s.Condensing != 1 {
		t.Errorf("%+v", s)
	}
}

// plainLedger is a store with a ledger but without sums.
type plainLedger struct {
	precis.Store
	precis.Ledger
	store.Lister
}
