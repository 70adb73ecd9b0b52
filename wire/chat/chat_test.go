package chat_test

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
	"github.com/precis-dev/precis/wire/chat"
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
			out = append(out, fmt.Sprintf("document(%s %s %s)", b.Title, b.MediaType, b.Data))
		case precis.Thinking:
			out = append(out, "thinking("+b.Text+")")
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

// conversation has every shape that is decoded, one message a line.
var conversation = []struct{ raw, want string }{
	{`{"role":"developer","content":"Be brief."}`, `system: text(Be brief.)`},
	{`{"role":"user","name":"ann","content":[{"type":"text","text":"look"},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBO","detail":"low"}},{"type":"image_url","image_url":"https://x/y.png"}]}`,
		`user: text(look) image(image/png iVBO ) image(  https://x/y.png)`},
	{`{"role":"assistant","content":null,"reasoning_content":"hm","tool_calls":[{"id":"c1","type":"function","function":{"name":"read","arguments":"{\"path\": \"a.go\"}"},"extra_content":{"google":{"thought_signature":"s"}}},{"id":"c2","type":"custom","custom":{"name":"patch","input":"*** Begin"}}]}`,
		`assistant: thinking(hm) use(c1 read {"path": "a.go"}) use(c2 patch "*** Begin")`},
	{`{"role":"tool","tool_call_id":"c1","content":"package a"}`, `user: result(c1 text(package a))`},
	{`{"role":"tool","tool_call_id":"c2","content":[{"type":"text","text":"ok"}]}`, `user: result(c2 text(ok))`},
	{`{"role":"assistant","content":"","refusal":"I will not."}`, `assistant: text(I will not.)`},
	{`{"role":"user","content":[{"type":"input_audio","input_audio":{"data":"AA","format":"wav"}},{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,JVBE"}},{"type":"file","file":{"file_id":"f1"}}]}`,
		`user: opaque(input_audio) document(a.pdf application/pdf JVBE) opaque(file)`},
	{`{"role":"assistant","content":null,"function_call":{"name":"old","arguments":"{\"a\":1"}}`, `assistant: use(function_call_7_old old "{\"a\":1")`},
	{`{"role":"function","name":"old","content":"done"}`, `user: result(function_call_7_old text(done))`},
	{`{"role":"assistant","content":null,"tool_calls":[{"id":"t1","name":"flat","arguments":{"a":1}}],"audio":{"id":"au"}}`, `assistant: opaque(audio) use(t1 flat {"a":1})`},
	{`{"role":"tool","id":"t1","content":null}`, `user: result(t1 )`},
	{`{"role":"assistant","content":"x","reasoning":"r","reasoning_details":[{"type":"reasoning.encrypted"}]}`, `assistant: thinking(r) text(x)`},
}

func raws() (raw, want string) {
	var r, w []string
	for _, c := range conversation {
		r, w = append(r, c.raw), append(w, c.want)
	}
	return "[" + strings.Join(r, ",") + "]", strings.Join(w, "\n")
}

