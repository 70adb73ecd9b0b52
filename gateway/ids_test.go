package gateway_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/gateway/accounts"
	"github.com/precis-dev/precis/gateway/lineage"
	"github.com/precis-dev/precis/provider/providertest"
	"github.com/precis-dev/precis/store"
	"github.com/precis-dev/precis/store/memory"
	"github.com/precis-dev/precis/store/sqlite"
	"github.com/precis-dev/precis/store/transfer"
)

func keyedAs(secret string) func(*gateway.Options) {
	return func(o *gateway.Options) {
		o.Auth = gateway.Auth{Keys: map[string]string{accounts.HashKey("k"): "alice"}, Secret: []byte(secret)}
	}
}

// A client without the gateway's key is told how to send it.
func TestWithoutAKey(t *testing.T) {
	t.Parallel()
	s := providertest.New(t, providertest.Options{})
	base, _ := start(t, s.URL, keyedAs("0123456789abcdef"))
	for _, dialect := range []string{"anthropic", "chat", "responses"} {
		a := newAgent(dialect, "Read the files one by one.")
		res, body := post(t, base+a.path(), a.body(false))
		if res.StatusCode != http.StatusUnauthorized || !strings.Contains(body, "send it in the header X-Precis-Key") {
			t.Errorf("%s: %d %s", dialect, res.StatusCode, body)
		}
	}
}

// Who sees the ID of a conversation, and knows whose it is, cannot find out with it what
// was said. Replicas with the same secret agree on it all the same.
func TestAnIDTellsNothingToWhoHasNoSecret(t *testing.T) {
	t.Parallel()
	s := providertest.New(t, providertest.Options{})
	ids := map[string]string{}
	for name, secret := range map[string]string{"one": "0123456789abcdef", "its replica": "0123456789abcdef", "another": "fedcba9876543210"} {
		base, _ := start(t, s.URL, keyedAs(secret))
		a := newAgent("anthropic", "Read the files one by one.")
		res, _ := post(t, base+a.path(), a.body(false), "X-Precis-Key", "k")
		ids[name] = res.Header.Get("X-Precis-Conversation")
		node := nodeOf(t, res)
		for _, key := range [][]byte{nil, []byte(secret)} { // owners are named by the secret itself
			if guess := lineage.ID(key, "key-alice", node, 0); guess == ids[name] {
				t.Errorf("%s: the ID %s is made of what was said alone, or by the key of owners", name, guess)
			}
		}
	}
	if ids["one"] != ids["its replica"] || ids["one"] == ids["another"] || !lineage.IsID(ids["one"]) {
		t.Errorf("%v", ids)
	}
}

// A conversation that was stored when IDs were plain hashes goes on under its ID, with its
// edits, in every kind of store. The file was exported by the version before.
func TestConversationsOfPlainIDsGoOn(t *testing.T) {
	t.Parallel()
	stores := map[string]func() precis.Store{
		"memory": func() precis.Store { return memory.New() },
		"sqlite": func() precis.Store {
			st, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "c.db"), sqlite.Options{})
			if err != nil {
				t.Fatal(err)
			}
			return st
		},
	}
	for name, open := range stores {
		t.Run(name, func(t *testing.T) {
			st := open()
			t.Cleanup(func() { _ = st.Close() })
			f, err := os.Open("testdata/plain-ids.jsonl")
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = f.Close() }()
			if _, err := transfer.Import(t.Context(), f, st); err != nil {
				t.Fatal(err)
			}
			s := providertest.New(t, providertest.Options{})
			base, g := start(t, s.URL, func(o *gateway.Options) {
				keyedAs("0123456789abcdef0123456789abcdef")(o)
				window(3000)(o)
				o.Store = st
			})
			records, err := stored(t.Context(), st)
			if err != nil || len(records) != 2 {
				t.Fatalf("%d records %v", len(records), err)
			}
			a, b := newAgent("anthropic", "Read the files one by one."), newAgent("anthropic", "Read the files one by one.")
			for n := 1; n <= 13; n++ {
				a.read(n, words(20, n))
			}
			b.read(1, words(20, 77))
			b.read(2, words(20, 78))
			got := map[string]bool{}
			for _, x := range []*agent{a, b} {
				res, out := post(t, base+x.path(), x.body(false), "X-Precis-Key", "k")
				id := res.Header.Get("X-Precis-Conversation")
				if res.StatusCode != 200 || res.Header.Get("X-Precis-Match") != "extended" || !records[id] {
					t.Errorf("%d %s: it goes on as %q, %s", res.StatusCode, out, id, res.Header.Get("X-Precis-Match"))
				}
				got[id] = true
			}
			if len(got) != 2 {
				t.Errorf("%v", got)
			}
			for id := range records {
				d, err := conversation.Status(t.Context(), g.Home("key-alice"), id)
				if err != nil || id == "c8d4bda52a706fdca" && d.Edits.InForce == 0 {
					t.Errorf("%s: %+v %v", id, d, err)
				}
			}
			c := newAgent("anthropic", "Something else.")
			res, _ := post(t, base+c.path(), c.body(false), "X-Precis-Key", "k")
			if id := res.Header.Get("X-Precis-Conversation"); records[id] || id == lineage.ID(nil, "key-alice", nodeOf(t, res), 0) {
				t.Errorf("a new conversation has the ID %s", id)
			}
		})
	}
}

// stored returns the IDs of alice's conversations in a store.
func stored(ctx context.Context, st precis.Store) (map[string]bool, error) {
	cat, ok := st.(store.Scoper).Scope("key-alice").(store.Lister)
	if !ok {
		return nil, fmt.Errorf("%T lists nothing", st)
	}
	records, err := cat.Conversations(ctx, store.Query{})
	out := map[string]bool{}
	for _, r := range records {
		out[r.ID] = true
	}
	return out, err
}

// nodeOf returns the node where the request of a response ends.
func nodeOf(t *testing.T, res *http.Response) (node precis.Fingerprint) {
	t.Helper()
	if err := node.UnmarshalText([]byte(res.Header.Get("X-Precis-Node"))); err != nil {
		t.Fatal(err)
	}
	return node
}
