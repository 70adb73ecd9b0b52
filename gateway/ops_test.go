package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"precis"
	"precis/gateway"
	"precis/provider/providertest"
	"precis/store/sqlite"
)

// shaky is a store whose disk is full at times.
type shaky struct {
	*sqlite.Store
	full atomic.Bool
}

func (s *shaky) Append(ctx context.Context, parent precis.Fingerprint, msgs ...precis.Message) (precis.Fingerprint, error) {
	if s.full.Load() {
		return precis.Fingerprint{}, precis.Errorf(precis.CodeInternal, "append", "the disk is full")
	}
	return s.Store.Append(ctx, parent, msgs...)
}

func openShaky(t *testing.T) *shaky {
	st, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "store.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	return &shaky{Store: st}
}

func TestOperationsOnWhatIsNotStoredYet(t *testing.T) {
	s := providertest.New(t, providertest.Options{})
	st := openShaky(t)
	base, g := start(t, s.URL, func(o *gateway.Options) { o.Store = st })
	st.full.Store(true)
	a := newAgent("anthropic", "Read the files.")
	a.read(1, words(20, 1))
	res, _ := post(t, base+a.path(), a.body(false))
	id := res.Header.Get("X-Precis-Conversation")
	ctx := t.Context()
	if _, err := g.Pin(ctx, "", id, "m0"); precis.CodeOf(err) != precis.CodeInternal {
		t.Errorf("a pin that cannot be recorded: %v", err)
	}
	if list, err := g.Edits(ctx, "", id); err != nil || len(list.Items) != 0 {
		t.Errorf("it is in force: %+v %v", list, err)
	}
	st.full.Store(false)
	c, err := g.Pin(ctx, "", id, "m0")
	if err != nil {
		t.Fatal(err)
	}
	// It is in the store before any other message of the conversation comes.
	d, err := g.Conversation(ctx, gateway.AllOwners, id)
	if err != nil || !d.InMemory {
		t.Fatal(d, err)
	}
	_, edits, err := st.Load(ctx, d.Head)
	if err != nil || len(edits) != 1 || edits[0].ID != c.Edit.ID {
		t.Errorf("the store has %+v %v", edits, err)
	}
}

func TestAnOperationGivesUpWithItsContext(t *testing.T) {
	s := providertest.New(t, providertest.Options{})
	base, g := start(t, s.URL, nil)
	a := newAgent("chat", "Read the files.")
	a.read(1, words(5, 1))
	res, _ := post(t, base+a.path(), a.body(false))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	deadline := time.Now().Add(10 * time.Second)
	for { // the lock may be free and then it is taken
		_, err := g.Search(ctx, "", gateway.SearchOptions{Text: "line"})
		if errors.Is(err, context.Canceled) && precis.CodeOf(err) == precis.CodeCanceled {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
	if _, err := g.View(t.Context(), "somebody", res.Header.Get("X-Precis-Conversation")); precis.CodeOf(err) != precis.CodeNotFound {
		t.Errorf("somebody sees it: %v", err)
	}
}

// TestAStoreThatCannotTellOwnersApart keeps what belongs to owners from lists.
func TestAStoreThatCannotTellOwnersApart(t *testing.T) {
	s := providertest.New(t, providertest.Options{})
	inner := openShaky(t)
	base, g := start(t, s.URL, func(o *gateway.Options) { o.Store = struct{ precis.Store }{inner.Store} })
	a := newAgent("anthropic", "Read the files.")
	a.read(1, words(5, 1))
	res, _ := post(t, base+a.path(), a.body(false), "X-Api-Key", "k1")
	id := res.Header.Get("X-Precis-Conversation")
	ctx := t.Context()
	owner, err := g.OwnerOf(ctx, id)
	if err != nil || owner == "" {
		t.Fatal(owner, err)
	}
	if _, err := g.Pin(ctx, owner, id, "m0"); err != nil {
		t.Error(err)
	}
	if _, err := g.Purge(ctx, owner, gateway.PurgeOptions{All: true}); precis.CodeOf(err) != precis.CodeInvalid {
		t.Errorf("a store that cannot forget: %v", err)
	}
	page, err := g.Conversations(ctx, gateway.AllOwners, gateway.Listing{})
	if err != nil || len(page.Items) != 1 {
		t.Errorf("%+v %v", page, err)
	}
	if st := g.Status(owner); st.Conversations != 1 || g.Status("").Conversations != 0 || fmt.Sprint(st.Store.Can) != "[]" {
		t.Errorf("status %+v", st)
	}
}

func TestSameOrigin(t *testing.T) {
	allowed := []string{"Precis.Example"}
	for _, c := range []struct {
		host, origin string
		ok           bool
	}{
		{"localhost:4100", "", true},
		{"LOCALHOST", "http://localhost", true},
		{"app.localhost:1", "http://app.localhost:1", true},
		{"127.0.0.1:4100", "http://127.0.0.1:4100", true},
		{"127.0.0.1:4100", "http://127.0.0.1:4101", false},
		{"127.0.0.1:4100", "http://localhost:4100", false},
		{"[::1]:4100", "", true},
		{"[::1]", "", true},
		{"10.0.0.7:80", "", true},
		{"precis.example", "", true},
		{"precis.example:443", "https://precis.example", true},
		{"localhost", "https://precis.example", true},
		{"evil.example", "", false},
		{"evil.example", "http://evil.example", false},
		{"localhost.evil.example", "", false},
		{"localhost", "null", false},
		{"localhost", "file://", false},
		{"localhost", "http://precis.example.evil.example", false},
		{"", "", false},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Host = c.host
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		if err := gateway.SameOrigin(r, allowed); (err == nil) != c.ok {
			t.Errorf("host %q, origin %q: %v", c.host, c.origin, err)
		}
	}
}
