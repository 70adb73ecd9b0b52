package gateway_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/provider/providertest"
)

// with adds fields to a request body.
func with(body, more string) string { return strings.TrimSuffix(body, "}") + "," + more + "}" }

// last returns the newest request that the upstream got.
func last(s *providertest.Server) providertest.Request {
	all := s.Requests()
	return all[len(all)-1]
}

const betas = "context-management-2025-06-27, compact-2026-01-12,other-2025-01-01"

// told is the part of an answer of the Messages API that is about polyfills.
type told struct {
	Content []struct {
		Type, Text, Content string
		Encrypted           string `json:"encrypted_content"`
	}
	Stop       string `json:"stop_reason"`
	Management *struct {
		Applied []struct {
			Type     string
			Uses     int `json:"cleared_tool_uses"`
			Thinking int `json:"cleared_thinking_turns"`
			Tokens   int `json:"cleared_input_tokens"`
		} `json:"applied_edits"`
		Original int `json:"original_input_tokens"`
	} `json:"context_management"`
	Input int `json:"input_tokens"`
	Usage struct {
		Input      int `json:"input_tokens"`
		Iterations []struct{ Type string }
	}
}

// read reads an answer of the Messages API, whole or as a stream, of which each
// block must have its own index.
func read(t *testing.T, out string) (m told) {
	t.Helper()
	if !strings.HasPrefix(out, "event:") {
		if err := json.Unmarshal([]byte(out), &m); err != nil {
			t.Fatalf("%s: %v", out, err)
		}
		return m
	}
	next := 0
	for line := range strings.Lines(out) {
		data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: ")
		if !ok {
			continue
		}
		var e struct {
			Type    string
			Index   int
			Block   json.RawMessage `json:"content_block"`
			Delta   json.RawMessage
			Message json.RawMessage
		}
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		switch e.Type {
		case "message_start":
			_ = json.Unmarshal(e.Message, &m)
		case "content_block_start":
			if e.Index != next {
				t.Fatalf("block %d starts, want %d: %s", e.Index, next, out)
			}
			next++
			m.Content = append(m.Content, make([]struct {
				Type, Text, Content string
				Encrypted           string `json:"encrypted_content"`
			}, 1)...)
			_ = json.Unmarshal(e.Block, &m.Content[e.Index])
		case "content_block_delta":
			kind := m.Content[e.Index].Type
			text := m.Content[e.Index].Text
			_ = json.Unmarshal(e.Delta, &m.Content[e.Index])
			m.Content[e.Index].Type, m.Content[e.Index].Text = kind, text+m.Content[e.Index].Text
		case "message_delta":
			_ = json.Unmarshal([]byte(data), &m)
			_ = json.Unmarshal(e.Delta, &m)
		}
	}
	return m
}

// edits asks for context edits.
func edits(list ...string) string {
	return `"context_management":{"edits":[` + strings.Join(list, ",") + `]}`
}

const clearFrom5 = `{"type":"clear_tool_uses_20250919","trigger":{"type":"tool_uses","value":5},"keep":{"type":"tool_uses","value":2}}`

