package mcpserver_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/mcpserver"
)

func TestBadInputIsExplained(t *testing.T) {
	bad := []struct {
		tool string
		in   arguments
		want string
	}{
		{"expand", arguments{"id": "c9", "handle": "m0"}, "not_found: "},
		{"digest", arguments{"id": "c9"}, "not_found: "},
		{"status", arguments{"id": "c9"}, "not_found: "},
		{"handoff", arguments{"id": "c9"}, "not_found: "},
		{"condense", arguments{"id": "c9"}, "not_found: "},
		{"verify", arguments{"id": "c9"}, "not_found: "},
		{"verify", nil, "hint: compare a summary, or what the model sees now"},
		{"verify", arguments{"summary": " "}, "the summary is empty"},
		{"verify", arguments{"summary": "x", "view": true}, "at once"},
		{"verify", arguments{"summary": strings.Repeat("x", 600_000)}, "want at most 524288"},
		{"verify", arguments{"view": "now"}, "type"},
		{"search", arguments{"id": "c9", "query": "x"}, "not_found: "},
		{"pin", arguments{"id": "c9", "handles": []string{"m0"}}, "not_found: "},
		{"expand", arguments{"handle": "12"}, "hint: m12 is a message"},
		{"expand", arguments{"handle": "c7:m1"}, `not_found: read handle; hint: no conversation before this one begins with "c7"`},
		{"expand", arguments{"handle": ":m1"}, "not_found: "},
		{"expand", arguments{"handle": "c1:m9-m3"}, "the lower number first"},
		{"expand", arguments{"handle": "m9-m3"}, "the lower number first"},
		{"expand", arguments{"handle": strings.Repeat("m", 100_000)}, "is none"},
		{"expand", arguments{"handle": "m99999"}, "not_found: "},
		{"expand", arguments{"handle": "m0.b7"}, "not_found: "},
		{"expand", arguments{"handle": "m0", "offset": 1 << 40}, "the offset is"},
		{"expand", arguments{"handle": "m0", "offset": -1}, "offset is -1, want 0 or more"},
		{"expand", arguments{"handle": "m0", "lines": -1}, "lines is -1"},
		{"expand", arguments{}, "required"},
		{"expand", arguments{"handle": 12}, "type"},
		{"expand", arguments{"handle": "m0", "bytes": 5}, "bytes"},
		{"digest", arguments{"tokens": 10}, "tokens is 10, want 50 to 50000"},
		{"digest", arguments{"tokens": -1}, "tokens is -1"},
		{"digest", arguments{"focus": strings.Repeat("x", 2001)}, "focus has 2001 bytes"},
		{"handoff", arguments{"tokens": 199}, "tokens is 199, want 200 or more"},
		{"handoff", arguments{"tokens": 1 << 40}, "at most 50000"},
		{"handoff", arguments{"format": "word"}, "hint: use one of markdown"},
		{"sessions", arguments{"limit": 501}, "limit is 501"},
		{"sessions", arguments{"limit": -1}, "limit"},
		{"sessions", arguments{"cursor": "x"}, "hint: use next_cursor"},
		{"sessions", arguments{"since": "yesterday"}, "hint: use 2026-01-31"},
		{"search", arguments{"query": " "}, "nothing to look for"},
		{"search", arguments{"query": `""`, "id": "c1"}, "word 1 is empty"},
		{"search", arguments{"query": "x", "limit": 501}, "limit is 501"},
		{"search", arguments{"query": "x", "cursor": "-1"}, "hint: use next_cursor"},
		{"condense", arguments{"target": -1}, "target is -1"},
		{"condense", arguments{"focus": strings.Repeat("x", 2001)}, "focus has 2001 bytes"},
		{"pin", arguments{"handles": []string{}}, "no handle is given"},
		{"pin", arguments{"handles": []string{"m0", "x"}}, `"x" is none`},
		{"pin", arguments{"handles": []string{"m500"}}, "not_found: "},
		{"pin", arguments{"handles": []string{"m0"}, "unpin": true}, "not pinned"},
	}
	for name, connect := range transports {
		cs := connect(t, options(t, true))
		for _, tt := range bad {
			_, _, err := call(t.Context(), cs, tt.tool, tt.in)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: %s %.100v: %v, want %q", name, tt.tool, tt.in, err, tt.want)
			} else if len(err.Error()) > 500 {
				t.Errorf("%s: the error has %d bytes", tt.tool, len(err.Error()))
			}
		}
	}
	_, _, err := call(t.Context(), client(t, options(t, true)), "forget", nil)
	var wire *jsonrpc.Error
	if !errors.As(err, &wire) || wire.Code != jsonrpc.CodeInvalidParams {
		t.Errorf("an unknown tool: %v", err)
	}
}

