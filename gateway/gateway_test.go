package gateway_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/preset"
	"github.com/precis-dev/precis/provider/providertest"
)

// frugal returns a manager that calls no model.
func frugal(t testing.TB) *policy.Manager { return managerOf(t, preset.Frugal, nil) }

// managerOf returns a manager of a preset, its settings changed; nil: as they are.
func managerOf(t testing.TB, name string, change func(*policy.Settings)) *policy.Manager {
	t.Helper()
	settings, err := preset.Settings(name)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(&settings)
	}
	m, err := preset.New(preset.Options{Settings: settings})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// dialects returns the names of the dialects that a test goes through: all of them, and with -short, where the race detector
// makes each cost half a minute, one, which is another one from test to test.
func dialects(t *testing.T) []string {
	all := []string{"anthropic", "chat", "responses"}
	if testing.Short() {
		return all[len(t.Name())%3:][:1]
	}
	return all
}

// sequential skips, with -short, a test whose one client sends many large requests, one after the other: it takes minutes with the
// race detector, which finds nothing there that shorter tests do not show it.
func sequential(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("one client sends many requests, one after the other")
	}
}

// start serves a gateway in front of an upstream.
func start(t testing.TB, upstream string, change func(*gateway.Options)) (base string, g *gateway.Gateway) {
	t.Helper()
	m := frugal(t)
	u, err := url.Parse(upstream)
	if err != nil {
		t.Fatal(err)
	}
	// On a busy machine the store takes longer than a person would wait.
	o := gateway.Options{Upstreams: []gateway.Upstream{{Name: "up", URL: u}}, Manager: m, Patience: time.Minute}
	if change != nil {
		change(&o)
	}
	g, err = gateway.New(o)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(g)
	t.Cleanup(func() {
		s.Close()
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := g.Close(ctx); err != nil && !errors.Is(err, errGone) { // stores that fail may fail to the end
			t.Error(err)
		}
	})
	return s.URL, g
}

func window(n int) func(*gateway.Options) {
	return func(o *gateway.Options) {
		o.Window = func(context.Context, string) precis.Window {
			return precis.Window{Tokens: n, Source: precis.SourceConfigured}
		}
	}
}

func post(t testing.TB, url, body string, headers ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Anthropic-Version", "2023-06-01")
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	out, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(out)
}

// agent writes the requests of an agent that reads files, as each dialect has
// them.
type agent struct {
	dialect  string
	messages []string
}

func (a *agent) path() string {
	return map[string]string{"anthropic": "/v1/messages", "chat": "/v1/chat/completions", "responses": "/v1/responses"}[a.dialect]
}

func quote(s string) string { b, _ := json.Marshal(s); return string(b) }

func newAgent(dialect, task string) *agent {
	a := &agent{dialect: dialect}
	a.messages = append(a.messages, `{"role":"user","content":`+quote(task)+`}`)
	return a
}

// read adds a call and its result.
func (a *agent) read(n int, text string) {
	path := quote(fmt.Sprintf("f%02d.txt", n))
	switch a.dialect {
	case "anthropic":
		a.messages = append(a.messages,
			fmt.Sprintf(`{"role":"assistant","content":[{"type":"tool_use","id":"t%d","name":"read","input":{"path":%s}}]}`, n, path),
			fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%d","content":%s,"cache_control":{"type":"ephemeral"}}]}`, n, quote(text)))
	case "chat":
		a.messages = append(a.messages,
			fmt.Sprintf(`{"role":"assistant","content":null,"tool_calls":[{"id":"t%d","type":"function","function":{"name":"read","arguments":%s}}]}`, n, quote(`{"path":`+path+`}`)),
			fmt.Sprintf(`{"role":"tool","tool_call_id":"t%d","content":%s}`, n, quote(text)))
	case "responses":
		a.messages = append(a.messages,
			fmt.Sprintf(`{"type":"function_call","call_id":"t%d","name":"read","arguments":%s}`, n, quote(`{"path":`+path+`}`)),
			fmt.Sprintf(`{"type":"function_call_output","call_id":"t%d","output":%s}`, n, quote(text)))
	}
}

func (a *agent) body(stream bool) string {
	list := strings.Join(a.messages, ",")
	switch a.dialect {
	case "anthropic":
		// The one breakpoint in the messages moves on.
		mark := `,"cache_control":{"type":"ephemeral"}`
		if i := strings.LastIndex(list, mark); i >= 0 {
			list = strings.ReplaceAll(list[:i], mark, "") + list[i:]
		}
		return fmt.Sprintf(`{"model":"claude-sonnet-4-5","max_tokens":500,"stream":%v,"system":"You read files.","messages":[%s],"tools":[{"name":"read","input_schema":{"type":"object"}}]}`, stream, list)
	case "chat":
		return fmt.Sprintf(`{"model":"m","max_tokens":500,"stream":%v,"messages":[{"role":"system","content":"You read files."},%s],"tools":[{"type":"function","function":{"name":"read","parameters":{"type":"object"}}}]}`, stream, list)
	}
	return fmt.Sprintf(`{"model":"m","max_output_tokens":500,"stream":%v,"store":false,"instructions":"You read files.","input":[%s],"tools":[{"type":"function","name":"read","parameters":{"type":"object"}}]}`, stream, list)
}

func words(n, seed int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d of file %d: the value of setting_%d is %d\n", i, seed, i*seed, i*i+seed)
	}
	return b.String()
}

func TestAConversationNeverPassesItsWindow(t *testing.T) {
	t.Parallel()
	for _, dialect := range dialects(t) {
		t.Run(dialect, func(t *testing.T) {
			s := providertest.New(t, providertest.Options{Window: 20_000})
			base, _ := start(t, s.URL, window(20_000))
			a := newAgent(dialect, "Read the files one by one. Never write to the disk.")
			var id string
			reduced := 0
			for n := 1; n <= 40; n++ {
				a.read(n, words(60, n))
				res, out := post(t, base+a.path(), a.body(n%2 == 0))
				if res.StatusCode != 200 {
					t.Fatalf("turn %d: %d %s %v", n, res.StatusCode, out, s.Problems())
				}
				if id == "" {
					id = res.Header.Get("X-Precis-Conversation")
				}
				if got := res.Header.Get("X-Precis-Conversation"); got != id {
					t.Fatalf("turn %d: conversation %s, want %s", n, got, id)
				}
				if res.Header.Get("X-Precis-Action") == "reduced" {
					reduced++
				}
				sent := s.Requests()
				last := string(sent[len(sent)-1].Body)
				if !strings.Contains(last, "Never write to the disk") || !strings.Contains(last, fmt.Sprintf("line 59 of file %d:", n)) {
					t.Fatalf("turn %d: the rule or the newest result is not in the view", n)
				}
			}
			if reduced == 0 || reduced > 8 {
				t.Errorf("reduced %d times", reduced)
			}
			if p := s.Problems(); len(p) > 0 {
				t.Error(p)
			}
		})
	}
}

func TestNothingIsChangedWhileItFits(t *testing.T) {
	t.Parallel()
	s := providertest.New(t, providertest.Options{})
	base, _ := start(t, s.URL, nil)
	a := newAgent("anthropic", "héllo \U0001F600")
	for n := 1; n < 6; n++ {
		a.read(n, words(10, n))
		body := " " + a.body(false) + "\n"
		post(t, base+a.path(), body)
		sent := s.Requests()
		if got := sent[len(sent)-1].Body; !bytes.Equal(got, []byte(body)) {
			t.Fatalf("turn %d: sent %s\nwant %s", n, got, body)
		}
	}
}
