package gateway_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/gateway/windows"
	"github.com/precis-dev/precis/store/memory"
	"github.com/precis-dev/precis/store/sqlite"
)

// narrow is an upstream with a window that nobody was told. It counts the requests that
// it refuses, and answers the others.
func narrow(t *testing.T, refused *atomic.Int64) string {
	return handler(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.URL.Path != "/v1/messages":
			fmt.Fprint(w, `{"data":[{"id":"other","max_input_tokens":50000}]}`)
		case len(body) > 24_000:
			refused.Add(1)
			w.WriteHeader(400)
			fmt.Fprint(w, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 12000 tokens > 6000 maximum"}}`)
		default:
			fmt.Fprint(w, smallAnswer("anthropic", len(body)/4))
		}
	})
}

// one returns the one window that is known; nil when none is.
func one(t *testing.T, g *gateway.Gateway) *windows.Entry {
	t.Helper()
	var out *windows.Entry
	for _, w := range g.Windows().List(t.Context(), gateway.AllOwners) {
		if out != nil {
			t.Fatalf("several windows: %+v, %+v", *out, w)
		}
		out = &w
	}
	return out
}

// What was found out about windows is there after a restart, and what was forgotten is
// not.
func TestWindowsOutliveARestart(t *testing.T) {
	t.Parallel()
	var refused atomic.Int64
	up := narrow(t, &refused)
	path, time := filepath.Join(t.TempDir(), "store.db"), newClock()
	run := func(f func(base string, g *gateway.Gateway)) {
		st, err := sqlite.Open(t.Context(), path, sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		base, g := start(t, up, func(o *gateway.Options) {
			listed(200_000)(o)
			o.Store, o.Now, o.Probe = st, time.Now, true
		})
		f(base, g)
		if err := g.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	}
	_, a := full("anthropic")
	turn := func(base string) {
		t.Helper()
		if res, out := post(t, base+a.path(), a.body(false)); res.StatusCode != 200 {
			t.Fatal(res.StatusCode, out)
		}
	}
	var was windows.Entry
	run(func(base string, g *gateway.Gateway) {
		turn(base)
		turn(base) // waits for the server's answer
		was = *one(t, g)
	})
	if refused.Load() != 1 || was.Stated != 6000 || was.Accepted == 0 || was.Answer == "" {
		t.Fatalf("%d refused, %+v", refused.Load(), was)
	}
	run(func(base string, g *gateway.Gateway) {
		if now := one(t, g); now == nil || now.Window != was.Window || !now.StatedAt.Equal(was.StatedAt) || now.Accepted != was.Accepted || now.Answer != was.Answer || !now.Asked.Equal(was.Asked) {
			t.Errorf("before the restart %+v, behind it %+v", was, now)
		}
		turn(base)
		if refused.Load() != 1 {
			t.Error("the window had to be found out again")
		}
		if n, err := g.Windows().Forget(t.Context(), gateway.AllOwners, "", "claude-sonnet-4-5"); err != nil || n != 2 {
			t.Errorf("%d forgotten, %v", n, err)
		}
	})
	run(func(_ string, g *gateway.Gateway) {
		if now := one(t, g); now != nil {
			t.Errorf("what was forgotten is back: %+v", *now)
		}
	})
}

// What one replica finds out, or forgets, the other one knows, or forgets.
func TestReplicasShareWindows(t *testing.T) {
	t.Parallel()
	var refused atomic.Int64
	up, st := narrow(t, &refused), memory.New()
	replica := func() (string, *gateway.Gateway) {
		return start(t, up, func(o *gateway.Options) {
			listed(200_000)(o)
			o.Store, o.Shared = st, true
		})
	}
	base, first := replica()
	_, second := replica()
	_, a := full("anthropic")
	post(t, base+a.path(), a.body(false))
	_ = one(t, first) // what the answer showed is stored
	if w := one(t, second); w == nil || w.Stated != 6000 || w.Accepted == 0 {
		t.Errorf("the second knows %+v", w)
	}
	if n, err := second.Windows().Forget(t.Context(), gateway.AllOwners, "", ""); err != nil || n != 1 {
		t.Errorf("%d forgotten, %v", n, err)
	}
	if w := one(t, first); w != nil {
		t.Errorf("the first still knows %+v", *w)
	}
	if rows, err := st.LoadWindows(t.Context()); err != nil || len(rows) != 0 {
		t.Errorf("stored: %q, %v", rows, err)
	}
}

// brokenWindows is a store that fails to keep windows, and only those, at times.
type brokenWindows struct {
	*memory.Store
	fails atomic.Bool
}

func (s *brokenWindows) SaveWindows(ctx context.Context, states map[string][]byte) error {
	if s.fails.Load() {
		return errGone
	}
	return s.Store.SaveWindows(ctx, states)
}

// A store that does not take what is known of windows costs nothing but that: it gets it
// later.
func TestWindowsThatCannotBeStored(t *testing.T) {
	t.Parallel()
	var refused atomic.Int64
	st := &brokenWindows{Store: memory.New()}
	// A row of another version of precis, and rows that say nothing.
	foreign := map[string][]byte{`["later","x"]`: []byte("y"), `["shown","up","m","",""]`: []byte("broken"), "nothing": {}}
	if err := st.SaveWindows(t.Context(), foreign); err != nil {
		t.Fatal(err)
	}
	base, g := start(t, narrow(t, &refused), func(o *gateway.Options) { listed(200_000)(o); o.Store = st })
	st.fails.Store(true)
	_, a := full("anthropic")
	if res, out := post(t, base+a.path(), a.body(false)); res.StatusCode != 200 {
		t.Fatal(res.StatusCode, out)
	}
	if n, err := g.Windows().Forget(t.Context(), gateway.AllOwners, "up", "another"); precis.CodeOf(err) != precis.CodeInternal || n != 0 {
		t.Errorf("%d forgotten, %v", n, err)
	}
	if rows, _ := st.LoadWindows(t.Context()); len(rows) != len(foreign) {
		t.Errorf("stored: %q", rows)
	}
	st.fails.Store(false)
	if _, err := g.Windows().Forget(t.Context(), gateway.AllOwners, "up", "another"); err != nil {
		t.Error(err)
	}
	rows, _ := st.LoadWindows(t.Context())
	if len(rows) != len(foreign)+1 {
		t.Errorf("stored: %q", rows)
	}
	for row, state := range rows {
		if strings.Contains(row, "claude") && !strings.Contains(string(state), `"tokens":6000`) {
			t.Errorf("%s: %s", row, state)
		}
	}
}