func TestOldToolResultsAreCleared(t *testing.T) {
	t.Parallel()
	for _, stream := range []bool{false, true} {
		t.Run(fmt.Sprint("stream=", stream), func(t *testing.T) {
			s := providertest.New(t, providertest.Options{})
			base, _ := start(t, s.URL, window(1_000_000))
			a := newAgent("anthropic", "Read the files.")
			var before string
			changed := 0
			for n := 1; n <= 30; n++ {
				a.read(n, words(30, n))
				res, out := post(t, base+a.path(), with(a.body(stream), edits(clearFrom5)), "Anthropic-Beta", betas)
				if res.StatusCode != 200 {
					t.Fatalf("turn %d: %s %v", n, out, s.Problems())
				}
				sent := last(s)
				if strings.Contains(string(sent.Body), "context_management") || sent.Header.Get("Anthropic-Beta") != "other-2025-01-01" {
					t.Fatalf("turn %d: sent %q %s", n, sent.Header.Get("Anthropic-Beta"), sent.Body)
				}
				list := string(jsonspan.Field(sent.Body, "messages"))
				cleared := strings.Count(list, "Tool result cleared")
				m := read(t, out)
				if m.Management == nil || cleared > 0 != (len(m.Management.Applied) == 1) {
					t.Fatalf("turn %d: %d cleared, told %s", n, cleared, out)
				}
				if cleared > 0 && (m.Management.Applied[0].Uses != cleared || m.Management.Applied[0].Tokens < 100*cleared) {
					t.Fatalf("turn %d: %d cleared, told %+v", n, cleared, m.Management.Applied)
				}
				if n-cleared > 5 || n-cleared < min(n, 2) || !strings.Contains(list, fmt.Sprintf("line 29 of file %d:", n)) {
					t.Fatalf("turn %d: %d cleared", n, cleared)
				}
				list = strings.ReplaceAll(strings.TrimSuffix(list, "]"), `,"cache_control":{"type":"ephemeral"}`, "")
				list = strings.ReplaceAll(list, `,"cache_control":null`, "")
				if before != "" && !strings.HasPrefix(list, before) {
					changed++
				}
				before = list
			}
			if changed > 9 {
				t.Errorf("the prefix changed %d times in 30 turns", changed)
			}
			if !strings.Contains(before, "can be read again as m2.b0") {
				t.Errorf("no handle: %.600s", before)
			}
		})
	}
}

func TestClearingOptions(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		edit    string
		cleared int    // of ten results
		has     string // in what the upstream gets
		not     string
	}{
		"keep":           {`{"type":"clear_tool_uses_20250919","trigger":{"type":"tool_uses","value":3},"keep":{"type":"tool_uses","value":4}}`, 6, "f01.txt", ""},
		"keep none":      {`{"type":"clear_tool_uses_20250919","trigger":{"type":"input_tokens","value":10},"keep":{"type":"tool_uses","value":0}}`, 10, "", "line 3 of file"},
		"defaults":       {`{"type":"clear_tool_uses_20250919"}`, 0, "line 3 of file 1:", ""},
		"excluded":       {`{"type":"clear_tool_uses_20250919","trigger":{"type":"tool_uses","value":3},"exclude_tools":["read"]}`, 0, "line 3 of file 1:", ""},
		"too little":     {`{"type":"clear_tool_uses_20250919","trigger":{"type":"tool_uses","value":3},"clear_at_least":{"type":"input_tokens","value":100000}}`, 0, "", ""},
		"enough":         {`{"type":"clear_tool_uses_20250919","trigger":{"type":"tool_uses","value":3},"clear_at_least":{"type":"input_tokens","value":500}}`, 7, "", ""},
		"inputs":         {`{"type":"clear_tool_uses_20250919","trigger":{"type":"tool_uses","value":3},"clear_tool_inputs":true}`, 7, `read again as m1.b0`, "f01.txt"},
		"others' inputs": {`{"type":"clear_tool_uses_20250919","trigger":{"type":"tool_uses","value":3},"clear_tool_inputs":["write"]}`, 7, "f01.txt", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := providertest.New(t, providertest.Options{})
			base, _ := start(t, s.URL, window(1_000_000))
			a := newAgent("anthropic", "Read the files.")
			for n := 1; n <= 10; n++ {
				a.read(n, words(30, n))
			}
			_, out := post(t, base+a.path(), with(a.body(false), edits(c.edit)))
			sent := string(last(s).Body)
			if got := strings.Count(sent, "Tool result cleared"); got != c.cleared {
				t.Errorf("%d cleared, want %d: %s", got, c.cleared, out)
			}
			if !strings.Contains(sent, c.has) || c.not != "" && strings.Contains(sent, c.not) {
				t.Errorf("sent %.900s", sent)
			}
			if p := s.Problems(); len(p) > 0 {
				t.Error(p)
			}
		})
	}
}

