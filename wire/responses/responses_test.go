package responses_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/wire/responses"
)

// describe writes messages as one line each.
func describe(msgs []precis.Message) string {
	var lines []string
	for _, m := range msgs {
		lines = append(lines, string(m.Role)+": "+blocks(m.Content))
	}
	return strings.Join(lines, "\n")
}

func blocks(list []precis.Block) string {
	var out []string
	for _, b := range list {
		switch b := b.(type) {
		case precis.Text:
			out = append(out, "text("+b.Text+")")
		case precis.Image:
			out = append(out, fmt.Sprintf("image(%s %s %s)", b.MediaType, b.Data, b.URL))
		case precis.Document:
			out = append(out, fmt.Sprintf("document(%s %s%s)", b.Title, b.Data, b.URL))
		case precis.Thinking:
			out = append(out, "thinking("+b.Text+" "+b.Signature+")")
		case precis.ToolUse:
			out = append(out, fmt.Sprintf("use(%s %s %s)", b.ID, b.Name, b.Input))
		case precis.ToolResult:
			out = append(out, fmt.Sprintf("result(%s %s)", b.ToolUseID, blocks(b.Content)))
		case precis.Opaque:
			out = append(out, "opaque("+b.Type+")")
		}
	}
	return strings.Join(out, " ")
}

// items has every shape that is decoded.
var items = []struct {
	raw, want string
}{
	{`{"type":"message","role":"developer","content":"Be brief."}`, `system: text(Be brief.)`},
	{`{"role":"user","content":[{"type":"input_text","text":"look"},{"type":"input_image","image_url":"data:image/png;base64,iVBO"},{"type":"input_file","filename":"a.pdf","file_data":"data:application/pdf;base64,JVBE"},{"type":"input_file","file_id":"f"}]}`,
		`user: text(look) image(image/png iVBO ) document(a.pdf JVBE) opaque(input_file)`},
	{`{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"a"},{"type":"summary_text","text":"b"}],"content":null,"encrypted_content":"enc"}`, "assistant: thinking(a\nb enc)"},
	{`{"type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"hi","annotations":[]},{"type":"refusal","refusal":"no"}]}`, `assistant: text(hi) text(no)`},
	{`{"type":"function_call","id":"fc_1","call_id":"c1","name":"read","arguments":"{\"path\": \"a\"}"}`, `assistant: use(c1 read {"path": "a"})`},
	{`{"type":"custom_tool_call","call_id":"c2","name":"apply_patch","input":"*** Begin"}`, `assistant: use(c2 apply_patch "*** Begin")`},
	{`{"type":"local_shell_call","call_id":"c3","status":"completed","action":{"type":"exec","command":["ls"]}}`, `assistant: use(c3 local_shell {"type":"exec","command":["ls"]})`},
	{`{"type":"shell_call","call_id":"c4","action":{"commands":["ls"]}}`, `assistant: use(c4 shell {"commands":["ls"]})`},
	{`{"type":"apply_patch_call","call_id":"c5","status":"completed","operation":{"type":"delete_file","path":"a"}}`, `assistant: use(c5 apply_patch {"type":"delete_file","path":"a"})`},
	{`{"type":"function_call_output","call_id":"c1","output":"{\"output\":\"x\",\"metadata\":{}}"}`, `user: result(c1 text({"output":"x","metadata":{}}))`},
	{`{"type":"custom_tool_call_output","call_id":"c2","output":[{"type":"input_text","text":"ok"},{"type":"input_image","image_url":"https://x/y.png"}]}`, `user: result(c2 text(ok) image(  https://x/y.png))`},
	{`{"type":"local_shell_call_output","id":"c3","output":"a.go"}`, `user: result(c3 text(a.go))`},
	{`{"type":"shell_call_output","call_id":"c4","output":[{"stdout":"a","stderr":"","outcome":{"type":"exit","exit_code":0}}]}`, `user: result(c4 text([{"stdout":"a","stderr":"","outcome":{"type":"exit","exit_code":0}}]))`},
	{`{"type":"apply_patch_call_output","call_id":"c5","status":"completed","output":"done"}`, `user: result(c5 text(done))`},
	{`{"type":"web_search_call","id":"ws","status":"completed"}`, `assistant: opaque(web_search_call)`},
	{`{"type":"compaction","encrypted_content":"e"}`, `assistant: opaque(compaction)`},
	{`{"type":"item_reference","id":"x"}`, `assistant: opaque(item_reference)`},
	{`{"type":"computer_call","id":"cu","call_id":"c9","action":{"type":"screenshot"},"pending_safety_checks":[],"status":"completed"}`, `assistant: use(c9 computer ) opaque(computer_call)`},
	{`{"type":"computer_call_output","call_id":"c9","output":{"type":"computer_screenshot","file_id":"f"}}`, `user: result(c9 opaque(computer_call_output))`},
	{`{"type":"mcp_approval_request","id":"mcpr_1","name":"read","server_label":"docs","arguments":"{}"}`, `assistant: use(mcpr_1 mcp_approval ) opaque(mcp_approval_request)`},
	{`{"type":"mcp_approval_response","approval_request_id":"mcpr_1","approve":true}`, `user: result(mcpr_1 opaque(mcp_approval_response))`},
	{`{"type":"hologram_call","call_id":"h1","cube":[1]}`, `assistant: use(h1 hologram ) opaque(hologram_call)`},
	{`{"type":"hologram_call_output","call_id":"h1","output":"a shape"}`, `user: result(h1 opaque(hologram_call_output))`},
	{`{"type":"tool_search_call","call_id":"s1","arguments":{}}`, `assistant: use(s1 tool_search ) opaque(tool_search_call)`},
	{`{"type":"tool_search_output","call_id":"s1","tools":[]}`, `user: result(s1 opaque(tool_search_output))`},
	{`{"type":"tool_search_call","call_id":null,"arguments":{}}`, `assistant: opaque(tool_search_call)`},
	{`{"type":"mcp_call","id":"mcp_1","approval_request_id":"mcpr_1","name":"read","output":"x"}`, `assistant: opaque(mcp_call)`},
	{`{"type":"compaction_trigger"}`, `user: opaque(compaction_trigger)`},
}

