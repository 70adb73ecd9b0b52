package control_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/gateway/control"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/preset"
	"github.com/precis-dev/precis/provider/providertest"
	"github.com/precis-dev/precis/store/sqlite"
)

// place is a gateway with its API, in front of a scripted upstream.
type place struct {
	t        *testing.T
	base     string
	up       *providertest.Server
	doc      map[string]any
	events   *control.Events
	gateway  *gateway.Gateway
	settings policy.Settings
	stop     func()
}

type change func(*gateway.Options, *control.Options)

// start begins a gateway; st may be nil.
func start(t *testing.T, st precis.Store, changes ...change) *place {
	t.Helper()
	p := &place{t: t, up: providertest.New(t, providertest.Options{Window: 20_000}), events: control.NewEvents()}
	p.settings, _ = preset.Settings(preset.Frugal)
	m, err := preset.New(preset.Options{Settings: p.settings})
	if err != nil {
		t.Fatal(err)
	}
	u, _ := url.Parse(p.up.URL)
	o := gateway.Options{
		Upstreams: []gateway.Upstream{{Name: "up", URL: u}}, Manager: m, Store: st, OnTurn: p.events.PublishTurn, Replica: "r1",
		Window: func(context.Context, string) precis.Window {
			return precis.Window{Tokens: 20_000, Source: precis.SourceConfigured}
		},
		Cost: func(dialect, _ string, u precis.Usage) float64 {
			if dialect != "anthropic" {
				u.Input -= u.CacheRead // counts as input there
			}
			return float64(u.Input+u.Output)/1e6 + float64(u.CacheRead)/1e7
		},
	}
	co := control.Options{Events: p.events}
	for _, c := range changes {
		c(&o, &co)
	}
	g, err := gateway.New(o)
	if err != nil {
		t.Fatal(err)
	}
	co.Gateway, p.gateway = g, g
	mux := http.NewServeMux()
	mux.Handle(control.Prefix+"/", control.New(co))
	mux.Handle("/", g)
	s := httptest.NewServer(mux)
	p.base = s.URL
	stopped := false
	p.stop = func() {
		if stopped {
			return
		}
		stopped = true
		p.events.Close()
		s.Close()
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := g.Close(ctx); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(p.stop)
	raw, err := os.ReadFile("openapi.json")
	if err == nil {
		err = json.Unmarshal(raw, &p.doc)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func openStore(t *testing.T) *sqlite.Store {
	t.Helper()
	st, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "store.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	return st
}

// send asks the API; what comes back is checked against its document.
func (p *place) send(method, path, body string, headers ...string) (*http.Response, []byte) {
	p.t.Helper()
	req, err := http.NewRequestWithContext(p.t.Context(), method, p.base+control.Prefix+path, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	if method != "GET" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		if req.Header.Set(headers[i], headers[i+1]); headers[i] == "Host" {
			req.Host = headers[i+1]
		}
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	p.check(method, req.URL.Path, res, raw)
	return res, raw
}

// sendRaw asks without a look into the document, whose checker reads no broken text.
func (p *place) sendRaw(path, body string) (*http.Response, []byte) {
	p.t.Helper()
	res, err := http.Post(p.base+control.Prefix+path, "application/json", strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return res, raw
}

// get asks for something that there is, and reads it into v.
func (p *place) get(path string, v any) {
	p.t.Helper()
	p.want(http.StatusOK, "GET", path, "", v)
}

func (p *place) post(path, body string, v any) {
	p.t.Helper()
	p.want(http.StatusOK, "POST", path, body, v)
}

func (p *place) want(status int, method, path, body string, v any, headers ...string) {
	p.t.Helper()
	res, raw := p.send(method, path, body, headers...)
	if res.StatusCode != status {
		p.t.Fatalf("%s %s: %d %s, want %d", method, path, res.StatusCode, raw, status)
	}
	if v != nil {
		if err := json.Unmarshal(raw, v); err != nil {
			p.t.Fatalf("%s %s: %v in %s", method, path, err, raw)
		}
	}
}

// problem asks for what is refused and returns the error.
func (p *place) problem(status int, method, path, body string, headers ...string) (code, message string) {
	p.t.Helper()
	var f struct {
		Error struct{ Code, Message, Hint string }
	}
	p.want(status, method, path, body, &f, headers...)
	return f.Error.Code, f.Error.Message
}

// serve puts another handler in the place of the API.
func (p *place) serve(h http.Handler) {
	s := httptest.NewServer(h)
	p.t.Cleanup(s.Close)
	p.base = s.URL
}