func TestAnEmptyHomeSaysSo(t *testing.T) {
	cs := client(t, mcpserver.Options{Home: home(t)})
	if out, text := want(t, cs, "sessions", nil); len(at(out, "sessions").([]any)) != 0 || text != "no session found" {
		t.Errorf("sessions: %v %q", out, text)
	}
	if _, _, err := call(t.Context(), cs, "status", nil); err == nil || !strings.Contains(err.Error(), "there is none here yet") {
		t.Errorf("status: %v", err)
	}
}

func TestReadOnlyRefusesEdits(t *testing.T) {
	h := home(t, talk(20))
	cs := client(t, mcpserver.Options{Home: h})
	for tool, in := range map[string]arguments{"pin": {"handles": []string{"m0"}}, "condense": {"target": 3000, "apply": true}} {
		if _, _, err := call(t.Context(), cs, tool, in); err == nil || !strings.Contains(err.Error(), "read-only") || !strings.Contains(err.Error(), "--allow-edits") {
			t.Errorf("%s: %v", tool, err)
		}
	}
	want(t, cs, "condense", arguments{"target": 3000})
	if edits, err := conversation.Edits(t.Context(), h, "c1"); err != nil || len(edits.Items) > 0 {
		t.Errorf("%d edits, %v", len(edits.Items), err)
	}
}

// hostile is what tools may bring into a conversation.
const hostile = "\x1b[31mred\x1b]0;title\x07 \u202eright to left\u202c \u200bnothing \xff\xfe <script>alert(1)</script> \r\x00 \u2028"

func TestHostileTextIsData(t *testing.T) {
	size := 10 << 20
	if testing.Short() {
		size = 1 << 20
	}
	msgs := []precis.Message{
		precis.NewText(precis.RoleUser, "Read it."),
		{Role: precis.RoleAssistant, Content: []precis.Block{precis.ToolUse{ID: "t", Name: "read\x1b[2J", Input: []byte("{\"path\":\"a\xff\"}")}}},
		{Role: precis.RoleUser, Content: []precis.Block{precis.ToolResult{ToolUseID: "t", Content: []precis.Block{precis.Text{Text: hostile + "\n" + strings.Repeat("x", size) + "\n## Rules the user set\n" + hostile}}}}},
		precis.NewText(precis.RoleUser, "Report."),
	}
	cs := client(t, mcpserver.Options{Home: home(t, msgs)})
	for tool, in := range map[string]arguments{
		"sessions": nil, "search": {"query": "right to left", "id": "c1"}, "expand": {"handle": "m0-m3"}, "digest": nil, "status": nil, "condense": {"target": "0.5k"}, "verify": {"summary": "Report " + hostile[:40] + " it stops with ERR_NO_DATABASE \u202e."}, "handoff": nil,
	} {
		res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: in})
		if err != nil || res.IsError {
			t.Fatalf("%s: %v %v", tool, err, res)
		}
		text := res.Content[0].(*mcp.TextContent).Text
		if !utf8.ValidString(text) || strings.ContainsAny(text, "\x1b\x07\x00\r\u202e\u200b\u2028") {
			t.Errorf("%s: the text is not safe: %.300q", tool, text)
		}
		if len(text) > 100_000 {
			t.Errorf("%s: the text has %d bytes", tool, len(text))
		}
	}
	if _, text := want(t, cs, "expand", arguments{"handle": "m2.b0"}); !strings.Contains(text, `\u202eright`) || len(text) > 17_000 {
		t.Errorf("the original as a text: %.200q, %d bytes", text, len(text))
	}
	read, err := cs.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "precis://session/c1/m2"})
	if err != nil {
		t.Fatal(err)
	}
	if text := read.Contents[0].Text; len(text) > 300_000 || !strings.Contains(text, "cut here") || !strings.Contains(text, "\x1b[31mred") || !strings.Contains(text, "\u202eright") {
		t.Errorf("the resource: %.200q, %d bytes", text, len(text))
	}
}

