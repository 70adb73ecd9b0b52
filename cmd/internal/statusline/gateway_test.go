package statusline_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/cmd/internal/config"
	"github.com/precis-dev/precis/cmd/internal/console"
	"github.com/precis-dev/precis/cmd/internal/running"
	"github.com/precis-dev/precis/cmd/internal/statusline"
)

const list = `{"items":[
	{"id":"c0","tokens":9,"window":10,"requests":1,"hints":{"X-Claude-Code-Session-Id":"s1","X-Claude-Code-Agent-Id":"a1"}},
	{"id":"c1","model":"claude-x","tokens":50000,"window":200000,"requests":10,"hints":{"X-Claude-Code-Session-Id":"s1"}},
	{"id":"c2","tokens":1,"window":10}]}`

func from(t *testing.T, h http.HandlerFunc) statusline.Sources {
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	gw, err := running.New(config.Gateway{Listen: strings.TrimPrefix(server.URL, "http://")}, "")
	if err != nil {
		t.Fatal(err)
	}
	return statusline.Sources{
		Gateway: gw, Threshold: 75,
		Window: func(string) precis.Window { return precis.Window{Tokens: 128_000} },
	}
}

// A gateway knows what is sent, and what precis did.
func TestOfAGateway(t *testing.T) {
	src := from(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/precis/api/v1/conversations":
			fmt.Fprint(w, list)
		case "/precis/api/v1/conversations/c1":
			fmt.Fprint(w, `{"status":{"tokens":51000,"window":200000,"percent":25.5},"room":{"limit":150000,"left":99000,"growth":9000,"lasts":11},"edits":{"in_force":2,"tokens_saved":50000,"cost_usd":0.07}}`)
		}
	})
	src.Client.Session = "s1"
	src.Client.Cost.USD = 0.5
	s := statusline.Read(t.Context(), src)
	if got, want := s.Line(&console.Words{}), "26 % of 200,000, about 11 turns left, $0.57, 2 edits of precis saved 50,000"; got != want {
		t.Errorf("%s", got)
	}
	if s.ID != "c1" || s.Model != "claude-x" || s.Bar() != "███░░░░░░░" {
		t.Errorf("%+v", s)
	}
	src.Client.Session = "another"
	if s := statusline.Read(t.Context(), src); s.Known() || s.Gateway {
		t.Errorf("another session: %+v", s)
	}
}

// A gateway that is slow or refuses changes nothing but that the status has the reason.
func TestWithoutAnAnswer(t *testing.T) {
	block := make(chan struct{})
	for name, h := range map[string]http.HandlerFunc{
		"refuses": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) },
		"slow": func(_ http.ResponseWriter, r *http.Request) {
			select {
			case <-block:
			case <-r.Context().Done():
			}
		},
	} {
		src := from(t, h)
		src.Client.Session = "s1"
		if s := statusline.Read(t.Context(), src); s.Known() || s.Line(&console.Words{}) != "precis: no request yet" || s.Err == nil {
			t.Errorf("%s: %+v", name, s)
		}
	}
	close(block)
}
