package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/preset"
)

// pairsUpstream answers as the Responses API does: with 400 to an input in which
// one half of a pair is missing, which fails the test. It is written without the decoder.
func pairsUpstream(t *testing.T, bodies *[]string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		*bodies = append(*bodies, string(data))
		w.Header().Set("Content-Type", "application/json")
		if why := pairsParted(data); why != "" {
			t.Errorf("the upstream refuses request %d: %s", len(*bodies), why) // what is sent after that might be taken
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"error":{"message":%q,"type":"invalid_request_error"}}`, why)
			return
		}
		_, _ = io.WriteString(w, `{"id":"resp","object":"response","status":"completed","model":"m","output":[],"usage":{"input_tokens":1,"output_tokens":1}}`) // a client that left is seen elsewhere
	})
}

// pairsParted returns which half of a pair an input lacks.
func pairsParted(body []byte) string {
	var request struct {
		Input []struct {
			Type       string          `json:"type"`
			ID         string          `json:"id"`
			CallID     string          `json:"call_id"`
			ApprovalID string          `json:"approval_request_id"`
			Output     json.RawMessage `json:"output"`
		} `json:"input"`
	}
	if err := json.Unmarshal(body, &request); err != nil {
		return err.Error()
	}
	open := map[string]string{}
	for i, item := range request.Input {
		switch {
		case item.Type == "mcp_approval_request":
			open[item.ID] = item.Type
		case item.Type == "mcp_approval_response":
			if open[item.ApprovalID] != "mcp_approval_request" {
				return fmt.Sprintf("item %d: no approval request %s", i, item.ApprovalID)
			}
			delete(open, item.ApprovalID)
		case item.CallID != "" && strings.HasSuffix(item.Type, "_output"):
			call := strings.TrimSuffix(item.Type, "_output")
			if got := open[item.CallID]; got != call && got != call+"_call" {
				return fmt.Sprintf("item %d: No tool call found for %s with call_id %s", i, item.Type, item.CallID)
			}
			if item.Type == "computer_call_output" && !strings.Contains(string(item.Output), "computer_screenshot") {
				return fmt.Sprintf("item %d: the output is no screenshot: %s", i, item.Output)
			}
			delete(open, item.CallID)
		case item.CallID != "":
			open[item.CallID] = item.Type
		}
	}
	for id, kind := range open {
		return fmt.Sprintf("No tool output found for %s %s", kind, id)
	}
	return ""
}

// Items of the Responses API that belong together stay together, whatever they
// are and however small the window is, and every request is valid.
func TestPairsOfTheResponsesAPIAreNeverParted(t *testing.T) {
	t.Parallel()
	text := func(n int) string {
		return strings.Repeat(fmt.Sprintf("word %d of the report on the service; ", n), 150)
	}
	say := func(n int) []string {
		return []string{fmt.Sprintf(`{"type":"message","role":"assistant","content":[{"type":"output_text","text":%q}]}`, "Step "+text(n)), fmt.Sprintf(`{"role":"user","content":"go on with %d"}`, n)}
	}
	for name, turn := range map[string]func(n int) []string{
		"computer calls": func(n int) []string {
			return []string{
				fmt.Sprintf(`{"type":"reasoning","id":"rs_%d","summary":[],"encrypted_content":"gAAAAA%d"}`, n, n),
				fmt.Sprintf(`{"type":"computer_call","id":"cu_%d","call_id":"call_%d","status":"completed","action":{"type":"type","text":%q},"pending_safety_checks":[]}`, n, n, text(n)),
				fmt.Sprintf(`{"type":"computer_call_output","call_id":"call_%d","output":{"type":"computer_screenshot","image_url":"data:image/png;base64,iVBORw0KGgo%d"}}`, n, n),
			}
		},
		"computer calls with text": func(n int) []string {
			return append([]string{
				fmt.Sprintf(`{"type":"computer_call","id":"cu_%d","call_id":"call_%d","status":"completed","action":{"type":"screenshot"},"pending_safety_checks":[]}`, n, n),
				fmt.Sprintf(`{"type":"computer_call_output","call_id":"call_%d","output":{"type":"computer_screenshot","file_id":"file_%d"}}`, n, n),
			}, say(n)...)
		},
		"approvals": func(n int) []string {
			return append([]string{
				fmt.Sprintf(`{"type":"web_search_call","id":"ws_%d","status":"completed","action":{"type":"search","query":"q"}}`, n),
				fmt.Sprintf(`{"type":"file_search_call","id":"fs_%d","status":"completed","queries":["q"],"results":[{"file_id":"f","filename":"a","text":%q}]}`, n, text(n)),
				fmt.Sprintf(`{"type":"code_interpreter_call","id":"ci_%d","status":"completed","container_id":"c","code":"1","outputs":[{"type":"logs","logs":%q}]}`, n, text(n)),
				fmt.Sprintf(`{"type":"mcp_approval_request","id":"mcpr_%d","name":"read","server_label":"docs","arguments":%q}`, n, text(n)),
				fmt.Sprintf(`{"type":"mcp_approval_response","approval_request_id":"mcpr_%d","approve":true}`, n),
				fmt.Sprintf(`{"type":"mcp_call","id":"mcp_%d","approval_request_id":"mcpr_%d","name":"read","server_label":"docs","arguments":"{}","output":%q}`, n, n, text(n)),
			}, say(n)...)
		},
		"calls of tomorrow": func(n int) []string {
			return append([]string{
				fmt.Sprintf(`{"type":"hologram_call","id":"h_%d","call_id":"call_%d","cube":%q}`, n, n, text(n)),
				fmt.Sprintf(`{"type":"hologram_call_output","call_id":"call_%d","shape":{"text":%q}}`, n, text(n)),
				fmt.Sprintf(`{"type":"tool_search_call","call_id":"search_%d","execution":"client","arguments":{"query":"q"}}`, n),
				fmt.Sprintf(`{"type":"tool_search_output","call_id":"search_%d","tools":[{"type":"function","name":"a","description":%q}]}`, n, text(n)),
			}, say(n)...)
		},
		"several at once": func(n int) []string {
			var out []string
			for _, kind := range []string{"function", "custom_tool", "shell", "apply_patch", "computer"} {
				field := map[string]string{"function": `"name":"f","arguments":"{}"`, "custom_tool": `"name":"c","input":"x"`, "shell": `"action":{"commands":["ls"]}`, "apply_patch": `"operation":{"type":"delete_file","path":"a"}`, "computer": `"id":"cu","action":{"type":"screenshot"}`}[kind]
				out = append(out, fmt.Sprintf(`{"type":"%s_call","call_id":"%s_%d",%s}`, kind, kind, n, field))
			}
			for _, kind := range []string{"computer", "apply_patch", "shell", "custom_tool", "function"} {
				output := map[string]string{"shell": `[{"stdout":` + pairsQuoted(text(n)) + `,"stderr":"","outcome":{"type":"exit","exit_code":0}}]`, "computer": `{"type":"computer_screenshot","file_id":"f"}`}[kind]
				if output == "" {
					output = pairsQuoted(text(n))
				}
				out = append(out, fmt.Sprintf(`{"type":"%s_call_output","call_id":"%s_%d","output":%s}`, kind, kind, n, output))
			}
			return append(out, say(n)...)
		},
	} {
		windows := []int{9_000, 20_000} // where the cut falls differs
		if testing.Short() {
			windows = windows[:1]
		}
		for _, window := range windows {
			t.Run(fmt.Sprintf("%s, %d", name, window), func(t *testing.T) {
				t.Parallel()
				pairsTalk(t, window, turn)
			})
		}
	}
}

// pairsTalk sends turns through a gateway, each with all that was said before.
func pairsTalk(t *testing.T, window int, turn func(n int) []string) {
	var bodies []string
	up := httptest.NewServer(pairsUpstream(t, &bodies))
	defer up.Close()
	post := smallGateway(t, up.URL, window)
	items := []string{`{"role":"user","content":"Never touch main.go. Report on the service."}`}
	reduced, turns := 0, 20
	if testing.Short() {
		turns = 8 // each sends all that was said before: a sixth of the bytes
	}
	for n := range turns {
		items = append(items, turn(n)...)
		body := `{"model":"m","max_output_tokens":500,"store":false,"input":[` + strings.Join(items, ",") + `],"tools":[{"type":"function","name":"f","parameters":{"type":"object"}}]}`
		if why := pairsParted([]byte(body)); why != "" {
			t.Fatalf("the conversation itself is not valid: %s", why)
		}
		if status, answer := post("/v1/responses", body); status != http.StatusOK {
			t.Errorf("turn %d: status %d: %s", n, status, answer)
		}
		if bodies[len(bodies)-1] != body {
			reduced++
		}
	}
	if reduced < 3 {
		t.Errorf("only %d of %d requests were reduced", reduced, turns)
	}
}

func pairsQuoted(s string) string { b, _ := json.Marshal(s); return string(b) }

// smallGateway returns what sends requests through a gateway for a window of so many
// tokens.
func smallGateway(t *testing.T, upstream string, window int) func(path, body string) (status int, answer string) {
	t.Helper()
	u, err := url.Parse(upstream)
	if err != nil {
		t.Fatal(err)
	}
	m, err := preset.New(preset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	g, err := gateway.New(gateway.Options{
		Upstreams: []gateway.Upstream{{Name: "up", URL: u}}, Manager: m,
		Window: func(context.Context, string) precis.Window {
			return precis.Window{Tokens: window, Source: precis.SourceConfigured}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(g)
	t.Cleanup(func() {
		s.Close()
		if err := g.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return func(path, body string) (int, string) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		answer, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, string(answer)
	}
}

// What an API has condensed itself only it can read: the item stays in every view.
func TestACompactionOfTheAPIStays(t *testing.T) {
	t.Parallel()
	var bodies []string
	up := httptest.NewServer(pairsUpstream(t, &bodies))
	defer up.Close()
	post := smallGateway(t, up.URL, 20_000)
	const compaction = `{"type":"compaction","id":"cmp_1","encrypted_content":"gAAAAABsealed0123456789"}`
	items := []string{`{"role":"user","content":"Never touch main.go."}`, compaction}
	for n := range 26 {
		items = append(items, fmt.Sprintf(`{"type":"function_call","call_id":"t%d","name":"f","arguments":"{}"}`, n), fmt.Sprintf(`{"type":"function_call_output","call_id":"t%d","output":%q}`, n, strings.Repeat(fmt.Sprintf("line %d of it\n", n), 400)))
		body := `{"model":"m","max_output_tokens":500,"store":false,"input":[` + strings.Join(items, ",") + `],"tools":[{"type":"function","name":"f","parameters":{"type":"object"}}]}`
		if status, answer := post("/v1/responses", body); status != http.StatusOK {
			t.Fatalf("turn %d: status %d: %s", n, status, answer)
		}
		if !strings.Contains(bodies[len(bodies)-1], compaction) {
			t.Fatalf("turn %d: the compaction is gone: %.300s", n, bodies[len(bodies)-1])
		}
	}
	if last := bodies[len(bodies)-1]; strings.Contains(last, "line 0 of it\\nline 0 of it\\nline 0 of it\\nline 0 of it\\nline 0 of it\\nline 0 of it\\nline 0 of it\\nline 0 of it\\nline 0 of it\\nline 0") {
		t.Errorf("nothing was reduced: %.300s", last)
	}
}
