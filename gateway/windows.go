package gateway

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"precis"
	"precis/internal/jsonspan"
)

// windowKey is what a window depends on: accounts of one upstream have different
// ones, and betas change them.
type windowKey struct{ upstream, model, owner, betas string }

// windows knows the context windows of models: those configured, learned from
// overflow errors, and asked of servers.
type windows struct {
	configured func(ctx context.Context, model string) precis.Window
	transport  http.RoundTripper
	background func(func(context.Context)) bool

	mu    sync.RWMutex
	known map[windowKey]int           // learned from errors
	asked map[[2]string]precis.Window // what servers say; no tokens: nothing, or not yet
}

// of returns the context window of a model at an upstream: what an error
// said, unless the user set a smaller one; what the server says where nobody else
// knows.
func (w *windows) of(ctx context.Context, key windowKey) precis.Window {
	out := w.configured(ctx, key.model)
	w.mu.RLock()
	told, asked := w.known[key], w.asked[[2]string{key.upstream, key.model}]
	w.mu.RUnlock()
	if asked.Tokens > 0 && out.Source == precis.SourceAssumed {
		out = asked
	}
	if told > 0 && (told < out.Tokens || out.Source == precis.SourceAssumed) {
		return precis.Window{Tokens: told, Source: precis.SourceLearned, Detail: "an error of " + key.upstream}
	}
	return out
}

// learnBelow remembers that a model refused a request of this size, as
// counted here, without saying what it takes.
func (w *windows) learnBelow(key windowKey, tokens int) {
	const margin = 0.97
	tokens = int(float64(tokens) * margin)
	w.mu.RLock()
	known := w.known[key]
	w.mu.RUnlock()
	if known == 0 || tokens < known {
		w.learn(key, tokens)
	}
}

// mostWindows is how many windows are remembered, for names of models are the
// clients' to choose.
const mostWindows = 4096

// learn remembers the window that an overflow error stated. What is too small to
// be one is not believed.
func (w *windows) learn(key windowKey, tokens int) {
	const least = 1000
	if tokens < least {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.known == nil || len(w.known) >= mostWindows {
		w.known = map[windowKey]int{}
	}
	w.known[key] = tokens
}

// taken forgets a window that a request larger than it disproves.
func (w *windows) taken(key windowKey, tokens int) {
	w.mu.RLock()
	known := w.known[key]
	w.mu.RUnlock()
	if known == 0 || tokens <= known {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.known, key)
}

// learned returns the windows that errors named to an owner.
func (w *windows) learned(owner string) []LearnedWindow {
	w.mu.RLock()
	defer w.mu.RUnlock()
	out := []LearnedWindow{}
	for key, tokens := range w.known {
		if owner != AllOwners && owner != key.owner {
			continue
		}
		out = append(out, LearnedWindow{key.upstream, key.model, tokens})
	}
	slices.SortFunc(out, func(a, b LearnedWindow) int {
		return cmp.Or(cmp.Compare(a.Upstream, b.Upstream), cmp.Compare(a.Model, b.Model))
	})
	return out
}

// Servers that people run themselves know the window a model was loaded with.
// Each says it in its own way:
//
//	vLLM, SGLang        GET /v1/models      data[].max_model_len
//	OpenRouter, Groq    GET /v1/models      data[].context_length, context_window
//	llama.cpp           GET /props          default_generation_settings.n_ctx
//	LM Studio           GET /api/v0/models  data[].loaded_context_length
//	Ollama              POST /api/show      parameters: num_ctx

const (
	probeFor   = 10 * time.Second
	probeLimit = 4 << 20
)

// probe asks the upstream for the window of a model, once.
func (w *windows) probe(c Credentials, model string) {
	key := [2]string{c.Upstream.Name, model}
	w.mu.Lock()
	_, done := w.asked[key]
	if w.asked == nil {
		w.asked = map[[2]string]precis.Window{}
	}
	if done = done || len(w.asked) >= mostWindows; !done {
		w.asked[key] = precis.Window{}
	}
	w.mu.Unlock()
	if done {
		return
	}
	w.background(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, probeFor)
		defer cancel()
		found := w.ask(ctx, c, model)
		w.mu.Lock()
		w.asked[key] = found
		w.mu.Unlock()
	})
}

// ask asks in every way until one is answered.
func (w *windows) ask(ctx context.Context, c Credentials, model string) precis.Window {
	show, _ := json.Marshal(map[string]string{"model": model}) // strings have a JSON form
	for _, q := range []struct {
		method, path string
		body         []byte
		read         func(answer []byte, model string) int
	}{
		{http.MethodGet, "/v1/models", nil, listedWindow},
		{http.MethodGet, "/props", nil, llamaWindow},
		{http.MethodGet, "/api/v0/models", nil, listedWindow},
		{http.MethodPost, "/api/show", show, ollamaWindow},
	} {
		if n := q.read(w.fetch(ctx, c, q.method, q.path, q.body), model); n > 0 {
			return precis.Window{Tokens: n, Source: precis.SourceServer, Detail: c.Upstream.Name + q.path}
		}
	}
	return precis.Window{}
}

// fetch returns the body of a successful answer; nil of any other.
func (w *windows) fetch(ctx context.Context, c Credentials, method, path string, body []byte) []byte {
	req, err := http.NewRequestWithContext(ctx, method, c.Upstream.join(path, "").String(), strings.NewReader(string(body)))
	if err != nil {
		return nil
	}
	req.Header = c.Header.Clone()
	res, err := w.transport.RoundTrip(req)
	if err != nil {
		return nil
	}
	defer res.Body.Close()
	out, err := io.ReadAll(io.LimitReader(res.Body, probeLimit))
	if err != nil || res.StatusCode != http.StatusOK {
		return nil
	}
	return out
}

// windowFields are the names of a window in lists of models, that of the model as
// it is loaded first.
var windowFields = []string{"loaded_context_length", "max_model_len", "context_window", "context_length", "max_context_length"}

func listedWindow(answer []byte, model string) int {
	for m, err := range jsonspan.Array(jsonspan.Field(answer, "data")) {
		if err != nil {
			return 0
		}
		if id, _ := jsonspan.String(jsonspan.Field(m.Raw, "id")); id != model {
			continue
		}
		for _, name := range windowFields {
			if n := jsonspan.Int(jsonspan.Field(m.Raw, name)); n > 0 {
				return n
			}
		}
	}
	return 0
}

func llamaWindow(answer []byte, _ string) int {
	return jsonspan.Int(jsonspan.Field(jsonspan.Field(answer, "default_generation_settings"), "n_ctx"))
}

var numCtx = regexp.MustCompile(`(?m)^num_ctx\s+(\d+)`)

func ollamaWindow(answer []byte, _ string) int {
	text, _ := jsonspan.String(jsonspan.Field(answer, "parameters"))
	if m := numCtx.FindStringSubmatch(text); m != nil {
		n, _ := strconv.Atoi(m[1]) // digits; too many make it 0
		return n
	}
	return 0
}
