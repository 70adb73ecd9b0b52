package harness

import (
	_ "embed"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"precis/internal/table"
)

//go:embed frames.txt
var framesText string

// frames are the lines that programs write around the content of results and answers.
var frames = table.Lazy("frames.txt", framesText, "frame", "program")

// framesBy returns the frames by their first byte.
var framesBy = sync.OnceValue(func() (by [256][]string) {
	for _, row := range frames().Rows {
		f := row.Get("frame")
		by[f[0]] = append(by[f[0]], f)
	}
	return by
})

// IsRemark reports whether a line without spaces around it is one that an agent's program adds to
// what the model or a tool says.
func IsRemark(line string) bool {
	if line == "" {
		return false
	}
	by := framesBy()
	for _, first := range []byte{line[0], '*'} {
		for _, f := range by[first] {
			if matches(f, line) {
				return true
			}
		}
	}
	return false
}

// matches reports whether a frame matches a whole line.
func matches(frame, line string) bool {
	at := strings.IndexAny(frame, "*#")
	if at < 0 {
		return frame == line
	}
	rest, ok := strings.CutPrefix(line, frame[:at])
	if !ok {
		return false
	}
	behind := frame[at+1:]
	if frame[at] == '#' {
		n := len(rest) - len(strings.TrimLeft(rest, "0123456789.,k"))
		return n > 0 && matches(behind, rest[n:])
	}
	literal := behind
	if end := strings.IndexAny(behind, "*#"); end >= 0 {
		literal = behind[:end]
	}
	if literal == behind {
		return strings.HasSuffix(rest, literal)
	}
	for n := 0; ; n++ {
		next := strings.Index(rest[n:], literal)
		if next < 0 {
			return false
		}
		if n += next; matches(behind, rest[n:]) {
			return true
		}
	}
}

// registrations are the elements in which programs list the tools that they register.
var registrations = []string{"<functions>", "<tools>", "<tool_definitions>"}

// toolDefinition is what tells the definition of a tool from other JSON.
type toolDefinition struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	Input       json.RawMessage `json:"input_schema"`
	MCP         json.RawMessage `json:"inputSchema"`
	Function    *toolDefinition `json:"function"`
}

func (d toolDefinition) is() bool {
	if d.Function != nil {
		return d.Function.Name != ""
	}
	return d.Name != "" && d.Description != "" && len(d.Parameters)+len(d.Input)+len(d.MCP) > 0
}

// RegistersTools reports whether a result lists definitions of tools: in an element such as
// <functions>, behind at most one other line, or as JSON. The program has registered these tools,
// and nothing in the text was found out.
func RegistersTools(text string) bool {
	const longest = 300 // bytes of the line before
	text = strings.TrimSpace(text)
	if !strings.Contains(text, `"name"`) {
		return false
	}
	for _, tag := range registrations {
		if at := strings.Index(text[:min(len(text), longest)], tag); at == 0 || at > 0 && text[at-1] == '\n' {
			return true
		}
	}
	if text[0] != '[' && text[0] != '{' {
		return false
	}
	var value json.RawMessage
	if json.NewDecoder(strings.NewReader(text)).Decode(&value) != nil {
		return false
	}
	var list []toolDefinition
	var one struct {
		toolDefinition
		Tools     []toolDefinition `json:"tools"`
		Functions []toolDefinition `json:"functions"`
	}
	if json.Unmarshal(value, &list) != nil {
		if json.Unmarshal(value, &one) != nil {
			return false
		}
		list = append(append(one.Tools, one.Functions...), one.toolDefinition)[:max(len(one.Tools)+len(one.Functions), 1)]
	}
	return len(list) > 0 && !slices.ContainsFunc(list, func(d toolDefinition) bool { return !d.is() })
}
