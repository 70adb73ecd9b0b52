package gateway_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"precis/gateway"
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
