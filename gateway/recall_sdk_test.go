//go:build sdk

package gateway_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	aoption "github.com/anthropics/anthropic-sdk-go/option"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
)

// scripted is a model that looks something up, thinks again, and calls a tool of
// the client.
func scripted(t *testing.T, dialect string) *script {
	return newScript(t,
		said(dialect, true, 1, part{think: "Where was it?"}, part{text: "Let me look. "}, recalls(`{"handle":"m2"}`)),
		said(dialect, true, 2, part{think: "There."}, part{text: "It is 4."}, part{call: "read", args: `{"path":"a"}`}))
}

// long are questions and answers that do not fit into the window.
func long(each func(question, answer string)) {
	for n := range 20 {
		each(fmt.Sprintf("Question %d. %s", n, words(60, n)), "ok")
	}
}

func TestAnthropicSDKReadsTheMergedStream(t *testing.T) {
	t.Parallel()
	s := scripted(t, "anthropic")
	base, _, _ := reader(t, "anthropic", s, nil)
	api := anthropic.NewClient(aoption.WithBaseURL(base), aoption.WithAPIKey("k"), aoption.WithMaxRetries(0))
	params := anthropic.MessageNewParams{Model: "claude-sonnet-4-5", MaxTokens: 500,
		Tools: []anthropic.ToolUnionParam{{OfTool: &anthropic.ToolParam{Name: "read", InputSchema: anthropic.ToolInputSchemaParam{Properties: map[string]any{}}}}}}
	long(func(q, a string) {
		params.Messages = append(params.Messages, anthropic.NewUserMessage(anthropic.NewTextBlock(q)), anthropic.NewAssistantMessage(anthropic.NewTextBlock(a)))
	})
	params.Messages = append(params.Messages, anthropic.NewUserMessage(anthropic.NewTextBlock("And now?")))
	stream := api.Messages.NewStreaming(t.Context(), params)
	var m anthropic.Message
	for stream.Next() {
		if err := m.Accumulate(stream.Current()); err != nil {
			t.Fatal(err)
		}
	}
	var kinds []string
	for _, b := range m.Content {
		kinds = append(kinds, string(b.Type)+":"+b.Text+b.Thinking+b.Name)
	}
	if got := strings.Join(kinds, "|"); stream.Err() != nil || got != "thinking:Where was it?|text:Let me look. |thinking:There.|text:It is 4.|tool_use:read" {
		t.Errorf("%v: %s", stream.Err(), got)
	}
	if u := m.Usage; u.InputTokens != 120 || u.CacheReadInputTokens != 80 || u.OutputTokens != 20 || m.StopReason != "tool_use" || m.ID != "msg_1" || len(s.sent()) != 2 {
		t.Errorf("%+v %s", u, m.RawJSON())
	}
}

func TestChatSDKReadsTheMergedStream(t *testing.T) {
	t.Parallel()
	s := scripted(t, "chat")
	base, _, _ := reader(t, "chat", s, nil)
	api := openai.NewClient(option.WithBaseURL(base+"/v1"), option.WithAPIKey("k"), option.WithMaxRetries(0))
	params := openai.ChatCompletionNewParams{Model: "m", StreamOptions: openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)},
		Tools: []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{Name: "read"})}}
	long(func(q, a string) {
		params.Messages = append(params.Messages, openai.UserMessage(q), openai.AssistantMessage(a))
	})
	params.Messages = append(params.Messages, openai.UserMessage("And now?"))
	stream := api.Chat.Completions.NewStreaming(t.Context(), params)
	var acc openai.ChatCompletionAccumulator
	for stream.Next() {
		if !acc.AddChunk(stream.Current()) {
			t.Fatalf("not accumulated: %s", stream.Current().RawJSON())
		}
	}
	if stream.Err() != nil || len(acc.Choices) != 1 {
		t.Fatal(stream.Err(), acc.Choices)
	}
	c := acc.Choices[0]
	if c.Message.Content != "Let me look. It is 4." || len(c.Message.ToolCalls) != 1 || c.Message.ToolCalls[0].Function.Name != "read" || c.Message.ToolCalls[0].Function.Arguments != `{"path":"a"}` || c.FinishReason != "tool_calls" {
		t.Errorf("%+v", c)
	}
	if u := acc.Usage; u.PromptTokens != 200 || u.CompletionTokens != 20 || u.TotalTokens != 220 || acc.ID != "chatcmpl-1" || len(s.sent()) != 2 {
		t.Errorf("%+v", u)
	}
}

func TestResponsesSDKReadsTheMergedStream(t *testing.T) {
	t.Parallel()
	s := scripted(t, "responses")
	base, _, _ := reader(t, "responses", s, nil)
	c := newSession(t, base, true, 0)
	long(func(q, a string) {
		c.items = append(c.items, userItem(q), responses.ResponseInputItemParamOfMessage(a, responses.EasyInputMessageRoleAssistant))
	})
	c.items = append(c.items, userItem("And now?"))
	var kinds []string
	for _, item := range c.send() { // which checks numbers and indexes
		text := item.Name
		for _, p := range item.Content {
			text += p.Text
		}
		kinds = append(kinds, item.Type+":"+text)
	}
	if got := strings.Join(kinds, "|"); got != "reasoning:|message:Let me look. |reasoning:|message:It is 4.|function_call:read" || len(s.sent()) != 2 {
		t.Error(got)
	}
}
