package provider

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/model"
	"github.com/precis-dev/precis/provider/providertest"
	"github.com/precis-dev/precis/wire/anthropic"
	"github.com/precis-dev/precis/wire/chat"
	"github.com/precis-dev/precis/wire/responses"
)

// liveBodies are requests as clients write them, with spacing, escapes and
// fields of their own. Each has a prefix long enough to see in the usage.
var liveBodies = map[string]string{
	"anthropic": `{"model": "model-1", "metadata":{"user_id":"{\"session_id\":\"s\"}"},"max_tokens" : 4000,
 "system":[{"type":"text","text":"You are an agent. ` + strings.Repeat("Rules. ", 200) + `","cache_control":{"type":"ephemeral","ttl":"1h"}}],
 "tools":[{"name":"read","description":"caf\u00e9","input_schema":{"type":"object"} , "x":1.50}],
 "tool_choice":{"type":"auto"},"temperature":1.0,
 "thinking":{"budget_tokens":2000,"type":"enabled"},"messages":[{"role":"user","content":"fix \ud83d\ude00 it"},{"content":[{"signature":"c2ln","thinking":"hm","type":"thinking"},{"type":"tool_use","id":"t1","name":"read","input":{"path":"a.go" }}],"role":"assistant"},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"package a","cache_control":{"type":"ephemeral"}}]}],"x_unknown":[1, 2,{"a":null}],"stream":false}
`,
	"chat":      `{"model":"model-1","messages":[{"role":"system","content":"You are an agent. ` + strings.Repeat("Rules. ", 200) + `"},{"role":"user","content":"fix it"},{"role":"assistant","content":null,"tool_calls":[{"type":"function","id":"c1","function":{"arguments":"{\"path\": \"a.go\"}","name":"read"}}]},{"role":"tool","tool_call_id":"c1","content":"package a"}],"tools":[{"type":"function","function":{"name":"read","parameters":{}}}],"prompt_cache_key":"k","stream_options":{"include_obfuscation":false, "include_usage":false},"max_completion_tokens":4000,"x_unknown":1e3}`,
	"responses": `{"model":"model-1","instructions":"You are an agent. ` + strings.Repeat("Rules. ", 200) + `","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"fix it"}]},{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"abc"},{"type":"function_call","call_id":"c1","name":"read","arguments":"{\"path\":\"a.go\"}"},{"type":"function_call_output","call_id":"c1","output":"package a"}],"tools":[{"type":"function","name":"read","parameters":{}}],"store":true,"include":["reasoning.encrypted_content"],"prompt_cache_key":"k","stream":true,"previous_response_id":null}`,
}

// messagesOf is the field that holds the messages.
var messagesOf = map[string]string{"anthropic": "messages", "chat": "messages", "responses": "input"}

func decode(t testing.TB, dialect string, body []byte) []precis.Message {
	t.Helper()
	o, err := parseObject(body)
	if err != nil {
		t.Fatal(err)
	}
	read := map[string]func([]byte) ([]precis.Message, error){
		"anthropic": anthropic.DecodeMessages, "chat": chat.DecodeMessages, "responses": responses.DecodeMessages,
	}[dialect]
	messages, err := read(o.Get(messagesOf[dialect]))
	if err != nil {
		t.Fatal(err)
	}
	return messages
}

// riding returns a request that asks for a summary at the end of a live one.
func riding(t testing.TB, dialect, body string) model.Request {
	messages := decode(t, dialect, []byte(body))
	return model.Request{
		Body:      []byte(body),
		Messages:  append(messages, precis.NewText(precis.RoleUser, "Sum up.")),
		MaxTokens: 3000,
	}
}

// members returns an object by name, in which order is kept by position.
func members(t testing.TB, raw []byte) (names []string, values map[string]string) {
	t.Helper()
	values = map[string]string{}
	for m, err := range jsonspan.Object(raw) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, m.Name)
		values[m.Name] = string(m.Raw)
	}
	return names, values
}

