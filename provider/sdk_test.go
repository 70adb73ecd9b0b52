package provider

import (
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/option"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/model"
	"github.com/precis-dev/precis/provider/providertest"
)

// read is what a client makes of an answer.
type read struct {
	Text, Model                  string
	Usage                        precis.Usage
	Calls                        int
	Reasoned, Refused, Truncated bool
	Status                       int // of an error; 0: none, or in a stream
	Failed                       bool
}

func ourReading(got model.Response, err error) read {
	var e *model.Error
	if errors.As(err, &e) && e.Status != 200 {
		return read{Failed: true, Status: e.Status}
	}
	if err != nil {
		return read{Failed: true}
	}
	return read{Text: got.Text, Model: got.Model, Usage: got.Usage, Calls: got.ToolCalls, Reasoned: got.Reasoned, Refused: got.Refused, Truncated: got.Truncated}
}

// sdks ask with the official SDKs for what [ask] asks for.
var sdks = map[string]func(base, text string, whole bool) read{"anthropic": askAnthropic, "chat": askChat, "responses": askResponses}

func askAnthropic(base, text string, whole bool) read {
	api := anthropic.NewClient(anthropicoption.WithBaseURL(base), anthropicoption.WithAPIKey(testKey), anthropicoption.WithMaxRetries(0))
	params := anthropic.MessageNewParams{
		Model: "model-1", MaxTokens: 16_000, System: []anthropic.TextBlockParam{{Text: "Be brief."}},
		Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(text))},
	}
	m, err := &anthropic.Message{}, error(nil)
	if whole {
		m, err = api.Messages.New(context.Background(), params)
	} else {
		stream := api.Messages.NewStreaming(context.Background(), params)
		for stream.Next() {
			err = errors.Join(err, m.Accumulate(stream.Current()))
		}
		err = errors.Join(err, stream.Err())
	}
	if err != nil {
		var e *anthropic.Error
		return failedRead(err, errors.As(err, &e), func() int { return e.StatusCode })
	}
	u := m.Usage
	r := read{Model: m.Model, Truncated: m.StopReason == "max_tokens", Refused: m.StopReason == "refusal",
		Usage: precis.Usage{Input: int(u.InputTokens), Output: int(u.OutputTokens), CacheRead: int(u.CacheReadInputTokens), CacheWrite: int(u.CacheCreationInputTokens)}}
	for _, b := range m.Content {
		r.Text += b.Text
		r.Reasoned = r.Reasoned || b.Type == "thinking"
		if b.Type == "tool_use" {
			r.Calls++
		}
	}
	return r
}

func askChat(base, text string, whole bool) read {
	api := openai.NewClient(option.WithBaseURL(base), option.WithAPIKey(testKey), option.WithMaxRetries(0))
	params := openai.ChatCompletionNewParams{
		Model: "model-1", MaxTokens: openai.Int(16_000),
		Messages: []openai.ChatCompletionMessageParamUnion{openai.SystemMessage("Be brief."), openai.UserMessage(text)},
	}
	m, err := &openai.ChatCompletion{}, error(nil)
	reasoned, usage := false, openai.CompletionUsage{}
	if whole {
		m, err = api.Chat.Completions.New(context.Background(), params)
	} else {
		params.StreamOptions.IncludeUsage = openai.Bool(true)
		stream := api.Chat.Completions.NewStreaming(context.Background(), params)
		var acc openai.ChatCompletionAccumulator
		for stream.Next() {
			acc.AddChunk(stream.Current())
			if u := stream.Current().Usage; u.PromptTokens > 0 {
				usage = u // the accumulator leaves some of it out
			}
			reasoned = reasoned || strings.Contains(stream.Current().RawJSON(), `"reasoning_content":"`)
		}
		m, err = &acc.ChatCompletion, stream.Err()
	}
	if err != nil || len(m.Choices) == 0 {
		var e *openai.Error
		return failedRead(err, errors.As(err, &e), func() int { return e.StatusCode })
	}
	c, u := m.Choices[0], usage
	if whole {
		u = m.Usage
	}
	return read{Text: c.Message.Content, Model: m.Model, Calls: len(c.Message.ToolCalls),
		Reasoned: reasoned || strings.Contains(m.RawJSON(), `"reasoning_content":"`), Truncated: c.FinishReason == "length",
		Refused: c.Message.Refusal != "" || c.FinishReason == "content_filter",
		Usage: precis.Usage{Input: int(u.PromptTokens), Output: int(u.CompletionTokens), CacheRead: int(u.PromptTokensDetails.CachedTokens),
			CacheWrite: int(u.PromptTokensDetails.CacheWriteTokens)}}
}

