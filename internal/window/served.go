package window

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/models"
)

// Question is a way to ask a server for the window of a model. Servers state it each
// in its own way:
//
//	Anthropic           GET /v1/models, /v1/models/ID   max_input_tokens
//	vLLM, SGLang        GET /v1/models                  data[].max_model_len
//	OpenRouter, Groq    GET /v1/models                  data[].context_length, context_window
//	llama.cpp           GET /props                      default_generation_settings.n_ctx
//	SGLang              GET /get_server_info            max_req_input_len, context_length
//	LM Studio           GET /api/v0/models              data[].loaded_context_length
//	                    GET /api/v1/models              models[].loaded_instances[].config.context_length
//	Ollama              GET /api/ps, POST /api/show     models[].context_length, parameters: num_ctx
//	LiteLLM             GET /model/info                 data[].model_info.max_input_tokens
//	Gemini              GET /v1beta/models/ID           inputTokenLimit
//	TGI                 GET /info                       max_input_tokens, max_total_tokens
type Question struct {
	Method string
	Path   string // below the base URL
	Body   []byte // nil: no body
	read   func(answer []byte, model string) (tokens int, loading bool)
}

// Read returns the window that an answer states in tokens, 0 if it states none. Loading means that
// the server will state one when the model is loaded.
func (q Question) Read(answer []byte, model string) (tokens int, loading bool) {
	n, loading := q.read(answer, model)
	if n < leastStated || n > mostServed {
		n = 0
	}
	return n, loading && n == 0
}

// mostServed bounds plausible windows: some servers send the largest possible number if they have
// none.
const mostServed = 200_000_000

// Questions returns the ways to ask for a model, the best first. Hosted means that the upstream is
// the API of a company that only answers the first one.
func Questions(model string, hosted bool) []Question {
	var out []Question
	get := func(path string, read func([]byte, string) (int, bool)) {
		out = append(out, Question{Method: http.MethodGet, Path: path, read: read})
	}
	single := !strings.ContainsAny(model, "/?#%") && strings.Trim(model, ".") != ""
	if single && hosted {
		get("/v1/models/"+model, readList)
	}
	get("/v1/models", readList)
	if hosted {
		return out
	}
	if single {
		get("/v1/models/"+model, readList)
	}
	get("/props", readProps)
	get("/api/v0/models", readList)
	get("/api/v1/models", readList)
	get("/api/ps", readList)
	show, _ := json.Marshal(map[string]string{"model": model}) // strings always have a JSON form
	out = append(out, Question{Method: http.MethodPost, Path: "/api/show", Body: show, read: readShow})
	get("/model/info", readList)
	if single {
		get("/v1beta/models/"+model, readList)
	}
	get("/info", readInfo)
	get("/get_server_info", readInfo)
	return out
}

// fields are the names of a window in lists of models, in order of preference: the window of the
// model as loaded, of its input, of everything. A path leads through objects.
var fields = [][]string{
	{"loaded_context_length"}, {"max_model_len"}, {"meta", "n_ctx"}, {"n_ctx"},
	{"max_input_tokens"}, {"inputTokenLimit"}, {"input_token_limit"}, {"model_info", "max_input_tokens"},
	{"capabilities", "limits", "max_prompt_tokens"}, {"capabilities", "limits", "max_context_window_tokens"},
	{"top_provider", "context_length"}, {"context_window"}, {"contextWindow"}, {"context_length"},
	{"contextLength"}, {"context_size"},
	{"limit", "context"}, {"max_context_length"}, {"max_context_tokens"},
}

// readList reads a list of models, or one model.
func readList(answer []byte, model string) (int, bool) {
	best, entry := 0, []byte(nil)
	consider := func(raw []byte) {
		for _, name := range []string{"id", "name", "model", "model_name", "key"} {
			id, ok := jsonspan.String(jsonspan.Field(raw, name))
			if r := sameModel(id, model); ok && r > best {
				best, entry = r, raw
			}
		}
	}
	switch jsonspan.Kind(answer) {
	case '[':
		each(answer, consider)
	case '{':
		each(jsonspan.Field(answer, "data"), consider)
		each(jsonspan.Field(answer, "models"), consider)
		consider(answer)
	}
	if entry == nil {
		return 0, false
	}
	return ofEntry(entry)
}

func each(list []byte, f func([]byte)) {
	if jsonspan.Kind(list) != '[' {
		return
	}
	for m, err := range jsonspan.Array(list) {
		if err != nil {
			return
		}
		f(m.Raw)
	}
}

// ofEntry returns the window of one model of a list. For a model that is not loaded, its possible
// maximum does not count.
func ofEntry(raw []byte) (int, bool) {
	state, _ := jsonspan.String(jsonspan.Field(raw, "state"))
	loading := state == "not-loaded" || state == "unloaded" || state == "loading"
	if instances := jsonspan.Field(raw, "loaded_instances"); jsonspan.Kind(instances) == '[' {
		n := 0
		each(instances, func(one []byte) { // the smallest, because any of them may answer
			if c := at(one, "config", "context_length"); c > 0 && (n == 0 || c < n) {
				n = c
			}
		})
		return n, n == 0
	}
	for _, path := range fields {
		if n := at(raw, path...); n > 0 {
			if loading && path[0] != "loaded_context_length" {
				return 0, true
			}
			if length := at(raw, "context_length"); path[0] == "top_provider" && length > 0 {
				n = min(n, length)
			}
			return n, false
		}
	}
	return 0, loading
}

// at returns the number at a path; 0 if missing. Some servers write numbers as text.
func at(raw []byte, path ...string) int {
	for _, name := range path {
		raw = jsonspan.Field(raw, name)
	}
	if text, ok := jsonspan.String(raw); ok {
		n, _ := strconv.Atoi(text) // other text is 0
		return n
	}
	return jsonspan.Int(raw)
}

// sameModel returns a score for whether the ID in a list is the requested model: 0 for another one.
func sameModel(id, model string) int {
	bare := func(s string) string { return strings.ToLower(strings.TrimPrefix(s, "models/")) }
	last := func(s string) string { return s[strings.LastIndexByte(s, '/')+1:] }
	a, b := bare(id), bare(model)
	switch {
	case id == "" || model == "":
		return 0
	case id == model:
		return 3
	case a == b || strings.TrimSuffix(a, ":latest") == strings.TrimSuffix(b, ":latest"):
		return 2
	case last(a) == last(b), models.Base(id) == models.Base(model):
		return 1
	}
	return 0
}

func readProps(answer []byte, _ string) (int, bool) {
	if n := at(answer, "default_generation_settings", "n_ctx"); n > 0 {
		return n, false
	}
	return at(answer, "n_ctx"), false
}

var numCtx = regexp.MustCompile(`(?m)^num_ctx\s+(\d+)`)

func readShow(answer []byte, _ string) (int, bool) {
	text, _ := jsonspan.String(jsonspan.Field(answer, "parameters"))
	if m := numCtx.FindStringSubmatch(text); m != nil {
		n, _ := strconv.Atoi(m[1]) // digits only; too many give 0
		return n, false
	}
	// The model's possible maximum is not the window it is loaded with.
	return 0, jsonspan.Kind(jsonspan.Field(answer, "model_info")) == '{'
}

// readInfo reads the window from a server with a single model.
func readInfo(answer []byte, _ string) (int, bool) {
	for _, name := range []string{"max_total_tokens", "max_req_input_len", "max_input_tokens",
		"max_input_length", "context_length"} {
		if n := at(answer, name); n > 0 {
			return n, false
		}
	}
	return 0, false
}
