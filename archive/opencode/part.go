package opencode

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/wire/chat"
)

// part is one part of a message.
type part struct {
	kind   string
	fields map[string]json.RawMessage
}

func parse(raw []byte) ([]part, error) {
	if k := jsonspan.Kind(raw); k == 0 || k == 'n' {
		return nil, errors.New("the message has no parts")
	}
	var out []part
	for span, err := range jsonspan.Array(raw) {
		if err != nil {
			return nil, fmt.Errorf("parts: %w", err)
		}
		f, err := jsonspan.Fields(span.Raw)
		if err != nil {
			return nil, fmt.Errorf("part %d: %w", len(out), err)
		}
		p := part{kind: jsonspan.Text(f, "type"), fields: f}
		if p.kind == "" {
			return nil, fmt.Errorf("part %d has no type", len(out))
		}
		out = append(out, p)
	}
	return out, nil
}

// The texts that opencode sends for parts without text.
const (
	compactionText  = "What did we do so far?"
	subtaskText     = "The following tool was executed by the user"
	interruptedText = "[Tool execution was interrupted]"
	rejectedText    = "The user rejected permission to use this specific tool call"
)

// shownBlock returns the block that the model sees; nil: none.
func (p part) shownBlock() precis.Block {
	switch p.kind {
	case "text":
		if s := jsonspan.Text(p.fields, "text"); !isTrue(p.fields["ignored"]) && strings.TrimSpace(s) != "" {
			t := precis.Text{Text: s}
			if isTrue(p.fields["synthetic"]) {
				t.Attribution.Author = precis.AuthorProgram
			}
			return t
		}
	case "reasoning":
		if s := jsonspan.Text(p.fields, "text"); strings.TrimSpace(s) != "" {
			return precis.Thinking{Text: s}
		}
	case "file":
		return p.file()
	case "compaction":
		return precis.Text{Text: compactionText,
			Attribution: precis.Attribution{Author: precis.AuthorProgram}}
	case "subtask":
		return precis.Text{Text: subtaskText, Attribution: precis.Attribution{Author: precis.AuthorProgram}}
	}
	return nil
}

// file reads an attached file. Plain text and folders are sent as a separate text part, unless the
// data is in the file part.
func (p part) file() precis.Block {
	media, url := jsonspan.Text(p.fields, "mime"), jsonspan.Text(p.fields, "url")
	given, data, isData := chat.SplitDataURL(url)
	if media == "" {
		media = given
	}
	switch {
	case isData:
		url = ""
	case url == "", media == "text/plain", media == "application/x-directory":
		return nil
	}
	if strings.HasPrefix(media, "image/") {
		return precis.Image{MediaType: media, Data: data, URL: url}
	}
	return precis.Document{MediaType: media, Title: jsonspan.Text(p.fields, "filename"), Data: data, URL: url}
}

func (p part) state() map[string]json.RawMessage { return jsonspan.Members(p.fields["state"]) }

// call reads a tool part: the call and its result. A call that never ended gets the result that
// opencode sends.
func (p part) call() (precis.ToolUse, precis.ToolResult) {
	state := p.state()
	use := precis.ToolUse{ID: jsonspan.Text(p.fields, "callID"), Name: jsonspan.Text(p.fields, "tool")}
	if k := jsonspan.Kind(state["input"]); k != 0 && k != 'n' {
		use.Input = state["input"]
	}
	result := precis.ToolResult{ToolUseID: use.ID}
	words := jsonspan.Text(state, "output")
	switch status := jsonspan.Text(state, "status"); status {
	case "completed":
	case "error":
		result.IsError = true
		if words == "" {
			words = jsonspan.Text(state, "error")
		}
		// the error is from opencode, not from the tool
		result.Refused = strings.HasPrefix(words, rejectedText)
	default:
		result.IsError, words = true, interruptedText
	}
	if strings.TrimSpace(words) != "" {
		result.Content = []precis.Block{precis.Text{Text: words}}
	}
	result.Content = append(result.Content, attachments(state["attachments"])...)
	return use, result
}

func attachments(raw []byte) []precis.Block {
	if jsonspan.Kind(raw) != '[' {
		return nil
	}
	var out []precis.Block
	for span, err := range jsonspan.Array(raw) {
		if err != nil {
			return out
		}
		if b := (part{kind: "file", fields: jsonspan.Members(span.Raw)}).file(); b != nil {
			out = append(out, b)
		}
	}
	return out
}
