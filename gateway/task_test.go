package gateway_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/precis-dev/precis/condense"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/gateway/ownmodel"
	"github.com/precis-dev/precis/internal/sample"
	"github.com/precis-dev/precis/internal/upstream"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/preset"
)

// worker is an agent that does what the upstream says, keeping its history as
// the APIs want it back.
type worker struct {
	dialect string
	model   string
	extra   string // further members of each request
	list    []any
}

func (w *worker) body(t *testing.T) string {
	t.Helper()
	list, err := json.Marshal(w.list)
	if err != nil {
		t.Fatal(err)
	}
	const schema = `{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`
	switch w.dialect {
	case "anthropic":
		return fmt.Sprintf(`{"model":%q,"max_tokens":4000,"system":[{"type":"text","text":"You read files.","cache_control":{"type":"ephemeral"}}],"tools":[{"name":"read","input_schema":%s}],"messages":%s%s}`,
			w.model, schema, mark(string(list)), w.extra)
	case "chat":
		return fmt.Sprintf(`{"model":%q,"max_tokens":4000,"messages":%s,"tools":[{"type":"function","function":{"name":"read","parameters":%s}}]%s}`, w.model, list, schema, w.extra)
	}
	return fmt.Sprintf(`{"model":%q,"max_output_tokens":4000,"store":false,"include":["reasoning.encrypted_content"],"instructions":"You read files.","input":%s,"tools":[{"type":"function","name":"read","parameters":%s}]%s}`,
		w.model, list, schema, w.extra)
}

// mark puts a breakpoint on the last tool result.
func mark(list string) string {
	i := strings.LastIndex(list, `"type":"tool_result"`)
	if i < 0 {
		return list
	}
	return list[:i] + `"cache_control":{"type":"ephemeral"},` + list[i:]
}