func TestRidingSendsTheLiveBody(t *testing.T) {
	changed := map[string]map[string]string{
		"anthropic": {"stream": "true", "max_tokens": "3000"},
		"chat":      {"stream": "true", "max_completion_tokens": "3000", "stream_options": `{"include_obfuscation":false, "include_usage":true}`},
		"responses": {"stream": "true", "max_output_tokens": "3000", "store": "false"},
	}
	for _, dialect := range dialects {
		live := liveBodies[dialect]
		s := providertest.New(t, providertest.Options{})
		if _, err := dial(t, s, dialect, nil).Generate(context.Background(), riding(t, dialect, live)); err != nil {
			t.Errorf("%s: %v %v", dialect, err, s.Problems())
			continue
		}
		sent := s.Requests()[0].Body
		wantNames, want := members(t, []byte(live))
		gotNames, got := members(t, sent)
		for name, value := range changed[dialect] {
			if got[name] != value {
				t.Errorf("%s: %s is %s, want %s", dialect, name, got[name], value)
			}
			if _, ok := want[name]; !ok {
				wantNames = append(wantNames, name)
			}
			want[name] = got[name]
		}
		field := messagesOf[dialect]
		prefix := strings.TrimSuffix(want[field], "]") + ","
		if !strings.HasPrefix(got[field], prefix) || !strings.Contains(got[field][len(prefix):], "Sum up.") {
			t.Errorf("%s: the messages sent do not begin with the live ones:\n%s", dialect, got[field])
		}
		want[field] = got[field]
		for name := range got {
			if got[name] != want[name] {
				t.Errorf("%s: %s is %s, want %s", dialect, name, got[name], want[name])
			}
		}
		if len(gotNames) != len(wantNames) || strings.Join(gotNames[:len(got)-2], " ") != strings.Join(wantNames[:len(got)-2], " ") {
			t.Errorf("%s: fields %v, want %v", dialect, gotNames, wantNames)
		}
	}
}

// Everything around the changed values stays, white space included.
func TestRidingKeepsEveryByteAround(t *testing.T) {
	live := "\n{ \"max_tokens\" :\t10 ,\"messages\": [ ] , \"\\u0073tream\":false, \"z\" : \"\\/\" }\r\n"
	want := "\n{ \"max_tokens\" :\t20 ,\"messages\": [{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"a\"}]}] , \"\\u0073tream\":true, \"z\" : \"\\/\" }\r\n"
	got, err := anthropicAPI{}.ride(order{
		Request: model.Request{Body: []byte(live), Messages: []precis.Message{precis.NewText(precis.RoleUser, "a")}},
		limit:   20,
	})
	if err != nil || string(got) != want {
		t.Errorf("got %q, %v\nwant %q", got, err, want)
	}
}

func TestRidingReadsTheCache(t *testing.T) {
	for _, dialect := range dialects {
		live := liveBodies[dialect]
		s := providertest.New(t, providertest.Options{})
		c := dial(t, s, dialect, nil)
		first := model.Request{Body: []byte(live), Messages: decode(t, dialect, []byte(live))}
		if _, err := c.Generate(context.Background(), first); err != nil {
			t.Fatalf("%s: %v %v", dialect, err, s.Problems())
		}
		got, err := c.Generate(context.Background(), riding(t, dialect, live))
		if err != nil {
			t.Fatalf("%s: %v %v", dialect, err, s.Problems())
		}
		u := got.Usage
		fresh := u.Input
		if dialect != "anthropic" {
			fresh -= u.CacheRead
		}
		if u.CacheRead < 350 || fresh > 200 {
			t.Errorf("%s: usage %+v", dialect, u)
		}
		if got.CostUSD != c.Price(u) || got.CostUSD >= c.Price(precis.Usage{Input: fresh + u.CacheRead, Output: u.Output}) {
			t.Errorf("%s: cost %v for %+v", dialect, got.CostUSD, u)
		}
	}
}

