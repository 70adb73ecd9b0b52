package copilot

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"precis"
	"precis/archive"
	"precis/internal/jsonspan"
)

// parts reads what the user saw of an answer. Words after a call follow its result, as
// they did when it was made.
func (b *builder) parts(parts []json.RawMessage, at time.Time) {
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
		b.say(precis.RoleAssistant, at, said...)
		b.say(precis.RoleUser, at, answers...)
		said, answers = nil, nil
	}
	for _, raw := range parts {
		f := object(raw)
		kind := text(f, "kind")
		if len(answers) > 0 && kind != "toolInvocationSerialized" {
			turn()
		}
		switch kind {
		case "", "markdownContent", "markdownVuln":
			words.WriteString(markdown(f))
		case "inlineReference":
			words.WriteString(reference(object(f["inlineReference"])))
		case "thinking":
			flushWords()
			said = append(said, precis.Thinking{Text: markdown(f)})
		case "toolInvocationSerialized":
			flushWords()
			use, answer := invocation(f)
			said, answers = append(said, use), append(answers, answer)
		default:
			b.rec.Ignored++
		}
	}
	if len(said) > 0 || words.Len() > 0 {
		turn()
	}
}

// markdown returns the words of a part: its value, or the value of that, or of its
// content.
func markdown(f map[string]json.RawMessage) string {
	for _, raw := range []json.RawMessage{f["value"], f["content"]} {
		for range 3 {
			if s, ok := jsonspan.String(raw); ok {
				return s
			}
			raw = object(raw)["value"]
		}
	}
	return ""
}

// reference returns the name of a file or symbol that an answer points at.
func reference(f map[string]json.RawMessage) string {
	for _, name := range []string{"fsPath", "path", "name"} {
		if s := text(f, name); s != "" {
			return "`" + s + "`"
		}
	}
	if location := object(f["location"]); location != nil {
		return reference(object(location["uri"]))
	}
	return ""
}

// invocation reads a call as the user saw it, and what is known of its result.
func invocation(f map[string]json.RawMessage) (precis.ToolUse, precis.ToolResult) {
	use := precis.ToolUse{ID: text(f, "toolCallId"), Name: text(f, "toolId")}
	answer := precis.ToolResult{ToolUseID: use.ID}
	data, details := object(f["toolSpecificData"]), object(f["resultDetails"])
	command := text(object(data["commandLine"]), "original")
	if command == "" {
		command = text(data, "command")
	}
	switch {
	case command != "":
		use.Input, _ = json.Marshal(map[string]string{"command": command})
	case text(details, "input") != "":
		use.Input = input(details["input"])
	case data["rawInput"] != nil:
		use.Input = input(data["rawInput"])
	}
	var out []string
	for _, raw := range list(details["output"]) {
		out = append(out, text(object(raw), "value"))
	}
	out = append(out, text(object(data["terminalCommandOutput"]), "text"))
	if code := archive.Amount(object(data["terminalCommandState"])["exitCode"]); code != 0 {
		answer.IsError = true
		out = append(out, fmt.Sprintf("exit code %g", code))
	}
	answer.IsError = answer.IsError || jsonspan.Kind(details["isError"]) == 't'
	words := strings.TrimSpace(strings.Join(out, "\n"))
	if words == "" { // only what was done is known
		words = strings.TrimSpace(markdown(map[string]json.RawMessage{"value": f["pastTenseMessage"]}))
	}
	if words != "" {
		answer.Content = []precis.Block{precis.Text{Text: words}}
	}
	return use, answer
}
