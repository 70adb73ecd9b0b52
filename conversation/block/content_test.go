package block

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
)

func TestBriefsAndContent(t *testing.T) {
	use := precis.ToolUse{ID: "t1", Name: "read", Input: json.RawMessage(`{"path":"a.go"}`)}
	for _, tt := range []struct {
		blocks []precis.Block
		want   string
	}{
		{[]precis.Block{precis.Text{Text: "  two\n\twords\x1b[0m "}}, "two words [0m"},
		{[]precis.Block{precis.Thinking{Text: "hm"}, precis.Text{Text: "said"}}, "said"},
		{[]precis.Block{use}, `→ read {"path":"a.go"}`},
		{[]precis.Block{precis.ToolResult{ToolUseID: "t1", IsError: true, Content: []precis.Block{precis.Text{Text: "no\nfile"}}}}, "← error: no file"},
		{[]precis.Block{precis.Text{Text: strings.Repeat("é", 200)}}, strings.Repeat("é", 120) + "…"},
		{nil, ""},
	} {
		if got := Brief(precis.Message{Content: tt.blocks}); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
	broken := precis.ToolUse{ID: "t2", Input: json.RawMessage(`{"path":`)}
	data, err := json.Marshal(Contents([]precis.Block{use, broken, precis.Image{MediaType: "image/png", Data: "QUJD"}}))
	want := `[{"type":"tool_use","id":"t1","name":"read","input":{"path":"a.go"},"bytes":19},{"type":"tool_use","id":"t2","input":"{\"path\":","bytes":8},{"type":"image","media_type":"image/png","bytes":3}]`
	if err != nil || string(data) != want {
		t.Errorf("%v\n got %s\nwant %s", err, data, want)
	}
}
