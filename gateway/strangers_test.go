package gateway_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/provider/providertest"
	"github.com/precis-dev/precis/wire/anthropic"
)

// dial opens a connection to a gateway and sends the beginning of a request.
func dial(t *testing.T, base, head string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if _, err := io.WriteString(c, head); err != nil {
		t.Fatal(err)
	}
	return c
}

const slowHead = "POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n{\"mod"

// What is only announced takes no memory, and bodies that do not come keep nobody
// out.
func TestSlowBodiesKeepNobodyOut(t *testing.T) {
	// Not in parallel: it measures the heap.
	s := providertest.New(t, providertest.Options{})
	base, g := start(t, s.URL, func(o *gateway.Options) { o.Limits.Concurrency = 40 })
	a := newAgent("anthropic", "Read the files.")
	post(t, base+a.path(), a.body(false)) // what is made once is made
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 100 {
		dial(t, base, fmt.Sprintf(slowHead, 64<<20))
	}
	for g.Active() < 100 {
		runtime.Gosched()
	}
	res, body := post(t, base+a.path(), a.body(false))
	runtime.ReadMemStats(&after)
	if res.StatusCode != 200 || !g.Ready() {
		t.Errorf("while 100 bodies do not come: %d %s, ready: %v", res.StatusCode, body, g.Ready())
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 100<<20 {
		t.Errorf("100 announced bodies take %d MB", n>>20)
	}
}

// More connections than the gateway takes are refused, and it says that it is not
// ready.
func TestTooManyBodiesAreRefused(t *testing.T) {
	t.Parallel()
	s := providertest.New(t, providertest.Options{})
	base, g := start(t, s.URL, func(o *gateway.Options) { o.Limits.Concurrency = 4 })
	a := newAgent("anthropic", "Read the files.")
	for range 12 { // of the 16 that may come at a time, one owner has 12
		dial(t, base, fmt.Sprintf(slowHead, 1000))
	}
	for g.Active() < 12 {
		runtime.Gosched()
	}
	res, body := post(t, base+a.path(), a.body(false))
	if res.StatusCode != 503 || res.Header.Get("Retry-After") == "" || !strings.Contains(body, "overloaded_error") {
		t.Errorf("another request of the owner: %d %s", res.StatusCode, body)
	}
	if res, body := post(t, base+a.path(), a.body(false), "X-Api-Key", "somebody-else"); res.StatusCode != 200 || !g.Ready() {
		t.Errorf("another owner: %d %s", res.StatusCode, body)
	}
	for i := range 4 {
		dial(t, base, strings.Replace(fmt.Sprintf(slowHead, 1000), "\r\nContent", fmt.Sprintf("\r\nX-Api-Key: key-%d\r\nContent", i), 1))
	}
	for g.Active() < 16 {
		runtime.Gosched()
	}
	if g.Ready() {
		t.Error("it says that it is ready")
	}
}

// Of the memory for requests a large one waits for its part, and a small one does
// not.
func TestLargeBodiesShareMemory(t *testing.T) {
	t.Parallel()
	s := providertest.New(t, providertest.Options{})
	base, _ := start(t, s.URL, func(o *gateway.Options) { o.Limits.Memory = 8 << 20 })
	large := strings.Repeat("a", 3<<20)
	c := dial(t, base, fmt.Sprintf(slowHead, 1900<<10)+large[:1500<<10]) // takes most
	defer c.Close()
	a := newAgent("anthropic", large)
	waited := make(chan int)
	go func() {
		res, err := http.Post(base+a.path(), "application/json", strings.NewReader(a.body(false)))
		if err != nil {
			waited <- 0
			return
		}
		_ = res.Body.Close()
		waited <- res.StatusCode
	}()
	small := newAgent("anthropic", "Read the files.")
	if res, body := post(t, base+small.path(), small.body(false)); res.StatusCode != 200 {
		t.Errorf("a small one: %d %s", res.StatusCode, body)
	}
	if got := <-waited; got != 503 {
		t.Errorf("the large one: %d", got)
	}
}

func TestCompressionBombsAreRefused(t *testing.T) {
	t.Parallel()
	s := providertest.New(t, providertest.Options{})
	base, _ := start(t, s.URL, nil)
	a := newAgent("anthropic", strings.Repeat("a ", 10<<20))
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = io.WriteString(z, a.body(false))
	_ = z.Close()
	res, body := post(t, base+a.path(), packed.String(), "Content-Encoding", "gzip")
	if res.StatusCode != 413 || len(s.Requests()) > 0 {
		t.Errorf("%d bytes that become %d: %d %s", packed.Len(), len(a.body(false)), res.StatusCode, body)
	}
}

// More messages than any conversation has are passed through as they came.
func TestEndlessMessagesPassThrough(t *testing.T) {
	t.Parallel()
	s := providertest.New(t, providertest.Options{})
	base, g := start(t, s.URL, nil)
	body := `{"model":"m","max_tokens":9,"messages":[` + strings.Repeat(`{"role":"user","content":""},`, 100_001) + `{"role":"user","content":"hi"}]}`
	res, _ := post(t, base+"/v1/messages", body)
	sent := s.Requests()
	if res.Header.Get("X-Precis-Action") != "pass" || len(sent) != 1 || string(sent[0].Body) != body {
		t.Errorf("%d, action %s, %d requests", res.StatusCode, res.Header.Get("X-Precis-Action"), len(sent))
	}
	if n := g.Status(gateway.AllOwners).Memory.Lines; n > 0 {
		t.Errorf("%d lines are remembered", n)
	}
}

// A request without a turn of its own is never a tunnel.
func TestUpgradesArePassedOnAsPlainRequests(t *testing.T) {
	t.Parallel()
	var upgrade string
	up := http.NewServeMux()
	up.HandleFunc("/v1/x", func(w http.ResponseWriter, r *http.Request) {
		upgrade = r.Header.Get("Upgrade") + r.Header.Get("Connection")
		_, _ = io.WriteString(w, "plain")
	})
	s := newServer(t, up)
	base, _ := start(t, s, nil)
	c := dial(t, base, "GET /v1/x HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n")
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil || res.StatusCode != 200 || upgrade != "" {
		t.Errorf("%v, %v, the upstream saw %q", res, err, upgrade)
	}
}

// The route is chosen by the path that the upstream will understand.
func TestPathsDoNotClimb(t *testing.T) {
	t.Parallel()
	asked := 0
	s := newServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { asked++ }))
	base, _ := start(t, s+"/team-a", nil)
	for path, want := range map[string]int{
		"/v1/%2e%2e/%2e%2e/admin": 400, "/v1/..%2f..%2fadmin": 400, "/v1/%252e%252e/admin": 400, "/v1/..%5cadmin": 400, "/v1/./models": 400,
		"/v1/models": 200, "/v1/files/a..b": 200, "/v1/models/gpt-4.1": 200, "/v1/%C3%A9": 200, "/v1/100%25": 200,
	} {
		c := dial(t, base, "GET "+path+" HTTP/1.1\r\nHost: localhost\r\n\r\n")
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil || res.StatusCode != want {
			t.Errorf("%s: %v, %v, want %d", path, res, err, want)
		}
	}
	if asked != 5 {
		t.Errorf("the upstream was asked %d times", asked)
	}
}

