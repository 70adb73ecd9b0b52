package openhands

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/jsonspan"
)

// unseen are the actions and observations of OpenHands before 1.0 that the model does not see.
var unseen = map[string]bool{
	"": true, "null": true, "recall": true, "change_agent_state": true, "agent_state_changed": true,
	"condensation_request": true, "pause": true, "resume": true, "stop": true, "loop_recovery": true,
}

// readOld reads an event of OpenHands before 1.0.
func (e *event) readOld() error {
	action, observation := e.text("action"), e.text("observation")
	if action == "" && observation == "" {
		return fmt.Errorf("the event has no kind, action or observation")
	}
	args := jsonspan.Members(e.fields["args"])
	switch {
	case action == "condensation":
		e.recordCondensation(condensation{
			forgotten: jsonspan.Elements(args["forgotten_event_ids"]),
			first:     args["forgotten_events_start_id"], end: args["forgotten_events_end_id"],
			summary: args["summary"], offset: args["summary_offset"],
		})
	case observation == "recall" &&
		jsonspan.Text(jsonspan.Members(e.fields["extras"]), "recall_type") == "knowledge":
		e.readKnowledge()
	case action != "" && unseen[action], action == "" && unseen[observation], observation == "recall":
		e.Rec.Ignored++
	case action == "system":
		e.system(jsonspan.Text(args, "content"), args["tools"])
	case action == "message":
		e.oldMessage(args)
	case action != "":
		e.oldAction(action, args)
	default:
		return e.oldObservation(observation)
	}
	return nil
}

// readKnowledge reads the notes that OpenHands adds about keywords in the user's
// message.
func (e *event) readKnowledge() {
	var blocks []precis.Block
	for _, raw := range jsonspan.Elements(jsonspan.Members(e.fields["extras"])["microagent_knowledge"]) {
		blocks = append(blocks, precis.Text{Text: jsonspan.Text(jsonspan.Members(raw), "content")})
	}
	e.addMessage(precis.RoleUser, blocks...)
}

func (e *event) oldMessage(args map[string]json.RawMessage) {
	words := jsonspan.Text(args, "content")
	if words == "" {
		words = e.text("message")
	}
	if e.text("source") == "user" {
		e.addMessage(precis.RoleUser,
			append([]precis.Block{precis.Text{Text: words}}, images(args["image_urls"])...)...)
		return
	}
	e.addMessage(precis.RoleAssistant, precis.Text{Text: words})
}

// oldAction reads a tool use. It prefers the recorded response of the model to the action's
// arguments. If several actions share a response, each is one of its calls, and the first has the
// text.
func (e *event) oldAction(action string, args map[string]json.RawMessage) {
	meta := jsonspan.Members(e.fields["tool_call_metadata"])
	response := jsonspan.Members(meta["model_response"])
	use := precis.ToolUse{ID: jsonspan.Text(meta, "tool_call_id"), Name: jsonspan.Text(meta, "function_name"),
		Input: e.fields["args"]}
	if use.ID == "" {
		use.ID = eventID(e.key)
	}
	if use.Name == "" {
		use.Name = action
	}
	if model := jsonspan.Text(response, "model"); model != "" {
		e.Conv.Model = model
	}
	blocks := []precis.Block{precis.Text{Text: jsonspan.Text(args, "thought")}}
	if choices := jsonspan.Elements(response["choices"]); len(choices) > 0 {
		said := jsonspan.Members(jsonspan.Members(choices[0])["message"])
		if words := jsonspan.Text(said, "content"); strings.TrimSpace(words) != "" {
			blocks = []precis.Block{precis.Text{Text: words}}
		}
		blocks = append(thoughts(said), blocks...)
		for _, call := range jsonspan.Elements(said["tool_calls"]) {
			if c, ok := toolUse(call); ok && c.ID == use.ID {
				use.Name, use.Input = c.Name, c.Input
			}
		}
	}
	if id := jsonspan.Text(response, "id"); id != "" && e.readResponses[id] {
		blocks = nil
	} else if id != "" {
		e.readResponses[id] = true
	}
	if e.text("source") == "user" {
		e.addMessage(precis.RoleUser,
			precis.Text{Text: fmt.Sprintf("[The user ran %s] %s", action, e.fields["args"])})
		return
	}
	e.addMessage(precis.RoleAssistant, append(blocks, use)...)
}

// eventID names the tool use of an action without a recorded call.
func eventID(key string) string { return "event_" + strings.Trim(key, `"`) }

// oldObservation reads the result of a call. An observation without a call becomes a user
// message.
func (e *event) oldObservation(observation string) error {
	extras := jsonspan.Members(e.fields["extras"])
	blocks := content(e.fields["content"])
	if meta := jsonspan.Members(extras["metadata"]); observation == "run" && meta["exit_code"] != nil {
		blocks = shell(meta, blocks)
	}
	failed := observation == "error"
	switch observation {
	case "error":
		blocks = append(blocks, precis.Text{Text: "[Error occurred in processing last action]"})
	case "user_rejected":
		blocks = append(blocks, precis.Text{Text: "[Last action has been rejected by the user]"})
	}
	blocks = append(blocks, images(extras["image_urls"])...)
	for _, id := range []string{jsonspan.Text(jsonspan.Members(e.fields["tool_call_metadata"]),
		"tool_call_id"), eventID(key(e.fields["cause"]))} {
		if _, used := e.uses[id]; used {
			return e.answer(precis.ToolResult{ToolUseID: id, IsError: failed,
				Refused: observation == "user_rejected", Content: blocks})
		}
	}
	e.addMessage(precis.RoleUser, blocks...)
	return nil
}
