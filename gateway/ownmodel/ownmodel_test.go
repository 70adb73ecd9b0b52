package ownmodel_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/gateway/ownmodel"
	"github.com/precis-dev/precis/model"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/provider"
)

// An owner whose quota is used up opens a circuit breaker for nobody else.
func TestOwnersHaveBreakersOfTheirOwn(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.Header.Get("X-Api-Key") == "poor" {
			w.WriteHeader(http.StatusTooManyRequests)
			_, _ = fmt.Fprint(w, `{"type":"error","error":{"type":"rate_limit_error","message":"quota exceeded"}}`)
			return
		}
		_, _ = fmt.Fprint(w, `{"id":"m","type":"message","role":"assistant","model":"claude-x","content":[{"type":"text","text":"fine"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}`)
	}))
	defer s.Close()
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	own := &ownmodel.Models{Config: provider.Config{Retries: -1}}
	ask := func(key string) error {
		ctx := gateway.WithCredentials(context.Background(), gateway.Credentials{Upstream: gateway.Upstream{Name: "up", URL: u}, Owner: key, Header: http.Header{"X-Api-Key": {key}}})
		m := own.Model(ctx, &policy.LiveRequest{Dialect: "anthropic", Model: "claude-x", Body: []byte(`{}`)})
		_, err := m.Generate(ctx, model.Request{Messages: []precis.Message{precis.NewText(precis.RoleUser, "hi")}, MaxTokens: 10})
		return err
	}
	for range 10 {
		if ask("poor") == nil {
			t.Fatal("the quota is not used up")
		}
	}
	if err := ask("rich"); err != nil {
		t.Errorf("another owner: %v", err)
	}
}
