package gateway_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/gateway/recall"
)

// each runs a test for all dialects, streamed and not.
func each(t *testing.T, f func(t *testing.T, dialect string, stream bool)) {
	for _, dialect := range dialects(t) {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/stream=%v", dialect, stream), func(t *testing.T) { f(t, dialect, stream) })
		}
	}
}

// askAgent posts the agent's request and returns the answer in one piece.
func askAgent(t *testing.T, base string, a *agent, stream bool) (*http.Response, string) {
	t.Helper()
	res, out := post(t, base+a.path(), a.body(stream))
	if strings.Contains(out, recall.Name) {
		t.Errorf("the client sees the tool: %s", out)
	}
	if stream && res.StatusCode == 200 {
		out = string(assembled(t, a.dialect, []byte(out)))
	}
	return res, out
}

// heard is what a client takes out of an answer.
type heard struct {
	text, think, stop, id string
	calls                 []string
	input, output, cached int
}

func hear(t *testing.T, answer string) (h heard) {
	t.Helper()
	var v struct {
		ID      string
		Status  string
		Stop    string `json:"stop_reason"`
		Content []struct{ Type, Text, Thinking, Name string }
		Choices []struct {
			Message struct {
				Content, Reasoning string
				Thoughts           string                                     `json:"reasoning_content"`
				Calls              []struct{ Function struct{ Name string } } `json:"tool_calls"`
			}
			Finish string `json:"finish_reason"`
		}
		Output []struct {
			Type, Name string
			Content    []struct{ Text string }
			Summary    []struct{ Text string }
		}
		Usage struct {
			Input      int `json:"input_tokens"`
			Output     int `json:"output_tokens"`
			Read       int `json:"cache_read_input_tokens"`
			Prompt     int `json:"prompt_tokens"`
			Completion int `json:"completion_tokens"`
			Details    struct {
				Cached int `json:"cached_tokens"`
			} `json:"input_tokens_details"`
			More struct {
				Cached int `json:"cached_tokens"`
			} `json:"prompt_tokens_details"`
		}
	}
	if err := json.Unmarshal([]byte(answer), &v); err != nil {
		t.Fatalf("%v: %s", err, answer)
	}
	h.id, h.stop = v.ID, v.Stop+v.Status
	for _, b := range v.Content {
		h.text, h.think = h.text+b.Text, h.think+b.Thinking
		if b.Name != "" {
			h.calls = append(h.calls, b.Name)
		}
	}
	for _, c := range v.Choices {
		h.text, h.think, h.stop = h.text+c.Message.Content, h.think+c.Message.Thoughts, c.Finish
		for _, call := range c.Message.Calls {
			h.calls = append(h.calls, call.Function.Name)
		}
	}
	for _, item := range v.Output {
		for _, c := range item.Content {
			h.text += c.Text
		}
		for _, c := range item.Summary {
			h.think += c.Text
		}
		if item.Name != "" {
			h.calls = append(h.calls, item.Name)
		}
	}
	u := v.Usage
	h.input, h.output, h.cached = u.Input+u.Prompt, u.Output+u.Completion, u.Read+u.Details.Cached+u.More.Cached
	return h
}

func TestRecall(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, dialect string, stream bool) {
		s := newScript(t,
			said(dialect, stream, 1, part{think: "Where was it? "}, part{text: "Let me look. "}, recalls(`{"handle":"m2"}`), recalls(`{"search":"setting_59 file 7"}`)),
			said(dialect, stream, 2, part{think: "Once more. "}, recalls(`{"handle":"m4.b0"}`)),
			said(dialect, stream, 3, part{text: "The value "}, part{text: "is 4."}, part{call: "read", args: `{"path":"f31.txt"}`}),
			said(dialect, stream, 4, part{text: "Done."}))
		base, a, turns := reader(t, dialect, s, nil)
		res, out := askAgent(t, base, a, stream)
		h := hear(t, out)
		sent := s.sent()
		if res.StatusCode != 200 || len(sent) != 3 {
			t.Fatalf("%d requests: %d %s", len(sent), res.StatusCode, out)
		}
		text := "Let me look. The value is 4."
		if dialect == "chat" && !stream {
			text = "Let me look. is 4." // a message has one content
		}
		if h.text != text || h.think != "Where was it? Once more. " || len(h.calls) != 1 || h.calls[0] != "read" {
			t.Errorf("the client hears %+v", h)
		}
		input := map[string]int{"anthropic": 180}[dialect]
		if input == 0 {
			input = 300
		}
		if h.input != input || h.output != 30 || h.cached != 120 {
			t.Errorf("usage %+v", h)
		}
		if id := map[string]string{"anthropic": "msg_1", "chat": "chatcmpl-1", "responses": "resp_3"}[dialect]; h.id != id {
			t.Errorf("ID %s, want %s", h.id, id)
		}
		if turn := <-turns; turn.Usage.Input != input || turn.Usage.Output != 30 || turn.Input != 100 {
			t.Errorf("the turn used %+v", turn.Usage)
		}
		checkFollowUps(t, sent)

		// The next turn: what the client has is sound, and the tool is offered.
		takeBack(t, a, out)
		if _, out := askAgent(t, base, a, stream); hear(t, out).text != "Done." {
			t.Error(out)
		}
		if last := s.sent()[3]; !strings.Contains(last, recall.Name) || strings.Contains(last, "precis-recall") {
			t.Errorf("sent %s", tail(last))
		}
	})
}

