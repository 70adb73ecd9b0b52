package upstream

import (
	"encoding/json"
	"slices"
	"strings"
)

// tool is a tool offered by the client.
type tool struct {
	name   string
	schema object
	free   bool // its input is text, not JSON
}

// known are names of tools that read a file or run a command, the best first, without case and
// underscores.
var known = []string{
	"read", "readfile", "readfiles", "view", "viewfile", "openfile", "cat", "readmanyfiles",
	"execcommand", "shellcommand", "bash", "shell", "runcommand", "runcommands", "runshellcommand",
	"executecommand", "exec",
}

// reader returns the best tool for reading files.
func reader(tools []tool) (best tool, ok bool) {
	rank := len(known) + 2
	for _, t := range tools {
		if r := t.rank(); r < rank {
			best, rank, ok = t, r, true
		}
	}
	return best, ok
}

// rank is lower for better tools.
func (t tool) rank() int {
	name := plain(t.name)
	if i := slices.Index(known, name); i >= 0 {
		return i
	}
	switch {
	case t.free:
	case t.takes(isPath) && (strings.Contains(name, "read") || strings.Contains(name, "view")):
		return len(known)
	case t.takes(isCommand):
		return len(known) + 1
	}
	return len(known) + 2
}

func (t tool) takes(is func(string) bool) bool {
	properties, _ := t.schema["properties"].(object)
	for name := range properties {
		if is(name) {
			return true
		}
	}
	return false
}

// plain returns a name without case and punctuation.
func plain(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' {
			return r
		}
		return -1
	}, strings.ToLower(name))
}

func isPath(name string) bool {
	return slices.Contains([]string{"path", "file", "filepath", "filename", "targetfile", "absolutepath"},
		plain(name))
}

func isPaths(name string) bool {
	return slices.Contains([]string{"files", "paths", "filepaths"}, plain(name))
}

func isCommand(name string) bool {
	return slices.Contains([]string{"command", "commands", "cmd"}, plain(name))
}

// read returns a call that reads a file.
func (t tool) read(id, file string) call {
	c := call{id: id, tool: t}
	switch {
	case t.free && plain(t.name) == "exec": // this tool runs JavaScript that calls tools
		command, _ := json.Marshal(object{"cmd": "cat " + file})
		c.free = "text(await tools.exec_command(" + string(command) + "));"
	case t.free:
		c.free = "cat " + file
	default:
		c.args = t.arguments(file)
	}
	return c
}

// arguments fills in the schema: the field for the file, and required fields.
func (t tool) arguments(file string) object {
	out := object{}
	properties, _ := t.schema["properties"].(object)
	for name, v := range properties {
		schema := typedSchema(v)
		array := schema["type"] == "array"
		switch {
		case isPath(name) && !array:
			out[name] = file
		case isPaths(name), isPath(name):
			out[name] = []any{element(schema, file)}
		case isCommand(name) && !array:
			out[name] = "cat " + file
		case plain(name) == "commands":
			out[name] = []any{element(schema, "cat "+file)}
		case isCommand(name):
			out[name] = []any{"cat", file}
		case slices.Contains(list(t.schema["required"]), any(name)):
			out[name] = filler(schema)
		}
	}
	return out
}

// element is the only element of an array with a file or a command.
func element(schema object, value string) any {
	properties, _ := typedSchema(schema["items"])["properties"].(object)
	for name := range properties {
		if isPath(name) || isCommand(name) {
			return object{name: value}
		}
	}
	return value
}

// typedSchema returns a schema, or its first alternative with a type.
func typedSchema(v any) object {
	schema, _ := v.(object)
	for _, of := range []string{"anyOf", "oneOf", "allOf"} {
		for _, alternative := range list(schema[of]) {
			if a, _ := alternative.(object); a["type"] != nil && a["type"] != "null" {
				return a
			}
		}
	}
	if types := list(schema["type"]); len(types) > 0 {
		return object{"type": types[0], "items": schema["items"], "properties": schema["properties"]}
	}
	return schema
}

// filler returns a value that a schema allows.
func filler(schema object) any {
	if values := list(schema["enum"]); len(values) > 0 {
		return values[0]
	}
	switch schema["type"] {
	case "boolean":
		return false
	case "number", "integer":
		return 1
	case "array":
		return []any{}
	case "object":
		return object{}
	}
	return "reading a file"
}
