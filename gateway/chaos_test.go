package gateway_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/gateway/accounts"
	"github.com/precis-dev/precis/provider/providertest"
	"github.com/precis-dev/precis/store/sqlite"
)

// chaos is one conversation of 40 turns in front of a scripted upstream, while something goes
// wrong that a row of the table names.
type chaos struct {
	t        *testing.T
	dir      string
	secret   string
	shared   bool
	patience time.Duration // of requests with the store
	clock    atomic.Int64  // what is added to the time of the gateway
	up       *httptest.Server
	bad      atomic.Pointer[func(http.ResponseWriter) bool] // answers instead of the upstream; nil: nobody does
	mu       sync.Mutex
	last     []byte // the newest request that the upstream has answered
	faulty   []*faulty
	bases    []string
	open     []*gateway.Gateway

	refused int             // turns that were not answered with a success
	lost    int             // turns without a splice that did not begin as the one before
	ids     map[string]bool // of the conversations
	spliced int
}

const chaosTurns = 40

func newChaos(t *testing.T) *chaos {
	c := &chaos{t: t, dir: t.TempDir(), secret: "0123456789abcdef", patience: time.Minute, ids: map[string]bool{}}
	s := providertest.New(t, providertest.Options{})
	proxy := httputil.NewSingleHostReverseProxy(parsed(t, s.URL))
	c.up = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if bad := c.bad.Load(); bad != nil && r.Method == http.MethodPost && (*bad)(w) {
			return
		}
		var b bytes.Buffer
		_, _ = b.ReadFrom(r.Body)
		if r.Method == http.MethodPost {
			c.mu.Lock()
			c.last = bytes.Clone(b.Bytes())
			c.mu.Unlock()
		}
		r.Body = io.NopCloser(&b)
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(c.up.Close)
	return c
}

// begin starts a replica over the database.
func (c *chaos) begin() int {
	st, err := sqlite.Open(c.t.Context(), filepath.Join(c.dir, "c.db"), sqlite.Options{})
	if err != nil {
		c.t.Fatal(err)
	}
	f := newFaulty(st)
	o := gateway.Options{
		Upstreams: []gateway.Upstream{{Name: "up", URL: parsed(c.t, c.up.URL)}}, Manager: frugal(c.t), Store: f, Shared: c.shared, Patience: c.patience,
		Auth: gateway.Auth{Keys: map[string]string{accounts.HashKey("k"): "alice"}, Secret: []byte(c.secret)}, Now: func() time.Time { return time.Now().Add(time.Duration(c.clock.Load())) },
	}
	window(4000)(&o)
	g, err := gateway.New(o)
	if err != nil {
		c.t.Fatal(err)
	}
	s := httptest.NewServer(g)
	c.t.Cleanup(func() {
		s.Close()
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = g.Close(ctx) // some stores fail to the end
		_ = st.Close()
	})
	c.faulty, c.bases, c.open = append(c.faulty, f), append(c.bases, s.URL), append(c.open, g)
	return len(c.bases) - 1
}

// turn sends a turn to a replica, again until it is answered, as clients do.
func (c *chaos) turn(a *agent, n, at int) {
	a.read(n, words(15, n))
	c.mu.Lock()
	before := c.last
	c.mu.Unlock()
	var why any
	spliced := false // also by a request that was not answered
	for range 4 {
		res, err := c.post(a, n, at)
		spliced = spliced || res != nil && res.Header.Get("X-Precis-Action") == "reduced"
		if err != nil || res.StatusCode != 200 {
			why = err
			if err == nil {
				why = res.StatusCode
			}
			c.refused++
			continue
		}
		c.ids[res.Header.Get("X-Precis-Conversation")] = true
		if spliced {
			c.spliced++
		} else if c.mu.Lock(); !continues(before, c.last) {
			c.lost++
			c.mu.Unlock()
		} else {
			c.mu.Unlock()
		}
		return
	}
	c.t.Fatalf("turn %d is never answered: %v", n, why)
}

func (c *chaos) post(a *agent, n, at int) (*http.Response, error) {
	req, err := http.NewRequestWithContext(c.t.Context(), http.MethodPost, c.bases[at]+a.path(), strings.NewReader(a.body(n%2 == 0)))
	if err != nil {
		return nil, err
	}
	req.Header.Set("X-Precis-Key", "k")
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Anthropic-Version", "2023-06-01")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	var b bytes.Buffer
	if _, err := b.ReadFrom(res.Body); err != nil {
		return res, err
	}
	if bytes.Contains(b.Bytes(), []byte(`"type":"error"`)) {
		return res, fmt.Errorf("%d %.300s", res.StatusCode, b.Bytes())
	}
	return res, nil
}

