package preciseino_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	preciseino "github.com/precis-dev/precis/integrations/go/eino"
	"github.com/precis-dev/precis/keeper"
)

const window = 8000

// scripted is a model that reads files, one with each answer, and refuses what is longer
// than its window at four characters a token.
type scripted struct {
	files, calls, longest int
	rule                  bool // every call had the user's rule
}

func (m *scripted) Generate(_ context.Context, input []*schema.Message, _ ...model.Option) (*schema.Message, error) {
	size, rule, answered := 0, false, map[string]bool{}
	for _, msg := range input {
		size += len(msg.Content)
		rule = rule || strings.Contains(msg.Content, "Never touch legacy.go.")
		for _, c := range msg.ToolCalls {
			size += len(c.Function.Arguments)
			answered[c.ID] = true
		}
		if msg.Role == schema.Tool && !answered[msg.ToolCallID] {
			return nil, fmt.Errorf("the result %s has no call", msg.ToolCallID)
		}
	}
	m.longest = max(m.longest, size)
	if size/4 > window {
		return nil, fmt.Errorf("%d tokens are more than %d", size/4, window)
	}
	m.rule = rule && (m.rule || m.calls == 0)
	if m.calls++; m.calls > m.files {
		return schema.AssistantMessage("All files are read.", nil), nil
	}
	return schema.AssistantMessage("", []schema.ToolCall{{ID: fmt.Sprint("call_", m.calls), Type: "function", Function: schema.FunctionCall{Name: "read", Arguments: fmt.Sprintf(`{"path":"file%d.txt"}`, m.calls)}}}), nil
}

func (m *scripted) Stream(ctx context.Context, input []*schema.Message, opts ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	out, err := m.Generate(ctx, input, opts...)
	if err != nil {
		return nil, err
	}
	return schema.StreamReaderFromArray([]*schema.Message{out}), nil
}

func (m *scripted) WithTools([]*schema.ToolInfo) (model.ToolCallingChatModel, error) { return m, nil }

func conversation(t *testing.T) *keeper.Conversation {
	t.Helper()
	k, err := keeper.Open("", keeper.Options{Window: func(string) int { return window }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { k.Close() })
	conv, err := k.Conversation(t.Context(), "ticket-4711")
	if err != nil {
		t.Fatal(err)
	}
	return conv
}

// An agent of the development kit reads sixty files in a window of 8,000 tokens, streamed
// and not; the user's rule is in every view.
func TestAnAgent(t *testing.T) {
	for _, stream := range []bool{false, true} {
		t.Run(fmt.Sprint("stream=", stream), func(t *testing.T) {
			m := &scripted{files: 60}
			type path struct {
				Path string `json:"path"`
			}
			read, err := utils.InferTool("read", "reads a file", func(_ context.Context, in *path) (string, error) {
				return in.Path + "\n" + strings.Repeat("The value of this setting is not clear to me.\n", 25), nil
			})
			if err != nil {
				t.Fatal(err)
			}
			conv := conversation(t)
			agent, err := adk.NewChatModelAgent(t.Context(), &adk.ChatModelAgentConfig{
				Name: "reader", Description: "reads files", Instruction: "You read files.", Model: m, MaxIterations: 200,
				ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: []tool.BaseTool{read}}},
				Handlers:    []adk.ChatModelAgentMiddleware{preciseino.Middleware(conv)},
			})
			if err != nil {
				t.Fatal(err)
			}
			events := adk.NewRunner(t.Context(), adk.RunnerConfig{Agent: agent, EnableStreaming: stream}).Query(t.Context(), "Read all files. Never touch legacy.go.")
			last := ""
			for {
				e, ok := events.Next()
				if !ok {
					break
				}
				if e.Err != nil {
					t.Fatal(e.Err)
				}
				if e.Output != nil && e.Output.MessageOutput != nil {
					msg, err := e.Output.MessageOutput.GetMessage()
					if err != nil && !errors.Is(err, io.EOF) {
						t.Fatal(err)
					}
					last = msg.Content
				}
			}
			if last != "All files are read." || m.calls != 61 || !m.rule {
				t.Errorf("%q after %d calls, rule always there: %v", last, m.calls, m.rule)
			}
			if conv.Len() != 121 || m.longest/4 > window || m.longest/4 < window/4 {
				t.Errorf("%d messages, the longest view %d tokens", conv.Len(), m.longest/4)
			}
		})
	}
}

// What fits is given to the model as the very same values.
func TestNothingIsChangedWhileItFits(t *testing.T) {
	input := []*schema.Message{schema.SystemMessage("Be brief."), schema.UserMessage("Hello."), schema.AssistantMessage("Hi.", nil), schema.UserMessage("And now?")}
	input[1].Extra = map[string]any{"mine": true}
	got := &kept{}
	if _, err := preciseino.Model(conversation(t), got).Generate(t.Context(), input); err != nil {
		t.Fatal(err)
	}
	if len(got.input) != len(input) {
		t.Fatal(got.input)
	}
	for i := range input {
		if got.input[i] != input[i] {
			t.Errorf("message %d is another one: %v", i, got.input[i])
		}
	}
}

type kept struct{ input []*schema.Message }

func (k *kept) Generate(_ context.Context, input []*schema.Message, _ ...model.Option) (*schema.Message, error) {
	k.input = input
	return schema.AssistantMessage("ok", nil), nil
}

func (k *kept) Stream(context.Context, []*schema.Message, ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	return nil, errors.New("not asked for")
}