func TestNativeIsLeftAlone(t *testing.T) {
	t.Parallel()
	native := func(o *gateway.Options) { o.Native = gateway.Native{ContextManagement: true, Compact: true} }
	s := providertest.New(t, providertest.Options{})
	base, _ := start(t, s.URL, native)
	a := newAgent("anthropic", "Read the files.")
	for n := 1; n <= 8; n++ {
		a.read(n, words(30, n))
	}
	body := with(a.body(false), edits(clearFrom5, `{"type":"clear_everything"}`))
	_, out := post(t, base+a.path(), body, "Anthropic-Beta", betas)
	if got := last(s); string(got.Body) != body || got.Header.Get("Anthropic-Beta") != betas || strings.Contains(out, "context_management") {
		t.Errorf("sent %q %s\nanswered %s", got.Header.Get("Anthropic-Beta"), got.Body, out)
	}
	r := newAgent("responses", "Read the files.")
	r.read(1, words(30, 1))
	body = with(r.body(false), `"context_management":[{"type":"compaction","compact_threshold":10}]`)
	if post(t, base+r.path(), body); string(last(s).Body) != body {
		t.Errorf("sent %s", last(s).Body)
	}
}

func TestUnknownEditsAreTheUpstreams(t *testing.T) {
	t.Parallel()
	s := providertest.New(t, providertest.Options{})
	base, _ := start(t, s.URL, nil)
	a := newAgent("anthropic", "Read the files.")
	for n := 1; n <= 8; n++ {
		a.read(n, words(30, n))
	}
	post(t, base+a.path(), with(a.body(false), edits(clearFrom5, `{"type":"clear_everything_20300101","now":true}`)), "Anthropic-Beta", betas)
	got := last(s)
	if !strings.Contains(string(got.Body), `"context_management":{"edits":[{"type":"clear_everything_20300101","now":true}]}`) || got.Header.Get("Anthropic-Beta") != betas {
		t.Errorf("sent %q %s", got.Header.Get("Anthropic-Beta"), got.Body)
	}
	if n := strings.Count(string(got.Body), "Tool result cleared"); n != 6 {
		t.Errorf("%d cleared", n)
	}
}

