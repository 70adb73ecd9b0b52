package dashboard_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/conversation/shelf"
	"github.com/precis-dev/precis/dashboard"
	"github.com/precis-dev/precis/preset"
	"github.com/precis-dev/precis/store"
	"github.com/precis-dev/precis/store/memory"
	"github.com/precis-dev/precis/store/sqlite"
)

// ask serves one page without a network.
func ask(b *testing.B, h http.Handler, path string) {
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, "http://localhost/precis/"+path, nil)
	h.ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		b.Fatalf("%s: status %d: %.300s", path, w.Code, w.Body)
	}
}

func over(b *testing.B, h conversation.Home) http.Handler {
	d, err := dashboard.New(dashboard.Options{Home: func(*http.Request) (conversation.Home, error) { return h, nil }, Edits: true, Profiles: preset.Names})
	if err != nil {
		b.Fatal(err)
	}
	return d
}

// A list of 10,000 conversations is to take less than 100 ms.
func BenchmarkOverview(b *testing.B) {
	st := memory.New()
	now := time.Unix(1_760_000_000, 0)
	for i := range 10_000 {
		head, err := st.Append(b.Context(), precis.Fingerprint{}, precis.NewText(precis.RoleUser, fmt.Sprintf("task %d", i)))
		if err == nil {
			err = st.PutConversation(b.Context(), store.Record{
				ID: fmt.Sprintf("c%d", i), Title: fmt.Sprintf("task %d of many", i), Model: "claude-sonnet-4-5", Head: head, Messages: 1, Tokens: i, Window: 200_000, Updated: now.Add(time.Duration(i) * time.Second),
			})
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	d := over(b, shelf.InStore(shelf.StoreOptions{Store: st, Manager: manager(b, preset.Frugal)}))
	for _, path := range []string{"", "?text=task+99", "jump?part=1&q=task+12"} {
		b.Run(path, func(b *testing.B) {
			for b.Loop() {
				ask(b, d, path)
			}
		})
	}
}

// A conversation of 5,000 turns is to take less than 300 ms on every page but that which verifies
// it, which reads all of the view against all that was said.
func BenchmarkConversation(b *testing.B) {
	h := home(b, 200_000, messages(5000))
	d := over(b, h)
	if _, err := conversation.Condense(b.Context(), h, h.ID(), conversation.CondenseOptions{}); err != nil {
		b.Fatal(err)
	}
	one := "c/" + h.ID()
	for _, path := range []string{one, one + "?from=5000", one + "/time", one + "/time?at=6000", one + "/edits", one + "/loss", one + "/work", one + "/verify", one + "/row?part=1"} {
		b.Run(path, func(b *testing.B) {
			for b.Loop() {
				ask(b, d, path)
			}
		})
	}
}

// The costs of 10,000 conversations with five requests each, which are counted and summed
// up for the page.
func BenchmarkCosts(b *testing.B) {
	st, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "x.db"), sqlite.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer st.Close()
	var list []store.OwnedEntry
	for i := range 50_000 {
		list = append(list, store.OwnedEntry{LedgerEntry: precis.LedgerEntry{Time: time.Now().Add(-time.Duration(i) * 40 * time.Second), Conversation: fmt.Sprintf("c%d", i%10_000), Model: "claude-sonnet-4-5", Kind: "request", Before: 1000, After: 900, Usage: precis.Usage{Input: 100, Output: 10}, CostUSD: 0.01}})
	}
	if err := st.BookAll(b.Context(), list); err != nil {
		b.Fatal(err)
	}
	for i := range 10_000 {
		if err := st.PutConversation(b.Context(), store.Record{ID: fmt.Sprintf("c%d", i), Title: "a task", Tokens: i, Window: 200_000, Updated: time.Now()}); err != nil {
			b.Fatal(err)
		}
	}
	d := over(b, shelf.InStore(shelf.StoreOptions{Store: st, Manager: manager(b, preset.Frugal)}))
	for _, path := range []string{"costs", ""} { // the overview has totals, too
		b.Run(path, func(b *testing.B) {
			for b.Loop() {
				ask(b, d, path)
			}
		})
	}
}
