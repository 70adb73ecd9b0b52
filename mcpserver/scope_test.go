//lint:file-ignore SA1019 Clients announce roots; the protocol supports them until it drops them.

package mcpserver_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/mcpserver"
)

// placed is a home that knows the folders of its conversations.
type placed struct {
	conversation.Home
	folders map[string]string
}

func (p placed) Folder(_ context.Context, id string) (string, error) {
	switch id {
	case "c9":
		return "", precis.Errorf(precis.CodeNotFound, "find session", "there is none")
	case "many":
		return "", precis.Errorf(precis.CodeInvalid, "find session", "2 sessions begin with it: c3, c4")
	}
	return p.folders[id], nil
}

func inFolders(t *testing.T) mcpserver.Options {
	return mcpserver.Options{Edits: true, Home: placed{home(t, talk(1), talk(2), talk(3), talk(4)),
		map[string]string{"c1": "/src/app", "c2": "/src/app/web", "c3": "/src/apple", "c4": "/home/other"}}}
}

func TestRootsHideWhatIsOutside(t *testing.T) {
	for _, version := range []string{"2025-06-18", ""} { // roots are asked for in two ways
		t.Run(version, func(t *testing.T) {
			rootsHide(t, clientAt(t, inFolders(t), &mcp.ClientOptions{}, version, &mcp.Root{URI: "file:///src/app"}))
		})
	}
}

func rootsHide(t *testing.T, cs *mcp.ClientSession) {
	out, _ := want(t, cs, "sessions", nil)
	list := at(out, "sessions").([]any)
	if len(list) != 2 || at(list[0], "id") != "c2" || at(list[1], "id") != "c1" || at(list[0], "folder") != "/src/app/web" {
		t.Errorf("sessions: %v", list)
	}
	out, _ = want(t, cs, "sessions", arguments{"limit": 1})
	first, cursor := at(out, "sessions", 0, "id"), at(out, "next_cursor")
	out, _ = want(t, cs, "sessions", arguments{"limit": 1, "cursor": cursor})
	if second := at(out, "sessions", 0, "id"); first != "c2" || second != "c1" || at(out, "next_cursor") != nil {
		t.Errorf("pages: %v, %v, then %v", first, second, at(out, "next_cursor"))
	}
	if _, _, err := call(t.Context(), cs, "sessions", arguments{"cursor": "c2"}); err == nil || !strings.Contains(err.Error(), "next_cursor") {
		t.Errorf("a bad cursor: %v", err)
	}
	if _, text := want(t, cs, "digest", nil); !strings.Contains(text, "sessions: c2]") {
		t.Errorf("the newest is %.80q", text)
	}
	out, _ = want(t, cs, "search", arguments{"query": "setting_0"})
	if hits := at(out, "hits").([]any); len(hits) != 2 {
		t.Errorf("hits: %v", hits)
	}
	read := func(id string) error {
		_, err := cs.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "precis://session/" + id + "/m0"})
		return err
	}
	prompt := func(id string) error {
		_, err := cs.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "recover", Arguments: map[string]string{"id": id}})
		return err
	}
	tool := func(name string, in arguments) func(id string) error {
		return func(id string) error {
			in["id"] = id
			_, _, err := call(t.Context(), cs, name, in)
			return err
		}
	}
	for name, do := range map[string]func(id string) error{
		"resource": read, "prompt": prompt, "expand": tool("expand", arguments{"handle": "m0"}), "search": tool("search", arguments{"query": "setting_0"}), "pin": tool("pin", arguments{"handles": []string{"m0"}}),
	} {
		if err := do("c1"); err != nil {
			t.Errorf("%s inside the roots: %v", name, err)
		}
		outside, absent, several := do("c4"), do("c9"), do("many")
		if outside == nil || absent == nil || several == nil {
			t.Errorf("%s of what is outside the roots: %v; of what is absent: %v; of several: %v", name, outside, absent, several)
			continue
		}
		plain := func(err error, id string) string { return strings.ReplaceAll(err.Error(), id, "ID") }
		if want := plain(outside, "c4"); plain(absent, "c9") != want || plain(several, "many") != want {
			t.Errorf("%s tells apart what is outside the roots, %v, what is absent, %v, and several, %v", name, outside, absent, several)
		}
	}
}

// A client that announces roots and has none sees what has no folder.
func TestWithAnEmptyListOfRootsNothingIsSeen(t *testing.T) {
	for _, version := range []string{"2025-06-18", ""} {
		cs := clientAt(t, inFolders(t), &mcp.ClientOptions{}, version)
		out, _ := want(t, cs, "sessions", nil)
		if list := at(out, "sessions").([]any); len(list) != 0 {
			t.Errorf("%q: %v", version, list)
		}
		if _, err := cs.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "precis://session/c1/m0"}); err == nil {
			t.Errorf("%q: a resource was read", version)
		}
	}
	o := mcpserver.Options{Home: placed{home(t, talk(1), talk(2)), map[string]string{"c1": "/src/app"}}}
	out, _ := want(t, clientWith(t, o, &mcp.ClientOptions{}), "sessions", nil)
	if list := at(out, "sessions").([]any); len(list) != 1 || at(list[0], "id") != "c2" {
		t.Errorf("what has no folder: %v", list)
	}
}