func TestFieldsAreRefusedAsTheAPIDoes(t *testing.T) {
	t.Parallel()
	s := providertest.New(t, providertest.Options{})
	base, _ := start(t, s.URL, nil)
	a, r := newAgent("anthropic", "Hello."), newAgent("responses", "Hello.")
	for field, want := range map[string]string{
		`"context_management":[]`:                        `context_management: Input should be a valid dictionary`,
		`"context_management":{"edits":{}}`:              `context_management.edits: Input should be a valid list`,
		`"context_management":{"other":1}`:               `context_management.other: Extra inputs are not permitted`,
		edits(`{}`):                                      `context_management.edits.0: Unable to extract tag`,
		edits(`{"type":"clear_thinking_20251015"}`):      "`clear_thinking_20251015` strategy requires `thinking` to be enabled or adaptive",
		edits(clearFrom5, clearFrom5):                    "listed twice",
		edits(`{"type":"compact_20260112","pause":1}`):   `compact_20260112.pause: Extra inputs`,
		edits(`{"type":"compact_20260112","trigger":5}`): `compact_20260112.trigger: Input should be a valid dictionary`,
		edits(`{"type":"clear_tool_uses_20250919","keep":{"type":"tool_uses","value":-1}}`):          `keep.value: Input should be greater than or equal to 0`,
		edits(`{"type":"clear_tool_uses_20250919","keep":{"type":"tool_uses","value":"3"}}`):         `keep.value: Input should be a valid integer`,
		edits(`{"type":"clear_tool_uses_20250919","trigger":{"type":"turns","value":3}}`):            `trigger: Input tag 'turns' found`,
		edits(clearFrom5, `{"type":"clear_thinking_20251015","keep":"all"}`):                         "must be the first",
		edits(`{"type":"clear_tool_uses_20250919","exclude_tools":[1]}`):                             `exclude_tools.0: Input should be a valid string`,
		edits(`{"type":"clear_thinking_20251015","keep":{"type":"thinking_turns","value":0}}`):       `keep.value: Input should be greater than or equal to 1`,
		edits(`{"type":"clear_thinking_20251015","keep":"some"}`):                                    `keep: Input should be 'all'`,
		edits(`{"type":"clear_tool_uses_20250919","clear_at_least":{"type":"tool_uses","value":1}}`): `clear_at_least: Input tag 'tool_uses'`,
	} {
		for _, path := range []string{"/v1/messages", "/v1/messages/count_tokens"} {
			res, out := post(t, base+path, with(a.body(false), field))
			var e struct {
				Type  string
				Error struct{ Type, Message string }
			}
			if err := json.Unmarshal([]byte(out), &e); err != nil || res.StatusCode != 400 || e.Type != "error" || e.Error.Type != "invalid_request_error" || !strings.Contains(e.Error.Message, want) {
				t.Errorf("%s %s: %d %s, want %s", path, field, res.StatusCode, out, want)
			}
		}
	}
	for field, param := range map[string]string{
		`"context_management":{}`:                                              "context_management",
		`"context_management":[{"type":"truncation"}]`:                         "context_management[0].type",
		`"context_management":[{"type":"compaction","compact_threshold":"x"}]`: "context_management[0].compact_threshold",
		`"context_management":[{"type":"compaction","more":1}]`:                "context_management[0].more",
	} {
		res, out := post(t, base+r.path(), with(r.body(true), field))
		var e struct {
			Error struct{ Type, Message, Param string }
		}
		if err := json.Unmarshal([]byte(out), &e); err != nil || res.StatusCode != 400 || e.Error.Param != param || e.Error.Type != "invalid_request_error" {
			t.Errorf("%s: %d %s", field, res.StatusCode, out)
		}
	}
	if n := len(s.Requests()); n != 0 {
		t.Errorf("%d requests went upstream", n)
	}
}

func TestOldThinkingIsCleared(t *testing.T) {
	t.Parallel()
	turn := func(n int) string {
		return fmt.Sprintf(`{"role":"user","content":"Question %d?"},{"role":"assistant","content":[{"type":"thinking","thinking":%s,"signature":"c2ln"},{"type":"text","text":"Answer %d."}]}`,
			n, quote(fmt.Sprintf("I think about question %d. ", n)+strings.Repeat("And more. ", 30)), n)
	}
	for keep, kept := range map[string]string{`"all"`: "12345", `{"type":"thinking_turns","value":2}`: "45", `{"type":"all"}`: "12345", "null": "5"} {
		s := providertest.New(t, providertest.Options{})
		base, _ := start(t, s.URL, nil)
		var list []string
		for n := 1; n <= 5; n++ {
			list = append(list, turn(n))
			body := fmt.Sprintf(`{"model":"claude-sonnet-4-5","max_tokens":5000,"thinking":{"type":"enabled","budget_tokens":1024},"messages":[%s,{"role":"user","content":"Next?"}],"tools":[{"name":"x","input_schema":{"type":"object"}}],%s}`,
				strings.Join(list, ","), edits(`{"type":"clear_thinking_20251015","keep":`+keep+`}`))
			res, out := post(t, base+"/v1/messages", body)
			if res.StatusCode != 200 {
				t.Fatal(out, s.Problems())
			}
			if n < 5 {
				continue
			}
			got := ""
			for _, m := range regexp.MustCompile(`I think about question (\d)`).FindAllStringSubmatch(string(last(s).Body), -1) {
				got += m[1]
			}
			if got != kept {
				t.Errorf("keep %s: reasoning of %s is sent, want %s", keep, got, kept)
			}
			m := read(t, out)
			if cleared := 5 - len(kept); cleared == 0 && len(m.Management.Applied) != 0 || cleared > 0 && (m.Management.Applied[0].Thinking != cleared || m.Management.Applied[0].Tokens < 50) {
				t.Errorf("keep %s: told %s", keep, out)
			}
		}
	}
}
