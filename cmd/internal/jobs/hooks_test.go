package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/precis-dev/precis/cmd/internal/config"
	"github.com/precis-dev/precis/condense"
	"github.com/precis-dev/precis/policy"
)

func TestHooksAreCommandsOrURLs(t *testing.T) {
	var got condense.HookEvent
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/veto":
			w.WriteHeader(http.StatusConflict)
		case "/broken":
			w.WriteHeader(http.StatusBadGateway)
		default:
			if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
				t.Error(err)
			}
			_, _ = io.WriteString(w, "from the web\n")
		}
	}))
	defer server.Close()
	for _, tt := range []struct {
		where, want string
		veto, fails bool
	}{
		{where: server.URL + "/ok", want: "from the web"},
		{where: server.URL + "/veto", veto: true},
		{where: server.URL + "/broken", fails: true},
		{where: "cat", want: `"messages":7`},
		{where: "exit 10", veto: true},
		{where: "exit 1", fails: true},
		{where: "no-such-program-here", fails: true},
	} {
		h := hooks(config.Hooks{Before: tt.where})
		text, err := h.Before(t.Context(), condense.HookEvent{Conversation: "c", Messages: 7})
		if errors.Is(err, condense.ErrVeto) != tt.veto || (err != nil) != (tt.veto || tt.fails) || !strings.Contains(text, tt.want) {
			t.Errorf("%s: %q, %v", tt.where, text, err)
		}
	}
	if got.Messages != 7 || got.Conversation != "c" {
		t.Errorf("told %+v", got)
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := send(canceled, "sleep 20", policy.Alert{}); err == nil {
		t.Error("a canceled hook goes on")
	}
}

func TestHooksForAlertsGetTheWordsOfWebhooks(t *testing.T) {
	got, err := send(t.Context(), "cat", policy.Alert{Kind: "spend_limit", Conversation: "c", Scope: "day", SpentUSD: 1.5, LimitUSD: 1})
	if want := `{"kind":"spend_limit","conversation":"c","scope":"day","spent_usd":1.5,"limit_usd":1}`; err != nil || got != want {
		t.Errorf("%s, %v; want %s", got, err, want)
	}
}

func TestHooksAroundRungsAreCommandsOrURLs(t *testing.T) {
	if h := rungHooks(config.Hooks{}); h.Before != nil || h.After != nil {
		t.Error("there are hooks that nobody has configured")
	}
	h := rungHooks(config.Hooks{RungBefore: `grep -q '"rung":"digest"' && exit 10 || true`, RungAfter: `sed 's/.*"text":"\([^"]*\)".*/edited: \1/'`})
	if err := h.Before(t.Context(), policy.RungEvent{When: "before", Rung: "digest"}); !errors.Is(err, policy.ErrVeto) {
		t.Errorf("the digest is not vetoed: %v", err)
	}
	if err := h.Before(t.Context(), policy.RungEvent{When: "before", Rung: "prune"}); err != nil {
		t.Error(err)
	}
	text, err := h.After(t.Context(), policy.RungEvent{Rung: "digest", Proposal: &policy.Proposal{Text: "a digest"}})
	if err != nil || text != "edited: a digest" {
		t.Errorf("%q, %v", text, err)
	}
}
