package copilot

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/internal/jsonspan"
)

// parts reads the displayed parts of an answer. Text after a call follows the call's result, in
// the original order.
func (b builder) parts(parts []json.RawMessage, at time.Time) {
	var said, answers []precis.Block
	var words strings.Builder
	flushWords := func() {
		if words.Len() > 0 {
			said = append(said, precis.Text{Text: words.String()})
			words.Reset()
		}
	}
	turn := func() {
		flushWords()
		b.addMessage(precis.RoleAssistant, at, said...)
		b.addMessage(precis.RoleUser, at, answers...)
		said, answers = nil, nil
	}
	for _, raw := range parts {
		f := jsonspan.Members(raw)
		kind := jsonspan.Text(f, "kind")
		if len(answers) > 0 && kind != "toolInvocationSerialized" {
			turn()
		}
		switch kind {
		case "", "markdownContent", "markdownVuln":
			words.WriteString(markdown(f))
		case "inlineReference":
			words.WriteString(reference(jsonspan.Members(f["inlineReference"])))
		case "thinking":
			flushWords()
			said = append(said, precis.Thinking{Text: markdown(f)})
		case "toolInvocationSerialized":
			flushWords()
			use, answer := invocation(f)
			said, answers = append(said, use), append(answers, answer)
		default:
			b.Rec.Ignored++
		}
	}
	if len(said) > 0 || words.Len() > 0 {
		turn()
	}
}

// markdown returns the text of a part: its value or content, or the value nested in one of them.
func markdown(f map[string]json.RawMessage) string {
	for _, raw := range []json.RawMessage{f["value"], f["content"]} {
		for range 3 {
			if s, ok := jsonspan.String(raw); ok {
				return s
			}
			raw = jsonspan.Members(raw)["value"]
		}
	}
	return ""
}

// reference returns the name of a file or symbol that an answer links to.
func reference(f map[string]json.RawMessage) string {
	for _, name := range []string{"fsPath", "path", "name"} {
		if s := jsonspan.Text(f, name); s != "" {
			return "`" + s + "`"
		}
	}
	if location := jsonspan.Members(f["location"]); location != nil {
		return reference(jsonspan.Members(location["uri"]))
	}
	return ""
}

// invocation reads a call as displayed, with the known parts of its result.
func invocation(f map[string]json.RawMessage) (precis.ToolUse, precis.ToolResult) {
	use := precis.ToolUse{ID: jsonspan.Text(f, "toolCallId"), Name: jsonspan.Text(f, "toolId")}
	answer := precis.ToolResult{ToolUseID: use.ID}
	data, details := jsonspan.Members(f["toolSpecificData"]), jsonspan.Members(f["resultDetails"])
	command := jsonspan.Text(jsonspan.Members(data["commandLine"]), "original")
	if command == "" {
		command = jsonspan.Text(data, "command")
	}
	switch {
	case command != "":
		use.Input, _ = json.Marshal(map[string]string{"command": command})
	case jsonspan.Text(details, "input") != "":
		use.Input = input(details["input"])
	case data["rawInput"] != nil:
		use.Input = input(data["rawInput"])
	}
	var out []string
	for _, raw := range jsonspan.Elements(details["output"]) {
		out = append(out, jsonspan.Text(jsonspan.Members(raw), "value"))
	}
	out = append(out, jsonspan.Text(jsonspan.Members(data["terminalCommandOutput"]), "text"))
	if code := archive.ParseAmount(jsonspan.Members(data["terminalCommandState"])["exitCode"]); code != 0 {
		answer.IsError = true
		out = append(out, fmt.Sprintf("exit code %g", code))
	}
	answer.IsError = answer.IsError || jsonspan.Kind(details["isError"]) == 't'
	words := strings.TrimSpace(strings.Join(out, "\n"))
	if words == "" { // fall back to the description of the action
		words = strings.TrimSpace(markdown(map[string]json.RawMessage{"value": f["pastTenseMessage"]}))
	}
	if words != "" {
		answer.Content = []precis.Block{precis.Text{Text: words}}
	}
	return use, answer
}
