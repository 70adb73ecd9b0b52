package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/gateway/recall"
	"github.com/precis-dev/precis/provider/providertest"
)

// script is an upstream that answers request after request as it is told, and
// refuses what the APIs would refuse.
type script struct {
	URL string

	mu      sync.Mutex
	answers []func(w http.ResponseWriter, r *http.Request)
	bodies  []string
}

func newScript(t *testing.T, answers ...func(http.ResponseWriter, *http.Request)) *script {
	s := &script{answers: answers}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if problem := providertest.Check(r.URL.Path, r.Header, body); problem != "" {
			t.Errorf("the upstream refuses %s in %s", problem, body)
		}
		s.mu.Lock()
		n := len(s.bodies)
		s.bodies = append(s.bodies, string(body))
		answer := s.answers[min(n, len(s.answers)-1)]
		s.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

// sent returns the requests that came.
func (s *script) sent() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bodies
}

// said answers with what a model says in a dialect.
func said(dialect string, stream bool, n int, parts ...part) func(http.ResponseWriter, *http.Request) {
	body := speak(dialect, stream, n, parts...)
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", map[bool]string{true: "text/event-stream", false: "application/json"}[stream])
		_, _ = io.WriteString(w, body)
	}
}

// part is a piece of what a model says: one of its fields.
type part struct {
	think, text string
	call, args  string
}

func recalls(args string) part { return part{call: recall.Name, args: args} }

// speak writes answer n of a model. Each uses 100 tokens of input and 10 of
// output.
func speak(dialect string, stream bool, n int, parts ...part) string {
	calls := false
	for _, p := range parts {
		calls = calls || p.call != ""
	}
	switch dialect {
	case "anthropic":
		return speakAnthropic(stream, n, calls, parts)
	case "chat":
		return speakChat(stream, n, calls, parts)
	}
	return speakResponses(stream, n, parts)
}

func sse(events ...string) string {
	var out strings.Builder
	for _, e := range events {
		var v struct{ Type string }
		if json.Unmarshal([]byte(e), &v) == nil && v.Type != "" {
			fmt.Fprintf(&out, "event: %s\n", v.Type)
		}
		fmt.Fprintf(&out, "data: %s\n\n", e)
	}
	return out.String()
}

