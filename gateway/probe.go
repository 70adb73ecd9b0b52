package gateway

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"precis"
	"precis/internal/jsonspan"
)

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
func (g *Gateway) probe(c Credentials, model string) {
	key := [2]string{c.Upstream.Name, model}
	g.windows.mu.Lock()
	_, done := g.windows.asked[key]
	if g.windows.asked == nil {
		g.windows.asked = map[[2]string]precis.Window{}
	}
	if done = done || len(g.windows.asked) >= mostWindows; !done {
		g.windows.asked[key] = precis.Window{}
	}
	g.windows.mu.Unlock()
	if done {
		return
	}
	g.background(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, probeFor)
		defer cancel()
		w := g.ask(ctx, c, model)
		g.windows.mu.Lock()
		g.windows.asked[key] = w
		g.windows.mu.Unlock()
	})
}

// ask asks in every way until one is answered.
func (g *Gateway) ask(ctx context.Context, c Credentials, model string) precis.Window {
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
		if n := q.read(g.fetch(ctx, c, q.method, q.path, q.body), model); n > 0 {
			return precis.Window{Tokens: n, Source: precis.SourceServer, Detail: c.Upstream.Name + q.path}
		}
	}
	return precis.Window{}
}

// fetch returns the body of a successful answer; nil of any other.
func (g *Gateway) fetch(ctx context.Context, c Credentials, method, path string, body []byte) []byte {
	req, err := http.NewRequestWithContext(ctx, method, c.Upstream.join(path, "").String(), strings.NewReader(string(body)))
	if err != nil {
		return nil
	}
	req.Header = c.Header.Clone()
	res, err := g.o.Transport.RoundTrip(req)
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
