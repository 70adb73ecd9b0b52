package precisanthropic_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	precisanthropic "github.com/precis-dev/precis/integrations/go/anthropic"
	"github.com/precis-dev/precis/keeper"
	"github.com/precis-dev/precis/provider/providertest"
)

func said() []anthropic.MessageParam {
	return []anthropic.MessageParam{
		anthropic.NewUserMessage(anthropic.NewTextBlock("Find the bug."), anthropic.NewImageBlockBase64("image/png", "iVBORw0KGgo=")),
		anthropic.NewAssistantMessage(anthropic.NewThinkingBlock("c2ln", "Where is it?"), anthropic.NewTextBlock("Let me look."), anthropic.NewToolUseBlock("toolu_1", map[string]any{"path": "a.go"}, "read")),
		anthropic.NewUserMessage(anthropic.NewToolResultBlock("toolu_1", "package a", false)),
	}
}

// What goes to precis and comes back is the same.
func TestThereAndBack(t *testing.T) {
	msgs, err := precisanthropic.Messages(said())
	if err != nil {
		t.Fatal(err)
	}
	back, err := precisanthropic.Params(msgs)
	if err != nil {
		t.Fatal(err)
	}
	want, _ := json.Marshal(said())
	got, err := json.Marshal(back)
	if err != nil || string(got) != string(want) {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}
}

// Sixty turns of the SDK in a window of 8,000 tokens.
func TestSixtyTurns(t *testing.T) {
	const window = 8000
	s := providertest.New(t, providertest.Options{Window: window})
	k, err := keeper.Open("", keeper.Options{Window: func(string) int { return window }, Model: "claude-sonnet-4-5"})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	conv, err := k.Conversation(t.Context(), "ticket-4711")
	if err != nil {
		t.Fatal(err)
	}
	client := anthropic.NewClient(option.WithBaseURL(s.URL), option.WithAPIKey("k"), option.WithMaxRetries(0))
	reduced := 0
	for n := range 60 {
		question, err := precisanthropic.Messages([]anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(fmt.Sprintf("Question %d. %s", n, strings.Repeat("The value of this setting is not clear to me. ", 30))))})
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
		params := anthropic.MessageNewParams{Model: "claude-sonnet-4-5", MaxTokens: 200}
		if params.Messages, err = precisanthropic.Params(view.Messages); err != nil {
			t.Fatal(err)
		}
		answer, err := client.Messages.New(t.Context(), params)
		if err != nil {
			t.Fatalf("turn %d: %v", n, err)
		}
		reply, err := precisanthropic.Reply(answer)
		if err != nil {
			t.Fatal(err)
		}
		conv.Append(reply)
	}
	if reduced == 0 || reduced > 12 || conv.Len() != 120 {
		t.Errorf("%d reductions, %d messages", reduced, conv.Len())
	}
}

// A block that neither precis nor the SDK knows is sent as it came.
func TestUnknownBlocks(t *testing.T) {
	const raw = `{"role":"user","content":[{"type":"text","text":"Look:"},{"type":"future_block","x":[1,2]}]}`
	msgs, err := precisanthropic.Messages([]anthropic.MessageParam{param.Override[anthropic.MessageParam](json.RawMessage(raw))})
	if err != nil {
		t.Fatal(err)
	}
	back, err := precisanthropic.Params(msgs)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := json.Marshal(back[0]); err != nil || string(got) != raw {
		t.Errorf("%v\n%s", err, got)
	}
}
