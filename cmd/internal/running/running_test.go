package running_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/cmd/internal/config"
	"github.com/precis-dev/precis/cmd/internal/running"
	"github.com/precis-dev/precis/cmd/internal/service"
)

func TestDo(t *testing.T) {
	g := config.Gateway{Store: filepath.Join(t.TempDir(), "c.db")}
	secret, err := service.LocalSecret(g)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get(service.HeaderKey) != "k" || r.Header.Get(service.HeaderLocal) != secret {
			t.Errorf("it proves itself with neither the key nor the secret")
		}
		switch r.URL.Path {
		case "/precis/api/v1/good":
			fmt.Fprint(w, `{"n":1}`)
		case "/precis/api/v1/conflict":
			w.WriteHeader(409)
			fmt.Fprint(w, `{"error":{"code":"conflict","message":"it has moved on"}}`)
		default:
			fmt.Fprint(w, `<html>`)
		}
	}))
	t.Cleanup(s.Close)
	g.Listen = strings.TrimPrefix(s.URL, "http://")
	c, err := running.New(g, "k")
	if err != nil {
		t.Fatal(err)
	}
	var out struct{ N int }
	if err := c.Do(t.Context(), http.MethodPost, "/good", map[string]string{}, &out); err != nil || out.N != 1 {
		t.Errorf("%v %v", out, err)
	}
	for path, want := range map[string]precis.Code{"/conflict": precis.CodeConflict, "/page": precis.CodeUpstream} {
		if err := c.Do(t.Context(), http.MethodGet, path, nil, &out); precis.CodeOf(err) != want {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
	s.Close()
	if err := c.Do(t.Context(), http.MethodGet, "/good", nil, &out); precis.CodeOf(err) != precis.CodeUpstream {
		t.Errorf("without a gateway: %v", err)
	}
}