func raws() (raw, want string) {
	var r, w []string
	for _, c := range items {
		r, w = append(r, c.raw), append(w, c.want)
	}
	return "[" + strings.Join(r, ",") + "]", strings.Join(w, "\n")
}

func decode(t testing.TB, raw string) []precis.Message {
	t.Helper()
	msgs, err := responses.DecodeMessages([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	return msgs
}

func TestDecode(t *testing.T) {
	raw, want := raws()
	msgs := decode(t, raw)
	if got := describe(msgs); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if msgs[4].ID != "fc_1" {
		t.Errorf("the item's ID is %q", msgs[4].ID)
	}
	if got := describe(decode(t, `"just text"`)); got != "user: text(just text)" {
		t.Errorf("a string: %s", got)
	}
}

func TestDecodeErrors(t *testing.T) {
	for raw, place := range map[string]string{
		`[{"role":"user","content":"a"},{"content":"b"}]`:                             "item 1 at byte 31",
		`[{"type":"function_call","call_id":5}]`:                                      "item 0",
		`[{"type":"message","role":"user","content":[{"type":"input_text"}]}]`:        "item 0",
		`[{"type":"message","role":"user","content":[{"type":"","text":"no type"}]}]`: "item 0",
		`[{"type":"reasoning","summary":[5]}]`:                                        "item 0",
		`[{"type":"input_text","text":"a"}]`:                                          "item 0",
		`[5]`:                                                                         "item 0",
		`[`:                                                                           "input",
		`{"role":"user"}`:                                                             "input",
		`[{"type":"message","role":["user"],"content":"a"}]`:                          "item 0",
		`[{"type":"custom_tool_call","call_id":"a","name":{"a":1},"input":"x"}]`: "item 0",
	} {
		_, err := responses.DecodeMessages([]byte(raw))
		if precis.CodeOf(err) != precis.CodeInvalid || !strings.Contains(fmt.Sprint(err), place) {
			t.Errorf("%s: %v, want code invalid at %q", raw, err, place)
		}
	}
}

func TestUnchangedIsByteForByte(t *testing.T) {
	raw, _ := raws()
	if got := string(responses.AppendMessages(nil, decode(t, raw))); got != raw {
		t.Errorf("got\n%s\nwant\n%s", got, raw)
	}
}

// TestChanged drops the bytes of messages and of items, as an edit does, and
// wants items of the same types with the same meaning.
func TestChanged(t *testing.T) {
	raw, _ := raws()
	msgs := decode(t, raw)
	want := describe(msgs)
	for i, m := range msgs {
		msgs[i].Raw = nil
		content := append([]precis.Block{}, m.Content...)
		for j, b := range content {
			switch b := b.(type) {
			case precis.ToolUse:
				b.Raw = nil
				content[j] = b
			case precis.ToolResult:
				b.Raw = nil
				if b.ToolUseID == "c4" {
					b.Content = nil
				}
				content[j] = b
			case precis.Thinking:
				b.Raw = nil
				content[j] = b
			}
		}
		msgs[i].Content = content
	}
	out := responses.AppendMessages(nil, msgs)
	again := decode(t, string(out))
	got := strings.Replace(describe(again), `result(c4 text([{"outcome":{"type":"exit","exit_code":0},"stderr":"","stdout":""}]))`,
		`result(c4 text([{"stdout":"a","stderr":"","outcome":{"type":"exit","exit_code":0}}]))`, 1)
	if got != want {
		t.Errorf("got\n%s\nwant\n%s\nfrom %s", got, want, out)
	}
	if a, b := types(t, out), types(t, []byte(raw)); !reflect.DeepEqual(a, b) {
		t.Errorf("types are %v, want %v", a, b)
	}
}

func types(t *testing.T, raw []byte) (out []string) {
	for _, e := range elements(t, raw) {
		var v struct{ Type string }
		if err := json.Unmarshal([]byte(e), &v); err != nil {
			t.Fatal(err)
		}
		if v.Type == "" {
			v.Type = "message"
		}
		out = append(out, v.Type)
	}
	return out
}

func TestOtherDialects(t *testing.T) {
	view := []precis.Message{
		precis.NewText(precis.RoleSystem, "sys"),
		{Role: precis.RoleUser, Format: "anthropic", Content: []precis.Block{precis.Text{Text: "a", Raw: json.RawMessage(`{"type":"text"}`)}, precis.Image{MediaType: "image/png", Data: "iVBO"}, precis.Document{Title: "n.txt", Text: "note"}}},
		{Role: precis.RoleAssistant, Format: "anthropic", Content: []precis.Block{precis.Thinking{Text: "t", Signature: "s"}, precis.Text{Text: "b"}, precis.ToolUse{ID: "c1", Name: "see", Input: json.RawMessage(`{"a":1}`)}, precis.ToolUse{ID: "c2", Name: "see"}}},
		{Role: precis.RoleUser, Format: "anthropic", Content: []precis.Block{
			precis.ToolResult{ToolUseID: "c1", Content: []precis.Block{precis.Image{MediaType: "image/png", Data: "AAAA"}}},
			precis.ToolResult{ToolUseID: "c2", Content: []precis.Block{precis.Text{Text: "x"}, precis.Text{Text: "y"}}}, precis.Text{Text: "go on"}}},
		{Role: precis.RoleAssistant, Format: "anthropic", Content: []precis.Block{precis.RedactedThinking{Data: "d"}}},
	}
	want := `[{"type":"message","role":"developer","content":[{"type":"input_text","text":"sys"}]},` +
		`{"type":"message","role":"user","content":[{"type":"input_text","text":"a"},{"type":"input_image","detail":"auto","image_url":"data:image/png;base64,iVBO"},{"type":"input_text","text":"n.txt\nnote"}]},` +
		`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"b"}]},` +
		`{"type":"function_call","call_id":"c1","name":"see","arguments":"{\"a\":1}"},` +
		`{"type":"function_call","call_id":"c2","name":"see","arguments":"{}"},` +
		`{"type":"function_call_output","call_id":"c1","output":[{"type":"input_image","detail":"auto","image_url":"data:image/png;base64,AAAA"}]},` +
		`{"type":"function_call_output","call_id":"c2","output":"x\ny"},` +
		`{"type":"message","role":"user","content":[{"type":"input_text","text":"go on"}]}]`
	got := string(responses.AppendMessages(nil, view))
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if b := (responses.Dialect{}).Check(decode(t, got)); len(b) > 0 {
		t.Errorf("what was written has breaches: %v", b)
	}
}

// TestCallWithoutInput writes calls anew whose bytes are no UTF-8.
func TestCallWithoutInput(t *testing.T) {
	msgs := decode(t, "[{\"type\":\"local_shell_call\",\"call_id\":\"\xff\"},{\"type\":\"function_call\",\"call_id\":\"\xfe\",\"name\":\"f\"}]")
	want := "[{\"type\":\"local_shell_call\",\"call_id\":\"\uFFFD\",\"status\":\"completed\",\"action\":{}}," +
		"{\"type\":\"function_call\",\"call_id\":\"\uFFFD\",\"name\":\"f\",\"arguments\":\"{}\"}]"
	if got := string(responses.AppendMessages(nil, msgs)); got != want {
		t.Errorf("got %s", got)
	}
}

func TestCheck(t *testing.T) {
	const (
		call   = `{"type":"function_call","call_id":"a","name":"f","arguments":""}`
		answer = `{"type":"function_call_output","call_id":"a","output":""}`
		think  = `{"type":"reasoning","summary":[],"encrypted_content":"e"}`
		user   = `{"role":"user","content":"u"}`
		said   = `{"role":"assistant","content":"u"}`

		click     = `{"type":"computer_call","id":"cu","call_id":"c","action":{"type":"screenshot"}}`
		seen      = `{"type":"computer_call_output","call_id":"c","output":{"type":"computer_screenshot","file_id":"f"}}`
		asked     = `{"type":"mcp_approval_request","id":"r","name":"n","server_label":"s","arguments":"{}"}`
		allowed   = `{"type":"mcp_approval_response","approval_request_id":"r","approve":true}`
		newCall   = `{"type":"hologram_call","call_id":"h"}`
		newAnswer = `{"type":"hologram_call_output","call_id":"h","shape":1}`
	)
	for _, c := range []struct {
		items []string
		want  string
	}{
		{[]string{think, call, user, answer, said}, ""},
		{[]string{user, call}, "1 pairing"},
		{[]string{answer, user}, "0 pairing"},
		{[]string{call, answer, answer}, "2 duplicate"},
		{[]string{call, call, answer}, "1 duplicate"},
		{[]string{think, user}, "0 order"},
		{[]string{user, think}, "1 order"},
		{[]string{click, seen, asked, allowed, newCall, newAnswer}, ""},
		{[]string{click, user}, "0 pairing"},
		{[]string{seen, allowed, newAnswer}, "0 pairing, 1 pairing, 2 pairing"},
		{[]string{user, asked, newCall}, ""}, // nobody knows, and the user may not have answered yet
		{[]string{think, click, seen}, ""},
	} {
		var got []string
		for _, b := range (responses.Dialect{}).Check(decode(t, "["+strings.Join(c.items, ",")+"]")) {
			got = append(got, fmt.Sprint(b.Message, " ", b.Rule))
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%v: %v, want %q", c.items, got, c.want)
		}
	}
}

// TestRecordedRequests reads the request streams in the directory PRECIS_WIRE.
func TestRecordedRequests(t *testing.T) {
	dir := os.Getenv("PRECIS_WIRE")
	if dir == "" {
		t.Skip("PRECIS_WIRE names no directory of recorded requests")
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*.jsonl.gz"))
	n := 0
	for _, file := range files {
		for _, body := range bodies(t, file) {
			n++
			msgs := decode(t, string(body))
			if b := (responses.Dialect{}).Check(msgs); len(b) > 0 {
				t.Errorf("%s: %v", file, b)
			}
			if !reflect.DeepEqual(elements(t, responses.AppendMessages(nil, msgs)), elements(t, body)) {
				t.Errorf("%s: not written back byte for byte", file)
			}
			for i := range msgs {
				msgs[i].Raw = nil
			}
			if again := decode(t, string(responses.AppendMessages(nil, msgs))); describe(again) != describe(msgs) {
				t.Errorf("%s: changes when written anew", file)
			}
		}
	}
	if n == 0 {
		t.Errorf("no requests of this dialect in %s", dir)
	}
}

func bodies(t *testing.T, file string) (out []json.RawMessage) {
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(z)
	for {
		line, err := lines.ReadBytes('\n')
		var r struct {
			Path string
			Body json.RawMessage
		}
		if len(bytes.TrimSpace(line)) > 0 && json.Unmarshal(line, &r) == nil && strings.HasSuffix(r.Path, "/responses") {
			var body struct{ Input json.RawMessage }
			if json.Unmarshal(r.Body, &body) == nil && body.Input != nil {
				out = append(out, body.Input)
			}
		}
		if err != nil {
			return out
		}
	}
}

func elements(t *testing.T, raw []byte) (out []string) {
	for s, err := range jsonspan.Array(raw) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(s.Raw))
	}
	return out
}

func FuzzDecode(f *testing.F) {
	raw, _ := raws()
	f.Add([]byte(raw))
	f.Fuzz(func(t *testing.T, data []byte) {
		msgs, err := responses.DecodeMessages(data)
		if err != nil {
			return
		}
		responses.Dialect{}.Check(msgs)
		opaque := strings.Contains(describe(msgs), "opaque(") // what is not understood may be wrong anywhere
		for _, format := range []string{responses.Format, "other"} {
			for i := range msgs {
				msgs[i].Raw, msgs[i].Format = nil, format
			}
			out := responses.AppendMessages(nil, msgs)
			if err := jsonspan.Valid(out); err != nil {
				t.Fatalf("%s of %s: %v", out, data, err)
			}
			if _, err := responses.DecodeMessages(out); err != nil && !opaque {
				t.Fatalf("%s of %s: %v", out, data, err)
			}
		}
	})
}
