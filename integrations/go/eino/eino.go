// Package preciseino keeps agents of eino inside the window of their model: a middleware
// for the agent development kit, and a wrapper for any chat model.
//
//	k, err := keeper.Open("agent.db", keeper.Options{})
//	conv, err := k.Conversation(ctx, "ticket-4711")
//	agent, err := adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{
//		…, Handlers: []adk.ChatModelAgentMiddleware{preciseino.Middleware(conv)},
//	})
//
// The agent keeps its messages as they were said; the model is given the view of them.
package preciseino

import (
	"context"
	"encoding/json"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/keeper"
	"github.com/precis-dev/precis/wire/chat"
)

// Middleware gives the model of an agent the view of a conversation. Each agent, and each
// conversation of an agent, needs one of its own.
func Middleware(conv *keeper.Conversation) adk.ChatModelAgentMiddleware {
	return &middleware{conv: conv}
}

type middleware struct {
	adk.BaseChatModelAgentMiddleware
	conv *keeper.Conversation
}

// WrapModel returns the model with the view before it.
func (m *middleware) WrapModel(_ context.Context, of model.BaseChatModel,
	_ *adk.ModelContext) (model.BaseChatModel, error) {
	return Model(m.conv, of), nil
}

// Model returns a chat model that is given the view of a conversation in the place of the
// messages it is called with, which are those of the whole conversation. An error of the
// view, such as [precis.CodeOverBudget], is that of the call.
func Model(conv *keeper.Conversation, of model.BaseChatModel) model.BaseChatModel {
	return &viewed{of, conv}
}

type viewed struct {
	of   model.BaseChatModel
	conv *keeper.Conversation
}

func (v *viewed) Generate(ctx context.Context, input []*schema.Message,
	opts ...model.Option) (*schema.Message, error) {
	view, err := v.view(ctx, input, opts)
	if err != nil {
		return nil, err
	}
	return v.of.Generate(ctx, view, opts...)
}

func (v *viewed) Stream(ctx context.Context, input []*schema.Message,
	opts ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	view, err := v.view(ctx, input, opts)
	if err != nil {
		return nil, err
	}
	return v.of.Stream(ctx, view, opts...)
}

// view returns what the model is to be given. Messages that are shown as they were said are
// the very same values.
func (v *viewed) view(ctx context.Context, input []*schema.Message,
	opts []model.Option) ([]*schema.Message, error) {
	said := map[precis.Fingerprint]*schema.Message{}
	var lead []*schema.Message
	var system string
	var msgs []precis.Message
	for _, m := range input {
		if m.Role == schema.System && len(msgs) == 0 {
			lead = append(lead, m)
			system += m.Content + "\n"
			continue
		}
		p, err := messageOf(m)
		if err != nil {
			return nil, err
		}
		said[precis.HashMessage(p)] = m
		msgs = append(msgs, p)
	}
	common := model.GetCommonOptions(&model.Options{}, opts...)
	tools, err := toolsOf(common.Tools)
	if err != nil {
		return nil, err
	}
	name := ""
	if common.Model != nil {
		name = *common.Model
	}
	v.conv.With(name, system, tools).Set(msgs)
	view, err := v.conv.View(ctx)
	if err != nil {
		return nil, err
	}
	out := lead
	for _, m := range view.Messages {
		if same := said[precis.HashMessage(m)]; same != nil {
			out = append(out, same)
			continue
		}
		more, err := schemaOf(m)
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	return out, nil
}

// messageOf turns a message of eino into one of precis.
func messageOf(m *schema.Message) (precis.Message, error) {
	out := precis.Message{Role: precis.RoleUser}
	text := m.Content
	switch m.Role {
	case schema.Tool:
		out.Content = []precis.Block{precis.ToolResult{ToolUseID: m.ToolCallID,
			Content: []precis.Block{precis.Text{Text: text}}}}
		return out, nil
	case schema.System:
		out.Role = precis.RoleSystem
	case schema.Assistant:
		out.Role = precis.RoleAssistant
	}
	if text != "" {
		out.Content = append(out.Content, precis.Text{Text: text})
	}
	if parts := len(m.UserInputMultiContent) + len(m.AssistantGenMultiContent) +
		len(m.MultiContent); parts > 0 {
		raw, err := json.Marshal(m)
		if err != nil {
			return out, err
		}
		// counted; the message itself is sent
		out.Content = append(out.Content, precis.Text{Text: string(raw)})
	}
	for _, c := range m.ToolCalls {
		out.Content = append(out.Content,
			precis.ToolUse{ID: c.ID, Name: c.Function.Name,
				Input: chat.Arguments(quoted(c.Function.Arguments))})
	}
	return out, nil
}

func quoted(s string) json.RawMessage { b, _ := json.Marshal(s); return b }

// schemaOf converts a message of precis to messages of eino.
func schemaOf(m precis.Message) ([]*schema.Message, error) {
	var list []*schema.Message
	if err := json.Unmarshal(chat.AppendMessages(nil, []precis.Message{m}), &list); err != nil {
		return nil, err
	}
	return list, nil
}

// toolsOf turns definitions of tools into a JSON list, for counting.
func toolsOf(tools []*schema.ToolInfo) (json.RawMessage, error) {
	type tool struct {
		Name        string `json:"name"`
		Description string `json:"description"`
		Parameters  any    `json:"input_schema"`
	}
	var out []tool
	for _, t := range tools {
		parameters, err := t.ToJSONSchema()
		if err != nil {
			return nil, err
		}
		out = append(out, tool{t.Name, t.Desc, parameters})
	}
	if out == nil {
		return nil, nil
	}
	return json.Marshal(out)
}
