package pi

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/internal/jsonspan"
)

type jsonValue = json.RawMessage

// message reads an entry's message.
func (e *entry) message(raw []byte) error {
	f, err := jsonspan.Fields(raw)
	if err != nil {
		return fmt.Errorf("message: %w", err)
	}
	text := func(name string) string { v, _ := jsonspan.String(f[name]); return v }
	role := text("role")
	if role == "user" || role == "assistant" || role == "toolResult" {
		e.content = f["content"]
	}
	switch role {
	case "user", "custom":
		err := e.readContent(f["content"], precis.RoleUser)
		e.msg.Attribution = provenance(f["provenance"])
		return err
	case "assistant":
		e.model = text("model")
		return e.readContent(f["content"], precis.RoleAssistant)
	case "system":
		return e.system(f)
	case "toolResult":
		content, err := decodeContent(f["content"])
		e.msg = precis.Message{Role: precis.RoleUser, Content: []precis.Block{precis.ToolResult{
			ToolUseID: text("toolCallId"), Content: content, IsError: jsonspan.Kind(f["isError"]) == 't',
		}}}
		return err
	case "bashExecution":
		if jsonspan.Kind(f["excludeFromContext"]) != 't' {
			e.msg = precis.NewText(precis.RoleUser,
				bash(text("command"), text("output"), number(f["exitCode"])))
			e.msg.Attribution = precis.Attribution{Program: program, Author: precis.AuthorTool,
				Act: precis.ActShell}
		}
	case "branchSummary", "compactionSummary":
		if s := text("summary"); s != "" {
			e.msg = precis.NewText(precis.RoleUser, s)
			e.msg.Attribution = recap
		}
	case "":
		return errors.New("the message has no role")
	}
	return nil
}

// system reads pi's instructions: a text, and named sections. A section replaces the section of the
// same name in earlier messages. Added tools count as tools of the conversation.
func (e *entry) system(f map[string]jsonValue) error {
	blocks, err := decodeContent(f["content"])
	if jsonspan.Kind(f["sections"]) == '{' {
		for m := range jsonspan.Object(f["sections"]) {
			if s, ok := jsonspan.String(m.Raw); ok {
				blocks = append(blocks, precis.Text{Text: s})
			}
		}
	}
	if jsonspan.Kind(f["toolsAdded"]) == '[' {
		e.tools = f["toolsAdded"]
	}
	e.msg = archive.WithoutBlank(precis.Message{Role: precis.RoleSystem, Content: blocks})
	return err
}

// provenance reads OpenClaw's note that a message in the user's role is not from a person.
func provenance(raw jsonValue) precis.Attribution {
	switch kind, _ := jsonspan.String(jsonspan.Field(raw, "kind")); kind {
	case "inter_session":
		return precis.Attribution{Program: program, Author: precis.AuthorDelegate, Act: precis.ActNotice}
	case "internal_system":
		return precis.Attribution{Program: program, Author: precis.AuthorProgram, Act: precis.ActNotice}
	}
	return precis.Attribution{}
}

// program is [precis.Said.Program] of the messages here.
const program = "pi"

// recap marks a summary written by pi.
var recap = precis.Attribution{Program: program, Author: precis.AuthorRecap, Act: precis.ActSummary}

// bash describes a command that the user ran in the terminal.
func bash(command, output string, exit int) string {
	s := "Ran `" + command + "`"
	if exit != 0 {
		s += fmt.Sprintf(" (exit code %d)", exit)
	}
	if strings.TrimSpace(output) == "" {
		return s + "\n(no output)"
	}
	return s + "\n```\n" + output + "\n```"
}

// readContent reads the content of a user's or assistant's message without blank text.
func (e *entry) readContent(content []byte, role precis.Role) error {
	blocks, err := decodeContent(content)
	e.msg = archive.WithoutBlank(precis.Message{Role: role, Content: blocks})
	return err
}

func decodeContent(raw []byte) ([]precis.Block, error) {
	switch jsonspan.Kind(raw) {
	case 0, 'n':
		return nil, nil
	case '"':
		s, _ := jsonspan.String(raw)
		return []precis.Block{precis.Text{Text: s}}, nil
	}
	var out []precis.Block
	for span, err := range jsonspan.Array(raw) {
		if err != nil {
			return nil, err
		}
		b, err := decodeBlock(span.Raw)
		if err != nil {
			return nil, fmt.Errorf("block %d: %w", len(out), err)
		}
		out = append(out, b)
	}
	return out, nil
}

func decodeBlock(raw []byte) (precis.Block, error) {
	f, err := jsonspan.Fields(raw)
	if err != nil {
		return nil, err
	}
	text := func(name string) string { v, _ := jsonspan.String(f[name]); return v }
	switch kind := text("type"); kind {
	case "text":
		return precis.Text{Text: text("text")}, nil
	case "thinking":
		if jsonspan.Kind(f["redacted"]) == 't' {
			return precis.RedactedThinking{Data: text("thinkingSignature")}, nil
		}
		return precis.Thinking{Text: text("thinking"), Signature: text("thinkingSignature")}, nil
	case "toolCall":
		return precis.ToolUse{ID: text("id"), Name: text("name"), Input: f["arguments"]}, nil
	case "image":
		return precis.Image{MediaType: text("mimeType"), Data: text("data")}, nil
	case "":
		return nil, errors.New("the block has no type")
	default:
		return precis.Opaque{Type: kind, Raw: raw}, nil
	}
}

func number(raw []byte) int {
	n, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil {
		return 0
	}
	return n
}