// checkFollowUps checks what the upstream was sent for the calls.
func checkFollowUps(t *testing.T, sent []string) {
	t.Helper()
	if !strings.HasPrefix(sent[1], sent[0][:strings.Index(sent[0], `"tools"`)-10]) {
		t.Errorf("the follow-up begins otherwise: %s", sent[1][:200])
	}
	first := strings.ReplaceAll(sent[1], `\n`, "\n")
	for _, want := range []string{"[m2.b0, user: tool result]", "line 59 of file 1:", "The best of", "Where was it? ", "Let me look. "} {
		if !strings.Contains(first[len(sent[0])/2:], want) {
			t.Errorf("the follow-up lacks %q: %s", want, tail(first))
		}
	}
	if second := strings.ReplaceAll(sent[2], `\n`, "\n"); !strings.Contains(second, "line 59 of file 2:") || !strings.Contains(second, "Once more. ") {
		t.Errorf("the second follow-up: %s", tail(second))
	}
}

func tail(s string) string { return s[max(len(s)-1500, 0):] }

// takeBack puts an answer into the agent's history, as clients do, with a result
// for each call.
func takeBack(t *testing.T, a *agent, answer string) {
	t.Helper()
	var v struct {
		Content []struct{ ID, Type string }
		Choices []struct {
			Message json.RawMessage
		}
		Output []json.RawMessage
	}
	_ = json.Unmarshal([]byte(answer), &v)
	switch a.dialect {
	case "anthropic":
		var raw struct{ Content json.RawMessage }
		_ = json.Unmarshal([]byte(answer), &raw)
		a.messages = append(a.messages, fmt.Sprintf(`{"role":"assistant","content":%s}`, raw.Content))
		for _, b := range v.Content {
			if b.Type == "tool_use" {
				a.messages = append(a.messages, fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":"text"}]}`, b.ID))
			}
		}
	case "chat":
		var m struct {
			Calls []struct{ ID string } `json:"tool_calls"`
		}
		_ = json.Unmarshal(v.Choices[0].Message, &m)
		a.messages = append(a.messages, string(v.Choices[0].Message))
		for _, c := range m.Calls {
			a.messages = append(a.messages, fmt.Sprintf(`{"role":"tool","tool_call_id":%q,"content":"text"}`, c.ID))
		}
	default:
		for _, item := range v.Output {
			a.messages = append(a.messages, string(item))
			var c struct {
				CallID string `json:"call_id"`
			}
			if _ = json.Unmarshal(item, &c); c.CallID != "" {
				a.messages = append(a.messages, fmt.Sprintf(`{"type":"function_call_output","call_id":%q,"output":"text"}`, c.CallID))
			}
		}
	}
}

func TestCallsBesideTheClientsOwn(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, dialect string, stream bool) {
		s := newScript(t,
			said(dialect, stream, 1, part{think: "Both. "}, recalls(`{"handle":"m2"}`), part{call: "read", args: `{"path":"a"}`}, recalls(`{"handle":"m4"}`), part{call: "read", args: `{"path":"b"}`}),
			said(dialect, stream, 2, part{text: "Done."}))
		base, a, _ := reader(t, dialect, s, nil)
		_, out := askAgent(t, base, a, stream)
		if h := hear(t, out); len(h.calls) != 2 || len(s.sent()) != 1 || h.stop == "end_turn" || h.stop == "stop" {
			t.Fatalf("%+v after %d requests", h, len(s.sent()))
		}
		takeBack(t, a, out)
		if _, out = askAgent(t, base, a, stream); hear(t, out).text != "Done." {
			t.Error(out)
		}
		if last := s.sent()[1]; dialect == "responses" && (strings.Contains(last, "rs_1_0") || strings.Contains(last, "fc_1_2")) {
			t.Errorf("reasoning is sent without what it led to: %s", tail(last))
		}
	})
}

