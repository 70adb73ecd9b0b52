package upstream

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// geminiTalk is a client of Gemini's API.
type geminiTalk struct {
	t        *testing.T
	s        *Server
	contents []any
	tools    bool
}

func words(role, text string) object {
	return object{"role": role, "parts": []any{object{"text": text}}}
}

// ask sends the contents; the answer is the parts of all chunks.
func (c *geminiTalk) ask(method string) (status int, parts []any, last object) {
	c.t.Helper()
	body := object{"contents": c.contents, "systemInstruction": object{"parts": []any{object{"text": "Be brief."}}}}
	if c.tools {
		schema := object{"type": "object", "properties": object{"file_path": object{"type": "string"}}, "required": []any{"file_path"}}
		body["tools"] = []any{object{"functionDeclarations": []any{object{"name": "read_file", "parametersJsonSchema": schema}}}}
	}
	res, err := http.Post(c.s.URL+"/v1beta/models/gemini-2.5-pro:"+method, "application/json", bytes.NewReader(encode(body)))
	if err != nil {
		c.t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		line, _ = strings.CutPrefix(strings.TrimSpace(line), "data: ")
		if line == "" {
			continue
		}
		last = nil
		if err := json.Unmarshal([]byte(line), &last); err != nil {
			c.t.Fatalf("%v in %s", err, data)
		}
		for _, v := range list(last["candidates"]) {
			content, _ := v.(object)["content"].(object)
			parts = append(parts, list(content["parts"])...)
		}
	}
	return res.StatusCode, parts, last
}

// turn sends the contents and answers the calls of the model; it returns the files it read.
func (c *geminiTalk) turn() (read []string) {
	c.t.Helper()
	for {
		status, parts, last := c.ask("streamGenerateContent?alt=sse")
		if status != http.StatusOK || last["usageMetadata"] == nil {
			c.t.Fatalf("status %d: %v", status, last)
		}
		c.contents = append(c.contents, object{"role": "model", "parts": parts})
		var results []any
		for _, p := range parts {
			if call, ok := p.(object)["functionCall"].(object); ok {
				read = append(read, str(call["args"], "file_path"))
				results = append(results, object{"functionResponse": object{"id": str(call, "id"), "name": str(call, "name"), "response": object{"output": "text"}}})
			}
		}
		if len(results) == 0 {
			return read
		}
		c.contents = append(c.contents, object{"role": "user", "parts": results})
	}
}

// An agent of Gemini's API reads all files, a number of them in each turn.
func TestGemini(t *testing.T) {
	s := start(t, Options{Files: files(5), Pause: 2, ParallelAt: -1})
	c := &geminiTalk{t: t, s: s, tools: true, contents: []any{words("user", "Read the files.")}}
	var read []string
	for range 3 {
		read = append(read, c.turn()...)
		c.contents = append(c.contents, words("user", "Go on."))
	}
	if got, want := strings.Join(read, " "), strings.Join(files(5), " "); got != want {
		t.Errorf("read %s", got)
	}
	if text := fmt.Sprint(c.contents); !strings.Contains(text, Done) || !strings.Contains(text, "2 files were read so far.") {
		t.Errorf("it says %s", text)
	}
	// A snapshot is asked for; the next request begins with it.
	c.tools = false
	c.contents[len(c.contents)-1] = words("user", "Generate a new <state_snapshot> based on the provided history.")
	_, parts, _ := c.ask("generateContent")
	snapshot := str(parts[0], "text")
	if !strings.HasPrefix(snapshot, "<state_snapshot>") || !strings.Contains(snapshot, "Carry on behind file number 5 (run r1)") {
		t.Errorf("the snapshot is %s", snapshot)
	}
	c.tools, c.contents = true, []any{words("user", snapshot), words("model", "Got it."), words("user", "Go on.")}
	if read := c.turn(); len(read) > 0 {
		t.Errorf("read again: %v", read)
	}
	if _, _, last := c.ask("countTokens"); last["totalTokens"] == nil {
		t.Errorf("tokens: %v", last)
	}
	if st := s.Stats(); st.Summaries != 1 || len(st.Refused) > 0 || st.Runs != 1 || st.Records[0].Model != "gemini-2.5-pro" {
		t.Errorf("%+v", st)
	}
}

func TestGeminiRefuses(t *testing.T) {
	call := object{"role": "model", "parts": []any{object{"functionCall": object{"id": "c1", "name": "read_file", "args": object{}}}}}
	result := func(ids ...string) object {
		var parts []any
		for _, id := range ids {
			parts = append(parts, object{"functionResponse": object{"id": id, "name": "read_file", "response": object{}}})
		}
		return object{"role": "user", "parts": parts}
	}
	ask := words("user", "Read.")
	for name, contents := range map[string][]any{
		"nothing":                {},
		"a role that is missing": {object{"parts": []any{object{"text": "x"}}}},
		"no parts":               {object{"role": "user", "parts": []any{}}},
		"begins with the model":  {words("model", "Hi."), ask},
		"ends with the model":    {ask, words("model", "Hi.")},
		"a call without result":  {ask, call, ask},
		"a result without call":  {ask, words("model", "Hi."), result("c1")},
		"one result too many":    {ask, call, result("c1", "c2")},
		"a call of the user":     {object{"role": "user", "parts": call["parts"]}, result("c1")},
	} {
		s := start(t, Options{Files: files(2)})
		c := &geminiTalk{t: t, s: s, tools: true, contents: contents}
		if status, _, last := c.ask("generateContent"); status != http.StatusBadRequest || str(last["error"], "status") != "INVALID_ARGUMENT" || len(s.Stats().Refused) != 1 {
			t.Errorf("%s: status %d, %v", name, status, last)
		}
	}
	s := start(t, Options{Files: files(2), Window: 10})
	c := &geminiTalk{t: t, s: s, tools: true, contents: []any{ask, call, result("c1", "c1")}} // as Gemini CLI sends it
	if status, _, last := c.ask("generateContent"); status != http.StatusBadRequest || !strings.Contains(str(last["error"], "message"), "exceeds the maximum number of tokens allowed (10)") {
		t.Errorf("status %d, %v", status, last)
	}
}
