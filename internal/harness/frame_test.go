package harness

import (
	"testing"

	"github.com/precis-dev/precis/internal/table"
	"github.com/precis-dev/precis/internal/table/tabletest"
)

func TestFrames(t *testing.T) {
	tabletest.Examples(t, frames(), func(_ table.Row, line string) bool { return IsRemark(line) })
	if IsRemark("") {
		t.Error("an empty line is a frame")
	}
}

func TestRegistersTools(t *testing.T) {
	const schema = `"parameters": {"type": "object"}`
	for text, want := range map[string]bool{
		"<functions>\n<function>{\"name\": \"weigh\", \"description\": \"Weighs.\"}</function>\n</functions>": true,
		"Loaded 1 tool:\n<tools>\n{\"name\": \"weigh\"}\n</tools>":                                            true,
		`[{"name": "weigh", "description": "Weighs.", "input_schema": {"type": "object"}}]`:                   true,
		`{"tools": [{"name": "weigh", "description": "Weighs.", "inputSchema": {"type": "object"}}]}`:         true,
		`{"name": "weigh", "description": "Weighs.", ` + schema + `}`:                                         true,
		`[{"type": "function", "function": {"name": "weigh"}}]`:                                               true,
		`[{"name": "weigh", "description": "Weighs."}]`:                                                       false,
		`[{"name": "weigh", "description": "Weighs.", ` + schema + `}, {"name": "anna", "age": 7}]`:           false,
		`{"name": "anna", "description": "a person"}`:                                                         false,
		"The page has <functions> and a \"name\".":                                                            false,
		`[{"name": "weigh", "descr`:                                                                           false,
		"[]":                                                                                                  false,
		"":                                                                                                    false,
	} {
		if got := RegistersTools(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
