package providertest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/anthropics/anthropic-sdk-go"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/option"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/provider/providertest"
)

// post sends a body and returns the status and answer.
func post(t *testing.T, s *providertest.Server, dialect, body string) (int, string) {
	t.Helper()
	path := map[string]string{"anthropic": "/v1/messages", "chat": "/v1/chat/completions", "responses": "/v1/responses"}[dialect]
	req, err := http.NewRequest(http.MethodPost, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Anthropic-Version", "2023-06-01")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(answer)
}

const (
	tools    = `"tools":[{"name":"read","input_schema":{"type":"object"}}],`
	marked   = `{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}`
	user     = `{"role":"user","content":"go"}`
	useA     = `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"read","input":{}}]}`
	resultA  = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"x"}]}`
	chatUse  = `{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"read","arguments":"{}"}}]}`
	chatTool = `{"role":"tool","tool_call_id":"a","content":"x"}`
	call     = `{"type":"function_call","call_id":"a","name":"read","arguments":"{}"}`
	output   = `{"type":"function_call_output","call_id":"a","output":"x"}`
	said     = `{"role":"user","content":"go"}`
	thought  = `{"type":"reasoning","id":"r","summary":[]}`
)

func TestSoundAndMalformedRequests(t *testing.T) {
	anthropic := func(messages string) string {
		return `{"model":"m","max_tokens":100,` + tools + `"messages":[` + messages + `]}`
	}
	chat := func(messages string) string { return `{"model":"m","messages":[` + messages + `]}` }
	items := func(items string) string { return `{"model":"m","input":[` + items + `]}` }
	tests := []struct{ dialect, body, problem string }{
		{"anthropic", anthropic(user), ""},
		{"anthropic", anthropic(user + "," + useA + "," + resultA), ""},
		{"anthropic", anthropic(user + "," + useA + "," + resultA + "," + user), ""},
		{"anthropic", anthropic(`{"role":"system","content":"s"},` + user), "cannot be the first"},
		{"anthropic", anthropic(user + `,{"role":"system","content":"s"},` + useA + "," + resultA), ""},
		{"anthropic", anthropic(user + "," + useA + "," + resultA + `,{"role":"system","content":[],"output_config":{"effort":"low"}}`), ""},
		{"anthropic", anthropic(user + `,{"role":"system","content":"s"},` + user), "must be followed by an `assistant`"},
		{"anthropic", anthropic(user + `,{"role":"system","content":"s"},{"role":"system","content":"s"}`), "must follow a `user`"},
		{"anthropic", anthropic(user + "," + useA + `,{"role":"system","content":"s"},` + resultA), "must follow a `user`"},
		{"anthropic", `{"model":"m","max_tokens":100,"unheard_of":1,"messages":[` + user + `]}`, ""},
		{"anthropic", `[]`, "no JSON object"},
		{"anthropic", `{"max_tokens":100,"messages":[` + user + `]}`, "model"},
		{"anthropic", `{"model":"m","messages":[` + user + `]}`, "max_tokens: Field required"},
		{"anthropic", `{"model":"m","max_tokens":0,"messages":[` + user + `]}`, "max_tokens: Input should be at least 1"},
		{"anthropic", `{"model":"m","max_tokens":100,"stream":"yes","messages":[` + user + `]}`, "stream"},
		{"anthropic", `{"model":"m","max_tokens":100,"messages":[` + user + `,` + useA + `,` + resultA + `]}`, "must define tools"},
		{"anthropic", `{"model":"m","max_tokens":100,"thinking":{"type":"enabled","budget_tokens":2000},"messages":[` + user + `]}`, "greater than `thinking.budget_tokens`"},
		{"anthropic", `{"model":"m","max_tokens":100,"system":[{"type":"text","text":" "}],"messages":[` + user + `]}`, "non-empty"},
		{"anthropic", anthropic(""), "at least 1"},
		{"anthropic", anthropic(`{"role":"assistant","content":"a"},` + user), `first message must use the "user" role`},
		{"anthropic", anthropic(user + `,{"role":"assistant","content":"a"}`), "prefill"},
		{"anthropic", anthropic(`{"role":"tool","content":"a"}`), "role"},
		{"anthropic", anthropic(`{"role":"user","content":""}`), "non-empty"},
		{"anthropic", anthropic(`{"role":"user","content":[]}`), "non-empty"},
		{"anthropic", anthropic(`{"role":"user","content":[{"type":"text","text":""}]}`), "non-empty"},
		{"anthropic", anthropic(`{"role":"user","content":[{"type":"input_text","text":"a"}]}`), "does not match any of the expected tags"},
		{"anthropic", anthropic(`{"role":"user","content":[{"type":"image","source":{"type":"base64","data":""}}]}`), "source"},
		{"anthropic", anthropic(`{"role":"user","content":[{"type":"thinking","thinking":"a","signature":"b"}]}`), "can only be in `assistant`"},
		{"anthropic", anthropic(user + "," + useA + "," + user), "without `tool_result` blocks immediately after"},
		{"anthropic", anthropic(user + "," + useA + "," + resultA + "," + resultA), "single result"},
		{"anthropic", anthropic(resultA), "unexpected `tool_use_id`"},
		{"anthropic", anthropic(user + "," + useA + `,{"role":"user","content":[{"type":"text","text":"a"},{"type":"tool_result","tool_use_id":"a"}]}`), "first in the turn"},
		{"anthropic", anthropic(`{"role":"user","content":[` + strings.Repeat(marked+",", 3) + marked + `]}`), ""},
		{"anthropic", anthropic(`{"role":"user","content":[` + strings.Repeat(marked+",", 4) + marked + `]}`), "Found 5"},

		{"chat", chat(said), ""},
		{"chat", chat(`{"role":"system","content":"s"},` + said + "," + chatUse + "," + chatTool), ""},
		{"chat", chat(`{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"u"}}]}`), ""},
		{"chat", chat(""), "at least 1"},
		{"chat", chat(`{"role":"human","content":"a"}`), "role"},
		{"chat", chat(`{"role":"user"}`), "content"},
		{"chat", chat(`{"role":"assistant","content":null},` + said), "got null"},
		{"chat", chat(`{"role":"system","content":[{"type":"image_url","image_url":{"url":"u"}}]}`), "Invalid value"},
		{"chat", chat(said + "," + chatUse + "," + said), "must be followed by tool messages"},
		{"chat", chat(said + "," + chatUse), "must be followed by tool messages"},
		{"chat", chat(said + "," + chatTool), "must be a response to a preceeding message"},
		{"chat", chat(said + "," + strings.Replace(chatUse, `"{}"`, `{}`, 1) + "," + chatTool), "arguments"},
		{"chat", `{"model":"m","stream_options":{"include_usage":true},"messages":[` + said + `]}`, "only allowed when 'stream'"},
		{"chat", `{"model":"m","max_tokens":1,"max_completion_tokens":1,"messages":[` + said + `]}`, "at the same time"},
		{"chat", `{"model":"m","tools":[],"messages":[` + said + `]}`, "tools"},
		{"chat", `{"model":"m","tools":[{"name":"read"}],"messages":[` + said + `]}`, "tools.0.type"},

		{"responses", items(said), ""},
		{"responses", `{"model":"m","input":"hello"}`, ""},
		{"responses", items(said + "," + thought + "," + call + "," + output), ""},
		{"responses", `{"model":"m","input":""}`, "empty"},
		{"responses", items(""), "at least 1"},
		{"responses", items(`{"content":"a"}`), "type"},
		{"responses", items(`{"role":"tool","content":"a"}`), "role"},
		{"responses", items(`{"role":"user","content":[{"type":"text","text":"a"}]}`), "Invalid value"},
		{"responses", items(said + "," + call), "No tool output found"},
		{"responses", items(said + "," + output), "No tool call found"},
		{"responses", items(said + "," + thought), "required following item"},
		{"responses", items(said + "," + thought + "," + said), "required following item"},
		{"responses", `{"model":"m","max_output_tokens":5,"input":"a"}`, "at least 16"},
		{"responses", `{"model":"m","background":true,"store":false,"input":"a"}`, "background"},
		{"responses", `{"model":"m","messages":[],"input":"a"}`, "Unknown parameter"},
	}
	for _, tt := range tests {
		s := providertest.New(t, providertest.Options{})
		s.Enqueue(providertest.Text("scripted"))
		status, answer := post(t, s, tt.dialect, tt.body)
		problems := strings.Join(s.Problems(), "; ")
		switch {
		case tt.problem == "" && (status != 200 || problems != ""):
			t.Errorf("%s: %s\n%d %s", tt.dialect, tt.body, status, answer)
		case tt.problem != "" && (status != 400 || !strings.Contains(problems, tt.problem)):
			t.Errorf("%s: %s\n%d %q, want %q", tt.dialect, tt.body, status, problems, tt.problem)
		case tt.problem != "" && !json.Valid([]byte(answer)):
			t.Errorf("%s: %s", tt.dialect, answer)
		}
		if tt.problem != "" { // its reply is still there
			good := map[string]string{"anthropic": anthropic(user), "chat": chat(said), "responses": items(said)}[tt.dialect]
			if _, answer := post(t, s, tt.dialect, good); !strings.Contains(answer, "scripted") {
				t.Errorf("%s: the reply went to a malformed request", tt.dialect)
			}
		}
	}
}

func TestKeyWindowAndLimit(t *testing.T) {
	s := providertest.New(t, providertest.Options{Key: "the-key", Window: 20, ChatLimit: "max_tokens"})
	if status, answer := post(t, s, "chat", `{}`); status != 401 || strings.Contains(answer, "the-key") {
		t.Errorf("without a key: %d %s", status, answer)
	}
	s = providertest.New(t, providertest.Options{Window: 20, ChatLimit: "max_tokens"})
	long := `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"` + strings.Repeat("x", 100) + `"}]}`
	if status, answer := post(t, s, "anthropic", long); status != 400 || !strings.Contains(answer, "tokens > 20 maximum") {
		t.Errorf("too long: %d %s", status, answer)
	}
	if status, answer := post(t, s, "chat", `{"model":"m","max_completion_tokens":9,"messages":[]}`); status != 400 || !strings.Contains(answer, "unsupported_parameter") {
		t.Errorf("the other limit: %d %s", status, answer)
	}
}

func TestCacheFollowsThePrefix(t *testing.T) {
	s := providertest.New(t, providertest.Options{})
	send := func(dialect, body string) precis.Usage {
		if status, answer := post(t, s, dialect, body); status != 200 {
			t.Fatal(answer)
		}
		all := s.Requests()
		return all[len(all)-1].Usage
	}
	turn := func(n int, mark string) string {
		var messages []string
		for i := range n {
			messages = append(messages, `{"role":"user","content":[{"type":"text","text":"`+strings.Repeat(string(rune('a'+i)), 400)+`"`+mark+`}]}`)
			if i < n-1 {
				mark = ""
			}
		}
		return `{"model":"m","max_tokens":9,"messages":[` + strings.Join(messages, ",") + `]}`
	}
	const mark = `,"cache_control":{"type":"ephemeral"}`
	if u := send("anthropic", turn(1, "")); u.CacheRead+u.CacheWrite != 0 || u.Input < 100 {
		t.Errorf("nothing is marked: %+v", u)
	}
	if u := send("anthropic", turn(1, mark)); u.CacheRead != 0 || u.CacheWrite < 100 {
		t.Errorf("the first that is marked: %+v", u)
	}
	if u := send("anthropic", turn(3, mark)); u.CacheRead < 100 || u.Input < 200 {
		t.Errorf("a longer one: %+v", u)
	}
	if u := send("chat", turn(1, "")); u.CacheRead != 0 {
		t.Errorf("the first: %+v", u)
	}
	if u := send("chat", turn(2, "")); u.CacheRead < 100 || u.Input < 200 {
		t.Errorf("a longer one: %+v", u)
	}
}

// The SDKs' own typed requests are sound, and they understand the streams.
func TestSDKsUnderstandTheServer(t *testing.T) {
	s := providertest.New(t, providertest.Options{Key: "key"})
	ctx := context.Background()
	reply := providertest.Reply{Reasoning: "hm, let me think", Text: "It is a parser of some kind.", Tool: "read"}
	s.SetDefault(reply)

	a := anthropic.NewMessageService(anthropicoption.WithBaseURL(s.BaseURL("anthropic")), anthropicoption.WithAPIKey("key"))
	stream := a.NewStreaming(ctx, anthropic.MessageNewParams{
		Model: "m", MaxTokens: 100,
		System:   []anthropic.TextBlockParam{{Text: "Be brief."}},
		Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("What is it?"))},
	})
	var message anthropic.Message
	for stream.Next() {
		if err := message.Accumulate(stream.Current()); err != nil {
			t.Error(err)
		}
	}
	if stream.Err() != nil || len(message.Content) != 3 || message.Content[1].Text != reply.Text || message.StopReason != "tool_use" || message.Usage.OutputTokens == 0 {
		t.Errorf("%+v, %v", message, stream.Err())
	}

	options := []option.RequestOption{option.WithBaseURL(s.BaseURL("chat")), option.WithAPIKey("key")}
	c := openai.NewChatCompletionService(options...)
	chunks := c.NewStreaming(ctx, openai.ChatCompletionNewParams{
		Model: "m", StreamOptions: openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)},
		Messages: []openai.ChatCompletionMessageParamUnion{openai.SystemMessage("Be brief."), openai.UserMessage("What is it?")},
	})
	var sum openai.ChatCompletionAccumulator
	for chunks.Next() {
		if !sum.AddChunk(chunks.Current()) {
			t.Error("a chunk does not fit the ones before it")
		}
	}
	if chunks.Err() != nil || sum.Choices[0].Message.Content != reply.Text || len(sum.Choices[0].Message.ToolCalls) != 1 || sum.Usage.PromptTokens == 0 {
		t.Errorf("%+v, %v", sum.ChatCompletion, chunks.Err())
	}

	r := responses.NewResponseService(options...)
	whole, err := r.New(ctx, responses.ResponseNewParams{
		Model: "m", Input: responses.ResponseNewParamsInputUnion{OfString: openai.String("What is it?")},
	})
	if err != nil || whole.OutputText() != reply.Text || len(whole.Output) != 3 || whole.Usage.InputTokens == 0 {
		t.Errorf("%+v, %v", whole, err)
	}
	if p := s.Problems(); len(p) > 0 {
		t.Error(p)
	}
	for _, got := range s.Requests() {
		if !got.HasKey || got.Header.Get("X-Api-Key")+got.Header.Get("Authorization") != "" {
			t.Errorf("the key is recorded: %v", got.Header)
		}
	}
}

func TestCloseEndsWhatHangs(t *testing.T) {
	s := providertest.New(nil, providertest.Options{})
	came := make(chan bool)
	s.SetDefault(providertest.Reply{Do: func(providertest.Request) providertest.Reply {
		close(came)
		return providertest.Reply{Ending: providertest.Silent}
	}})
	done := make(chan error)
	go func() {
		res, err := http.Post(s.URL+"/v1/chat/completions", "application/json", bytes.NewReader([]byte(`{"model":"m","messages":[`+said+`]}`)))
		if err == nil {
			res.Body.Close()
		}
		done <- err
	}()
	<-came
	s.Close()
	s.Close()
	select {
	case err := <-done:
		if err == nil {
			t.Error("a hanging request was answered")
		}
	case <-time.After(time.Minute):
		t.Error("the request still hangs")
	}
}

func TestCheck(t *testing.T) {
	header := http.Header{"Content-Type": {"application/json"}, "Anthropic-Version": {"2023-06-01"}}
	tests := []struct{ path, body, want string }{
		{"/v1/messages", `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}`, ""},
		{"/messages", `{"model":"m","max_tokens":9,"messages":[]}`, "messages"},
		{"/v1/chat/completions", `{"model":"m","messages":[{"role":"tool","tool_call_id":"1","content":"x"}]}`, "messages with role 'tool'"},
		{"/v1/responses", `{"model":"m","input":[{"type":"function_call_output","call_id":"1","output":"x"}]}`, "No tool call found"},
		{"/v1/responses", `no JSON`, "no JSON object"},
		{"/v1/models", ``, ""},
	}
	for _, test := range tests {
		got := providertest.Check(test.path, header, []byte(test.body))
		if (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
			t.Errorf("%s %s: %q, want %q", test.path, test.body, got, test.want)
		}
	}
}
