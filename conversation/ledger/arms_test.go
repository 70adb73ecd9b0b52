package ledger_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/conversation/ledger"
	"github.com/precis-dev/precis/conversation/shelf"
	"github.com/precis-dev/precis/store"
	"github.com/precis-dev/precis/store/memory"
)

// Conversations in arms are listed with their usage, over all pages of the list; others are left
// out.
func TestArms(t *testing.T) {
	st := memory.New()
	at := time.Unix(1_760_000_000, 0).UTC()
	cat, costs := st.Scope("").(store.Lister), st.Scope("").(precis.Ledger)
	book := func(id, kind string, cost float64) {
		t.Helper()
		if err := costs.Book(t.Context(), precis.LedgerEntry{Time: at.Add(time.Minute), Conversation: id, Kind: kind, CostUSD: cost, Before: 300, After: 200}); err != nil {
			t.Fatal(err)
		}
	}
	const n = 601
	for i := range n {
		r := store.Record{ID: fmt.Sprintf("c%03d", i), Created: at, Updated: at.Add(time.Duration(i) * time.Second), Requests: i}
		if i%2 == 0 {
			r.Arm = "x/a"
		}
		if err := cat.PutConversation(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		book(r.ID, "request", 1)
	}
	book("c002", "condensation", 0.5)
	book("c002", "request", 2)
	got, err := ledger.Arms(t.Context(), shelf.InStore(shelf.StoreOptions{Store: st, Owner: conversation.AllOwners}))
	if err != nil || len(got) != n/2+1 {
		t.Fatalf("%d, %v", len(got), err)
	}
	if first := got[0]; first.ID != "c600" || first.Arm != "x/a" || first.Requests != 600 || !first.Booked || first.CostUSD != 1 || first.Saved != 100 {
		t.Errorf("%+v", first)
	}
	if c2 := got[len(got)-2]; c2.ID != "c002" || c2.CostUSD != 3 || c2.Condensing != 0.5 || c2.Edits != 1 || c2.Sent != 400 {
		t.Errorf("%+v", c2)
	}
	if got, err := ledger.Arms(t.Context(), shelf.InStore(shelf.StoreOptions{Store: memory.New()})); err != nil || got != nil {
		t.Errorf("of nothing: %v, %v", got, err)
	}
}
