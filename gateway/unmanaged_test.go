package gateway_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/gateway/polyfill"
	"github.com/precis-dev/precis/gateway/unmanaged"
	"github.com/precis-dev/precis/provider/providertest"
)

// turns are what a gateway reports of its requests, which it does after it has answered.
type turns chan gateway.Turn

func (t turns) add(_ context.Context, turn gateway.Turn) { t <- turn }

// Every request that is not managed says why, in a header and to who counts, and one that
// is managed says nothing.
func TestWhatIsNotManagedSaysSo(t *testing.T) {
	t.Parallel()
	s := providertest.New(t, providertest.Options{})
	seen := make(turns, 1)
	base, _ := start(t, s.URL, func(o *gateway.Options) {
		o.OnTurn, o.Limits.Body, o.Native.Compact = seen.add, 1<<20, true
	})
	msgs := `[{"role":"user","content":"Read the files."},{"role":"assistant","content":"Which?"},{"role":"user","content":"All."},{"role":"assistant","content":"Good."},{"role":"user","content":"Go on."}]`
	body := func(extra, messages string) string {
		return `{"model":"m","max_tokens":5,` + extra + `"messages":` + messages + `}`
	}
	const tools = `"tools":[{"name":"read","input_schema":{"type":"object"}}],`
	const chatTools = `"tools":[{"type":"function","function":{"name":"read"}}],`
	tests := []struct {
		name, method, path, body string
		want                     unmanaged.Reason
		headers                  []string
	}{
		{"managed", "POST", "/v1/messages", body(tools, msgs), "", nil},
		{"managed, streaming", "POST", "/v1/messages", body(tools+`"stream":true,`, msgs), "", nil},
		{"managed, thread is null", "POST", "/v1/messages", body(tools+`"thread":null,`, msgs), "", nil},
		{"list of models", "GET", "/v1/models", "", unmanaged.Path, nil},
		{"embeddings", "POST", "/v1/embeddings", `{"input":"x"}`, unmanaged.Path, nil},
		{"a message for a thread of Assistants", "POST", "/v1/threads/t_1/messages", `{"role":"user","content":"x"}`, unmanaged.Path, nil},
		{"batches", "POST", "/v1/messages/batches", `{}`, unmanaged.Path, nil},
		{"method", "GET", "/v1/messages", "", unmanaged.Method, nil},
		{"method, another prefix", "GET", "/api/v1/chat/completions", "", unmanaged.Method, nil},
		{"bypass", "POST", "/v1/messages", body(tools, msgs), unmanaged.Bypass, []string{"X-Precis-Bypass", "true"}},
		{"encoding", "POST", "/v1/messages", "what is this", unmanaged.Encoding, []string{"Content-Encoding", "snappy"}},
		{"no JSON", "POST", "/v1/messages", "hello", unmanaged.Invalid, nil},
		{"no JSON, Chat", "POST", "/v1/chat/completions", `{"messages":[`, unmanaged.Invalid, nil},
		{"an unknown profile", "POST", "/v1/messages", body(tools, msgs), unmanaged.Invalid, []string{"X-Precis-Profile", "nobody"}},
		{"too large", "POST", "/v1/messages", body(tools, `[{"role":"user","content":"`+strings.Repeat("x", 2<<20)+`"}]`), unmanaged.TooLarge, nil},
		{"too many", "POST", "/v1/chat/completions", body(chatTools, "["+strings.Repeat("{},", 100_000)+"{}]"), unmanaged.TooMany, nil},
		{"no messages", "POST", "/v1/messages", body(tools, "[]"), unmanaged.Empty, nil},
		{"no list", "POST", "/v1/messages", `{"model":"m"}`, unmanaged.Empty, nil},
		{"refers", "POST", "/v1/responses", `{"model":"m","previous_response_id":"resp_1","input":"x"}`, unmanaged.Stateful, nil},
		{"is kept there", "POST", "/v1/responses", `{"model":"m","conversation":"conv_1","input":[{"role":"user","content":"x"}]}`, unmanaged.Stateful, nil},
		{"title", "POST", "/v1/messages", body("", `[{"role":"user","content":"Name this."}]`), unmanaged.Aside, nil},
		{"title, streaming", "POST", "/v1/chat/completions", body(`"stream":true,`, `[{"role":"user","content":"Name this."}]`), unmanaged.Aside, nil},
		{"summary of text", "POST", "/v1/chat/completions", body("", `[{"role":"user","content":"[User]: hi\n[Assistant]: hello\nCreate a summary of the conversation so far."}]`), unmanaged.Summary, nil},
		{"count", "POST", "/v1/messages/count_tokens", body(tools, `[{"role":"user","content":"Of nobody."}]`), unmanaged.Count, nil},
		{"count of a thread", "POST", "/v1/messages/count_tokens", body(tools+`"thread":{"type":"continue","previous_message_id":"msg_1"},`, `[{"role":"user","content":"x"}]`), unmanaged.Count, nil},
		{"thread, begun", "POST", "/v1/messages", body(tools+`"thread":{"type":"create"},`, msgs), unmanaged.Thread, nil},
		{"thread, gone on with", "POST", "/v1/messages", body(tools+`"stream":true,"thread":{"type":"continue","previous_message_id":"msg_1"},`, `[{"role":"user","content":"Go on."}]`), unmanaged.Thread, nil},
		{"thread without tools", "POST", "/v1/messages", body(`"thread":{"type":"continue","previous_message_id":"msg_1"},`, `[{"role":"user","content":"Go on."}]`), unmanaged.Thread, nil},
		{"compact", "POST", "/v1/responses/compact", `{"model":"m","input":[{"role":"user","content":"Of nobody."}]}`, unmanaged.Compact, nil},
		{"WebSocket", "GET", "/v1/responses", "", unmanaged.Socket, []string{"Connection", "Upgrade", "Upgrade", "websocket"}},
		{"dots", "GET", "/v1/x/%2e%2e/models", "", unmanaged.Denied, nil},
	}
	met := map[unmanaged.Reason]bool{}
	for _, tt := range tests {
		req, err := http.NewRequestWithContext(t.Context(), tt.method, base+tt.path, strings.NewReader(tt.body))
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i+1 < len(tt.headers); i += 2 {
			req.Header.Set(tt.headers[i], tt.headers[i+1])
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		_ = res.Body.Close()
		if got := res.Header.Get("X-Precis-Unmanaged"); got != string(tt.want) {
			t.Errorf("%s: %d, the header says %q, want %q", tt.name, res.StatusCode, got, tt.want)
		}
		if got := <-seen; got.Unmanaged != tt.want {
			t.Errorf("%s: what is counted is %q, want %q", tt.name, got.Unmanaged, tt.want)
		}
		met[tt.want] = true
	}
	for _, r := range unmanaged.Explanations() {
		elsewhere := []unmanaged.Reason{unmanaged.Busy, unmanaged.Slow, unmanaged.Gone, unmanaged.Failed}
		if !met[r.Reason] && !slices.Contains(elsewhere, r.Reason) {
			t.Errorf("no test meets %q", r.Reason)
		}
	}
}

// docs/gateway.md lists the reasons as the program knows them.
func TestTheReasonsAreDocumented(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../docs/gateway.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range unmanaged.Explanations() {
		row := fmt.Sprintf("| `%s` | %s | %s |", r.Reason, r.Means, map[bool]string{true: "forwarded as it came", false: "an error"}[r.Forwarded])
		if !strings.Contains(string(doc), row) {
			t.Errorf("docs/gateway.md lacks the row\n%s", row)
		}
	}
}

// Clients know by the code of the error that they are to send the whole conversation.
func TestAThreadIsAnsweredWithWhatClientsUnderstand(t *testing.T) {
	t.Parallel()
	s := providertest.New(t, providertest.Options{})
	base, g := start(t, s.URL, nil)
	const rest = `"model":"m","max_tokens":5,"tools":[{"name":"read","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"Go on."}]}`
	for _, thread := range []string{`{"thread":{"type":"create"},`, `{"stream":true,"thread":{"type":"continue","previous_message_id":"msg_1"},`} {
		res, out := post(t, base+"/v1/messages", thread+rest)
		if res.StatusCode != 400 || !strings.Contains(out, `"details":{"error_code":"thread_unsupported_request"}`) || !strings.Contains(out, `"type":"invalid_request_error"`) {
			t.Errorf("%s: %d %s", thread, res.StatusCode, out)
		}
	}
	if n := len(s.Requests()); n > 0 {
		t.Errorf("%d requests went upstream", n)
	}
	if g.Status(gateway.AllOwners).Conversations > 0 {
		t.Error("a piece of a conversation is remembered as one of its own")
	}
	if res, out := post(t, base+"/v1/messages", "{"+rest); res.StatusCode != 200 {
		t.Errorf("the whole conversation: %d %s", res.StatusCode, out)
	}
}

// Models are asked by paths that end alike, whatever stands before, and what goes upstream
// has the path that its client wrote.
func TestPathsAreKnownByTheirEnd(t *testing.T) {
	t.Parallel()
	const chatBody = `{"max_tokens":5,"messages":[{"role":"system","content":"s"},{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}]}`
	const responsesBody = `{"model":"m","store":false,"input":[{"role":"user","content":"hi"}],"tools":[{"type":"function","name":"f","parameters":{"type":"object"}}]}`
	const messagesBody = `{"model":"m","max_tokens":5,"messages":[{"role":"user","content":"hi"}],"tools":[{"name":"f","input_schema":{"type":"object"}}]}`
	tests := []struct{ base, path, body, want string }{
		{"", "/chat/completions", chatBody, "/v1/chat/completions"},
		{"", "/v1/chat/completions/", chatBody, "/v1/chat/completions"},
		{"", "/api/v1/chat/completions", chatBody, "/api/v1/chat/completions"},
		{"/api", "/api/v1/chat/completions", chatBody, "/api/v1/chat/completions"},
		{"/api/v1", "/v1/chat/completions", chatBody, "/api/v1/chat/completions"},
		{"", "/v1beta/openai/chat/completions", chatBody, "/v1beta/openai/chat/completions"},
		{"", "/compatible-mode/v1/chat/completions", chatBody, "/compatible-mode/v1/chat/completions"},
		{"", "/openai/deployments/gpt-4o/chat/completions?api-version=2024-10-21", chatBody, "/openai/deployments/gpt-4o/chat/completions?api-version=2024-10-21"},
		{"/openai", "/openai/deployments/gpt-4o/chat/completions?api-version=1", chatBody, "/openai/deployments/gpt-4o/chat/completions?api-version=1"},
		{"", "/openai/responses?api-version=2025-04-01-preview", responsesBody, "/openai/responses?api-version=2025-04-01-preview"},
		{"", "/openai/v1/responses", responsesBody, "/v1/responses"}, // the upstream's name
		{"", "/backend-api/codex/responses", responsesBody, "/backend-api/codex/responses"},
		{"/backend-api/codex", "/backend-api/codex/responses", responsesBody, "/backend-api/codex/responses"},
		{"", "/api/v1/responses", responsesBody, "/api/v1/responses"},
		{"", "/api/anthropic/v1/messages", messagesBody, "/api/anthropic/v1/messages"},
		{"", "/api/v1/messages?beta=true", messagesBody, "/api/v1/messages?beta=true"},
	}
	for _, tt := range tests {
		t.Run(tt.base+" "+tt.path, func(t *testing.T) {
			t.Parallel()
			var got string
			seen := make(turns, 1)
			up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				got = r.URL.RequestURI()
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write([]byte(`{}`))
			}))
			t.Cleanup(up.Close)
			base, _ := start(t, up.URL+tt.base, func(o *gateway.Options) {
				o.Upstreams[0].Name, o.Upstreams[0].Native = "openai", &polyfill.Native{ContextManagement: true, Compact: true}
				o.OnTurn = seen.add
			})
			res, _ := post(t, base+tt.path, tt.body)
			if why := res.Header.Get("X-Precis-Unmanaged"); why != "" || res.Header.Get("X-Precis-Conversation") == "" {
				t.Errorf("not managed: %q %v", why, res.Header)
			}
			if got != tt.want {
				t.Errorf("went to %s, want %s", got, tt.want)
			}
			if model := (<-seen).Model; strings.Contains(tt.path, "/deployments/") && model != "gpt-4o" {
				t.Errorf("the model is %q", model)
			}
		})
	}
}