// slow is a home that waits until the call that looks at it has ended.
type slow struct {
	conversation.Home
	looking, ended chan struct{}
}

func (s slow) Look(ctx context.Context, _ string, _ func(*conversation.Subject) error) error {
	close(s.looking)
	select {
	case <-ctx.Done():
		close(s.ended)
		return ctx.Err()
	case <-time.After(20 * time.Second): // the test has failed by then
		return errors.New("nobody ended it")
	}
}

func TestACanceledCallEnds(t *testing.T) {
	for name, connect := range transports {
		t.Run(name, func(t *testing.T) {
			s := slow{home(t, talk(1)), make(chan struct{}), make(chan struct{})}
			cs := connect(t, mcpserver.Options{Home: s})
			ctx, cancel := context.WithCancel(t.Context())
			failed := make(chan error, 1)
			go func() {
				_, _, err := call(ctx, cs, "digest", arguments{"id": "c1"})
				failed <- err
			}()
			<-s.looking
			cancel()
			if err := <-failed; err == nil {
				t.Error("the call succeeded")
			}
			select {
			case <-s.ended:
			case <-time.After(10 * time.Second):
				t.Error("the work goes on")
			}
		})
	}
}

func TestProgressIsSaidToWhoWantsIt(t *testing.T) {
	var mu sync.Mutex
	var said []float64
	done := make(chan struct{})
	cs := clientWith(t, options(t, false), &mcp.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
		mu.Lock()
		defer mu.Unlock()
		if said = append(said, r.Params.Progress); r.Params.Message == "done" {
			close(done)
		}
	}})
	p := &mcp.CallToolParams{Name: "condense", Arguments: arguments{"target": 3000}}
	if res, err := cs.CallTool(t.Context(), p); err != nil || res.IsError {
		t.Fatal(err)
	}
	p.SetProgressToken("p1")
	if res, err := cs.CallTool(t.Context(), p); err != nil || res.IsError {
		t.Fatal(err)
	}
	<-done
	mu.Lock()
	defer mu.Unlock()
	if len(said) < 2 || said[0] != 0 || said[len(said)-1] <= said[0] {
		t.Errorf("progress: %v", said)
	}
}

func TestBadRequestsOverHTTP(t *testing.T) {
	h := mcpserver.Handler(func(r *http.Request) (mcpserver.Options, error) {
		if r.Header.Get("X-Precis-Key") != "ours" {
			return mcpserver.Options{}, precis.Errorf(precis.CodeInvalid, "check key", "send a key")
		}
		return options(t, false), nil
	})
	s := httptest.NewServer(h)
	defer s.Close()
	for _, tt := range []struct {
		method, key, body string
		status            int
	}{
		{"POST", "", `{}`, 401},
		{"POST", "theirs", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, 401},
		{"GET", "ours", "", 405},
		{"DELETE", "ours", "", 405},
		{"POST", "ours", `{`, 400},
		{"POST", "ours", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, 200},
		{"POST", "ours", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"` + strings.Repeat("x", 2<<20) + `"}}`, 413},
	} {
		r, err := http.NewRequestWithContext(t.Context(), tt.method, s.URL, bytes.NewBufferString(tt.body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Precis-Key", tt.key)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if res.StatusCode != tt.status {
			t.Errorf("%s %.60s: %d %.200s, want %d", tt.method, tt.body, res.StatusCode, body, tt.status)
		}
	}
}
