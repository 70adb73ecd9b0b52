package mcpserver_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/measure"
	"github.com/precis-dev/precis/tokens"
)

func TestDefinitionsAreShort(t *testing.T) {
	counter, err := tokens.New(tokens.Options{})
	if err != nil {
		t.Fatal(err)
	}
	meter := measure.New(counter)
	count := func(v any) int {
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return meter.Block(precis.RoleUser, precis.Text{Text: string(data)})
	}
	for _, edits := range []bool{false, true} {
		list, err := client(t, options(t, edits)).ListTools(t.Context(), &mcp.ListToolsParams{})
		if err != nil {
			t.Fatal(err)
		}
		if len(list.Tools) != 9 {
			t.Errorf("%d tools", len(list.Tools))
		}
		all := count(list.Tools)
		t.Logf("edits %v: %d tokens for all definitions", edits, all)
		if all > 1400 {
			t.Errorf("the definitions have %d tokens, want at most 1400", all)
		}
		for _, tool := range list.Tools {
			t.Logf("%s: %d, input %d, output %d", tool.Name, count(tool), count(tool.InputSchema), count(tool.OutputSchema))
			words := slices.Contains([]string{"digest", "expand", "handoff"}, tool.Name)
			changes := tool.Name == "condense" || tool.Name == "pin"
			if tool.Annotations.ReadOnlyHint != (!changes || !edits) || *tool.Annotations.OpenWorldHint || (tool.OutputSchema == nil) != words {
				t.Errorf("%s: %+v", tool.Name, tool.Annotations)
			}
			if !tool.Annotations.ReadOnlyHint && *tool.Annotations.DestructiveHint {
				t.Errorf("%s is called destructive; it can be undone", tool.Name)
			}
		}
	}
}