func TestRidingKeepsTheRulesOfTheLimit(t *testing.T) {
	tests := []struct {
		dialect, live string
		limit, most   int
		want, not     string
	}{
		{"anthropic", `{"max_tokens":9000,"messages":[]}`, 100, 0, `"max_tokens":100,`, "9000"},
		{"anthropic", `{"max_tokens":9000,"messages":[]}`, 0, 50, `"max_tokens":9000,`, ""},
		{"anthropic", `{"max_tokens":9000,"messages":[]}`, 100, 50, `"max_tokens":50,`, ""},
		{"anthropic", `{"max_tokens":9000,"thinking":{"type":"enabled","budget_tokens":4000},"messages":[]}`, 4000, 0, `"max_tokens":9000,`, ""},
		{"anthropic", `{"max_tokens":9000,"thinking":{"type":"enabled","budget_tokens":4000},"messages":[]}`, 4001, 0, `"max_tokens":4001,`, ""},
		{"anthropic", `{"max_tokens":9000,"thinking":{"type":"adaptive"},"messages":[]}`, 100, 0, `"max_tokens":100,`, ""},
		{"chat", `{"max_tokens":9000,"messages":[]}`, 100, 0, `"max_tokens":100,`, "max_completion_tokens"},
		{"chat", `{"max_completion_tokens":9000,"messages":[]}`, 100, 0, `"max_completion_tokens":100,`, `"max_tokens`},
		{"chat", `{"messages":[]}`, 100, 0, `"max_tokens":100`, ""},
		{"chat", `{"messages":[]}`, 0, 100, `{"messages":`, "max_tokens"},
		{"chat", `{"messages":[],"stream_options":null}`, 0, 0, `"stream_options":{"include_usage":true}`, "null"},
		{"responses", `{"input":"hello"}`, 100, 0, `"max_output_tokens":100}`, ""},
		{"responses", `{"input":"hello"}`, 0, 0, `"store":false`, "max_output_tokens"},
		{"responses", `{"input":"hello","background":true}`, 0, 0, `"background":false`, ""},
	}
	for _, tt := range tests {
		c, err := New(Config{Dialect: tt.dialect, BaseURL: "http://localhost", Model: "m", Info: model.Info{MaxOutput: tt.most}})
		if err != nil {
			t.Fatal(err)
		}
		r := model.Request{Body: []byte(tt.live), Messages: []precis.Message{precis.NewText(precis.RoleUser, "a")}, MaxTokens: tt.limit}
		got, err := c.write(r, c.chatLimit())
		if err != nil || !strings.Contains(string(got), tt.want) || tt.not != "" && strings.Contains(string(got), tt.not) {
			t.Errorf("%s, at most %d:\n got %s, %v\nwant %s", tt.live, tt.limit, got, err, tt.want)
		}
	}
}

func TestRidingOnWhatCannotBeRidden(t *testing.T) {
	tests := []struct{ dialect, live, want string }{
		{"anthropic", `{"messages":[]`, "read live request"},
		{"anthropic", `[]`, "an array where an object is wanted"},
		{"anthropic", `{"messages":[]} x`, "more text"},
		{"anthropic", `{"input":[]}`, "no messages"},
		{"anthropic", `{"messages":[],"messages":[]}`, "twice"},
		{"chat", `{"messages":null}`, "no messages"},
		{"chat", `{"messages":[],"stream_options":{"a":1,"a":2}}`, "twice"},
		{"responses", `{"messages":[]}`, "no input"},
		{"responses", `{"input":[],"previous_response_id":"resp_1"}`, "keeps"},
		{"responses", `{"input":[],"conversation":{"id":"conv_1"}}`, "keeps"},
		{"responses", "", "read live request"},
	}
	for _, tt := range tests {
		s := providertest.New(t, providertest.Options{})
		r := model.Request{Body: []byte(tt.live), Messages: []precis.Message{precis.NewText(precis.RoleUser, "a")}}
		_, err := dial(t, s, tt.dialect, nil).Generate(context.Background(), r)
		if !isFault(err, model.FaultRequest) || !strings.Contains(err.Error(), tt.want) || len(s.Requests()) > 0 {
			t.Errorf("%q: %v, want %q", tt.live, err, tt.want)
		}
	}
}

