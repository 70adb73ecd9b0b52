package openhands

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/wire/chat"
)

// sdkKinds are the kinds of events of the SDK, or most of them.
var sdkKinds = map[string]bool{
	"SystemPromptEvent": true, "MessageEvent": true, "ActionEvent": true, "ObservationEvent": true,
	"AgentErrorEvent": true, "UserRejectObservation": true, "Condensation": true, "CondensationRequest": true,
	"CondensationSummaryEvent": true, "ConversationStateUpdateEvent": true, "ConversationErrorEvent": true,
	"PauseEvent": true, "TokenEvent": true,
}

// readSDK reads an event of the SDK.
func (e *event) readSDK() error {
	f := e.fields
	switch kind := e.text("kind"); kind {
	case "SystemPromptEvent":
		prompt := jsonspan.Text(jsonspan.Members(f["system_prompt"]), "text")
		if s, ok := jsonspan.String(f["system_prompt"]); ok {
			prompt = s
		}
		if more := jsonspan.Text(jsonspan.Members(f["dynamic_context"]), "text"); more != "" {
			prompt += "\n\n" + more
		}
		e.system(prompt, f["tools"])
	case "MessageEvent":
		return e.message(jsonspan.Members(f["llm_message"]))
	case "ActionEvent":
		return e.readAction()
	case "ObservationEvent":
		blocks, failed := observed(f["observation"])
		return e.result(e.text("tool_call_id"), failed, blocks...)
	case "AgentErrorEvent":
		return e.result(e.text("tool_call_id"), true, precis.Text{Text: e.text("error")})
	case "UserRejectObservation":
		return e.answer(precis.ToolResult{ToolUseID: e.text("tool_call_id"), IsError: true, Refused: true,
			Content: []precis.Block{precis.Text{Text: "Action rejected: " + e.text("rejection_reason")}}})
	case "Condensation":
		e.recordCondensation(condensation{forgotten: jsonspan.Elements(f["forgotten_event_ids"]),
			summary: f["summary"],
			offset:  f["summary_offset"]})
	case "ConversationStateUpdateEvent":
		e.Rec.Ignored++
		e.readState(jsonspan.Text(f, "key"), jsonspan.Members(f["value"]))
	default:
		e.Rec.Ignored++
	}
	return nil
}

// readState reads the conversation's ID and model from the program's state.
func (e *event) readState(name string, value map[string]json.RawMessage) {
	if name != "full_state" {
		return
	}
	if id := jsonspan.Text(value, "id"); id != "" {
		e.Conv.ID = id
	}
	if model := jsonspan.Text(jsonspan.Members(jsonspan.Members(value["agent"])["llm"]),
		"model"); model != "" {
		e.Conv.Model = model
	}
}

// message reads a message of the user or the agent.
func (e *event) message(f map[string]json.RawMessage) error {
	role := precis.RoleUser
	switch name := jsonspan.Text(f, "role"); name {
	case "user":
	case "assistant":
		role = precis.RoleAssistant
	case "":
		return fmt.Errorf("the message has no role")
	default:
		e.Rec.Ignored++
		return nil
	}
	blocks := append(thoughts(f), content(f["content"])...)
	blocks = append(blocks, content(e.fields["extended_content"])...)
	for _, raw := range jsonspan.Elements(f["tool_calls"]) {
		if use, ok := toolUse(raw); ok && use.ID != "" {
			blocks = append(blocks, use)
		}
	}
	e.addMessage(role, blocks...)
	return nil
}

// readAction reads a tool use with its text and reasoning.
func (e *event) readAction() error {
	f := e.fields
	use, ok := toolUse(f["tool_call"])
	if use.Name == "" {
		use.Name = e.text("tool_name")
	}
	if use.ID == "" {
		use.ID = e.text("tool_call_id")
	}
	if !ok {
		use.Input = f["action"]
	}
	if use.Name == "" || use.ID == "" {
		return fmt.Errorf("the action names no tool call")
	}
	blocks := append(thoughts(f), content(f["thought"])...)
	e.addMessage(precis.RoleAssistant, append(blocks, use)...)
	return nil
}

// toolUse reads a tool call: {id, name, arguments}, or as in Chat Completions.
func toolUse(raw json.RawMessage) (precis.ToolUse, bool) {
	f := jsonspan.Members(raw)
	inner := f
	if jsonspan.Kind(f["function"]) == '{' {
		inner = jsonspan.Members(f["function"])
	}
	return precis.ToolUse{ID: jsonspan.Text(f, "id"), Name: jsonspan.Text(inner, "name"),
		Input: chat.Arguments(inner["arguments"])}, f != nil
}

// thoughts returns the model's reasoning: signed blocks, or else plain text.
func thoughts(f map[string]json.RawMessage) []precis.Block {
	out := archive.DecodeReasoning(f["thinking_blocks"])
	if s := jsonspan.Text(f, "reasoning_content"); len(out) == 0 && strings.TrimSpace(s) != "" {
		out = append(out, precis.Thinking{Text: s})
	}
	return out
}

// observed returns the tool result as shown to the model, and whether it failed.
func observed(raw json.RawMessage) ([]precis.Block, bool) {
	f := jsonspan.Members(raw)
	fault, failed := jsonspan.String(f["error"])
	failed = failed && fault != "" || jsonspan.Kind(f["error"]) == 't' || jsonspan.Kind(f["is_error"]) == 't'
	blocks := content(f["content"])
	for _, name := range []string{"output", "message", "error"} {
		if s := jsonspan.Text(f, name); len(blocks) == 0 && s != "" {
			blocks = []precis.Block{precis.Text{Text: s}}
		}
	}
	if data := jsonspan.Text(f, "screenshot_data"); data != "" {
		blocks = append(blocks, precis.Image{MediaType: "image/png", Data: data})
	}
	if meta := jsonspan.Members(f["metadata"]); meta["exit_code"] != nil {
		blocks = shell(meta, blocks)
	}
	known := f["content"] != nil || f["output"] != nil || f["message"] != nil || f["error"] != nil
	if len(blocks) == 0 && !known && len(f) > 0 {
		blocks = []precis.Block{precis.Text{Text: string(raw)}}
	}
	return blocks, failed
}
