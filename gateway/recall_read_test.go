package gateway_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"
)

type fields = map[string]any

// assembled makes of a stream the answer that would have come in one piece. It
// is strict: what a client could stumble over fails the test. Signs of life,
// which a slow machine brings and every client skips, are left out.
func assembled(t *testing.T, dialect string, stream []byte) []byte {
	t.Helper()
	var events []fields
	ended := false
	for e := range strings.SplitSeq(strings.TrimSpace(string(stream)), "\n\n") {
		if strings.HasPrefix(e, ": ") || strings.HasPrefix(e, "event: ping\n") {
			continue
		}
		_, data, ok := strings.Cut(e, "data: ")
		if ended || !ok {
			t.Fatalf("%q in %s", e, stream)
		}
		if ended = data == "[DONE]"; ended {
			continue
		}
		var v fields
		if err := json.Unmarshal([]byte(data), &v); err != nil {
			t.Fatalf("%v: %s", err, data)
		}
		events = append(events, v)
	}
	out := map[string]func(*testing.T, []fields) fields{"anthropic": readMessage, "chat": readChunks, "responses": readEvents}[dialect](t, events)
	if dialect == "chat" && !ended {
		t.Fatal("no [DONE]")
	}
	b, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func readMessage(t *testing.T, events []fields) (out fields) {
	t.Helper()
	var content []any
	input := ""
	for i, e := range events {
		kind := e["type"].(string)
		if (kind == "message_start") != (i == 0) || (kind == "message_stop") != (i == len(events)-1) {
			t.Fatalf("event %d is %v", i, e)
		}
		if n, ok := e["index"].(float64); ok && kind == "content_block_start" != (int(n) == len(content)) {
			t.Fatalf("%v after %d blocks", e, len(content))
		}
		switch kind {
		case "message_start":
			out = e["message"].(fields)
		case "content_block_start":
			content, input = append(content, e["content_block"]), ""
		case "content_block_delta":
			b, d := content[len(content)-1].(fields), e["delta"].(fields)
			for name, v := range d {
				if name == "partial_json" {
					input += v.(string)
				} else if name != "type" {
					b[name] = b[name].(string) + v.(string)
				}
			}
		case "content_block_stop":
			if b := content[len(content)-1].(fields); b["type"] == "tool_use" && input != "" {
				b["input"] = json.RawMessage(input)
			}
		case "message_delta":
			maps.Copy(out, e["delta"].(fields))
			maps.Copy(out["usage"].(fields), e["usage"].(fields))
		}
	}
	out["content"] = content
	return out
}

func readChunks(t *testing.T, events []fields) (out fields) {
	t.Helper()
	message := fields{"role": "assistant", "content": ""}
	finish := any(nil)
	var calls []any
	for i, e := range events {
		if i == 0 {
			out = e
		}
		if e["id"] != out["id"] {
			t.Fatalf("%v in a completion %v", e, out["id"])
		}
		if u, ok := e["usage"].(fields); ok {
			out["usage"] = u
		}
		for _, c := range e["choices"].([]any) {
			c := c.(fields)
			if finish != nil {
				t.Fatalf("%v after the end", e)
			}
			finish = c["finish_reason"]
			for name, v := range c["delta"].(fields) {
				switch v := v.(type) {
				case string:
					if name == "role" {
						if i > 0 {
							t.Fatalf("a second role: %v", e)
						}
						continue
					}
					was, _ := message[name].(string)
					message[name] = was + v
				case []any:
					for _, piece := range v {
						calls = addCall(t, calls, piece.(fields))
					}
				}
			}
		}
	}
	if len(calls) > 0 {
		message["tool_calls"] = calls
	}
	out["choices"] = []any{fields{"index": 0, "message": message, "finish_reason": finish}}
	return out
}

func addCall(t *testing.T, calls []any, piece fields) []any {
	t.Helper()
	f := piece["function"].(fields)
	n := int(piece["index"].(float64))
	delete(piece, "index")
	if n == len(calls) {
		return append(calls, piece)
	}
	if n != len(calls)-1 {
		t.Fatalf("call %d after %d calls", n, len(calls))
	}
	was := calls[n].(fields)["function"].(fields)
	was["arguments"] = was["arguments"].(string) + f["arguments"].(string)
	return calls
}

func readEvents(t *testing.T, events []fields) (out fields) {
	t.Helper()
	var added, done []any
	for i, e := range events {
		if n := e["sequence_number"].(float64); int(n) != i || (i == 0) != (e["type"] == "response.created") {
			t.Fatalf("event %d is %v", i, e)
		}
		n, has := e["output_index"].(float64)
		switch e["type"] {
		case "response.output_item.added":
			if int(n) != len(added) {
				t.Fatalf("%v after %d items", e, len(added))
			}
			added = append(added, e["item"])
		case "response.output_item.done":
			if int(n) != len(done) || len(done) >= len(added) {
				t.Fatalf("%v after %d items", e, len(done))
			}
			done = append(done, e["item"])
		case "response.completed", "response.incomplete":
			out = e["response"].(fields)
			want, _ := json.Marshal(done)
			if got, _ := json.Marshal(out["output"]); string(got) != string(want) || i != len(events)-1 {
				t.Fatalf("output %s\nwant %s", got, want)
			}
		default:
			if has && int(n) != len(added)-1 {
				t.Fatalf("%v in item %d", e, len(added)-1)
			}
		}
	}
	return out
}
