package provider

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/openai/openai-go/v3/option"
	sdk "github.com/openai/openai-go/v3/responses"

	"precis/internal/jsonspan"
	"precis/wire/responses"
)

// responsesAPI is OpenAI's Responses API.
type responsesAPI struct{ responses sdk.ResponseService }

func newResponses(c Config) responsesAPI {
	return responsesAPI{sdk.NewResponseService(openaiOptions(c)...)}
}

func (responsesAPI) fresh(o order) []byte {
	b := jsonspan.AppendStringField([]byte("{"), "model", o.model)
	b = appendNumber(b, "max_output_tokens", o.limit)
	if o.effort != "" {
		b = append(jsonspan.AppendField(b, "reasoning"), '{')
		b = append(jsonspan.AppendStringField(b, "effort", o.effort), '}')
	}
	b = appendBool(b, "store", false)
	b = appendBool(b, "stream", true)
	if system := texts(o.System).PlainText(); system != "" {
		b = jsonspan.AppendStringField(b, "instructions", system)
	}
	b = responses.AppendMessages(jsonspan.AppendField(b, "input"), o.Messages)
	return append(b, '}')
}

// errStateful reports that the live request continues a conversation that the
// server stores, so that its prefix is not in the request.
var errStateful = errors.New("the live request continues a conversation that the server keeps: nothing can ride on it")

func (responsesAPI) ride(o order) ([]byte, error) {
	live, err := parseLive(o.Body, "input")
	if err != nil {
		return nil, err
	}
	if live.Get("previous_response_id") != nil || live.Get("conversation") != nil {
		return nil, errStateful
	}
	messages := withSystem(live.Get("input"), o.Messages, responses.DecodeMessages)
	live.Set("input", responses.AppendMessages(make([]byte, 0, len(o.Body)), messages))
	live.Set("stream", []byte("true"))
	live.Set("store", []byte("false"))
	if live.Get("background") != nil {
		live.Set("background", []byte("false"))
	}
	if o.limit > 0 {
		live.Set("max_output_tokens", strconv.AppendInt(nil, int64(o.limit), 10))
	}
	return live.Bytes(), nil
}

func (d responsesAPI) ask(ctx context.Context, x *exchange, a *answer) error {
	stream := d.responses.NewStreaming(ctx, sdk.ResponseNewParams{}, option.WithMiddleware(x.send))
	err := read(stream, a, a.responsesEvent)
	if x.whole != nil {
		return a.responsesWhole(x.whole)
	}
	if failed := streamedError(err); failed != nil {
		a.failed = failed
		return nil
	}
	return err
}

func (a *answer) responsesEvent(e sdk.ResponseStreamEventUnion) error {
	switch e.Type {
	case "response.output_text.delta":
		return a.write(e.Delta)
	case "response.output_item.added":
		a.responsesItem(e.Item)
	case "response.refusal.delta", "response.refusal.done":
		a.refused = true
	case "response.created", "response.in_progress":
		a.model = e.Response.Model
	case "response.completed", "response.incomplete", "response.failed":
		return a.responsesEnd(e.Response)
	case "error":
		a.failed = []byte(e.RawJSON())
	}
	return nil
}

// responsesWhole reads an answer that came as one JSON object.
func (a *answer) responsesWhole(raw []byte) error {
	var m sdk.Response
	if err := json.Unmarshal(raw, &m); err != nil || m.Object != "response" {
		return errNotAnswer
	}
	for _, item := range m.Output {
		a.responsesItem(item)
	}
	return a.responsesEnd(m)
}

func (a *answer) responsesItem(item sdk.ResponseOutputItemUnion) {
	switch {
	case item.Type == "reasoning":
		a.reasoned = true
	case strings.HasSuffix(item.Type, "_call"):
		a.toolCalls++
	}
}

// responsesEnd reads the final response. Its text is used if no stream
// delivered it.
func (a *answer) responsesEnd(r sdk.Response) error {
	a.model = r.Model
	take(&a.usage.Input, r.Usage.InputTokens)
	take(&a.usage.Output, r.Usage.OutputTokens)
	take(&a.usage.CacheRead, r.Usage.InputTokensDetails.CachedTokens)
	take(&a.usage.CacheWrite, r.Usage.InputTokensDetails.CacheWriteTokens)
	a.reasoned = a.reasoned || r.Usage.OutputTokensDetails.ReasoningTokens > 0
	switch r.Status {
	case sdk.ResponseStatusFailed, sdk.ResponseStatusCancelled:
		failed := jsonspan.AppendField([]byte("{"), "error")
		a.failed = append(append(failed, cmp.Or(r.Error.RawJSON(), "{}")...), '}')
		return nil
	case sdk.ResponseStatusQueued, sdk.ResponseStatusInProgress:
		return errNotAnswer
	}
	switch r.IncompleteDetails.Reason {
	case "max_output_tokens":
		a.truncated = true
	case "content_filter":
		a.refused = true
	}
	for _, item := range r.Output {
		for _, part := range item.Content {
			a.refused = a.refused || part.Type == "refusal"
		}
	}
	a.done = true
	if a.words.Len() == 0 {
		return a.write(r.OutputText())
	}
	return nil
}
