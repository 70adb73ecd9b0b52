package upstream

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// talk is a client of one conversation.
type talk struct {
	t        *testing.T
	s        *Server
	d        *dialect
	body     object
	header   http.Header
	messages []any
	read     []string // the files it was asked for, in order
}

func start(t *testing.T, o Options) *Server {
	t.Helper()
	s, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func files(n int) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprintf("/p/file%02d.txt", i+1))
	}
	return out
}

var dialectsUnderTest = []*dialect{anthropicDialect, chatDialect, responsesDialect}

func newTalk(t *testing.T, s *Server, d *dialect) *talk {
	c := &talk{t: t, s: s, d: d, header: http.Header{"Content-Type": {"application/json"}}}
	schema := object{"type": "object", "properties": object{"path": object{"type": "string"}}, "required": []any{"path"}}
	c.messages = []any{object{"role": "user", "content": "Read the files."}}
	switch d {
	case anthropicDialect:
		c.header.Set("Anthropic-Version", "2023-06-01")
		c.body = object{"model": "m", "max_tokens": 8000, "system": "Be brief.", "tools": []any{object{"name": "read", "input_schema": schema}}}
	case chatDialect:
		c.body = object{"model": "m", "tools": []any{object{"type": "function", "function": object{"name": "read", "parameters": schema}}}}
	default:
		c.body = object{"model": "m", "store": false, "include": []any{"reasoning.encrypted_content"}, "reasoning": object{}, "tools": []any{object{"type": "function", "name": "read", "parameters": schema}}}
	}
	return c
}

func (c *talk) path() string {
	return map[string]string{"anthropic": "/v1/messages", "chat": "/v1/chat/completions", "responses": "/v1/responses"}[c.d.name]
}

// post sends a body and returns the status and the answer.
func (c *talk) post(path string, body any) (int, object) {
	c.t.Helper()
	raw, ok := body.([]byte)
	if !ok {
		raw = encode(body)
	}
	req, _ := http.NewRequest(http.MethodPost, c.s.URL+path, bytes.NewReader(raw))
	req.Header = c.header
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		return resp.StatusCode, c.assemble(answer)
	}
	var out object
	if err := json.Unmarshal(answer, &out); err != nil {
		c.t.Fatalf("%s: %v", answer, err)
	}
	return resp.StatusCode, out
}

// send sends the current conversation.
func (c *talk) send() (int, object) {
	c.t.Helper()
	body := object{}
	for k, v := range c.body {
		body[k] = v
	}
	body[c.d.messages] = c.messages
	return c.post(c.path(), body)
}

// turn sends the conversation, appends the answer and the results of its calls,
// and reports whether the agent goes on.
func (c *talk) turn() bool {
	c.t.Helper()
	status, out := c.send()
	if status != 200 || out["error"] != nil {
		c.t.Fatalf("status %d: %v", status, out)
	}
	before := len(c.read)
	switch c.d {
	case anthropicDialect:
		content := list(out["content"])
		var results []any
		for _, b := range content {
			if str(b, "type") == "tool_use" {
				results = append(results, object{"type": "tool_result", "tool_use_id": str(b, "id"), "content": c.result(b.(object)["input"])})
			}
		}
		c.messages = append(c.messages, object{"role": "assistant", "content": content})
		if results != nil {
			c.messages = append(c.messages, object{"role": "user", "content": results})
		}
	case chatDialect:
		m := list(out["choices"])[0].(object)["message"].(object)
		c.messages = append(c.messages, m)
		for _, call := range list(m["tool_calls"]) {
			c.messages = append(c.messages, object{"role": "tool", "tool_call_id": str(call, "id"), "content": c.result(call.(object)["function"].(object)["arguments"])})
		}
	default:
		output := list(out["output"])
		c.messages = append(c.messages, output...)
		for _, item := range output {
			if call := str(item, "call_id"); call != "" {
				c.messages = append(c.messages, object{"type": "function_call_output", "call_id": call, "output": c.result(item.(object)["arguments"])})
			}
		}
	}
	return len(c.read) > before
}

// result reads a file: a few hundred tokens of text.
func (c *talk) result(args any) string {
	o, ok := args.(object)
	if !ok {
		_ = json.Unmarshal([]byte(args.(string)), &o)
	}
	path := str(o, "path")
	c.read = append(c.read, path)
	var text strings.Builder
	for i := range 60 {
		fmt.Fprintf(&text, "%s line %d\n", path, i)
	}
	return text.String()
}

// assemble builds the answer from a stream, as SDKs do: the last complete object, or the joined
// pieces.
func (c *talk) assemble(stream []byte) object {
	c.t.Helper()
	var events []object
	lines := bufio.NewScanner(bytes.NewReader(stream))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok || data == "[DONE]" {
			continue
		}
		var e object
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			c.t.Fatalf("event %s: %v", data, err)
		}
		events = append(events, e)
	}
	switch c.d {
	case anthropicDialect:
		return assembleAnthropic(events)
	case chatDialect:
		return assembleChat(events)
	}
	out, _ := events[len(events)-1]["response"].(object)
	return out
}

func assembleAnthropic(events []object) object {
	var blocks []any
	var partial string
	for _, e := range events {
		switch e["type"] {
		case "content_block_start":
			blocks, partial = append(blocks, e["content_block"]), ""
		case "content_block_delta":
			d, b := e["delta"].(object), blocks[len(blocks)-1].(object)
			b["text"] = str(b, "text") + str(d, "text")
			b["thinking"] = str(b, "thinking") + str(d, "thinking")
			b["signature"] = str(b, "signature") + str(d, "signature")
			partial += str(d, "partial_json")
		case "content_block_stop":
			b := blocks[len(blocks)-1].(object)
			for _, field := range []string{"text", "thinking", "signature"} {
				if b[field] == "" && !(b["type"] == "thinking" && field != "text") {
					delete(b, field)
				}
			}
			if b["type"] == "tool_use" {
				var input object
				_ = json.Unmarshal([]byte(partial), &input)
				b["input"] = input
			}
		}
	}
	out := events[0]["message"].(object)
	out["content"] = blocks
	return out
}

func assembleChat(events []object) object {
	m := object{"role": "assistant", "content": ""}
	var calls []any
	for _, e := range events {
		for _, choice := range list(e["choices"]) {
			d := choice.(object)["delta"].(object)
			m["content"] = str(m, "content") + str(d, "content")
			if r := str(d, "reasoning_content"); r != "" {
				m["reasoning_content"] = str(m, "reasoning_content") + r
			}
			for _, v := range list(d["tool_calls"]) {
				piece := v.(object)
				if piece["id"] != nil {
					delete(piece, "index")
					calls = append(calls, piece)
					continue
				}
				f := calls[len(calls)-1].(object)["function"].(object)
				f["arguments"] = str(f, "arguments") + str(piece["function"], "arguments")
			}
		}
	}
	if calls != nil {
		m["tool_calls"] = calls
	}
	return object{"choices": []any{object{"message": m}}, "usage": events[len(events)-1]["usage"]}
}

func containsAll(text string, parts ...string) bool {
	for _, p := range parts {
		if !strings.Contains(text, p) {
			return false
		}
	}
	return true
}