func TestWithoutRootsEverythingIsSeen(t *testing.T) {
	for name, cs := range map[string]*mcp.ClientSession{
		"none announced":            client(t, inFolders(t)),
		"folders unknown":           clientWith(t, mcpserver.Options{Home: placed{home(t, talk(1), talk(2), talk(3), talk(4)), nil}}, &mcp.ClientOptions{}, &mcp.Root{URI: "file:///src/app"}),
		"a home that does not know": clientWith(t, mcpserver.Options{Home: home(t, talk(1), talk(2), talk(3), talk(4))}, &mcp.ClientOptions{}, &mcp.Root{URI: "file:///src/app"}),
	} {
		if out, _ := want(t, cs, "sessions", nil); len(at(out, "sessions").([]any)) != 4 {
			t.Errorf("%s: %v", name, out)
		}
	}
	cs := clientWith(t, inFolders(t), &mcp.ClientOptions{}, &mcp.Root{URI: "https://example.com/app"})
	if _, _, err := call(t.Context(), cs, "sessions", nil); err == nil || !strings.Contains(err.Error(), "no file URI") {
		t.Errorf("a root that is no file: %v", err)
	}
}

func TestResources(t *testing.T) {
	cs := client(t, options(t, false))
	list, err := cs.ListResourceTemplates(t.Context(), nil)
	if err != nil || len(list.ResourceTemplates) != 2 {
		t.Fatal(list, err)
	}
	for uri, want := range map[string]string{
		"precis://session/c1/m4": "setting_1 of file 1", "precis://session/c1/m0-m2": "Never write", "precis://session/%40last/m4.b0": "setting_1 of file 1",
		"precis://session/c1": "[Digest of", "precis://session/%40last": "[Digest of",
	} {
		res, err := cs.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
		if err != nil || len(res.Contents) != 1 || !strings.Contains(res.Contents[0].Text, want) {
			t.Errorf("%s: %v", uri, err)
		} else if res.CacheScope != "private" {
			t.Errorf("%s may be cached for anybody: %q", uri, res.CacheScope)
		}
	}
	for _, uri := range []string{"precis://session/c9", "precis://session/c1/m999", "precis://session/", "file:///etc/passwd", "precis://session/c1/m0/m1"} {
		_, err := cs.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
		var wire *jsonrpc.Error
		if !errors.As(err, &wire) {
			t.Errorf("%s: %v", uri, err)
		}
	}
	if _, err := cs.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "precis://session/c1/12"}); err == nil || !strings.Contains(err.Error(), "m12 is a message") {
		t.Errorf("a bad handle: %v", err)
	}
}

func TestPrompts(t *testing.T) {
	h := home(t, talk(30))
	if _, err := conversation.Condense(t.Context(), h, "c1", conversation.CondenseOptions{Target: 2500}); err != nil {
		t.Fatal(err)
	}
	cs := client(t, mcpserver.Options{Home: h})
	get := func(name string, in map[string]string) (string, error) {
		res, err := cs.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: name, Arguments: in})
		if err != nil {
			return "", err
		}
		return res.Messages[0].Content.(*mcp.TextContent).Text, nil
	}
	text, err := get("handoff", map[string]string{"goal": "write the report", "format": "codex"})
	if err != nil || !strings.Contains(text, "# Task: write the report") || !strings.Contains(text, "Never write to the disk") {
		t.Errorf("handoff: %v\n%s", err, text)
	}
	text, err = get("recover", nil)
	if err != nil || !strings.Contains(text, "messages are hidden") || !strings.Contains(text, "[Digest of") || !strings.Contains(text, "the tool expand") {
		t.Errorf("recover: %v\n%s", err, text)
	}
	if _, err = get("recover", map[string]string{"id": "c9"}); err == nil || !strings.Contains(err.Error(), "not_found") {
		t.Errorf("an unknown session: %v", err)
	}
	if _, err = get("poem", nil); err == nil {
		t.Error("an unknown prompt is answered")
	}
}

// A client of an older version of the protocol sends plain requests, and its work ends
// with the connection.
func TestAnOlderClientOverHTTP(t *testing.T) {
	waits := slow{home(t, talk(1)), make(chan struct{}), make(chan struct{})}
	o := options(t, false)
	s := httptest.NewServer(mcpserver.Handler(func(r *http.Request) (mcpserver.Options, error) {
		if r.URL.Path == "/slow" {
			return mcpserver.Options{Home: waits}, nil
		}
		return o, nil
	}))
	defer s.Close()
	post := func(ctx context.Context, path, body string) (int, string) {
		r, err := http.NewRequestWithContext(ctx, "POST", s.URL+path, strings.NewReader(body))
		if err != nil {
			return 0, err.Error()
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set("Mcp-Protocol-Version", "2025-06-18")
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			return 0, err.Error()
		}
		defer func() { _ = res.Body.Close() }()
		var out strings.Builder
		buf := make([]byte, 4096)
		for {
			n, err := res.Body.Read(buf)
			out.Write(buf[:n])
			if err != nil {
				return res.StatusCode, out.String()
			}
		}
	}
	for _, tt := range []struct{ body, want string }{
		{`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"old","version":"1"}}}`, `"protocolVersion":"2025-06-18"`},
		{`{"jsonrpc":"2.0","method":"notifications/initialized"}`, ""},
		{`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`, `"name":"handoff"`},
		{`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"expand","arguments":{"handle":"m0"}}}`, "Never write"},
	} {
		if status, out := post(t.Context(), "/", tt.body); status/100 != 2 || !strings.Contains(out, tt.want) {
			t.Errorf("%s: %d %s", tt.body, status, out)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	go post(ctx, "/slow", `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"digest","arguments":{"id":"c1"}}}`)
	<-waits.looking
	cancel()
	select {
	case <-waits.ended:
	case <-time.After(10 * time.Second):
		t.Error("the work goes on after the client is gone")
	}
}
