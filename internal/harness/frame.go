package harness

import (
	_ "embed"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/precis-dev/precis/internal/lazyregexp"
	"github.com/precis-dev/precis/internal/table"
)

//go:embed frames.txt
var framesText string

// frames are the lines that programs write around the content of results and answers.
var frames = table.Lazy("frames.txt", framesText, "frame", "program")

// frame is a line that programs write: a required part, and the pattern of the whole line.
type frame struct {
	part string
	form *lazyregexp.Regexp
}

// framesBy returns the frames by their first byte.
var framesBy = sync.OnceValue(func() (by [256][]frame) {
	for _, row := range frames().Rows {
		f := row.Get("frame")
		part, _, _ := strings.Cut(strings.ReplaceAll(strings.TrimLeft(f, "*"), "#", "*"), "*")
		form := strings.NewReplacer(`\*`, ".*", "#", "[0-9.,k]+").Replace(regexp.QuoteMeta(f))
		by[f[0]] = append(by[f[0]], frame{part, lazyregexp.New("^" + form + "$")})
	}
	return by
})

// IsRemark reports whether a line, without surrounding space, is one that an agent's program adds
// to text of the model or a tool.
func IsRemark(line string) bool {
	if line == "" {
		return false
	}
	by := framesBy()
	is := func(f frame) bool { return strings.Contains(line, f.part) && f.form.MatchString(line) }
	return slices.ContainsFunc(by[line[0]], is) || slices.ContainsFunc(by['*'], is)
}

// registration matches the opening tag of an element with tool definitions.
var registration = lazyregexp.New(`(?m)^<(?:functions|tools|tool_definitions)>`)

// toolDefinition has the members that distinguish the definition of a tool from other JSON.
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
// <functions>, after at most one other line, or as JSON. Such a result registers tools and contains
// no findings.
func RegistersTools(text string) bool {
	const longest = 300 // bytes of the line before
	text = strings.TrimSpace(text)
	if !strings.Contains(text, `"name"`) {
		return false
	}
	if registration.MatchString(text[:min(len(text), longest)]) {
		return true
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
		list = append(append(one.Tools, one.Functions...),
			one.toolDefinition)[:max(len(one.Tools)+len(one.Functions), 1)]
	}
	return len(list) > 0 && !slices.ContainsFunc(list, func(d toolDefinition) bool { return !d.is() })
}
