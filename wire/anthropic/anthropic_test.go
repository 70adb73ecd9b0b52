package anthropic_test

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/wire/anthropic"
)

const request = `[
 {"role":"user","content":"hi","x":1},
 {"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"a\u00e9","citations":null},{"type":"tool_use","id":"t","name":"n","input":{ "b":1.0 }},{"type":"server_tool_use","id":"z"}]},
 {"role":"user","content":[{"type":"tool_result","tool_use_id":"t","is_error":true,"content":[{"type":"text","text":"r"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA"}}],"cache_control":{"type":"ephemeral"}},
   {"type":"document","title":"d","source":{"type":"text","media_type":"text/plain","data":"body"}},{"type":"redacted_thinking","data":"q"}]},
 {"role":"system","content":[{"type":"text","text":"s"}],"output_config":{"effort":"low"}}
]`

func decode(t testing.TB, raw string) []precis.Message {
	t.Helper()
	msgs, err := anthropic.DecodeMessages([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	return msgs
}

func TestUnchangedMessagesKeepTheirBytes(t *testing.T) {
	var want []json.RawMessage
	if err := json.Unmarshal([]byte(request), &want); err != nil {
		t.Fatal(err)
	}
	for i, m := range decode(t, request) {
		if got := anthropic.AppendMessage(nil, m); !bytes.Equal(got, want[i]) {
			t.Errorf("message %d: %s\nbecame %s", i, want[i], got)
		}
	}
}

func TestBlocksAreUnderstood(t *testing.T) {
	m := decode(t, request)
	if th := m[1].Content[0].(precis.Thinking); th.Text != "hm" || th.Signature != "s" {
		t.Errorf("%+v", th)
	}
	if tx := m[1].Content[1].(precis.Text); tx.Text != "aé" {
		t.Errorf("%+v", tx)
	}
	if o := m[1].Content[3].(precis.Opaque); o.Type != "server_tool_use" {
		t.Errorf("%+v", o)
	}
	r := m[2].Content[0].(precis.ToolResult)
	if !r.IsError || r.Text() != "r" || r.Content[1].(precis.Image).Data != "AA" {
		t.Errorf("%+v", r)
	}
	if d := m[2].Content[1].(precis.Document); d.Text != "body" || d.Title != "d" {
		t.Errorf("%+v", d)
	}
	if m[3].Role != precis.RoleSystem {
		t.Errorf("role %s", m[3].Role)
	}
}

func TestAChangedBlockLeavesTheOthers(t *testing.T) {
	tr := precis.NewTranscript(decode(t, request)...)
	e := precis.Edit{ID: "e", Replace: []precis.Replacement{precis.ReplaceBlock(tr, 1, 1, precis.Text{Text: "<short>"})}}
	got := string(anthropic.AppendMessage(nil, precis.View(tr, []precis.Edit{e})[1]))
	want := `{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"<short>"},{"type":"tool_use","id":"t","name":"n","input":{ "b":1.0 }},{"type":"server_tool_use","id":"z"}]}`
	if got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

func TestOtherDialectsBecomeValid(t *testing.T) {
	view := []precis.Message{
		precis.NewText("system", "rules"),
		{Role: "assistant", Content: []precis.Block{precis.Thinking{Text: "unsigned"}}},
		{Role: "assistant", Format: "chat", Content: []precis.Block{precis.Thinking{Text: "unsigned"}, precis.ToolUse{ID: "1", Name: "n", Input: []byte(`"text"`)}}},
		{Role: "user", Content: []precis.Block{precis.ToolResult{ToolUseID: "1", Content: []precis.Block{precis.Opaque{Type: "odd", Raw: []byte(`{"a":1}`)}}}}},
	}
	got := string(anthropic.AppendMessages(nil, view))
	want := `[{"role":"user","content":[{"type":"text","text":"rules"}]},{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"n","input":{"input":"text"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":[{"type":"text","text":"[odd] {\"a\":1}"}]}]}]`
	if got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// The Messages API takes no other IDs of calls than these; a call and its result stay together.
func TestIDsOfOtherDialectsBecomeValid(t *testing.T) {
	seen := map[string]bool{}
	for _, id := range []string{"exec:15", "exec15", "exec.15", "読む", strings.Repeat("a", 65), strings.Repeat("a", 66)} {
		view := []precis.Message{
			{Role: "assistant", Format: "chat", Content: []precis.Block{precis.ToolUse{ID: id, Name: "n", Input: []byte(`{}`)}}},
			{Role: "user", Format: "chat", Content: []precis.Block{precis.ToolResult{ToolUseID: id, Content: []precis.Block{precis.Text{Text: "ok"}}}}},
		}
		m := regexp.MustCompile(`"id":"([A-Za-z0-9_-]{1,64})".*"tool_use_id":"(.*?)"`).FindStringSubmatch(string(anthropic.AppendMessages(nil, view)))
		if m == nil || m[1] != m[2] || seen[m[1]] {
			t.Errorf("%q becomes %q", id, m)
			continue
		}
		seen[m[1]] = true
	}
	own := precis.Message{Role: "assistant", Format: anthropic.Format, Content: []precis.Block{precis.ToolUse{ID: "exec:15", Name: "n", Input: []byte(`{}`)}}}
	if got := string(anthropic.AppendMessage(nil, own)); !strings.Contains(got, `"exec:15"`) {
		t.Errorf("an ID of the dialect itself becomes %s", got)
	}
}

func TestErrorsNameTheMessage(t *testing.T) {
	for raw, want := range map[string]string{
		`[{"role":"user","content":"a"},{"role":7}]`:                        "message 1 at byte 31: role is no string",
		`[{"content":"a"}]`:                                                 "message 0 at byte 1: the message has no role",
		`[{"role":"user","content":[{"type":"text","text":[]}]}]`:           "block 0: text of a text block is no string",
		`[{"role":"user","content":[{"type":"tool_result","content":{}}]}]`: "content of a tool_result block",
		`[{"role":"user","content":[{}]}]`:                                  "the block has no type",
		`{"role":"user"}`:                                                   "an object where an array is wanted",
		`[{"role":"user","content":"a`:                                      "byte",
	} {
		_, err := anthropic.DecodeMessages([]byte(raw))
		if precis.CodeOf(err) != precis.CodeInvalid || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", raw, err, want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(request))
	f.Fuzz(func(t *testing.T, raw []byte) {
		msgs, err := anthropic.DecodeMessages(raw)
		if err != nil {
			return
		}
		out := anthropic.AppendMessages(nil, msgs)
		if again, err := anthropic.DecodeMessages(out); err != nil || len(again) != len(msgs) {
			t.Fatalf("%s became %s: %v", raw, out, err)
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	raw := []byte("[" + strings.Repeat(strings.Trim(request, "[]\n ")+",", 200) + `{"role":"user","content":"x"}]`)
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		if _, err := anthropic.DecodeMessages(raw); err != nil {
			b.Fatal(err)
		}
	}
}

// TestSystemMessagesOfOtherDialects: they never part calls from their results, and else keep their place.
func TestSystemMessagesOfOtherDialects(t *testing.T) {
	system := func(s string) precis.Message { return precis.NewText(precis.RoleSystem, s) }
	use := func(id string) precis.Message {
		return precis.Message{Role: precis.RoleAssistant, Content: []precis.Block{precis.ToolUse{ID: id, Name: "n"}}}
	}
	result := func(id string) precis.Message {
		return precis.Message{Role: precis.RoleUser, Content: []precis.Block{precis.ToolResult{ToolUseID: id}}}
	}
	view := []precis.Message{
		system("first"), precis.NewText(precis.RoleUser, "go"), use("a"), system("one"), use("b"), result("a"), system("two"), result("b"),
		system("three"), precis.NewText(precis.RoleAssistant, "so"), system("four"), use("c"), system("five"), precis.NewText(precis.RoleUser, "no"), use("d"), system("last"),
	}
	read, err := anthropic.DecodeMessages(anthropic.AppendMessages(nil, view))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range read {
		for _, b := range m.Content {
			switch b := b.(type) {
			case precis.Text:
				got = append(got, b.Text)
			case precis.ToolUse:
				got = append(got, b.ID)
			case precis.ToolResult:
				got = append(got, "="+b.ToolUseID)
			}
		}
	}
	if want := "first go a b =a =b one two three so four c no five d last"; strings.Join(got, " ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, " "), want)
	}
}