func TestBreakpointsAreCapped(t *testing.T) {
	mark := `"cache_control":{"type":"ephemeral"}`
	block := func(i int) string { return fmt.Sprintf(`{"type":"text","text":"block %d",%s}`, i, mark) }
	var messages []string
	for i := range 3 {
		messages = append(messages, fmt.Sprintf(`{"role":"user","content":[%s]}`, block(i)),
			fmt.Sprintf(`{"role":"assistant","content":[{"type":"tool_use","id":"t%d","name":"read","input":{%s}}]}`, i, mark),
			fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%d","content":[%s]}]}`, i, block(10+i)))
	}
	live := fmt.Sprintf(`{"model":"m","max_tokens":100,"tools":[{"name":"read","input_schema":{},%s}],"system":[{"type":"text","text":"s",%s}],"messages":[%s]}`,
		mark, mark, strings.Join(messages, ","))
	s := providertest.New(t, providertest.Options{})
	c := dial(t, s, "anthropic", nil)
	if _, err := c.Generate(context.Background(), riding(t, "anthropic", live)); err != nil {
		t.Fatal(err, s.Problems())
	}
	sent := string(s.Requests()[0].Body)
	for i, want := range map[int]bool{0: false, 10: false, 1: false, 11: false, 2: true, 12: true} {
		if kept := strings.Contains(sent, fmt.Sprintf(`"block %d",%s`, i, mark)); kept != want {
			t.Errorf("block %d keeps its mark: %v", i, kept)
		}
	}
	if n := strings.Count(sent, `"input":{`+mark+`}`); n != 3 {
		t.Errorf("%d of 3 inputs are as they were", n)
	}

	// A request of its own has all four to give.
	own := model.Request{Messages: decode(t, "anthropic", []byte(live))}
	body, err := c.write(own, "")
	if err != nil || bytes.Count(body, []byte(`"cache_control":null`)) != 2 {
		t.Errorf("%s, %v", body, err)
	}
}

// In the dialects of OpenAI the system prompt is among the messages. It stays
// where the caller does not give one.
func TestRidingKeepsTheSystemPrompt(t *testing.T) {
	system := `{"role":"system","content":"You are an agent."},{"role":"developer", "content":"Really."}`
	tests := []struct{ dialect, live, want string }{
		{"chat", `{"messages":[` + system + `,{"role":"user","content":"a"}]}`, `{"messages":[` + system + `,{"role":"user","content":"Sum up."}]`},
		{"responses", `{"input":[` + system + `,{"role":"user","content":"a"}]}`, `{"input":[` + system + `,{"type":"message","role":"user"`},
		{"responses", `{"input":"hello"}`, `{"input":[{"type":"message","role":"user"`},
	}
	for _, tt := range tests {
		r := model.Request{Body: []byte(tt.live), Messages: []precis.Message{precis.NewText(precis.RoleUser, "Sum up.")}}
		got, err := rides[tt.dialect].ride(order{Request: r})
		if err != nil || !strings.HasPrefix(string(got), tt.want) {
			t.Errorf("%s: got %s, %v\nwant %s", tt.dialect, got, err, tt.want)
		}
		r.Messages = append(decode(t, tt.dialect, []byte(tt.live)), r.Messages...)
		got, err = rides[tt.dialect].ride(order{Request: r})
		if err != nil || strings.Count(string(got), "Really.") > 1 {
			t.Errorf("%s: the system prompt stands twice: %s, %v", tt.dialect, got, err)
		}
	}
}

func TestRidingSendsTheHeadersOfTheLiveRequest(t *testing.T) {
	server := providertest.New(t, providertest.Options{})
	server.SetDefault(providertest.Text("ok"))
	c, err := New(Config{BaseURL: server.BaseURL("anthropic"), Dialect: "anthropic", Key: testKey, Model: "m", Headers: http.Header{"X-Team": {"ours"}}})
	if err != nil {
		t.Fatal(err)
	}
	body := `{"model":"m","max_tokens":100,"messages":[]}`
	_, err = c.Generate(t.Context(), model.Request{
		Messages: []precis.Message{precis.NewText(precis.RoleUser, "hello")}, Body: []byte(body),
		Header: http.Header{"anthropic-beta": {"a-2026"}, "X-Team": {"theirs"}, "Authorization": {"Bearer theirs"}, "Content-Length": {"1"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	h := server.Requests()[0].Header
	if h.Get("Anthropic-Beta") != "a-2026" || h.Get("X-Team") != "ours" || h.Get("Authorization") != "" {
		t.Errorf("headers: %v", h)
	}
}
