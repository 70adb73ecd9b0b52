package gateway_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/precis-dev/precis/internal/upstream"
	"github.com/precis-dev/precis/provider/providertest"
)

// answerOf returns the content of an answer of the Messages API, whole or
// streamed, as SDKs put it together.
func answerOf(t *testing.T, out string) (content []map[string]any) {
	t.Helper()
	if !strings.HasPrefix(out, "event:") {
		var m struct{ Content []map[string]any }
		if err := json.Unmarshal([]byte(out), &m); err != nil {
			t.Fatalf("%s: %v", out, err)
		}
		return m.Content
	}
	input := ""
	for line := range strings.Lines(out) {
		var e struct {
			Type  string
			Index int
			Block map[string]any `json:"content_block"`
			Delta map[string]any
		}
		data, _ := strings.CutPrefix(strings.TrimSpace(line), "data: ")
		if json.Unmarshal([]byte(data), &e) != nil {
			continue
		}
		switch e.Type {
		case "content_block_start":
			content, input = append(content, e.Block), ""
		case "content_block_delta":
			b := content[e.Index]
			for field, piece := range e.Delta {
				switch {
				case field == "partial_json":
					input += piece.(string)
				case field == "type":
				case e.Delta["type"] == "compaction_delta":
					b[field] = piece
				default:
					was, _ := b[field].(string)
					b[field] = was + piece.(string)
				}
			}
		case "content_block_stop":
			if input != "" {
				content[e.Index]["input"] = json.RawMessage(input)
			}
		}
	}
	return content
}

