package retain_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/retain"
)

// What the provider's server ran is indexed as other calls are: its arguments, and its result once, wherever they stand.
func TestServedCallsAreIndexed(t *testing.T) {
	use := precis.Opaque{Type: "mcp_tool_use", Raw: json.RawMessage(`{"type":"mcp_tool_use","id":"t1","name":"weigh","server_name":"zoo","input":{"note":"line one\nline two of src/ada.go"}}`)}
	result := precis.Opaque{Type: "mcp_tool_result", Raw: json.RawMessage(`{"type":"mcp_tool_result","tool_use_id":"t1","content":[{"type":"text","text":"saved in doc/scales.md"}]}`)}
	own := precis.Opaque{Type: "mcp_call", Raw: json.RawMessage(`{"type":"mcp_call","id":"m1","name":"feed","arguments":"{\"otter\":\"Ada\"}","output":"see lib/feed.go"}`)}
	for _, msgs := range [][]precis.Message{
		{{Role: precis.RoleAssistant, Content: []precis.Block{use, result, own}}},
		{{Role: precis.RoleAssistant, Content: []precis.Block{own, use}}, {Role: precis.RoleUser, Content: []precis.Block{result}}},
	} {
		x := retain.Read("", msgs)
		var all []string
		for i := range x.Texts {
			all = append(all, x.Texts[i].Source.String()+" "+x.Texts[i].Body)
		}
		got := strings.Join(all, "\n")
		for _, want := range []string{"called line one\nline two of src/ada.go", "found saved in doc/scales.md", "called feed Ada", "found see lib/feed.go"} {
			if strings.Count(got, want) != 1 {
				t.Errorf("%d times %q in\n%s", strings.Count(got, want), want, got)
			}
		}
	}
}
