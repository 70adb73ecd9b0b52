package toolcall

import (
	"testing"

	"github.com/precis-dev/precis"
)

// A call without a path is on the file that its result shows, as those of an editor that keeps one open.
func TestTheFileThatAResultShows(t *testing.T) {
	for _, c := range []struct {
		tool, input, result string
		kind                Kind
		path                string
	}{
		{"edit", `{"search":"dive(1)","replace":"dive(2)"}`, "Text replaced.\n[File: /w/src/otter.py (90 lines total)]\n1:dive(2)", Write, "/w/src/otter.py"},
		{"open", `{"path":"src/otter.py","line_number":7}`, "[File: src/otter.py (90 lines total)]\n7:dive(1)", Read, "src/otter.py"},
		{"scroll_down", `{}`, "[File: /w/src/otter.py (90 lines total)]\n99:x", Read, "/w/src/otter.py"},
		{"edit", `{"search":"dive(1)","replace":"dive((2)"}`, "Your proposed edit has introduced new syntax error(s).", Other, ""},
		{"ask", `{}`, "see [File: a.py (1 line)]", Other, ""},
	} {
		calls := Find([]precis.Message{
			{Role: precis.RoleAssistant, Content: []precis.Block{precis.ToolUse{ID: "a", Name: c.tool, Input: []byte(c.input)}}},
			{Role: precis.RoleUser, Content: []precis.Block{precis.ToolResult{ToolUseID: "a", Content: []precis.Block{precis.Text{Text: c.result}}}}},
		})
		if got := calls[0]; got.Kind != c.kind || got.Path != c.path || (len(got.Effects) == 1) != (c.kind == Write) {
			t.Errorf("%s: %+v", c.tool, got)
		}
	}
}
