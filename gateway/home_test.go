package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/conversation/ledger"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/provider/providertest"
	"github.com/precis-dev/precis/store/sqlite"
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
	t.Parallel()
	s := providertest.New(t, providertest.Options{})
	st := openShaky(t)
	base, g := start(t, s.URL, func(o *gateway.Options) { o.Store = st })
	st.full.Store(true)
	a := newAgent("anthropic", "Read the files.")
	a.read(1, words(20, 1))
	res, _ := post(t, base+a.path(), a.body(false))
	id := res.Header.Get("X-Precis-Conversation")
	ctx := t.Context()
	c, err := conversation.Pin(ctx, g.Home(""), id, precis.MessageHandle(0))
	if err != nil {
		t.Errorf("a pin that cannot be stored: %v", err)
	}
	d, err := conversation.Status(ctx, g.Home(gateway.AllOwners), id)
	if err != nil || !d.InMemory || d.Edits.InForce != 1 || !slices.ContainsFunc(d.Notes, func(n string) bool { return strings.Contains(n, "the store does not have") }) {
		t.Errorf("it is not in force, or not said to be in memory alone: %+v %v", d, err)
	}
	st.full.Store(false)
	if _, err := ledger.Since(ctx, g.Home(""), id, time.Time{}); err != nil { // waits for what is to be stored
		t.Fatal(err)
	}
	_, edits, err := st.Load(ctx, d.Head)
	if err != nil || len(edits) != 1 || edits[0].ID != c.Edit.ID {
		t.Errorf("the store has %+v %v", edits, err)
	}
}

func TestAnOperationGivesUpWithItsContext(t *testing.T) {
	t.Parallel()
	s := providertest.New(t, providertest.Options{})
	base, g := start(t, s.URL, nil)
	a := newAgent("chat", "Read the files.")
	a.read(1, words(5, 1))
	res, _ := post(t, base+a.path(), a.body(false))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	deadline := time.Now().Add(10 * time.Second)
	for { // the lock may be free and then it is taken
		_, err := conversation.Search(ctx, g.Home(""), conversation.SearchOptions{Text: "line"})
		if errors.Is(err, context.Canceled) && precis.CodeOf(err) == precis.CodeCanceled {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
	if _, err := conversation.View(t.Context(), g.Home("somebody"), res.Header.Get("X-Precis-Conversation")); precis.CodeOf(err) != precis.CodeNotFound {
		t.Errorf("somebody sees it: %v", err)
	}
}

// TestAStoreThatCannotTellOwnersApart keeps what belongs to owners from lists.
func TestAStoreThatCannotTellOwnersApart(t *testing.T) {
	t.Parallel()
	s := providertest.New(t, providertest.Options{})
	inner := openShaky(t)
	base, g := start(t, s.URL, func(o *gateway.Options) { o.Store = struct{ precis.Store }{inner.Store} })
	a := newAgent("anthropic", "Read the files.")
	a.read(1, words(5, 1))
	res, _ := post(t, base+a.path(), a.body(false), "X-Api-Key", "k1")
	id := res.Header.Get("X-Precis-Conversation")
	ctx := t.Context()
	owner, err := g.Home(gateway.AllOwners).(conversation.Owned).OwnerOf(ctx, id)
	if err != nil || owner == "" {
		t.Fatal(owner, err)
	}
	if _, err := conversation.Pin(ctx, g.Home(owner), id, precis.MessageHandle(0)); err != nil {
		t.Error(err)
	}
	if _, err := conversation.Purge(ctx, g.Home(owner), conversation.PurgeOptions{All: true}); precis.CodeOf(err) != precis.CodeInvalid {
		t.Errorf("a store that cannot forget: %v", err)
	}
	page, err := conversation.List(ctx, g.Home(gateway.AllOwners), conversation.ListQuery{})
	if err != nil || len(page.Items) != 1 {
		t.Errorf("%+v %v", page, err)
	}
	if st := g.Status(owner); st.Conversations != 1 || g.Status("").Conversations != 0 || fmt.Sprint(st.Store.Can) != "[]" {
		t.Errorf("status %+v", st)
	}
}

func TestSameOrigin(t *testing.T) {
	t.Parallel()
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