func TestRecallEnds(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, dialect string, stream bool) {
		s := newScript(t, said(dialect, stream, 1, part{text: "Again. "}, recalls(`{"handle":"m2"}`)))
		base, a, turns := reader(t, dialect, s, nil)
		_, out := askAgent(t, base, a, stream)
		h := hear(t, out)
		want := map[string]string{"anthropic": "end_turn", "chat": "stop", "responses": "completed"}[dialect]
		if h.stop != want || len(h.calls) > 0 || h.text != strings.Repeat("Again. ", 6) || h.output != 60 || (<-turns).Usage.Output != 60 {
			t.Errorf("%+v", h)
		}
		sent := s.sent()
		if len(sent) != 6 || !strings.Contains(sent[5], "the last time") || strings.Contains(sent[4], "the last time") {
			t.Errorf("%d requests", len(sent))
		}
	})
}

func TestHostileCalls(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		`{"handle":"m0-m999999999"}`:                      "this conversation has m0 to m60",
		`{"handle":"m61"}`:                                "this conversation has m0 to m60",
		`{"handle":"../etc/passwd"}`:                      "is not a handle",
		`{"handle":"m1","search":"x"}`:                    "one of them",
		`{"handle":{"m":1}}`:                              "one of them",
		`{}`:                                              "one of them",
		`{"handle":"m2","offset":99999999}`:               "There is nothing in m2",
		`{"handle":"m2.b99"}`:                             "Handles look like",
		`{"search":"zzzzqqqq"}`:                           "Nothing in this conversation",
		`{"handle":" [m2] ","offset":-5}`:                 "line 0 of file 1",
		`{"search":"` + strings.Repeat("a ", 5000) + `"}`: "The best of",
	} {
		for _, dialect := range dialects(t) {
			s := newScript(t, said(dialect, true, 1, recalls(args)), said(dialect, true, 2, part{text: "Done."}))
			base, a, _ := reader(t, dialect, s, nil)
			if _, out := askAgent(t, base, a, true); hear(t, out).text != "Done." || !strings.Contains(s.sent()[1], want) {
				t.Errorf("%s %.80s: %s", dialect, args, tail(s.sent()[1]))
			}
		}
	}
	for _, dialect := range dialects(t) { // no JSON at all
		s := newScript(t, said(dialect, true, 1, recalls(`{"handle":`)), said(dialect, true, 2, part{text: "Done."}))
		base, a, _ := reader(t, dialect, s, nil)
		if _, out := askAgent(t, base, a, true); hear(t, out).text != "Done." || !strings.Contains(s.sent()[1], "no JSON object") {
			t.Errorf("%s: %s", dialect, out)
		}
	}
}

func TestLongTextsAreCut(t *testing.T) {
	t.Parallel()
	s := newScript(t,
		said("chat", false, 1, recalls(`{"handle":"m2-m20"}`)),
		func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, speak("chat", false, 2, recalls(`{"handle":"m4-m20","offset":200}`)))
		},
		said("chat", false, 3, part{text: "Done."}))
	base, a, _ := reader(t, "chat", s, func(o *gateway.Options) { o.RecallTokens = 2000 })
	askAgent(t, base, a, false)
	result := func(n int) string {
		var v struct{ Messages []struct{ Content string } }
		_ = json.Unmarshal([]byte(s.sent()[n]), &v)
		return v.Messages[len(v.Messages)-1].Content
	}
	if r := result(1); !strings.Contains(r, `[Cut here, more follows. Go on with {"handle":"m`) || len(r) > 10_000 || len(r) < 3000 {
		t.Errorf("%d bytes: %s", len(r), r)
	}
	if r := result(2); strings.HasPrefix(r, "[m4") || !strings.Contains(r, "file 2:") {
		t.Errorf("%d bytes: %s", len(r), r)
	}
}

// What the polyfills tell stands in the one answer, too.
func TestRecallBesidePolyfills(t *testing.T) {
	t.Parallel()
	for _, stream := range []bool{false, true} {
		s := newScript(t, said("anthropic", stream, 1, part{text: "Let me look. "}, recalls(`{"handle":"m2"}`)), said("anthropic", stream, 2, part{text: "Done."}))
		base, a, turns := reader(t, "anthropic", s, nil)
		body := with(a.body(stream), `"context_management":{"edits":[{"type":"clear_tool_uses_20250919","trigger":{"type":"input_tokens","value":5000},"keep":{"type":"tool_uses","value":3}}]}`)
		_, out := post(t, base+a.path(), body)
		if strings.Count(out, `"applied_edits":[{`) != 1 || strings.Contains(out, recall.Name) {
			t.Errorf("%s", out)
		}
		if stream {
			out = string(assembled(t, "anthropic", []byte(out)))
		}
		h, u := hear(t, out), <-turns
		if h.text != "Let me look. Done." || h.input != 120 || h.output != 20 || u.Usage.Output != 20 || u.Usage.Input != 120 || u.Input != 100 {
			t.Errorf("%+v %+v", h, u.Usage)
		}
		if sent := s.sent()[1]; !strings.Contains(sent, "line 59 of file 1:") || strings.Contains(sent, "context_management") {
			t.Errorf("sent %s", tail(sent))
		}
	}
}
