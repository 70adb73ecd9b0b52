package gateway_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/internal/lazyregexp"
	"github.com/precis-dev/precis/provider/providertest"
	"github.com/precis-dev/precis/store/postgres"
	"github.com/precis-dev/precis/store/sqlite"
)

// Eight conversations whose turns alternate at full speed between two replicas over one store
// have one ID each, and soon after the last turn, a second where nothing else runs, both replicas show the same numbers of all of
// them, and act on the same messages. What the upstream sees of a conversation begins as its request
// before did, as far as it does with one replica.
func TestTwoReplicasShowOneTruth(t *testing.T) {
	t.Parallel()
	for name, database := range map[string]func(t *testing.T) func() precis.Store{
		"sqlite": func(t *testing.T) func() precis.Store {
			path := filepath.Join(t.TempDir(), "c.db")
			return func() precis.Store { return opened(t)(sqlite.Open(t.Context(), path, sqlite.Options{})) }
		},
		"postgres": func(t *testing.T) func() precis.Store {
			url := newDatabase(t)
			return func() precis.Store { return opened(t)(postgres.Open(t.Context(), url, postgres.Options{})) }
		},
	} {
		if testing.Short() && name == "postgres" {
			continue // it takes three times as long
		}
		t.Run(name, func(t *testing.T) {
			alone := roundRobin(t, 1, database(t))
			both := roundRobin(t, 2, database(t))
			for k := range both {
				if both[k] < alone[k]-0.02 {
					t.Errorf("conversation %d: the upstream knows %.1f %% of a request by the one before, with one replica %.1f %%", k, 100*both[k], 100*alone[k])
				}
			}
			t.Logf("the upstream knows of a request by the one before: %.3f, with one replica %.3f", both, alone)
		})
	}
}

// opened returns a store that is closed with the test.
func opened(t *testing.T) func(st interface {
	precis.Store
	io.Closer
}, err error) precis.Store {
	return func(st interface {
		precis.Store
		io.Closer
	}, err error) precis.Store {
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = st.Close() })
		return st
	}
}

// shownBy returns what each gateway shows of the conversations.
func shownBy(t *testing.T, gateways []*gateway.Gateway) []map[string]string {
	t.Helper()
	shown := make([]map[string]string, len(gateways))
	for i, g := range gateways {
		h := g.Home("key-alice")
		shown[i] = map[string]string{}
		list, err := conversation.List(t.Context(), h, conversation.ListQuery{})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range list.Items {
			c.InMemory = false
			shown[i]["list "+c.ID] = text(t, c)
			d, err := conversation.Status(t.Context(), h, c.ID)
			if err != nil {
				t.Fatal(err)
			}
			d.InMemory, d.Last, d.Notes = false, nil, nil // what is known of the memory of one replica
			shown[i]["status "+c.ID] = text(t, d)
		}
		shown[i]["conversations"] = fmt.Sprint(len(list.Items))
	}
	return shown
}

// roundRobin leads eight conversations through 15 turns each over replicas in turn, and returns of
// each conversation which share of its requests' bytes the upstream had seen as the beginning of
// the request before.
func roundRobin(t *testing.T, replicas int, open func() precis.Store) []float64 {
	s := providertest.New(t, providertest.Options{})
	proxy := httputil.NewSingleHostReverseProxy(parsed(t, s.URL))
	const conversations = 8
	var mu sync.Mutex
	last, all, known := make([]string, conversations), make([]int, conversations), make([]int, conversations)
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var b bytes.Buffer
		_, _ = b.ReadFrom(r.Body)
		for k := range conversations {
			if body := unmarked.ReplaceAllString(b.String(), ""); strings.Contains(body, fmt.Sprintf("files of folder %d.", k)) {
				mu.Lock()
				all[k], known[k], last[k] = all[k]+len(body), known[k]+common(last[k], body), body
				mu.Unlock()
			}
		}
		r.Body = io.NopCloser(&b)
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(up.Close)
	var bases []string
	var gateways []*gateway.Gateway
	for range replicas {
		st := open()
		base, g := start(t, up.URL, func(o *gateway.Options) {
			keyedAs("0123456789abcdef")(o)
			window(4000)(o)
			o.Store, o.Shared = st, true
		})
		bases, gateways = append(bases, base), append(gateways, g)
	}
	ids := make([]map[string]bool, conversations)
	var wg sync.WaitGroup
	for k := range ids {
		ids[k] = map[string]bool{}
		wg.Go(func() {
			a := newAgent([]string{"anthropic", "chat", "responses"}[k%3], fmt.Sprintf("Read the files of folder %d.", k))
			for n := 1; n <= 15; n++ {
				a.read(n, words(15, n+100*k))
				res, out := post(t, bases[(n+k)%replicas]+a.path(), a.body(false), "X-Precis-Key", "k")
				if res.StatusCode != 200 {
					t.Errorf("conversation %d, turn %d: %d %s", k, n, res.StatusCode, out)
				}
				ids[k][res.Header.Get("X-Precis-Conversation")] = true
			}
		})
	}
	wg.Wait()
	shown := shownBy(t, gateways)
	for range 60 { // what the last turns stored may take a while on a busy machine
		if maps.Equal(shown[0], shown[replicas-1]) {
			break
		}
		time.Sleep(time.Second / 2)
		shown = shownBy(t, gateways)
	}
	for what, a := range shown[0] {
		if b := shown[replicas-1][what]; a != b {
			t.Errorf("%s:\n  %s\n  %s", what, a, b)
		}
	}
	for k, has := range ids {
		if len(has) != 1 {
			t.Errorf("conversation %d has the IDs %v", k, has)
		}
	}
	if shown[0]["conversations"] != fmt.Sprint(conversations) {
		t.Errorf("%s conversations", shown[0]["conversations"])
	}
	for id := range ids[0] { // what is acted on is what the other one saw, too
		for _, g := range gateways {
			if _, err := conversation.Condense(t.Context(), g.Home("key-alice"), id, conversation.CondenseOptions{}); err != nil && precis.CodeOf(err) == precis.CodeConflict {
				t.Errorf("condense: %v", err)
			}
		}
	}
	shares := make([]float64, conversations)
	for k := range shares {
		shares[k] = float64(known[k]) / float64(max(all[k], 1))
	}
	return shares
}

// unmarked finds the breakpoints of a request, which move.
var unmarked = lazyregexp.New(`,"cache_control":\{"type":"ephemeral"\}`)

// common returns how many bytes two texts begin with alike.
func common(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

func text(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
