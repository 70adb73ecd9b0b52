package wire_test

import (
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/wire"
	"github.com/precis-dev/precis/wire/anthropic"
	"github.com/precis-dev/precis/wire/chat"
	"github.com/precis-dev/precis/wire/responses"
)

// What answers tell, as the APIs document them.
func TestObserve(t *testing.T) {
	tests := []struct {
		name   string
		d      wire.Dialect
		events []string
		want   wire.Response
		errs   bool
	}{
		{"anthropic stream", anthropic.Dialect{}, []string{
			`{"type":"message_start","message":{"model":"m","usage":{"input_tokens":5,"cache_read_input_tokens":90,"cache_creation_input_tokens":5,"output_tokens":1}}}`,
			`{"type":"ping"}`, `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"\"usage\""}}`,
			`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":7}}`, `{"type":"message_stop"}`,
		}, wire.Response{Model: "m", Usage: precis.Usage{Input: 5, Output: 7, CacheRead: 90, CacheWrite: 5}, Input: 100, Stop: "end_turn", Done: true, Spoken: true}, false},
		{"anthropic stream with input at the end", anthropic.Dialect{}, []string{
			`{"type":"message_start","message":{"model":"m","usage":{"input_tokens":0,"output_tokens":0}}}`,
			`{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"input_tokens":50,"output_tokens":7}}`,
		}, wire.Response{Model: "m", Usage: precis.Usage{Input: 50, Output: 7}, Input: 50, Stop: "tool_use"}, false},
		{"anthropic message", anthropic.Dialect{}, []string{`{"type":"message","model":"m","stop_reason":"max_tokens","usage":{"input_tokens":3,"output_tokens":4}}`},
			wire.Response{Model: "m", Usage: precis.Usage{Input: 3, Output: 4}, Input: 3, Stop: "max_tokens", Done: true, Spoken: true}, false},
		{"anthropic error", anthropic.Dialect{}, []string{`{"type":"error","error":{"type":"overloaded_error","message":"x"}}`}, wire.Response{}, true},
		{"chat stream", chat.Dialect{}, []string{
			`{"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}],"error":null}`,
			`{"model":"m","choices":[{"index":0,"delta":{"content":"hi"}}]}`, `{"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`,
			`{"model":"m","choices":[],"usage":{"prompt_tokens":100,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":90}}}`, `[DONE]`,
		}, wire.Response{Model: "m", Usage: precis.Usage{Input: 100, Output: 7, CacheRead: 90}, Input: 100, Stop: "stop", Done: true, Spoken: true}, false},
		{"chat stream that only announces", chat.Dialect{}, []string{`{"model":"m","choices":[{"delta":{"role":"assistant","content":null}}]}`}, wire.Response{Model: "m"}, false},
		{"chat usage inside a choice", chat.Dialect{}, []string{`{"model":"m","choices":[{"delta":{},"finish_reason":"stop","usage":{"prompt_tokens":9,"completion_tokens":1}}]}`},
			wire.Response{Model: "m", Usage: precis.Usage{Input: 9, Output: 1}, Input: 9, Stop: "stop"}, false},
		{"chat usage of DeepSeek", chat.Dialect{}, []string{`{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":1,"prompt_cache_hit_tokens":8}}`},
			wire.Response{Usage: precis.Usage{Input: 9, Output: 1, CacheRead: 8}, Input: 9}, false},
		{"chat usage of LiteLLM", chat.Dialect{}, []string{`{"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":1,"cache_creation_input_tokens":80,"prompt_tokens_details":{"cached_tokens":10,"cache_creation_tokens":80,"cache_creation_token_details":{"ephemeral_5m_input_tokens":20,"ephemeral_1h_input_tokens":60}}}}`},
			wire.Response{Usage: precis.Usage{Input: 100, Output: 1, CacheRead: 10, CacheWrite: 80, CacheWriteHour: 60}, Input: 100}, false},
		{"chat completion", chat.Dialect{}, []string{`{"model":"m","choices":[{"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":4}}`},
			wire.Response{Model: "m", Usage: precis.Usage{Input: 3, Output: 4}, Input: 3, Stop: "stop", Done: true, Spoken: true}, false},
		{"chat error in a stream", chat.Dialect{}, []string{`{"error":{"message":"x","code":400}}`}, wire.Response{}, true},
		{"responses stream", responses.Dialect{}, []string{
			`{"type":"response.created","response":{"object":"response","model":"m","status":"in_progress","usage":null,"error":null}}`,
			`{"type":"response.output_item.added","item":{"type":"message"}}`,
			`{"type":"response.completed","response":{"object":"response","model":"m","status":"completed","usage":{"input_tokens":100,"output_tokens":7,"input_tokens_details":{"cached_tokens":90}}}}`,
		}, wire.Response{Model: "m", Usage: precis.Usage{Input: 100, Output: 7, CacheRead: 90}, Input: 100, Stop: "completed", Done: true, Spoken: true}, false},
		{"responses that fail", responses.Dialect{}, []string{
			`{"type":"response.created","response":{"object":"response","model":"m","status":"in_progress"}}`,
			`{"type":"response.failed","response":{"object":"response","status":"failed","error":{"code":"context_length_exceeded","message":"x"}}}`,
		}, wire.Response{Model: "m", Stop: "failed"}, true},
		{"response", responses.Dialect{}, []string{`{"object":"response","model":"m","status":"completed","error":null,"usage":{"input_tokens":3,"output_tokens":4}}`},
			wire.Response{Model: "m", Usage: precis.Usage{Input: 3, Output: 4}, Input: 3, Stop: "completed", Done: true, Spoken: true}, false},
		{"nonsense", chat.Dialect{}, []string{`{`, `[]`, `"x"`, ``, `{"choices":[{"delta":[]}]}`, `{"usage":{"prompt_tokens":"many"}}`}, wire.Response{}, false},
		{"nonsense", anthropic.Dialect{}, []string{`{`, `[]`, `{"type":7}`, `{"type":"message_start","message":7}`, `{"type":"message_delta","usage":"x"}`}, wire.Response{}, false},
		{"nonsense", responses.Dialect{}, []string{`{`, `[]`, `{"type":"response.created","response":[]}`, `{"object":7}`}, wire.Response{}, false},
	}
	for _, tt := range tests {
		var got wire.Response
		for _, e := range tt.events {
			tt.d.Observe(&got, []byte(e))
		}
		if (got.Error != nil) != tt.errs {
			t.Errorf("%s %s: error %s", tt.d.Name(), tt.name, got.Error)
		}
		got.Error = nil
		if got.Model != tt.want.Model || got.Usage != tt.want.Usage || got.Input != tt.want.Input || got.Stop != tt.want.Stop || got.Done != tt.want.Done || got.Spoken != tt.want.Spoken {
			t.Errorf("%s %s: %+v, want %+v", tt.d.Name(), tt.name, got, tt.want)
		}
	}
}

