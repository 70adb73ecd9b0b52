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

	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/provider/providertest"
)

// With BridgeDigest the request for a summary is answered without a model, in a form that
// the SDKs read; what comes next is linked as if a model had written it.
func TestASummaryWithoutAModel(t *testing.T) {
	t.Parallel()
	for _, dialect := range dialects(t) {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprint(dialect, " stream=", stream), func(t *testing.T) {
				credentials := []string{"Authorization", "Bearer k"}
				if dialect == "anthropic" {
					credentials = []string{"X-Api-Key", "k"}
				}
				s := providertest.New(t, providertest.Options{})
				base, g := start(t, s.URL, func(o *gateway.Options) { o.Bridge = gateway.BridgeDigest })
				old := worked(dialect, "Read all of the configuration files.")
				res, _ := post(t, base+old.path(), old.body(stream), credentials...)
				asked := len(s.Requests())
				text := sdkText(t, base, dialect, old.asking().body(stream), stream)
				for _, want := range []string{"<summary>\n", "\n</summary>", plantedRule, "E4711"} {
					if !strings.Contains(text, want) {
						t.Errorf("the summary lacks %q: %.300q", want, text)
					}
				}
				if n := len(s.Requests()); n != asked {
					t.Errorf("the model was asked %d times", n-asked)
				}
				next := newAgent(dialect, "This session is being continued from a previous conversation.\n"+text)
				after, _ := post(t, base+next.path(), next.body(stream), credentials...)
				family, err := conversation.FamilyOf(t.Context(), g.Home(gateway.AllOwners), after.Header.Get("X-Precis-Conversation"))
				if err != nil || family.Parent == nil || family.Parent.ID != res.Header.Get("X-Precis-Conversation") {
					t.Errorf("%+v %v", family.Parent, err)
				}
			})
		}
	}
}

// sdkText sends a request and returns what an SDK makes of the answer.
func sdkText(t *testing.T, base, dialect, body string, stream bool) (text string) {
	t.Helper()
	retries, key := aoption.WithMaxRetries(0), aoption.WithAPIKey("k")
	api := openai.NewClient(option.WithBaseURL(base+"/v1"), option.WithAPIKey("k"), option.WithMaxRetries(0))
	raw := option.WithRequestBody("application/json", []byte(body))
	switch dialect {
	case "anthropic":
		api := anthropic.NewClient(aoption.WithBaseURL(base), key, retries)
		raw := aoption.WithRequestBody("application/json", []byte(body))
		if !stream {
			m, err := api.Messages.New(t.Context(), anthropic.MessageNewParams{}, raw)
			if err != nil || m.StopReason != "end_turn" {
				t.Fatal(err, m)
			}
			return m.Content[0].Text
		}
		events := api.Messages.NewStreaming(t.Context(), anthropic.MessageNewParams{}, raw)
		var m anthropic.Message
		for events.Next() {
			if err := m.Accumulate(events.Current()); err != nil {
				t.Fatal(err)
			}
		}
		if events.Err() != nil || m.StopReason != "end_turn" || m.Usage.OutputTokens == 0 {
			t.Fatal(events.Err(), m.RawJSON())
		}
		return m.Content[0].Text
	case "chat":
		if !stream {
			m, err := api.Chat.Completions.New(t.Context(), openai.ChatCompletionNewParams{}, raw)
			if err != nil {
				t.Fatal(err)
			}
			return m.Choices[0].Message.Content
		}
		events := api.Chat.Completions.NewStreaming(t.Context(), openai.ChatCompletionNewParams{}, raw)
		var acc openai.ChatCompletionAccumulator
		for events.Next() {
			if !acc.AddChunk(events.Current()) {
				t.Fatalf("not accumulated: %s", events.Current().RawJSON())
			}
		}
		if events.Err() != nil || acc.Choices[0].FinishReason != "stop" || acc.Usage.CompletionTokens == 0 {
			t.Fatal(events.Err(), acc)
		}
		return acc.Choices[0].Message.Content
	}
	if !stream {
		r, err := api.Responses.New(t.Context(), responses.ResponseNewParams{}, raw)
		if err != nil || r.Status != "completed" {
			t.Fatal(err, r)
		}
		return r.OutputText()
	}
	events := api.Responses.NewStreaming(t.Context(), responses.ResponseNewParams{}, raw)
	number := int64(0)
	for events.Next() {
		e := events.Current()
		if e.SequenceNumber != number {
			t.Errorf("event %s has the number %d, want %d", e.Type, e.SequenceNumber, number)
		}
		number++
		if e.Type == "response.output_text.delta" {
			text += e.Delta
		}
		if e.Type == "response.completed" && e.Response.OutputText() != text {
			t.Errorf("the response says %.100q, the deltas %.100q", e.Response.OutputText(), text)
		}
	}
	if events.Err() != nil {
		t.Fatal(events.Err())
	}
	return text
}
