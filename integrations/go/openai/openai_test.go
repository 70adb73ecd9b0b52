package precisopenai_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"

	precisopenai "github.com/precis-dev/precis/integrations/go/openai"
	"github.com/precis-dev/precis/keeper"
	"github.com/precis-dev/precis/provider/providertest"
)

func same(t *testing.T, got, want any) {
	t.Helper()
	a, err := json.Marshal(got)
	b, _ := json.Marshal(want)
	if err != nil || string(a) != string(b) {
		t.Errorf("%v\n%s\nwant\n%s", err, a, b)
	}
}

// What goes to precis and comes back is the same.
func TestThereAndBack(t *testing.T) {
	call := openai.ChatCompletionMessageParamUnion{OfAssistant: &openai.ChatCompletionAssistantMessageParam{ToolCalls: []openai.ChatCompletionMessageToolCallUnionParam{
		{OfFunction: &openai.ChatCompletionMessageFunctionToolCallParam{ID: "call_1", Function: openai.ChatCompletionMessageFunctionToolCallFunctionParam{Name: "read", Arguments: `{"path":"a.go"}`}}},
	}}}
	history := []openai.ChatCompletionMessageParamUnion{openai.UserMessage("Find the bug."), call, openai.ToolMessage("package a", "call_1"), openai.AssistantMessage("It is in line 3.")}
	system, msgs, err := precisopenai.Messages(append([]openai.ChatCompletionMessageParamUnion{openai.SystemMessage("Be brief.")}, history...))
	if err != nil || system != "Be brief." {
		t.Fatal(system, err)
	}
	back, err := precisopenai.Params("", msgs)
	if err != nil {
		t.Fatal(err)
	}
	same(t, back, history)

	items := []responses.ResponseInputItemUnionParam{
		responses.ResponseInputItemParamOfMessage("Find the bug.", responses.EasyInputMessageRoleUser),
		responses.ResponseInputItemParamOfFunctionCall(`{"path":"a.go"}`, "call_1", "read"),
		responses.ResponseInputItemParamOfFunctionCallOutput("package a"),
	}
	items[2].OfFunctionCallOutput.CallID = openai.String("call_1")
	if msgs, err = precisopenai.Items(items); err != nil {
		t.Fatal(err)
	}
	again, err := precisopenai.ItemParams(msgs)
	if err != nil {
		t.Fatal(err)
	}
	same(t, again, items)
}

// Sixty turns of the SDK in a window of 8,000 tokens, in both APIs.
func TestSixtyTurns(t *testing.T) {
	for _, api := range []string{"chat", "responses"} {
		t.Run(api, func(t *testing.T) { sixty(t, api) })
	}
}

func sixty(t *testing.T, api string) {
	const window = 8000
	s := providertest.New(t, providertest.Options{Window: window})
	k, err := keeper.Open("", keeper.Options{Window: func(string) int { return window }, Model: "gpt-5"})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	conv, err := k.Conversation(t.Context(), "ticket-4711")
	if err != nil {
		t.Fatal(err)
	}
	conv.With("", "Be brief.", nil)
	client := openai.NewClient(option.WithBaseURL(s.URL+"/v1"), option.WithAPIKey("k"), option.WithMaxRetries(0))
	reduced := 0
	for n := range 60 {
		text := fmt.Sprintf("Question %d. %s", n, strings.Repeat("The value of this setting is not clear to me. ", 30))
		_, question, err := precisopenai.Messages([]openai.ChatCompletionMessageParamUnion{openai.UserMessage(text)})
		if err != nil {
			t.Fatal(err)
		}
		conv.Append(question...)
		view, err := conv.View(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if view.Acted {
			reduced++
		}
		answer := ""
		if api == "chat" {
			params := openai.ChatCompletionNewParams{Model: "gpt-5"}
			if params.Messages, err = precisopenai.Params("Be brief.", view.Messages); err != nil {
				t.Fatal(err)
			}
			c, err := client.Chat.Completions.New(t.Context(), params)
			if err != nil {
				t.Fatalf("turn %d: %v", n, err)
			}
			answer = c.Choices[0].Message.Content
		} else {
			items, err := precisopenai.ItemParams(view.Messages)
			if err != nil {
				t.Fatal(err)
			}
			r, err := client.Responses.New(t.Context(), responses.ResponseNewParams{Model: "gpt-5", Instructions: openai.String("Be brief."), Input: responses.ResponseNewParamsInputUnion{OfInputItemList: items}})
			if err != nil {
				t.Fatalf("turn %d: %v", n, err)
			}
			answer = r.OutputText()
		}
		_, reply, err := precisopenai.Messages([]openai.ChatCompletionMessageParamUnion{openai.UserMessage("q"), openai.AssistantMessage(answer)})
		if err != nil {
			t.Fatal(err)
		}
		conv.Append(reply[1])
	}
	if reduced == 0 || reduced > 12 || conv.Len() != 120 {
		t.Errorf("%d reductions, %d messages", reduced, conv.Len())
	}
}

// An item that neither precis nor the SDK knows is sent as it came.
func TestUnknownItems(t *testing.T) {
	const raw = `{"type":"future_item","x":[1,2]}`
	msgs, err := precisopenai.Items([]responses.ResponseInputItemUnionParam{param.Override[responses.ResponseInputItemUnionParam](json.RawMessage(raw))})
	if err != nil {
		t.Fatal(err)
	}
	back, err := precisopenai.ItemParams(msgs)
	if err != nil {
		t.Fatal(err)
	}
	same(t, back, []json.RawMessage{json.RawMessage(raw)})
}