func askResponses(base, text string, whole bool) read {
	api := openai.NewClient(option.WithBaseURL(base), option.WithAPIKey(testKey), option.WithMaxRetries(0))
	params := responses.ResponseNewParams{
		Model: shared.ResponsesModel("model-1"), MaxOutputTokens: openai.Int(16_000), Store: openai.Bool(false), Instructions: openai.String("Be brief."),
		Input: responses.ResponseNewParamsInputUnion{OfInputItemList: responses.ResponseInputParam{{OfMessage: &responses.EasyInputMessageParam{
			Role: "user", Type: "message",
			Content: responses.EasyInputMessageContentUnionParam{OfInputItemContentList: responses.ResponseInputMessageContentListParam{responses.ResponseInputContentParamOfInputText(text)}},
		}}}},
	}
	m, err := &responses.Response{}, error(nil)
	if whole {
		m, err = api.Responses.New(context.Background(), params)
	} else {
		stream := api.Responses.NewStreaming(context.Background(), params)
		for stream.Next() {
			if e := stream.Current(); e.Type == "response.completed" || e.Type == "response.incomplete" {
				ended := e.Response
				m = &ended
			}
		}
		err = stream.Err()
	}
	if err != nil || m.Status != "completed" && m.Status != "incomplete" {
		var e *openai.Error
		return failedRead(err, errors.As(err, &e), func() int { return e.StatusCode })
	}
	u := m.Usage
	r := read{Text: m.OutputText(), Model: m.Model, Truncated: m.IncompleteDetails.Reason == "max_output_tokens",
		Usage: precis.Usage{Input: int(u.InputTokens), Output: int(u.OutputTokens), CacheRead: int(u.InputTokensDetails.CachedTokens), CacheWrite: int(u.InputTokensDetails.CacheWriteTokens)}}
	for _, item := range m.Output {
		r.Reasoned = r.Reasoned || item.Type == "reasoning"
		if strings.HasSuffix(item.Type, "_call") {
			r.Calls++
		}
		for _, part := range item.Content {
			r.Refused = r.Refused || part.Type == "refusal"
		}
	}
	return r
}

func failedRead(err error, ofAPI bool, status func() int) read {
	if ofAPI && err != nil && status() != 200 {
		return read{Failed: true, Status: status()}
	}
	return read{Failed: true}
}

// What the client sends and what it reads is what the official SDKs send and read.
func TestClientAgreesWithTheSDKs(t *testing.T) {
	usage := precis.Usage{Input: 900, Output: 70, CacheRead: 40, CacheWrite: 20}
	replies := map[string]providertest.Reply{
		"text":                    {Text: "a summary"},
		"letters of many bytes":   {Text: "größer, 要約, ✅\n\u2028\x00 \"quoted\""},
		"long":                    {Text: strings.Repeat("what was said, ", 2000)},
		"nothing":                 {},
		"reasoning":               {Reasoning: "hm", Text: "so"},
		"a tool":                  {Text: "let me see", Tool: "read_file"},
		"a refusal":               {Refused: true},
		"truncated":               {Text: "half a", Truncated: true},
		"no usage":                {Text: "a", NoUsage: true},
		"400":                     providertest.Fail("bad_request"),
		"401":                     providertest.Fail(model.FaultAuth),
		"429":                     providertest.RateLimited(0),
		"500":                     providertest.Respond(500, "text/html", "<h1>oops</h1>"),
		"529":                     providertest.Fail(model.FaultOverloaded),
		"an overflow":             providertest.Overflow(1000, 2000),
		"an error in a stream":    {Fault: model.FaultOverloaded, InStream: true},
		"an error behind text":    {Text: "half a", Fault: model.FaultRateLimited, InStream: true},
		"an overflow in a stream": {Fault: model.FaultOverflow, InStream: true, Limit: 1000, Used: 2000},
	}
	for name, reply := range replies {
		for _, dialect := range dialects {
			for _, whole := range []bool{false, true} {
				if whole && reply.InStream {
					continue
				}
				t.Run(name+"/"+dialect, func(t *testing.T) {
					t.Parallel()
					reply := reply
					reply.Whole = whole && reply.Status == 0 && reply.Fault == ""
					if !reply.NoUsage {
						reply.Usage = &usage
					}
					s := providertest.New(t, providertest.Options{Key: testKey})
					s.SetDefault(reply)
					ours := ourReading(dial(t, s, dialect, func(c *Config) { c.Retries = -1 }).Generate(context.Background(), ask("Sum up.")))
					theirs := sdks[dialect](s.BaseURL(dialect), "Sum up.", whole)
					if ours != theirs {
						t.Errorf("whole %v:\nours   %.300v\ntheirs %.300v", whole, ours, theirs)
					}
					agreeOnRequests(t, s.Requests(), whole)
				})
			}
		}
	}
}

