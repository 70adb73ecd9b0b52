package shelf_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/conversation/conversationtest"
	"github.com/precis-dev/precis/conversation/shelf"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/preset"
	"github.com/precis-dev/precis/store"
	"github.com/precis-dev/precis/store/memory"
)

// Conversations are counted with those that are in memory alone, each once.
func TestConversationsAreCounted(t *testing.T) {
	st := memory.New()
	for _, owner := range []string{"", "ann"} {
		for _, id := range []string{"a", "b", "c"} {
			if err := st.Scope(owner).(store.Lister).PutConversation(t.Context(), store.Record{ID: id}); err != nil {
				t.Fatal(err)
			}
		}
	}
	h := shelf.InStore(shelf.StoreOptions{Store: st, Owner: conversation.AllOwners, Manager: conversationtest.Frugal(t)})
	if n, known, err := conversation.Count(t.Context(), h); n != 6 || !known || err != nil {
		t.Errorf("%d, %v, %v", n, known, err)
	}
	open := func(ids ...string) (out []shelf.OpenConversation) {
		for _, id := range ids {
			out = append(out, shelf.OpenConversation{Record: store.Record{ID: id}})
		}
		return out
	}
	shelves := []shelf.Shelf{{Open: open("b", "new"), Catalog: st}, {Owner: "bob", Open: open("a")}}
	if n, known, err := shelf.Count(t.Context(), shelves); n != 5 || !known || err != nil {
		t.Errorf("with those in memory: %d, %v, %v", n, known, err)
	}
	lists := struct{ store.Lister }{st} // and does not count
	if n, known, err := shelf.Count(t.Context(), []shelf.Shelf{{Catalog: lists}}); n != 0 || known || err != nil {
		t.Errorf("a catalog that cannot count: %d, %v, %v", n, known, err)
	}
}

func TestInStore(t *testing.T) {
	conversationtest.Test(t, func(t *testing.T, msgs []precis.Message) conversationtest.Place {
		st := memory.New()
		head, err := st.Append(t.Context(), precis.Fingerprint{}, msgs...)
		if err != nil {
			t.Fatal(err)
		}
		now := time.Unix(1_700_000_000, 0)
		rec := store.Record{ID: "c1", Dialect: "anthropic", Model: "claude-sonnet-4-5", Head: head, Messages: len(msgs), Requests: 1, Created: now, Updated: now}
		if err := st.PutConversation(t.Context(), rec); err != nil {
			t.Fatal(err)
		}
		home := func() conversation.Home {
			return shelf.InStore(shelf.StoreOptions{Store: st, Manager: conversationtest.Frugal(t), Window: func(string) precis.Window {
				return precis.Window{Tokens: conversationtest.Window, Source: precis.SourceConfigured}
			}})
		}
		return conversationtest.Place{Home: home(), ID: "c1", Rival: home()}
	})
}

// Reads, previews and trials are not stored, booked or reported. An edit in force is booked and
// reported once.
func TestLookingChangesNothing(t *testing.T) {
	var edits, reports int
	st := memory.New()
	settings := conversationtest.Frugal(t).Settings()
	m, err := preset.New(preset.Options{
		Settings: settings, Store: st,
		OnEdit: func(context.Context, precis.Edit) { edits++ }, OnReport: func(context.Context, policy.Report) { reports++ },
	})
	if err != nil {
		t.Fatal(err)
	}
	var msgs []precis.Message
	for range 30 {
		msgs = append(msgs, precis.NewText(precis.RoleUser, strings.Repeat("the mast of the ship ", 40)), precis.NewText(precis.RoleAssistant, strings.Repeat("stands well ", 40)))
	}
	head, err := st.Append(t.Context(), precis.Fingerprint{}, msgs...)
	if err != nil {
		t.Fatal(err)
	}
	if err := st.PutConversation(t.Context(), store.Record{ID: "c1", Dialect: "anthropic", Head: head, Messages: len(msgs), Requests: 1}); err != nil {
		t.Fatal(err)
	}
	h := shelf.InStore(shelf.StoreOptions{Store: st, Manager: m, Window: func(string) precis.Window { return precis.Window{Tokens: 50_000} }})
	if _, err := conversation.Apply(t.Context(), h, "c1", conversation.EditRequest{Verb: conversation.VerbPin, Handles: []precis.Handle{precis.MessageHandle(2)}}); err != nil {
		t.Fatal(err)
	}
	if edits != 1 {
		t.Fatalf("%d edits came into force, want 1", edits)
	}
	state := func() string {
		entries, err := st.Entries(t.Context(), "", time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		_, kept, err := st.Load(t.Context(), head)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%d booked, %d kept, %d in force, %d reports", len(entries), len(kept), edits, reports)
	}
	before := state()
	for _, i := range []conversation.EditRequest{
		{Verb: conversation.VerbUndo}, {Verb: conversation.VerbPin, Handles: []precis.Handle{precis.MessageHandle(4)}},
		{Verb: conversation.VerbExclude, Handles: []precis.Handle{precis.MessageHandle(6)}}, {Verb: conversation.VerbRewind, Messages: 10},
	} {
		if _, err := conversation.PreviewEdit(t.Context(), h, "c1", i); err != nil {
			t.Errorf("%s: %v", i.Verb, err)
		}
	}
	p, err := conversation.Preview(t.Context(), h, "c1", conversation.CondenseOptions{Target: 5000})
	if err != nil || !p.Changed {
		t.Errorf("the preview: %+v, %v", p, err)
	}
	if got := state(); got != before {
		t.Errorf("%s, want %s", got, before)
	}
	if _, err := conversation.Condense(t.Context(), h, "c1", conversation.CondenseOptions{Target: 5000}); err != nil {
		t.Fatal(err)
	}
	if entries, _ := st.Entries(t.Context(), "", time.Time{}); len(entries) != edits || edits < 2 || reports != 1 {
		t.Errorf("%d booked, %d in force, %d reports", len(entries), edits, reports)
	}
}
