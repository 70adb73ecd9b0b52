package gateway_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/precis-dev/precis/gateway"
)

func TestServersAreAskedForTheirWindow(t *testing.T) {
	t.Parallel()
	for name, answers := range map[string]map[string]string{
		"vllm":     {"/v1/models": `{"data":[{"id":"other","max_model_len":1},{"id":"claude-unheard-of","max_model_len":9000}]}`},
		"llama":    {"/v1/models": `{"data":[]}`, "/props": `{"default_generation_settings":{"n_ctx":9000}}`},
		"lmstudio": {"/api/v0/models": `{"data":[{"id":"claude-unheard-of","max_context_length":50000,"loaded_context_length":9000}]}`},
		"ollama":   {"/v1/models": "not json", "/api/show": `{"parameters":"stop \"x\"\nnum_ctx                        9000"}`},
		"nobody":   {},
	} {
		t.Run(name, func(t *testing.T) {
			base, _ := start(t, handler(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/v1/messages" {
					fmt.Fprint(w, `{"type":"message"}`)
					return
				}
				body, ok := answers[r.URL.Path]
				if !ok || r.Header.Get("X-Api-Key") != "k" {
					http.NotFound(w, r)
					return
				}
				fmt.Fprint(w, body)
			}), func(o *gateway.Options) { o.Probe = true })
			a := newAgent("anthropic", "Read.")
			a.read(1, "text")
			want, tries := "9000 server", 2000
			if name == "nobody" {
				want, tries = "128000 assumed", 50
			}
			got := ""
			for range tries { // it is asked in the background
				res, _ := post(t, base+"/v1/messages", strings.ReplaceAll(a.body(false), "claude-sonnet-4-5", "claude-unheard-of"), "X-Api-Key", "k")
				if got = res.Header.Get("X-Precis-Window"); got == want && name != "nobody" {
					break
				}
				time.Sleep(time.Millisecond)
			}
			if got != want {
				t.Errorf("window %s, want %s", got, want)
			}
		})
	}
}

// A server is asked as the turns come: with all that they prove themselves with, and nothing that is about their bodies.
func TestServersAreAskedAsTurnsCome(t *testing.T) {
	t.Parallel()
	need := map[string]string{
		"Anthropic-Beta": "oauth-2025-04-20", "Copilot-Integration-Id": "vscode-chat", "Cf-Access-Client-Id": "c", "X-Company-Team": "t",
		"User-Agent": "agent/1", "Cookie": "session=1", "Authorization": "Bearer k",
	}
	var mu sync.Mutex
	var questions []*http.Request
	base, _ := start(t, handler(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/messages" {
			fmt.Fprint(w, `{"type":"message"}`)
			return
		}
		mu.Lock()
		questions = append(questions, r)
		mu.Unlock()
		for name, value := range need {
			if r.Header.Get(name) != value || r.URL.Query().Get("api-version") != "2026-01-01" {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
		}
		if r.URL.Path == "/v1/models" {
			fmt.Fprint(w, `{"data":[{"id":"claude-unheard-of","max_input_tokens":9000}]}`)
		}
	}), func(o *gateway.Options) { o.Probe = true })
	a := newAgent("anthropic", "Read.")
	a.read(1, words(3000, 1)) // so large that the second turn waits for the answer
	headers := []string{"X-Precis-Focus", "tests", "Te", "trailers", "Idempotency-Key", "1", "Cache-Control", "no-store", "Anthropic-Version", "2023-06-01"}
	for name, value := range need {
		headers = append(headers, name, value)
	}
	got := ""
	for range 2 {
		res, _ := post(t, base+"/v1/messages?api-version=2026-01-01", strings.ReplaceAll(a.body(false), "claude-sonnet-4-5", "claude-unheard-of"), headers...)
		got = res.Header.Get("X-Precis-Window")
	}
	if got != "9000 server" {
		t.Errorf("window %s", got)
	}
	mu.Lock()
	defer mu.Unlock()
	for _, r := range questions {
		for _, name := range []string{"X-Precis-Focus", "Te", "Idempotency-Key", "Cache-Control"} {
			if r.Header.Get(name) != "" {
				t.Errorf("%s has the header %s", r.URL.Path, name)
			}
		}
	}
}