// agreeOnRequests compares our request with the SDK's as JSON. Ours is streamed
// whatever the SDK was asked for.
func agreeOnRequests(t *testing.T, sent []providertest.Request, whole bool) {
	t.Helper()
	if len(sent) != 2 {
		t.Fatalf("%d requests", len(sent))
	}
	var bodies [2]map[string]any
	for i, r := range sent {
		if err := json.Unmarshal(r.Body, &bodies[i]); err != nil {
			t.Fatal(err)
		}
		if whole {
			delete(bodies[i], "stream")
			delete(bodies[i], "stream_options")
		}
	}
	if !reflect.DeepEqual(bodies[0], bodies[1]) || sent[0].Path != sent[1].Path {
		t.Errorf("requests differ: %s\nours   %s\ntheirs %s", sent[0].Path, sent[0].Body, sent[1].Body)
	}
	for _, name := range []string{"Content-Type", "Accept", "Anthropic-Version", "X-Api-Key", "Authorization"} {
		if !slices.Equal(sent[0].Header[name], sent[1].Header[name]) {
			t.Errorf("%s: ours %q, theirs %q", name, sent[0].Header[name], sent[1].Header[name])
		}
	}
}

// Streams as servers other than the inventors write them: where the SDK reads an
// answer, the client reads the same.
func TestClientReadsStreamsAsTheSDKs(t *testing.T) {
	const start = `event: message_start` + "\n" + `data: {"type":"message_start","message":{"type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":9.0,"output_tokens":1}}}` + "\n\n"
	const text = `event: content_block_start` + "\n" + `data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}` + "\n\n" +
		`event: content_block_delta` + "\n" + `data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"so"}}` + "\n\n" +
		"event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n"
	const stop = `event: message_delta` + "\n" + `data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":3}}` + "\n\n" +
		"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
	const chunk = `data: {"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"so"},"finish_reason":null}]}` + "\n\n" +
		`data: {"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n" +
		`data: {"model":"m","choices":[],"usage":{"prompt_tokens":9.0,"completion_tokens":3}}` + "\n\n" + "data: [DONE]\n\n"
	const done = `event: response.output_text.delta` + "\n" + `data: {"type":"response.output_text.delta","delta":"so"}` + "\n\n" +
		`event: response.completed` + "\n" + `data: {"type":"response.completed","response":{"object":"response","model":"m","status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"so"}]}],"usage":{"input_tokens":9.0,"output_tokens":3}}}` + "\n\n"
	streams := map[string]string{"anthropic": start + "event: ping\ndata: {\"type\":\"ping\"}\n\n" + text + stop, "chat": chunk, "responses": done}
	forms := map[string]func(string) string{
		"as it is":        func(s string) string { return s },
		"CRLF":            func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
		"no space":        func(s string) string { return strings.ReplaceAll(s, ": {", ":{") },
		"comments":        func(s string) string { return ": keep-alive\n\n" + strings.ReplaceAll(s, "\n\n", "\n\n: hello\n\n") },
		"ids and retries": func(s string) string { return "retry: 5\n\n" + strings.ReplaceAll(s, "data:", "id: 7\ndata:") },
		"unknown events": func(s string) string {
			return "event: hello\ndata: {\"type\":\"hello\"}\n\n" + s
		},
	}
	want := read{Text: "so", Model: "m", Usage: precis.Usage{Input: 9, Output: 3}}
	for form, change := range forms {
		for dialect, stream := range streams {
			s := providertest.New(t, providertest.Options{})
			s.SetDefault(providertest.Respond(200, "text/event-stream", change(stream)))
			ours := ourReading(dial(t, s, dialect, func(c *Config) { c.Retries = -1 }).Generate(context.Background(), ask("a")))
			theirs := sdks[dialect](s.BaseURL(dialect), "a", false)
			if ours != want || theirs != want && !(form == "unknown events" && dialect == "anthropic") {
				t.Errorf("%s/%s:\nours   %+v\ntheirs %+v", dialect, form, ours, theirs)
			}
		}
	}
}

// The program holds neither SDK nor gRPC: the linker keeps their methods whether or
// not they are called, and they would double its size.
func TestProductNeedsNoSDK(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "../...").Output()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(out), "precis/cmd/precis\n") {
		t.Fatalf("the program is not among the packages:\n%s", out)
	}
	for _, heavy := range []string{"anthropic-sdk-go", "openai-go", "google.golang.org/grpc"} {
		if strings.Contains(string(out), heavy) {
			t.Errorf("a package that is no test needs %s", heavy)
		}
	}
}
