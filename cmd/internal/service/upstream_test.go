package service_test

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/cmd/internal/config"
	"github.com/precis-dev/precis/cmd/internal/service"
)

func TestURLsThatAreUsedAsTheyAre(t *testing.T) {
	var paths []string
	upstream := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { paths = append(paths, r.URL.Path) }))
	defer upstream.Close()
	for url, want := range map[string]string{
		upstream.URL:                  "/v1/chat/completions",
		upstream.URL + "/v1":          "/v1/chat/completions",
		upstream.URL + "/api/paas/v4": "/api/paas/v4/chat/completions",
		upstream.URL + "/openai":      "/openai/v1/chat/completions",
		upstream.URL + "/openai#":     "/openai/chat/completions",
		upstream.URL + "#":            "/chat/completions",
	} {
		s := open(t, "gateway: {store: memory, others: ['openai="+url+"']}\n")
		paths = nil
		s.ask("POST", "/v1/chat/completions", `{"model":"gpt-5","messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"x"}}]}`)
		if got := strings.Join(paths, " "); got != want {
			t.Errorf("%s: asked for %q, want %q", strings.TrimPrefix(url, upstream.URL), got, want)
		}
	}
}

func TestUpstreamCertificates(t *testing.T) {
	upstream := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer upstream.Close()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: upstream.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, "gateway: {store: memory, upstream: '"+upstream.URL+"'}\n")
	if got := s.ask("GET", "/v1/models", ""); got.Code != 502 || !strings.Contains(got.Body.String(), "NODE_EXTRA_CA_CERTS") {
		t.Errorf("an unknown certificate: %d %s", got.Code, got.Body)
	}
	const turn = `{"model":"claude-sonnet-4-5","max_tokens":9,"messages":[{"role":"user","content":"hi"}],"tools":[{"name":"x","input_schema":{"type":"object"}}]}`
	if got := s.ask("POST", "/v1/messages", turn); got.Code != 502 || !strings.Contains(got.Body.String(), "NODE_EXTRA_CA_CERTS") {
		t.Errorf("an unknown certificate, for a turn: %d %s", got.Code, got.Body)
	}
	for _, name := range []string{"NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE"} { // what the client program would trust
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, ca)
			s := open(t, "gateway: {store: memory, upstream: '"+upstream.URL+"'}\n")
			if got := s.ask("GET", "/v1/models", ""); got.Code != 200 {
				t.Errorf("%d", got.Code)
			}
		})
	}
	t.Setenv("CURL_CA_BUNDLE", filepath.Join(t.TempDir(), "none")) // no reason not to begin
	s = open(t, "gateway: {store: memory, upstream: '"+upstream.URL+"', upstream_ca_file: "+ca+"}\n")
	if got := s.ask("GET", "/v1/models", ""); got.Code != 200 {
		t.Errorf("one that is configured: %d", got.Code)
	}
	_, err := service.Transport(config.Gateway{UpstreamCA: filepath.Join(t.TempDir(), "none")}, nil)
	if precis.CodeOf(err) != precis.CodeInvalid || !strings.Contains(err.Error(), "gateway.upstream_ca_file") {
		t.Error(err)
	}
}

func TestUpstreamProxy(t *testing.T) {
	var asked string
	proxy := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked = r.URL.String() }))
	defer proxy.Close()
	s := open(t, "gateway: {store: memory, upstream: 'http://api.example', proxy: '"+proxy.URL+"'}\n")
	if got := s.ask("GET", "/v1/models", ""); got.Code != 200 || asked != "http://api.example/v1/models" {
		t.Errorf("%d, the proxy was asked for %q", got.Code, asked)
	}
	if _, err := service.Transport(config.Gateway{Proxy: "nonsense"}, nil); precis.CodeOf(err) != precis.CodeInvalid {
		t.Error(err)
	}
}