func decode(t testing.TB, raw string) []precis.Message {
	t.Helper()
	msgs, err := chat.DecodeMessages([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	return msgs
}

func TestDecode(t *testing.T) {
	raw, want := raws()
	if got := describe(decode(t, raw)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestDecodeErrors(t *testing.T) {
	for raw, place := range map[string]string{
		`[{"role":"user","content":"a"},{"content":"b"}]`:         "message 1 at byte 31",
		`[{"role":"user","content":5}]`:                           "message 0 at byte 1",
		`[{"role":"user","content":[{"type":"text","text":1}]}]`:  "message 0",
		`[{"role":"assistant","tool_calls":[{"id":"a"}]}]`:        "message 0",
		`[{"role":"user","content":"a"}`:                          "messages",
		`{"role":"user"}`:                                         "messages",
		`[{"role":1}]`:                                            "message 0",
		`[{"role":"user","content":[{"type":"image_url"}]}]`:      "message 0",
		`[{"role":"assistant","function_call":{"arguments":""}}]`: "message 0",
	} {
		_, err := chat.DecodeMessages([]byte(raw))
		if precis.CodeOf(err) != precis.CodeInvalid || !strings.Contains(fmt.Sprint(err), place) {
			t.Errorf("%s: %v, want code invalid at %q", raw, err, place)
		}
	}
}

func TestUnchangedIsByteForByte(t *testing.T) {
	raw, _ := raws()
	if got := string(chat.AppendMessages(nil, decode(t, raw))); got != raw {
		t.Errorf("got\n%s\nwant\n%s", got, raw)
	}
}

// TestChanged drops each message's own bytes, as an edit does, and wants the
// fields that blocks stand for back.
func TestChanged(t *testing.T) {
	raw, want := raws()
	msgs := decode(t, raw)
	for i := range msgs {
		msgs[i].Raw = nil
	}
	out := chat.AppendMessages(nil, msgs)
	if got := describe(decode(t, string(out))); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for _, keep := range []string{`"reasoning_content":"hm"`, `"extra_content":{"google":{"thought_signature":"s"}}`, `"reasoning_details":[{"type":"reasoning.encrypted"}]`, `"detail":"low"`, `"type":"custom"`, `"function_call":{`} {
		if !strings.Contains(string(out), keep) {
			t.Errorf("%s is gone from %s", keep, out)
		}
	}
}

func TestChangedBlocks(t *testing.T) {
	msgs := decode(t, `[{"role":"assistant","content":"a","reasoning_content":"hm","tool_calls":[{"id":"c1","type":"function","function":{"name":"write","arguments":"{\"text\":\"long\"}"}}]},{"role":"tool","tool_call_id":"c1","name":"write","content":"long"}]`)
	msgs[0].Content[2] = precis.ToolUse{ID: "c1", Name: "write", Input: json.RawMessage(`{"text":"…"}`)}
	msgs[1].Content[0] = precis.ToolResult{ToolUseID: "c1", Content: []precis.Block{precis.Text{Text: "short"}}}
	msgs[0].Raw, msgs[1].Raw = nil, nil
	want := `[{"role":"assistant","content":"a","reasoning_content":"hm","tool_calls":[{"id":"c1","type":"function","function":{"name":"write","arguments":"{\"text\":\"…\"}"}}]},{"role":"tool","tool_call_id":"c1","content":"short"}]`
	if got := string(chat.AppendMessages(nil, msgs)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestOtherDialects(t *testing.T) {
	use := func(id string) precis.Block {
		return precis.ToolUse{ID: id, Name: "see", Input: json.RawMessage(`{"a":1}`), Raw: json.RawMessage(`{"type":"tool_use"}`)}
	}
	view := []precis.Message{
		precis.NewText(precis.RoleSystem, "sys"),
		{Role: precis.RoleUser, Format: "anthropic", Content: []precis.Block{precis.Text{Text: "a"}, precis.Image{MediaType: "image/png", Data: "iVBO"}, precis.Document{Title: "n.txt", Text: "note"}}},
		{Role: precis.RoleAssistant, Format: "anthropic", Content: []precis.Block{precis.Thinking{Text: "t", Signature: "s"}, precis.RedactedThinking{Data: "d"}, use("c1"), use("c2")}},
		{Role: precis.RoleUser, Format: "anthropic", Content: []precis.Block{precis.ToolResult{ToolUseID: "c1", Content: []precis.Block{precis.Image{MediaType: "image/png", Data: "AAAA"}}}, precis.Text{Text: "and now?"}}},
		precis.NewText(precis.RoleSystem, "between"),
		{Role: precis.RoleUser, Format: "anthropic", Content: []precis.Block{precis.ToolResult{ToolUseID: "c2", Content: []precis.Block{precis.Text{Text: "x"}, precis.Text{Text: "y"}}}}},
		{Role: precis.RoleAssistant, Format: "anthropic", Content: []precis.Block{precis.Thinking{Text: "only", Signature: "s"}}},
		{Role: precis.RoleAssistant, Content: []precis.Block{precis.Thinking{Text: "open"}, precis.Opaque{Type: "odd", Raw: json.RawMessage(`{"a":1}`)}}},
	}
	want := `[{"role":"system","content":"sys"},` +
		`{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBO"}},{"type":"text","text":"n.txt\nnote"}]},` +
		`{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"see","arguments":"{\"a\":1}"}},{"id":"c2","type":"function","function":{"name":"see","arguments":"{\"a\":1}"}}]},` +
		`{"role":"tool","tool_call_id":"c1","content":"[image: see the next user message]"},` +
		`{"role":"tool","tool_call_id":"c2","content":"x\ny"},` +
		`{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}},{"type":"text","text":"and now?"}]},` +
		`{"role":"system","content":"between"},` +
		`{"role":"assistant","content":"[odd] {\"a\":1}","reasoning_content":"open"}]`
	got := string(chat.AppendMessages(nil, view))
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if b := (chat.Dialect{}).Check(decode(t, got)); len(b) > 0 {
		t.Errorf("what was written has breaches: %v", b)
	}
}

func TestSplitSystem(t *testing.T) {
	msgs := decode(t, `[{"role":"system","content":"a"},{"role":"user","content":"u"},{"role":"system","content":"later"}]`)
	system, rest := chat.SplitSystem(msgs)
	if string(system.Raw) != `{"role":"system","content":"a"}` || len(rest) != 2 {
		t.Errorf("one: %s and %d others", system.Raw, len(rest))
	}
	system, rest = chat.SplitSystem(append(decode(t, `[{"role":"developer","content":"b"}]`), msgs...))
	if got := describe([]precis.Message{system}); got != "system: text(b) text(a)" || len(rest) != 2 {
		t.Errorf("two: %s and %d others", got, len(rest))
	}
	if system, rest = chat.SplitSystem(rest); len(system.Content) != 0 || len(rest) != 2 {
		t.Errorf("none: %v and %d others", system, len(rest))
	}
}

func TestCheck(t *testing.T) {
	call := func(id string) string {
		return fmt.Sprintf(`{"role":"assistant","content":null,"tool_calls":[{"id":%q,"function":{"name":"f","arguments":""}}]}`, id)
	}
	answer := func(id string) string { return fmt.Sprintf(`{"role":"tool","tool_call_id":%q,"content":""}`, id) }
	user := `{"role":"user","content":"u"}`
	for _, c := range []struct {
		msgs []string
		want string // rules of the breaches
	}{
		{[]string{user, call("a"), answer("a"), `{"role":"user","content":""}`}, ""},
		{[]string{call("a"), answer("a"), call("a"), answer("a")}, ""},
		{[]string{user, call("a"), user}, "1 pairing"},
		{[]string{call("b"), user, answer("b")}, "2 order"},
		{[]string{call("a"), call("a"), answer("a")}, "1 duplicate"},
		{[]string{call("a"), answer("a"), answer("a")}, "2 duplicate"},
	} {
		var got []string
		for _, b := range (chat.Dialect{}).Check(decode(t, "["+strings.Join(c.msgs, ",")+"]")) {
			got = append(got, fmt.Sprint(b.Message, " ", b.Rule))
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%v: %v, want %q", c.msgs, got, c.want)
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
			if b := (chat.Dialect{}).Check(msgs); len(b) > 0 {
				t.Errorf("%s: %v", file, b)
			}
			if !reflect.DeepEqual(elements(t, chat.AppendMessages(nil, msgs)), elements(t, body)) {
				t.Errorf("%s: not written back byte for byte", file)
			}
			for i := range msgs {
				msgs[i].Raw = nil
			}
			again := decode(t, string(chat.AppendMessages(nil, msgs)))
			if describe(again) != describe(msgs) {
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
		if len(bytes.TrimSpace(line)) > 0 && json.Unmarshal(line, &r) == nil && strings.HasSuffix(r.Path, "/chat/completions") {
			var body struct{ Messages json.RawMessage }
			if json.Unmarshal(r.Body, &body) == nil && body.Messages != nil {
				out = append(out, body.Messages)
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
		msgs, err := chat.DecodeMessages(data)
		if err != nil {
			return
		}
		chat.Dialect{}.Check(msgs)
		for _, format := range []string{chat.Format, "other"} {
			for i := range msgs {
				msgs[i].Raw, msgs[i].Format = nil, format
			}
			out := chat.AppendMessages(nil, msgs)
			if err := jsonspan.Valid(out); err != nil {
				t.Fatalf("%s of %s: %v", out, data, err)
			}
			if _, err := chat.DecodeMessages(out); err != nil {
				t.Fatalf("%s of %s: %v", out, data, err)
			}
		}
	})
}

// Calls of several messages in a row are answered where the API wants it, even
// when the answers come after all of them.
func TestAnswersFollowTheirCalls(t *testing.T) {
	use := func(id string) precis.Message {
		return precis.Message{Role: precis.RoleAssistant, Content: []precis.Block{precis.ToolUse{ID: id, Name: "read", Input: []byte("{}")}}}
	}
	view := []precis.Message{
		precis.NewText(precis.RoleUser, "go"), use("a"), use("b"),
		{Role: precis.RoleUser, Content: []precis.Block{
			precis.ToolResult{ToolUseID: "a", Content: []precis.Block{precis.Text{Text: "1"}}},
			precis.ToolResult{ToolUseID: "b", Content: []precis.Block{precis.Text{Text: "2"}}},
			precis.Text{Text: "and more"},
		}},
	}
	got := string(chat.AppendMessages(nil, view))
	var order []string
	for _, part := range strings.Split(got, "{\"role\":")[1:] {
		order = append(order, part[1:5])
	}
	if fmt.Sprint(order) != "[user assi tool assi tool user]" || strings.Count(got, "tool_call_id") != 2 {
		t.Errorf("%v: %s", order, got)
	}
}
