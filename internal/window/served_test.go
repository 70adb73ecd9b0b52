package window_test

import (
	"strings"
	"testing"

	"github.com/precis-dev/precis/internal/window"
)

// ask asks all questions of a server that answers some paths.
func ask(answers map[string]string, model string, hosted bool) (tokens int, loading bool, path string) {
	for _, q := range window.Questions(model, hosted) {
		body, ok := answers[q.Path]
		if !ok {
			continue
		}
		n, l := q.Read([]byte(body), model)
		if n > 0 {
			return n, false, q.Path
		}
		loading = loading || l
	}
	return 0, loading, ""
}

func TestServersStateTheirWindows(t *testing.T) {
	for name, c := range map[string]struct {
		model, path, answer string
		want                int
	}{
		"vLLM":                    {"gpt-oss-120b", "/v1/models", `{"object":"list","data":[{"id":"other","max_model_len":9999},{"id":"gpt-oss-120b","max_model_len":32768}]}`, 32768},
		"Anthropic, list":         {"claude-opus-5-5", "/v1/models", `{"data":[{"type":"model","id":"claude-opus-5-5","max_input_tokens":1000000,"max_tokens":128000}],"has_more":false}`, 1_000_000},
		"Anthropic, one":          {"claude-opus-5-5", "/v1/models/claude-opus-5-5", `{"type":"model","id":"claude-opus-5-5","max_input_tokens":1000000,"max_tokens":128000}`, 1_000_000},
		"Anthropic, dated":        {"claude-opus-5-5", "/v1/models/claude-opus-5-5", `{"type":"model","id":"claude-opus-5-5-20260901","max_input_tokens":1000000}`, 1_000_000},
		"OpenRouter":              {"openai/gpt-oss-120b", "/v1/models", `{"data":[{"id":"openai/gpt-oss-120b","context_length":131072,"top_provider":{"context_length":65536,"max_completion_tokens":null}}]}`, 65536},
		"OpenRouter, no provider": {"openai/gpt-oss-120b", "/v1/models", `{"data":[{"id":"openai/gpt-oss-120b","context_length":131072,"top_provider":{"context_length":null}}]}`, 131072},
		"Groq":                    {"llama-3.1-8b-instant", "/v1/models", `{"data":[{"id":"llama-3.1-8b-instant","context_window":131072,"max_completion_tokens":131072}]}`, 131072},
		"Together":                {"Qwen/Qwen3-32B", "/v1/models", `[{"id":"Qwen/Qwen3-32B","context_length":40960}]`, 40960},
		"llama.cpp":               {"any", "/props", `{"default_generation_settings":{"n_ctx":8192},"total_slots":4}`, 8192},
		"LM Studio, loaded":       {"qwen3", "/api/v0/models", `{"data":[{"id":"qwen3","state":"loaded","max_context_length":262144,"loaded_context_length":4096}]}`, 4096},
		"Ollama, running":         {"qwen3", "/api/ps", `{"models":[{"name":"qwen3:latest","model":"qwen3:latest","context_length":4096}]}`, 4096},
		"Ollama, set":             {"qwen3", "/api/show", `{"parameters":"stop \"x\"\nnum_ctx    16384","model_info":{"qwen3.context_length":40960}}`, 16384},
		"LiteLLM":                 {"house", "/model/info", `{"data":[{"model_name":"house","model_info":{"max_input_tokens":200000,"max_tokens":8192}}]}`, 200_000},
		"Gemini":                  {"gemini-3-pro", "/v1beta/models/gemini-3-pro", `{"name":"models/gemini-3-pro","inputTokenLimit":1048576,"outputTokenLimit":65536}`, 1_048_576},
		"Gemini, list":            {"gemini-3-pro", "/v1/models", `{"models":[{"name":"models/gemini-3-pro","inputTokenLimit":1048576}]}`, 1_048_576},
		"Copilot":                 {"gpt-5", "/v1/models", `{"data":[{"id":"gpt-5","capabilities":{"limits":{"max_context_window_tokens":264000,"max_prompt_tokens":128000}}}]}`, 128_000},
		"TGI":                     {"any", "/info", `{"model_id":"x/y","max_input_tokens":4095,"max_total_tokens":4096}`, 4096},
		"SGLang, itself":          {"any", "/get_server_info", `{"model_path":"x","context_length":32768,"max_total_num_tokens":400000,"max_req_input_len":32762}`, 32762},
		"LM Studio, instances":    {"qwen3", "/api/v1/models", `{"models":[{"type":"llm","key":"qwen3","max_context_length":262144,"loaded_instances":[{"id":"qwen3","config":{"context_length":32768}},{"id":"qwen3:2","config":{"context_length":8192}}]}]}`, 8192},
		"LM Studio, no instance":  {"qwen3", "/api/v1/models", `{"models":[{"type":"llm","key":"qwen3","max_context_length":262144,"loaded_instances":[]}]}`, 0},
		"how it is run":           {"gpt-5(high)", "/v1/models", `{"data":[{"id":"gpt-5-mini","context_length":1111},{"id":"gpt-5","context_length":400000}]}`, 400_000},
		"quantized":               {"gpt-oss-120b-FP8", "/v1/models", `{"data":[{"id":"openai/gpt-oss-120b","max_model_len":32768}]}`, 32768},
		"the name itself first":   {"a/m", "/v1/models", `{"data":[{"id":"b/m","max_model_len":1111},{"id":"a/m","max_model_len":2222},{"id":"m","max_model_len":3333}]}`, 2222},
		"a number as text":        {"m", "/v1/models", `{"data":[{"id":"m","context_length":"32768"}]}`, 32768},

		"another model":        {"m", "/v1/models", `{"data":[{"id":"n","max_model_len":32768}]}`, 0},
		"nothing said":         {"m", "/v1/models", `{"data":[{"id":"m","object":"model"}]}`, 0},
		"absurdly small":       {"m", "/v1/models", `{"data":[{"id":"m","max_model_len":1}]}`, 0},
		"absurdly large":       {"m", "/v1/models", `{"data":[{"id":"m","max_model_len":1000000000000000019884624838656}]}`, 0},
		"negative":             {"m", "/v1/models", `{"data":[{"id":"m","max_model_len":-1}]}`, 0},
		"null":                 {"m", "/v1/models", `{"data":null}`, 0},
		"not JSON":             {"m", "/v1/models", `<html>`, 0},
		"what a model was for": {"m", "/v1/models", `{"data":[{"id":"m","meta":{"n_ctx_train":131072}}]}`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if n, _, at := ask(map[string]string{c.path: c.answer}, c.model, false); n != c.want {
				t.Errorf("%d at %q, want %d", n, at, c.want)
			}
		})
	}
}

func TestAModelThatIsNotLoadedHasNoWindowYet(t *testing.T) {
	n, loading, _ := ask(map[string]string{"/api/v0/models": `{"data":[{"id":"m","state":"not-loaded","max_context_length":262144}]}`}, "m", false)
	if n != 0 || !loading {
		t.Errorf("%d, loading %v", n, loading)
	}
}

func TestHostedServersAreAskedForModelsAlone(t *testing.T) {
	for _, q := range window.Questions("claude-opus-5-5", true) {
		if q.Method != "GET" || !strings.HasPrefix(q.Path, "/v1/models") {
			t.Errorf("%s %s", q.Method, q.Path)
		}
	}
	for _, name := range []string{"a/b", "..", "a?b", "a#b", "a%2fb"} {
		for _, q := range window.Questions(name, true) {
			if q.Path != "/v1/models" {
				t.Errorf("%q makes the path %s", name, q.Path)
			}
		}
	}
}