func TestWhatProxiesSayOfTheClientStaysHere(t *testing.T) {
	t.Parallel()
	s := providertest.New(t, providertest.Options{})
	base, _ := start(t, s.URL, nil)
	a := newAgent("anthropic", "Read the files.")
	post(t, base+a.path(), a.body(false), "X-Forwarded-For", "10.0.0.7", "Forwarded", "for=10.0.0.7", "X-Forwarded-Host", "inner")
	for name := range s.Requests()[0].Header {
		if strings.Contains(name, "Forwarded") {
			t.Errorf("%s is passed on", name)
		}
	}
}

func TestLongNamesOfModelsAreRefused(t *testing.T) {
	t.Parallel()
	s := providertest.New(t, providertest.Options{})
	base, _ := start(t, s.URL, nil)
	res, body := post(t, base+"/v1/messages", `{"model":"`+strings.Repeat("m", 1<<20)+`","max_tokens":9,"messages":[{"role":"user","content":"hi"}],"tools":[]}`)
	if res.StatusCode != 400 || !strings.Contains(body, "model") || len(body) > 500 {
		t.Errorf("%d %.300s", res.StatusCode, body)
	}
}

// A NUL byte does not end a body.
func TestNothingFollowsABody(t *testing.T) {
	t.Parallel()
	s := providertest.New(t, providertest.Options{})
	base, _ := start(t, s.URL, nil)
	a := newAgent("anthropic", "Read the files.")
	for _, tail := range []string{"\x00", "\x00anything", " \x00", "{}", "]"} {
		if res, body := post(t, base+a.path(), a.body(false)+tail); res.StatusCode != 400 {
			t.Errorf("%q: %d %s", tail, res.StatusCode, body)
		}
	}
}

// What nested results cost grows as their size does.
func TestNestedResultsAreLinear(t *testing.T) {
	// Not in parallel: it measures the heap.
	cost := func(depth int) uint64 {
		one := `{"type":"tool_result","tool_use_id":"t","content":[`
		raw := []byte(`{"role":"user","content":[` + strings.Repeat(one, depth) + strings.Repeat(`]}`, depth) + `]}`)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		m, err := anthropic.Dialect{}.Decode(raw)
		runtime.ReadMemStats(&after)
		if err != nil || len(m.Content) != 1 {
			t.Fatalf("depth %d: %v, %v", depth, m, err)
		}
		if inner := m.Content[0].(precis.ToolResult).Content; len(inner) != 1 || inner[0].(precis.Opaque).Type != "tool_result" {
			t.Fatalf("inside: %#v", inner)
		}
		return after.TotalAlloc - before.TotalAlloc
	}
	few, many := cost(1000), cost(4000)
	if many > 6*few+100_000 {
		t.Errorf("depth 1000 takes %d bytes, 4000 takes %d", few, many)
	}
}

func newServer(t *testing.T, h http.Handler) (url string) {
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}