// TestAnAgentWorksWithAllPolyfills has an agent that thinks read forty files
// through a gateway that emulates all edits, in front of an upstream that checks
// the signatures of reasoning.
func TestAnAgentWorksWithAllPolyfills(t *testing.T) {
	t.Parallel()
	var files []string
	for n := range 40 {
		files = append(files, fmt.Sprintf("/p/file%02d.txt", n+1))
	}
	for _, legacy := range []bool{false, true} {
		t.Run(fmt.Sprint("legacy=", legacy), func(t *testing.T) {
			s, err := upstream.Start(upstream.Options{Files: files, Thinking: true, LegacyThinking: legacy})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(s.Close)
			base, _ := start(t, s.URL, nil)
			model := map[bool]string{false: "claude-opus-5-5", true: "claude-sonnet-4-5"}[legacy]
			messages := []any{map[string]any{"role": "user", "content": "Read the files."}}
			got := map[string]int{}
			for turn := range 60 {
				body, _ := json.Marshal(map[string]any{
					"model": model, "max_tokens": 8000, "stream": turn%2 == 0, "messages": messages, "thinking": map[string]any{"type": "enabled", "budget_tokens": 2000},
					"tools":              []any{map[string]any{"name": "read", "input_schema": json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`)}},
					"context_management": json.RawMessage(`{"edits":[{"type":"clear_thinking_20251015"},` + clearFrom5 + `,{"type":"compact_20260112","trigger":{"type":"input_tokens","value":3500}}]}`),
				})
				res, out := post(t, base+"/v1/messages", string(body))
				if res.StatusCode != 200 {
					t.Fatalf("turn %d: %s", turn, out)
				}
				content := answerOf(t, out)
				messages = append(messages, map[string]any{"role": "assistant", "content": content})
				var results []any
				for _, b := range content {
					got[b["type"].(string)]++
					if b["type"] == "tool_use" {
						results = append(results, map[string]any{"type": "tool_result", "tool_use_id": b["id"], "content": words(25, turn)})
					}
				}
				if results == nil {
					break
				}
				if turn%9 == 8 {
					results = append(results, map[string]any{"type": "text", "text": "Go on."})
				}
				messages = append(messages, map[string]any{"role": "user", "content": results})
			}
			stats := s.Stats()
			if got["tool_use"] != len(files) || got["compaction"] < 2 || got["thinking"] < 30 || len(stats.Refused) > 0 {
				t.Errorf("the agent got %v; refused %v", got, stats.Refused)
			}
		})
	}
}

// TestAnAgentWorksWithCompactedItems is the same over the Responses API, with
// reasoning items that must stand right before what they led to.
func TestAnAgentWorksWithCompactedItems(t *testing.T) {
	sequential(t)
	t.Parallel()
	var files []string
	for n := range 40 {
		files = append(files, fmt.Sprintf("/p/file%02d.txt", n+1))
	}
	s, err := upstream.Start(upstream.Options{Files: files, Thinking: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	base, _ := start(t, s.URL, nil)
	items := []any{map[string]any{"role": "user", "content": "Read the files."}}
	got := map[string]int{}
	for turn := range 60 {
		body, _ := json.Marshal(map[string]any{
			"model": "gpt-5.1", "store": false, "include": []string{"reasoning.encrypted_content"}, "reasoning": map[string]any{}, "input": items,
			"tools":              []any{json.RawMessage(`{"type":"function","name":"read","parameters":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}}`)},
			"context_management": json.RawMessage(`[{"type":"compaction","compact_threshold":3000}]`),
		})
		res, out := post(t, base+"/v1/responses", string(body))
		var r struct{ Output []map[string]any }
		if err := json.Unmarshal([]byte(out), &r); err != nil || res.StatusCode != 200 {
			t.Fatalf("turn %d: %s", turn, out)
		}
		calls := 0
		for _, item := range r.Output {
			items = append(items, item)
			got[item["type"].(string)]++
		}
		for _, item := range r.Output {
			if item["type"] == "function_call" {
				calls++
				items = append(items, map[string]any{"type": "function_call_output", "call_id": item["call_id"], "output": words(25, turn)})
			}
		}
		if calls == 0 {
			break
		}
	}
	if stats := s.Stats(); got["function_call"] != len(files) || got["compaction"] < 2 || got["reasoning"] < 30 || len(stats.Refused) > 0 {
		t.Errorf("the agent got %v; refused %v", got, stats.Refused)
	}
}

// TestPolyfillsAndTheWindow lets the gateway's own reductions and the client's
// edits work on one conversation, whose client forgets the compaction blocks.
func TestPolyfillsAndTheWindow(t *testing.T) {
	sequential(t)
	t.Parallel()
	for name, list := range map[string]string{
		"clearing":   edits(`{"type":"clear_tool_uses_20250919","trigger":{"type":"input_tokens","value":9000},"keep":{"type":"tool_uses","value":8},"clear_tool_inputs":true}`),
		"compacting": edits(`{"type":"compact_20260112","trigger":{"type":"input_tokens","value":11000}}`),
		"both":       edits(clearFrom5, `{"type":"compact_20260112","trigger":{"type":"input_tokens","value":6000}}`),
		"late":       edits(`{"type":"clear_tool_uses_20250919","trigger":{"type":"input_tokens","value":19000}}`, `{"type":"compact_20260112","trigger":{"type":"input_tokens","value":30000}}`),
	} {
		t.Run(name, func(t *testing.T) {
			s := providertest.New(t, providertest.Options{Window: 20_000})
			base, _ := start(t, s.URL, window(20_000))
			a := newAgent("anthropic", "Read the files one by one. Never write to the disk.")
			for n := 1; n <= 40; n++ {
				a.read(n, words(60, n))
				res, out := post(t, base+a.path(), with(a.body(n%2 == 0), list))
				if res.StatusCode != 200 {
					t.Fatalf("turn %d: %d %s %v", n, res.StatusCode, out, s.Problems())
				}
				sent := string(last(s).Body)
				if !strings.Contains(sent, "Never write to the disk") || !strings.Contains(sent, fmt.Sprintf("line 59 of file %d:", n)) {
					t.Fatalf("turn %d: the rule or the newest result is not in the view", n)
				}
			}
			if p := s.Problems(); len(p) > 0 {
				t.Error(p)
			}
		})
	}
}