func speakAnthropic(stream bool, n int, calls bool, parts []part) string {
	stop := map[bool]string{true: "tool_use", false: "end_turn"}[calls]
	message := func(content, stop string) string {
		return fmt.Sprintf(`{"id":"msg_%d","type":"message","role":"assistant","model":"m","content":[%s],"stop_reason":%s,"stop_sequence":null,"usage":{"input_tokens":60,"cache_read_input_tokens":40,"output_tokens":10}}`, n, content, stop)
	}
	var blocks []string
	events := []string{fmt.Sprintf(`{"type":"message_start","message":%s}`, message("", "null"))}
	for i, p := range parts {
		var start, whole, delta string
		switch {
		case p.think != "":
			start = `{"type":"thinking","thinking":"","signature":""}`
			whole = fmt.Sprintf(`{"type":"thinking","thinking":%s,"signature":"c2ln%d"}`, quote(p.think), n)
			delta = fmt.Sprintf(`{"type":"thinking_delta","thinking":%s}`, quote(p.think))
		case p.call != "":
			start = fmt.Sprintf(`{"type":"tool_use","id":"toolu_%d_%d","name":%q,"input":{}}`, n, i, p.call)
			whole = strings.Replace(start, `"input":{}`, `"input":`+p.args, 1)
			delta = fmt.Sprintf(`{"type":"input_json_delta","partial_json":%s}`, quote(p.args))
		default:
			start, whole = `{"type":"text","text":""}`, fmt.Sprintf(`{"type":"text","text":%s}`, quote(p.text))
			delta = fmt.Sprintf(`{"type":"text_delta","text":%s}`, quote(p.text))
		}
		blocks = append(blocks, whole)
		events = append(events, fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":%s}`, i, start),
			fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":%s}`, i, delta))
		if p.think != "" {
			events = append(events, fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":{"type":"signature_delta","signature":"c2ln%d"}}`, i, n))
		}
		events = append(events, fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, i))
	}
	if !stream {
		return message(strings.Join(blocks, ","), quote(stop))
	}
	return sse(append(events, fmt.Sprintf(`{"type":"message_delta","delta":{"stop_reason":%q,"stop_sequence":null},"usage":{"output_tokens":10}}`, stop), `{"type":"message_stop"}`)...)
}

func speakChat(stream bool, n int, calls bool, parts []part) string {
	finish := map[bool]string{true: "tool_calls", false: "stop"}[calls]
	const usage = `{"prompt_tokens":100,"completion_tokens":10,"total_tokens":110,"prompt_tokens_details":{"cached_tokens":40}}`
	chunk := func(delta, finish string) string {
		return fmt.Sprintf(`{"id":"chatcmpl-%d","object":"chat.completion.chunk","created":%d,"model":"m","choices":[{"index":0,"delta":%s,"finish_reason":%s}]}`, n, n, delta, finish)
	}
	events := []string{chunk(`{"role":"assistant","content":""}`, "null")}
	message := map[string]any{"role": "assistant", "content": nil}
	var list []any
	for i, p := range parts {
		switch {
		case p.think != "":
			message["reasoning_content"] = p.think
			events = append(events, chunk(`{"reasoning_content":`+quote(p.think)+`}`, "null"))
		case p.call != "":
			id := fmt.Sprintf("call_%d_%d", n, i)
			events = append(events, chunk(fmt.Sprintf(`{"tool_calls":[{"index":%d,"id":%q,"type":"function","function":{"name":%q,"arguments":""}}]}`, len(list), id, p.call), "null"),
				chunk(fmt.Sprintf(`{"tool_calls":[{"index":%d,"function":{"arguments":%s}}]}`, len(list), quote(p.args)), "null"))
			list = append(list, map[string]any{"id": id, "type": "function", "function": map[string]any{"name": p.call, "arguments": p.args}})
		default:
			message["content"] = p.text
			events = append(events, chunk(`{"content":`+quote(p.text)+`}`, "null"))
		}
	}
	if stream {
		last := fmt.Sprintf(`{"id":"chatcmpl-%d","object":"chat.completion.chunk","created":%d,"model":"m","choices":[],"usage":%s}`, n, n, usage)
		return sse(append(events, chunk("{}", quote(finish)), last, "[DONE]")...)
	}
	if len(list) > 0 {
		message["tool_calls"] = list
	}
	m, _ := json.Marshal(message)
	return fmt.Sprintf(`{"id":"chatcmpl-%d","object":"chat.completion","created":%d,"model":"m","choices":[{"index":0,"message":%s,"finish_reason":%q}],"usage":%s}`, n, n, m, finish, usage)
}

func speakResponses(stream bool, n int, parts []part) string {
	response := func(status, output, usage string) string {
		return fmt.Sprintf(`{"id":"resp_%d","object":"response","created_at":1,"status":%q,"model":"m","error":null,"output":[%s],"usage":%s}`, n, status, output, usage)
	}
	var items, events []string
	add := func(format string, args ...any) {
		e := fmt.Sprintf(format, args...)
		events = append(events, fmt.Sprintf(`%s,"sequence_number":%d}`, e[:len(e)-1], len(events)))
	}
	add(`{"type":"response.created","response":%s}`, response("in_progress", "", "null"))
	add(`{"type":"response.in_progress","response":%s}`, response("in_progress", "", "null"))
	for i, p := range parts {
		id := fmt.Sprintf("%d_%d", n, i)
		switch {
		case p.think != "":
			items = append(items, fmt.Sprintf(`{"type":"reasoning","id":"rs_%s","summary":[{"type":"summary_text","text":%s}],"encrypted_content":"sealed %s"}`, id, quote(p.think), id))
			add(`{"type":"response.output_item.added","output_index":%d,"item":{"type":"reasoning","id":"rs_%s","summary":[]}}`, i, id)
			add(`{"type":"response.reasoning_summary_text.delta","item_id":"rs_%s","output_index":%d,"summary_index":0,"delta":%s}`, id, i, quote(p.think))
		case p.call != "":
			items = append(items, fmt.Sprintf(`{"type":"function_call","id":"fc_%s","call_id":"call_%s","name":%q,"arguments":%s,"status":"completed"}`, id, id, p.call, quote(p.args)))
			add(`{"type":"response.output_item.added","output_index":%d,"item":{"type":"function_call","id":"fc_%s","call_id":"call_%s","name":%q,"arguments":"","status":"in_progress"}}`, i, id, id, p.call)
			add(`{"type":"response.function_call_arguments.delta","item_id":"fc_%s","output_index":%d,"delta":%s}`, id, i, quote(p.args))
			add(`{"type":"response.function_call_arguments.done","item_id":"fc_%s","output_index":%d,"arguments":%s}`, id, i, quote(p.args))
		default:
			items = append(items, fmt.Sprintf(`{"type":"message","id":"msg_%s","role":"assistant","status":"completed","content":[{"type":"output_text","text":%s,"annotations":[]}]}`, id, quote(p.text)))
			add(`{"type":"response.output_item.added","output_index":%d,"item":{"type":"message","id":"msg_%s","role":"assistant","status":"in_progress","content":[]}}`, i, id)
			add(`{"type":"response.output_text.delta","item_id":"msg_%s","output_index":%d,"content_index":0,"delta":%s}`, id, i, quote(p.text))
		}
		add(`{"type":"response.output_item.done","output_index":%d,"item":%s}`, i, items[i])
	}
	whole := response("completed", strings.Join(items, ","), `{"input_tokens":100,"output_tokens":10,"total_tokens":110,"input_tokens_details":{"cached_tokens":40}}`)
	if !stream {
		return whole
	}
	add(`{"type":"response.completed","response":%s}`, whole)
	return sse(events...)
}

// reader starts a gateway with the tool before a script, and an agent that has
// read more than its window holds. The turns are those that the gateway tells.
func reader(t *testing.T, dialect string, s *script, change func(*gateway.Options)) (base string, a *agent, turns chan gateway.Turn) {
	t.Helper()
	turns = make(chan gateway.Turn, 100)
	base, _ = start(t, s.URL, func(o *gateway.Options) {
		window(20_000)(o)
		o.Recall = true
		o.OnTurn = func(_ context.Context, turn gateway.Turn) { turns <- turn }
		if change != nil {
			change(o)
		}
	})
	return base, longAgent(dialect), turns
}

func longAgent(dialect string) *agent {
	a := newAgent(dialect, "Read the files one by one. Never write to the disk.")
	for n := 1; n <= 30; n++ {
		a.read(n, words(60, n))
	}
	return a
}