func TestPrompt(t *testing.T) {
	tests := []struct {
		d    wire.Dialect
		body string
		want wire.Prompt
		sys  string
	}{
		{anthropic.Dialect{}, `{"model":"m","max_tokens":9,"stream":true,"system":[{"type":"text","text":"a"},{"type":"text","text":"b"}],"tools":[1],"thinking":{"type":"adaptive"}}`,
			wire.Prompt{Model: "m", MaxOutput: 9, Stream: true, Tools: []byte("[1]"), Thinking: true}, "a\nb"},
		{anthropic.Dialect{}, `{"model":"m","system":"s","thinking":{"type":"disabled"},"output_config":{"format":{"type":"json_schema"}}}`, wire.Prompt{Model: "m", Structured: true}, "s"},
		{chat.Dialect{}, `{"model":"m","max_completion_tokens":9,"functions":[1],"response_format":{"type":"json_schema"}}`, wire.Prompt{Model: "m", MaxOutput: 9, Tools: []byte("[1]"), Structured: true}, ""},
		{responses.Dialect{}, `{"model":"m","max_output_tokens":9,"instructions":"s","previous_response_id":"r","text":{"format":{"type":"json_object"}}}`,
			wire.Prompt{Model: "m", MaxOutput: 9, Structured: true, Stateful: true}, "s"},
		{responses.Dialect{}, `{"model":7,"max_output_tokens":"9","instructions":null,"conversation":null,"stream":"yes"}`, wire.Prompt{}, ""},
	}
	for _, tt := range tests {
		b, err := wire.Parse([]byte(tt.body), tt.d.List(), nil)
		if err != nil {
			t.Fatal(err)
		}
		got := tt.d.Prompt(b)
		if got.System.PlainText() != tt.sys {
			t.Errorf("%s: system %q, want %q", tt.body, got.System.PlainText(), tt.sys)
		}
		w := tt.want
		if got.Model != w.Model || got.MaxOutput != w.MaxOutput || got.Stream != w.Stream || got.Structured != w.Structured || got.Stateful != w.Stateful || got.Thinking != w.Thinking || string(got.Tools) != string(w.Tools) {
			t.Errorf("%s: %+v, want %+v", tt.body, got, w)
		}
	}
}