// continues reports whether a request begins with all messages of the one before.
func continues(before, now []byte) bool {
	list := func(body []byte) (out []string) {
		var v struct{ Messages []json.RawMessage }
		_ = json.Unmarshal(body, &v)
		for _, m := range v.Messages {
			out = append(out, strings.ReplaceAll(string(m), `,"cache_control":{"type":"ephemeral"}`, ""))
		}
		return out
	}
	a, b := list(before), list(now)
	if len(a) > len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// chaosRows are what may go wrong. Each leads one conversation through its turns, and says how
// many turns its client had to send again at most, and how many conversations come of it.
var chaosRows = []struct {
	name    string
	refused int
	ids     int
	run     func(c *chaos, a *agent)
}{
	{"nothing", 0, 1, func(c *chaos, a *agent) {
		c.begin()
		for n := 1; n <= chaosTurns; n++ {
			c.turn(a, n, 0)
		}
	}},
	{"the process is killed every ten turns", 0, 1, func(c *chaos, a *agent) {
		at := c.begin()
		for n := 1; n <= chaosTurns; n++ {
			c.turn(a, n, at)
			if n%10 == 0 {
				c.settle(at)
				c.faulty[at].set(fails) // what it has not stored is lost
				at = c.begin()
			}
		}
	}},
	{"the disk is full for twenty turns", 0, 1, func(c *chaos, a *agent) {
		c.begin()
		for n := 1; n <= chaosTurns; n++ {
			c.faulty[0].set(map[bool]int32{true: fails, false: works}[n > 10 && n <= 30])
			c.turn(a, n, 0)
		}
	}},
	{"the store hangs for ten turns", 0, 1, func(c *chaos, a *agent) {
		c.patience = 200 * time.Millisecond
		c.begin()
		for n := 1; n <= chaosTurns; n++ {
			c.faulty[0].set(map[bool]int32{true: hangs, false: works}[n > 10 && n <= 20])
			c.turn(a, n, 0)
		}
	}},
	{"the upstream cuts every fourth stream", chaosTurns / 4, 1, func(c *chaos, a *agent) {
		c.begin()
		c.every(a, 4, func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = w.Write([]byte("event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"model\":\"m\"}}\n\n"))
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		})
	}},
	{"the upstream answers 429, 500, 529 in turn", chaosTurns / 4, 1, func(c *chaos, a *agent) {
		c.begin()
		n := 0
		c.every(a, 4, func(w http.ResponseWriter) {
			n++
			w.WriteHeader([]int{429, 500, 529}[n%3])
			_, _ = w.Write([]byte(`{"type":"error","error":{"type":"api_error","message":"no"}}`))
		})
	}},
	{"turns alternate between two replicas", 0, 1, func(c *chaos, a *agent) {
		c.shared = true
		c.begin()
		c.begin()
		for n := 1; n <= chaosTurns; n++ {
			c.turn(a, n, n%2)
		}
	}},
	{"one of two replicas loses the store", 0, 1, func(c *chaos, a *agent) {
		c.shared = true
		c.begin()
		c.begin()
		for n := 1; n <= chaosTurns; n++ {
			c.faulty[1].set(map[bool]int32{true: fails, false: works}[n > 20])
			c.turn(a, n, map[bool]int{true: 0, false: n % 2}[n > 20])
		}
	}},
	{"a replica begins with a second secret", 0, 1, func(c *chaos, a *agent) {
		c.begin()
		for n := 1; n <= chaosTurns; n++ {
			if n == 20 {
				c.settle(0)
				c.secret = "fedcba9876543210"
				c.begin()
			}
			c.turn(a, n, len(c.bases)-1)
		}
	}},
	{"all is said again, word for word", 0, 2, func(c *chaos, a *agent) {
		c.begin()
		for round := 0; round < 2; round++ {
			*a = *newAgent(a.dialect, "Read the files one by one.")
			for n := 1; n <= chaosTurns/2; n++ {
				if n == 1 {
					c.last = nil
				}
				c.turn(a, n, 0)
			}
		}
	}},
	{"the clock is set back by a day", 0, 1, func(c *chaos, a *agent) {
		c.begin()
		for n := 1; n <= chaosTurns; n++ {
			if n == 20 {
				c.clock.Store(int64(-24 * time.Hour))
			}
			c.turn(a, n, 0)
		}
	}},
	{"the clock jumps ahead by a year and back", 0, 1, func(c *chaos, a *agent) {
		c.begin()
		for n := 1; n <= chaosTurns; n++ {
			c.clock.Store(map[bool]int64{true: int64(365 * 24 * time.Hour)}[n >= 15 && n < 25])
			c.turn(a, n, 0)
		}
	}},
}

// every leads the conversation on while every kth request of it is answered by bad.
func (c *chaos) every(a *agent, k int, bad func(http.ResponseWriter)) {
	for n := 1; n <= chaosTurns; n++ {
		if n%k == 0 {
			var once atomic.Bool
			f := func(w http.ResponseWriter) bool {
				if !once.CompareAndSwap(false, true) {
					return false
				}
				bad(w)
				return true
			}
			c.bad.Store(&f)
		}
		c.turn(a, n, 0)
	}
}

// settle waits until a replica has stored what it has.
func (c *chaos) settle(at int) {
	h, ok := c.open[at].Home("key-alice").(conversation.Stored)
	if !ok {
		return
	}
	for { // what is not stored is lost with the process
		if _, err := h.Store(c.t.Context(), "key-alice"); precis.CodeOf(err) != precis.CodeCanceled || c.t.Context().Err() != nil {
			return
		}
	}
}

// TestChaos leads conversations through everything that goes wrong. make chaos prints the table.
func TestChaos(t *testing.T) {
	var mu sync.Mutex
	rows := map[string]string{}
	t.Cleanup(func() {
		t.Logf("| %-42s | again | lost prefix | conversations | splices |", "what goes wrong")
		for _, row := range chaosRows {
			t.Log(rows[row.name])
		}
	})
	for _, row := range chaosRows {
		t.Run(strings.ReplaceAll(row.name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			c := newChaos(t)
			row.run(c, newAgent("anthropic", "Read the files one by one."))
			mu.Lock()
			rows[row.name] = fmt.Sprintf("| %-42s | %5d | %11d | %13d | %7d |", row.name, c.refused, c.lost, len(c.ids), c.spliced)
			mu.Unlock()
			if c.refused > row.refused || c.lost > 0 || len(c.ids) > row.ids {
				t.Errorf("%d turns were sent again, %d lost their prefix, %d conversations; at most %d, 0, %d", c.refused, c.lost, len(c.ids), row.refused, row.ids)
			}
		})
	}
}
