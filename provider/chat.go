package provider

import (
	"context"
	"encoding/json"
	"strconv"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/respjson"

	"precis"
	"precis/internal/jsonspan"
	"precis/wire"
	"precis/wire/chat"
)

// chatAPI is OpenAI's Chat Completions API, as many servers speak it.
type chatAPI struct{ completions sdk.ChatCompletionService }

func newChat(c Config) chatAPI {
	return chatAPI{sdk.NewChatCompletionService(openaiOptions(c)...)}
}

func (chatAPI) fresh(o order) []byte {
	b := jsonspan.AppendStringField([]byte("{"), "model", o.model)
	b = appendNumber(b, o.chatLimit, o.limit)
	if o.effort != "" {
		b = jsonspan.AppendStringField(b, "reasoning_effort", o.effort)
	}
	b = appendBool(b, "stream", true)
	b = append(jsonspan.AppendField(b, "stream_options"), includeUsage...)
	messages := o.Messages
	if system := texts(o.System); len(system.Content) > 0 {
		messages = append([]precis.Message{system}, messages...)
	}
	b = chat.AppendMessages(jsonspan.AppendField(b, "messages"), messages)
	return append(b, '}')
}

const includeUsage = `{"include_usage":true}`

func (chatAPI) ride(o order) ([]byte, error) {
	live, err := parseLive(o.Body, "messages")
	if err != nil {
		return nil, err
	}
	messages := withSystem(live.Get("messages"), o.Messages, chat.DecodeMessages)
	live.Set("messages", chat.AppendMessages(make([]byte, 0, len(o.Body)), messages))
	live.Set("stream", []byte("true"))
	options := []byte(includeUsage)
	if own := live.Get("stream_options"); jsonspan.Kind(own) == '{' {
		parsed, err := parseObject(own)
		if err != nil {
			return nil, err
		}
		parsed.Set("include_usage", []byte("true"))
		options = parsed.Bytes()
	}
	live.Set("stream_options", options)
	if o.limit > 0 {
		for _, name := range ownLimits(live, o.chatLimit) {
			live.Set(name, strconv.AppendInt(nil, int64(o.limit), 10))
		}
	}
	return live.Bytes(), nil
}

// ownLimits returns the names of the output limits in a live request; if there
// are none, the given one.
func ownLimits(live *wire.Draft, chosen string) (names []string) {
	for _, name := range []string{newerLimit, olderLimit} {
		if live.Get(name) != nil {
			names = append(names, name)
		}
	}
	if names == nil {
		names = []string{chosen}
	}
	return names
}

func (d chatAPI) ask(ctx context.Context, x *exchange, a *answer) error {
	stream := d.completions.NewStreaming(ctx, sdk.ChatCompletionNewParams{}, option.WithMiddleware(x.send))
	finished := false
	err := read(stream, a, func(e sdk.ChatCompletionChunk) error {
		ended, err := a.chatChunk(e)
		finished = finished || ended
		return err
	})
	switch failed := streamedError(err); {
	case x.whole != nil:
		return a.chatWhole(x.whole)
	case err == errTooLong:
		return err
	case finished, err == nil && x.sawDone():
		// The usage follows the end of the text; the answer is complete without it.
		a.done = true
		return nil
	case failed != nil:
		a.failed = failed
		return nil
	}
	return err
}

// chatChunk reads one chunk and reports whether it ends the text.
func (a *answer) chatChunk(e sdk.ChatCompletionChunk) (ended bool, err error) {
	if e.Model != "" {
		a.model = e.Model
	}
	a.chatUsage(e.Usage)
	for _, c := range e.Choices {
		if c.Index != 0 {
			continue
		}
		a.choiceUsage(c.JSON.ExtraFields)
		a.reasoned = a.reasoned || hasReasoning(c.Delta.JSON.ExtraFields)
		a.refused = a.refused || c.Delta.Refusal != ""
		for _, call := range c.Delta.ToolCalls {
			a.toolCalls = max(a.toolCalls, int(call.Index)+1)
		}
		if c.Delta.JSON.FunctionCall.Valid() {
			a.toolCalls = 1
		}
		if err := a.write(c.Delta.Content); err != nil {
			return false, err
		}
		ended = ended || c.FinishReason != ""
		a.chatFinish(c.FinishReason)
	}
	return ended, nil
}

// chatWhole reads an answer that came as one JSON object.
func (a *answer) chatWhole(raw []byte) error {
	var m sdk.ChatCompletion
	if err := json.Unmarshal(raw, &m); err != nil || len(m.Choices) == 0 {
		return errNotAnswer
	}
	a.model = m.Model
	a.chatUsage(m.Usage)
	c := m.Choices[0]
	a.choiceUsage(c.JSON.ExtraFields)
	a.reasoned = a.reasoned || hasReasoning(c.Message.JSON.ExtraFields)
	a.refused = c.Message.Refusal != ""
	a.toolCalls = len(c.Message.ToolCalls)
	if c.Message.JSON.FunctionCall.Valid() {
		a.toolCalls = 1
	}
	a.chatFinish(c.FinishReason)
	a.done = true
	return a.write(c.Message.Content)
}

// chatFinish records why the model stopped. The last cases are those of servers
// other than OpenAI's.
func (a *answer) chatFinish(reason string) {
	switch reason {
	case "length", "max_tokens":
		a.truncated = true
	case "content_filter", "sensitive", "refusal":
		a.refused = true
	case "model_context_window_exceeded":
		a.full = true
	case "error", "network_error":
		a.failed = []byte(`{"error":{"code":"server_error"}}`)
	}
}

// chatUsage sets counts that are cumulative. DeepSeek and Moonshot report the
// cached tokens in fields of their own.
func (a *answer) chatUsage(u sdk.CompletionUsage) {
	take(&a.usage.Input, u.PromptTokens)
	take(&a.usage.Output, u.CompletionTokens)
	for _, name := range []string{"prompt_cache_hit_tokens", "cached_tokens"} {
		take(&a.usage.CacheRead, int64(number([]byte(u.JSON.ExtraFields[name].Raw()))))
	}
	take(&a.usage.CacheRead, u.PromptTokensDetails.CachedTokens)
	take(&a.usage.CacheWrite, u.PromptTokensDetails.CacheWriteTokens)
	a.reasoned = a.reasoned || u.CompletionTokensDetails.ReasoningTokens > 0
}

// choiceUsage reads the usage that Moonshot puts into the choice.
func (a *answer) choiceUsage(extra map[string]respjson.Field) {
	var u sdk.CompletionUsage
	if raw := extra["usage"].Raw(); raw != "" && json.Unmarshal([]byte(raw), &u) == nil {
		a.chatUsage(u)
	}
}

// hasReasoning reports whether a message or a piece of one holds reasoning, in
// any of the fields that servers have for it.
func hasReasoning(extra map[string]respjson.Field) bool {
	for _, name := range []string{"reasoning_content", "reasoning", "reasoning_details"} {
		switch raw := extra[name].Raw(); raw {
		case "", "null", `""`, "[]", "{}":
		default:
			return true
		}
	}
	return false
}
