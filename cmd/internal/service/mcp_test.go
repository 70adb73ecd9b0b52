package service_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/precis-dev/precis/cmd/internal/config"
	"github.com/precis-dev/precis/cmd/internal/service"
	"github.com/precis-dev/precis/gateway/accounts"
)

// keyed sends a gateway key with each request.
type keyed string

// RoundTrip sends a request.
func (k keyed) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if k != "" {
		r.Header.Set("X-Precis-Key", string(k))
	} else if secret, err := service.LocalSecret(config.Gateway{Store: config.Memory}); err == nil {
		r.Header.Set(service.HeaderLocal, secret)
	}
	return http.DefaultTransport.RoundTrip(r)
}

// agent connects a client of the SDK with the MCP server of a gateway.
func agent(t *testing.T, url, key string) (*mcp.ClientSession, error) {
	t.Helper()
	cs, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(),
		&mcp.StreamableClientTransport{Endpoint: url + "/precis/mcp", HTTPClient: &http.Client{Transport: keyed(key)}, DisableStandaloneSSE: true, MaxRetries: -1}, nil)
	if err == nil {
		t.Cleanup(func() { _ = cs.Close() })
	}
	return cs, err
}

// use calls a tool and returns what it says.
func use(ctx context.Context, t *testing.T, cs *mcp.ClientSession, tool string, in map[string]any) (text string, failed bool) {
	t.Helper()
	res, err := cs.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: in})
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(res.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	return res.Content[0].(*mcp.TextContent).Text + string(data), res.IsError
}

// sessionsOf returns the IDs of the conversations that an agent sees.
func sessionsOf(t *testing.T, cs *mcp.ClientSession) (ids []string) {
	t.Helper()
	res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "sessions"})
	if err != nil || res.IsError {
		t.Fatal(err, res)
	}
	data, _ := json.Marshal(res.StructuredContent)
	var list struct {
		Sessions []struct{ ID string }
	}
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatal(err)
	}
	for _, s := range list.Sessions {
		ids = append(ids, s.ID)
	}
	return ids
}

func TestAgentsSeeTheirOwnConversations(t *testing.T) {
	keys := filepath.Join(t.TempDir(), "keys")
	lines := "ann " + accounts.HashKey("one") + "\nbob " + accounts.HashKey("two") + "\neve " + accounts.HashKey("three") + " admin\n"
	if err := os.WriteFile(keys, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, "preset: frugal\ngateway: {upstream: UPSTREAM, store: memory, keys_file: "+keys+"}\n")
	web := httptest.NewServer(s.Handler())
	defer web.Close()
	ids := map[string]string{}
	for _, key := range []string{"one", "two"} {
		got := s.ask("POST", "/v1/messages", strings.Replace(hello(0), "Say hello", "Say hello, "+key, 1), "X-Precis-Key", key)
		if got.Code != 200 {
			t.Fatalf("key %q: %d %s", key, got.Code, got.Body)
		}
		ids[key] = got.Header().Get("X-Precis-Conversation")
	}
	for key, want := range map[string][]string{"one": {ids["one"]}, "two": {ids["two"]}, "three": {ids["one"], ids["two"]}} {
		cs, err := agent(t, web.URL, key)
		if err != nil {
			t.Fatal(err)
		}
		got := sessionsOf(t, cs)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("key %q sees %v, want %v", key, got, want)
		}
	}
	ann, err := agent(t, web.URL, "one")
	if err != nil {
		t.Fatal(err)
	}
	for tool, in := range map[string]map[string]any{"expand": {"id": ids["two"], "handle": "m0"}, "digest": {"id": ids["two"]}, "handoff": {"id": ids["two"]}, "search": {"id": ids["two"], "query": "hello"}} {
		if text, failed := use(t.Context(), t, ann, tool, in); !failed || !strings.Contains(text, "not_found") {
			t.Errorf("%s of somebody else's: %s", tool, text)
		}
	}
	if _, err := ann.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "precis://session/" + ids["two"] + "/m0"}); err == nil {
		t.Error("a resource of somebody else was read")
	}
	if text, failed := use(t.Context(), t, ann, "pin", map[string]any{"handles": []string{"m0"}}); !failed || !strings.Contains(text, "read-only") {
		t.Errorf("pin: %s", text)
	}
	for _, key := range []string{"", "four"} {
		if _, err := agent(t, web.URL, key); err == nil {
			t.Errorf("key %q is let in", key)
		}
	}
	if log := s.log.String(); strings.Contains(log, "Say hello") || strings.Contains(log, `"one"`) {
		t.Errorf("content is logged:\n%s", log)
	}
}

func TestAgentsMayBeLetEdit(t *testing.T) {
	s := open(t, strings.Replace(plain, "store: memory", "store: memory, tools: [edits]", 1))
	web := httptest.NewServer(s.Handler())
	defer web.Close()
	if got := s.ask("POST", "/v1/messages", hello(2)); got.Code != 200 {
		t.Fatal(got.Code, got.Body)
	}
	cs, err := agent(t, web.URL, "")
	if err != nil {
		t.Fatal(err)
	}
	events, err := http.Get(web.URL + "/precis/api/v1/events")
	if err != nil {
		t.Fatal(err)
	}
	defer events.Body.Close()
	if text, failed := use(t.Context(), t, cs, "pin", map[string]any{"handles": []string{"m0"}}); failed {
		t.Errorf("pin: %s", text)
	}
	for lines := bufio.NewScanner(events.Body); ; { // ends with the test when none comes
		if !lines.Scan() {
			t.Fatal("no event tells of the pin")
		}
		if strings.HasPrefix(lines.Text(), "data: ") && strings.Contains(lines.Text(), `"type":"edits"`) && strings.Contains(lines.Text(), `"kind":"pin"`) {
			break
		}
	}
	if text, _ := use(t.Context(), t, cs, "status", nil); !strings.Contains(text, `"pins":["m0"]`) {
		t.Errorf("status: %s", text)
	}
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	for name, headers := range map[string][]string{
		"a page of another site": {"Origin", "https://evil.example"}, "another name": {"Host", "evil.example"}, "another machine": {"From", "192.0.2.1:999"},
	} {
		if got := s.ask("POST", "/precis/mcp", body, append(headers, "Accept", "application/json, text/event-stream")...); got.Code/100 != 4 {
			t.Errorf("%s: %d", name, got.Code)
		}
	}
	for _, path := range []string{"/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/precis/mcp", "/.well-known/oauth-authorization-server"} {
		asked := len(s.upstream.Requests())
		if got := s.ask("GET", path, ""); got.Code != 404 || len(s.upstream.Requests()) != asked {
			t.Errorf("%s: %d, asked of the upstream: %v", path, got.Code, len(s.upstream.Requests()) != asked)
		}
	}
	without := open(t, plain, func(p *service.Parts) { p.Operations = false })
	if got := without.ask("POST", "/precis/mcp", body, "Accept", "application/json, text/event-stream"); got.Code != 404 {
		t.Errorf("without operations: %d", got.Code)
	}
}
