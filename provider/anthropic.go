package provider

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"precis/internal/jsonspan"
	"precis/wire/anthropic"
)

// anthropicAPI is the Messages API.
type anthropicAPI struct{ messages sdk.MessageService }

// newAnthropic makes the service without the SDK's client, because the client
// reads keys, URLs and tracing settings from the environment.
func newAnthropic(c Config) anthropicAPI {
	options := []option.RequestOption{
		option.WithBaseURL(c.BaseURL),
		option.WithHTTPClient(c.HTTPClient),
		option.WithMaxRetries(0),
		option.WithoutOpenTelemetry(),
		option.WithOpenTelemetryPropagation(false),
	}
	if c.Key != "" {
		options = append(options, option.WithAPIKey(c.Key))
	}
	return anthropicAPI{sdk.NewMessageService(options...)}
}

func (anthropicAPI) fresh(o order) []byte {
	b := jsonspan.AppendStringField([]byte("{"), "model", o.model)
	b = appendNumber(b, "max_tokens", o.limit)
	b = appendBool(b, "stream", true)
	room := anthropic.MaxBreakpoints
	if system := texts(o.System); len(system.Content) > 0 {
		blocks := anthropic.AppendContent(nil, system.Content, system.Format)
		b = append(jsonspan.AppendField(b, "system"), blocks...)
		room -= anthropic.CountBreakpoints(blocks)
	}
	messages := anthropic.AppendMessages(nil, o.Messages)
	b = append(jsonspan.AppendField(b, "messages"), anthropic.CapBreakpoints(messages, room)...)
	return append(b, '}')
}

func (anthropicAPI) ride(o order) ([]byte, error) {
	live, err := parseLive(o.Body, "messages")
	if err != nil {
		return nil, err
	}
	room := anthropic.MaxBreakpoints - anthropic.CountBreakpoints(live.Get("tools")) - anthropic.CountBreakpoints(live.Get("system"))
	if live.Get(anthropic.Breakpoint) != nil {
		room--
	}
	messages := anthropic.AppendMessages(make([]byte, 0, len(o.Body)), o.Messages)
	live.Set("messages", anthropic.CapBreakpoints(messages, room))
	live.Set("stream", []byte("true"))
	// The API wants the limit above the room for thinking.
	if o.limit > number(inner(live.Get("thinking"), "budget_tokens")) {
		live.Set("max_tokens", strconv.AppendInt(nil, int64(o.limit), 10))
	}
	return live.Bytes(), nil
}

func (d anthropicAPI) ask(ctx context.Context, x *exchange, a *answer) error {
	stream := d.messages.NewStreaming(ctx, sdk.MessageNewParams{}, option.WithMiddleware(x.send))
	err := read(stream, a, a.anthropicEvent)
	var apiErr *sdk.Error
	switch {
	case errors.As(err, &apiErr):
		a.failed = []byte(apiErr.RawJSON())
		return nil
	case x.whole != nil:
		return a.anthropicWhole(x.whole)
	}
	return err
}

func (a *answer) anthropicEvent(e sdk.MessageStreamEventUnion) error {
	switch e.Type {
	case "message_start":
		a.model = e.Message.Model
		u := e.Message.Usage
		a.anthropicUsage(u.InputTokens, u.OutputTokens, u.CacheReadInputTokens, u.CacheCreationInputTokens)
	case "content_block_start":
		a.anthropicBlock(e.ContentBlock.Type)
		return a.write(e.ContentBlock.Text)
	case "content_block_delta":
		return a.write(e.Delta.Text)
	case "message_delta":
		a.anthropicStop(e.Delta.StopReason)
		u := e.Usage
		a.anthropicUsage(u.InputTokens, u.OutputTokens, u.CacheReadInputTokens, u.CacheCreationInputTokens)
	case "message_stop":
		a.done = true
	}
	return nil
}

// anthropicWhole reads an answer that came as one JSON object.
func (a *answer) anthropicWhole(raw []byte) error {
	var m sdk.Message
	if err := json.Unmarshal(raw, &m); err != nil || m.Type != "message" {
		return errNotAnswer
	}
	a.model = m.Model
	for _, b := range m.Content {
		a.anthropicBlock(b.Type)
		if err := a.write(b.Text); err != nil {
			return err
		}
	}
	a.anthropicStop(m.StopReason)
	u := m.Usage
	a.anthropicUsage(u.InputTokens, u.OutputTokens, u.CacheReadInputTokens, u.CacheCreationInputTokens)
	a.done = true
	return nil
}

func (a *answer) anthropicBlock(kind string) {
	switch {
	case strings.HasSuffix(kind, "thinking"):
		a.reasoned = true
	case strings.HasSuffix(kind, "tool_use"):
		a.toolCalls++
	}
}

func (a *answer) anthropicStop(reason sdk.StopReason) {
	switch reason {
	case sdk.StopReasonMaxTokens:
		a.truncated = true
	case sdk.StopReasonRefusal:
		a.refused = true
	case sdk.StopReasonModelContextWindowExceeded:
		a.full = true
	}
}

// anthropicUsage sets counts that are cumulative. Some servers report the input
// tokens at the start of the stream, some at the end, and 0 in the other place.
func (a *answer) anthropicUsage(input, output, cacheRead, cacheWrite int64) {
	take(&a.usage.Input, input)
	take(&a.usage.Output, output)
	take(&a.usage.CacheRead, cacheRead)
	take(&a.usage.CacheWrite, cacheWrite)
}

// take sets a count that is reported; 0 or less means that it is not reported.
func take(count *int, reported int64) {
	if reported > 0 {
		*count = int(reported)
	}
}