// The cost that a server states is taken over, and how many tools it ran that it bills by use; both in a
// whole answer and at the end of a stream.
func TestWhatIsBilledBesideTokens(t *testing.T) {
	const searched = `"server_tool_use":{"web_search_requests":3,"web_fetch_requests":2}`
	for _, tt := range []struct {
		name     string
		d        wire.Dialect
		events   []string
		searches int
		usd      float64
	}{
		{"Anthropic, whole", anthropic.Dialect{}, []string{`{"type":"message","usage":{"input_tokens":5,` + searched + `}}`}, 3, 0},
		{"Anthropic, streamed", anthropic.Dialect{}, []string{`{"type":"message_start","message":{"usage":{"input_tokens":5,"server_tool_use":null}}}`,
			`{"type":"message_delta","usage":{"output_tokens":5,"server_tool_use":{"web_search_requests":1}}}`, `{"type":"message_delta","usage":{"output_tokens":9,` + searched + `}}`}, 3, 0},
		{"after a compaction", anthropic.Dialect{}, []string{`{"type":"message","usage":{"input_tokens":5,` + searched + `,"cost":0.5,"iterations":[{"input_tokens":7}]}}`}, 3, .5},
		{"OpenRouter", chat.Dialect{}, []string{`{"usage":{"prompt_tokens":5,"cost":0.25,"is_byok":false,"cost_details":{"upstream_inference_cost":0.25}}}`}, 0, .25},
		{"OpenRouter, streamed", chat.Dialect{}, []string{`{"choices":[{"delta":{"content":"x"}}]}`, `{"choices":[],"usage":{"prompt_tokens":5,"cost":0.25,"cost_details":{"upstream_inference_cost":null},` + searched + `}}`}, 3, .25},
		{"OpenRouter, with a key of the user's", chat.Dialect{}, []string{`{"usage":{"prompt_tokens":5,"cost":0.25,"is_byok":true,"cost_details":{"upstream_inference_cost":0.5}}}`}, 0, .75},
		{"Perplexity", chat.Dialect{}, []string{`{"usage":{"prompt_tokens":5,"cost":{"input_tokens_cost":0.1,"total_cost":0.25}}}`}, 0, .25},
		{"xAI", chat.Dialect{}, []string{`{"usage":{"prompt_tokens":5,"cost_in_usd_ticks":2500000000}}`}, 0, .25},
		{"OpenAI", responses.Dialect{}, []string{`{"type":"response.completed","response":{"status":"completed","usage":{"input_tokens":5},"output":[{"type":"web_search_call","action":{"type":"search"}},` +
			`{"type":"web_search_call","action":{"type":"open_page"}},{"type":"web_search_call"},{"type":"message"}]}}`}, 2, 0},
		{"OpenRouter's Responses", responses.Dialect{}, []string{`{"type":"response.completed","response":{"status":"completed","usage":{"input_tokens":5,"cost":0.25}}}`}, 0, .25},
		{"nothing", chat.Dialect{}, []string{`{"usage":{"prompt_tokens":5,"cost":0}}`}, 0, 0},
		{"what cannot be", chat.Dialect{}, []string{`{"usage":{"prompt_tokens":5,"cost":-1}}`, `{"usage":{"prompt_tokens":5,"cost":1e300}}`, `{"usage":{"prompt_tokens":5,"cost":"0.5","cost_details":7,"server_tool_use":[]}}`}, 0, 0},
	} {
		var r wire.Response
		for _, e := range tt.events {
			tt.d.Observe(&r, []byte(e))
		}
		if u := r.Usage; u.WebSearches != tt.searches || u.StatedUSD != tt.usd || r.Input != 5 {
			t.Errorf("%s: %+v, input %d", tt.name, u, r.Input)
		}
	}
}