// take adds an answer and the results of its calls; done: there were none.
func (w *worker) take(t *testing.T, answer []byte) (done bool) {
	t.Helper()
	var v struct {
		Content []map[string]any
		Choices []struct{ Message map[string]any }
		Output  []map[string]any
	}
	if err := json.Unmarshal(answer, &v); err != nil {
		t.Fatalf("%v: %s", err, answer)
	}
	read := func(input any) string {
		var in struct{ Path string }
		switch input := input.(type) {
		case string:
			_ = json.Unmarshal([]byte(input), &in)
		default:
			b, _ := json.Marshal(input)
			_ = json.Unmarshal(b, &in)
		}
		text, err := os.ReadFile(in.Path)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	var results []any
	switch w.dialect {
	case "anthropic":
		w.list = append(w.list, map[string]any{"role": "assistant", "content": v.Content})
		for _, b := range v.Content {
			if b["type"] == "tool_use" {
				results = append(results, map[string]any{"type": "tool_result", "tool_use_id": b["id"], "content": read(b["input"])})
			}
		}
		if len(results) > 0 {
			w.list = append(w.list, map[string]any{"role": "user", "content": results})
		}
	case "chat":
		m := v.Choices[0].Message
		w.list = append(w.list, m)
		calls, _ := m["tool_calls"].([]any)
		for _, c := range calls {
			c := c.(map[string]any)
			results = append(results, map[string]any{"role": "tool", "tool_call_id": c["id"], "content": read(c["function"].(map[string]any)["arguments"])})
		}
		w.list = append(w.list, results...)
	default:
		for _, item := range v.Output {
			w.list = append(w.list, item)
			if item["type"] == "function_call" {
				results = append(results, map[string]any{"type": "function_call_output", "call_id": item["call_id"], "output": read(item["arguments"])})
			}
		}
		w.list = append(w.list, results...)
	}
	return len(results) == 0
}

// taskWindow returns the window of tasks, in tokens. In short runs it is half of what
// it is otherwise, and so are the files: the same turns, with half of the bytes.
func taskWindow() int {
	if testing.Short() {
		return 30_000
	}
	return 60_000
}

// fileOf returns the size of a file, in bytes, that takes a tenth of a window.
func fileOf(window int) int { return window * 49 / 120 }

func files(t *testing.T, n, size int) (out []string) {
	t.Helper()
	dir := t.TempDir()
	for i := range n {
		path := filepath.Join(dir, fmt.Sprintf("f%02d.txt", i+1))
		text := words(size/55, i+1)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		out = append(out, path)
	}
	return out
}

// withModel has the conversation's own model write summaries.
func withModel(t *testing.T, own *ownmodel.Models) *policy.Manager {
	t.Helper()
	settings, err := preset.Settings(preset.Balanced)
	if err != nil {
		t.Fatal(err)
	}
	m, err := preset.New(preset.Options{Settings: settings, Condensing: &preset.Condensing{Writer: condense.WriterConfig{Own: own.Model}}})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestTask has agents read 45 files through a gateway, against an upstream that
// enforces its window, its dialect, and the binding of reasoning, and simulates
// its prompt cache.
func TestTask(t *testing.T) {
	t.Parallel()
	const adaptive = `,"thinking":{"type":"adaptive"}`
	const enabled = `,"thinking":{"type":"enabled","budget_tokens":2000}`
	tests := []struct {
		name string
		w    worker
		up   upstream.Options
		own  bool // the conversation's own model writes summaries
	}{
		{"anthropic", worker{dialect: "anthropic", model: "claude-sonnet-4-5"}, upstream.Options{}, false},
		{"anthropic, bound reasoning", worker{dialect: "anthropic", model: "claude-opus-5-5", extra: adaptive}, upstream.Options{Thinking: true}, false},
		{"anthropic, bound and enabled reasoning", worker{dialect: "anthropic", model: "claude-opus-5-5", extra: enabled}, upstream.Options{Thinking: true}, false},
		{"anthropic, older reasoning", worker{dialect: "anthropic", model: "claude-sonnet-4-5", extra: enabled}, upstream.Options{Thinking: true, LegacyThinking: true}, false},
		{"anthropic, own model", worker{dialect: "anthropic", model: "claude-opus-5-5", extra: adaptive}, upstream.Options{Thinking: true}, true},
		{"chat", worker{dialect: "chat", model: "m"}, upstream.Options{}, false},
		{"chat, reasoning comes back", worker{dialect: "chat", model: "deepseek-v4"}, upstream.Options{Thinking: true, ReasoningBack: true}, false},
		{"chat, own model", worker{dialect: "chat", model: "m"}, upstream.Options{}, true},
		{"responses", worker{dialect: "responses", model: "gpt-5"}, upstream.Options{Thinking: true}, false},
		{"responses, own model", worker{dialect: "responses", model: "gpt-5"}, upstream.Options{Thinking: true}, true},
	}
	runs := sample.OneIn(t, 10, 3)
	for i, tt := range tests {
		if !runs(i) {
			continue
		}
		t.Run(strings.ReplaceAll(tt.name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			tokens := taskWindow()
			tt.up.Files, tt.up.Window = files(t, 45, fileOf(tokens)), tokens
			up, err := upstream.Start(tt.up)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(up.Close)
			base, _ := start(t, up.URL, func(o *gateway.Options) {
				window(tokens)(o)
				if tt.own {
					o.Manager = withModel(t, &ownmodel.Models{})
				} else {
					settings, _ := preset.Settings(preset.Frugal)
					if o.Manager, err = preset.New(preset.Options{Settings: settings}); err != nil {
						t.Fatal(err)
					}
				}
			})
			w := tt.w
			w.list = append(w.list, map[string]any{"role": "user", "content": "Read the files one by one. Never write to the disk."})
			path := (&agent{dialect: w.dialect}).path()
			turns := 0
			for done := false; !done; turns++ {
				if turns > 60 {
					t.Fatal("the task does not end")
				}
				done = w.take(t, exchange(t, base+path, w.body(t)))
			}
			s := up.Stats()
			t.Logf("%d turns, %d requests upstream, %d overflows, %d refused, %d summaries, %d splices, %.1f %% of what was sent before read from the cache",
				turns, s.Requests, s.Overflows, len(s.Refused), s.Summaries, s.Splices, 100*s.CacheShare())
			// A turn brings a tenth of the window. From the target, half of the window, to the
			// threshold there is room for three or four: 12 splices are the least.
			most := 13
			if len(s.Refused) > 0 || s.Overflows > 1 || s.CacheShare() < .99 || s.Splices > most {
				t.Errorf("refused %v", s.Refused)
			}
			if tt.own != (s.Summaries > 0) {
				t.Errorf("%d summaries by a model", s.Summaries)
			}
		})
	}
}

func exchange(t *testing.T, url, body string) []byte {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Anthropic-Version", "2023-06-01")
	req.Header.Set("X-Api-Key", "sk-test")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	out, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%d %v %s", res.StatusCode, err, bytes.TrimSpace(out))
	}
	return out
}
