//lint:file-ignore SA1019 Clients announce roots; the protocol supports them until it drops them.

package mcpserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/conversation/shelf"
	"github.com/precis-dev/precis/mcpserver"
	"github.com/precis-dev/precis/preset"
	"github.com/precis-dev/precis/store"
	"github.com/precis-dev/precis/store/memory"
)

// talk is a conversation in which many files are read.
func talk(reads int) []precis.Message {
	out := []precis.Message{precis.NewText(precis.RoleUser, "Read the files. Never write to the disk.")}
	for n := range reads {
		id := fmt.Sprint("t", n)
		text := strings.Repeat(fmt.Sprintf("setting_%d of file %d is off\n", n*n, n), 60)
		out = append(out,
			precis.Message{Role: precis.RoleAssistant, Content: []precis.Block{precis.ToolUse{ID: id, Name: "read", Input: []byte(fmt.Sprintf(`{"path":"f%02d.txt"}`, n))}}},
			precis.Message{Role: precis.RoleUser, Content: []precis.Block{precis.ToolResult{ToolUseID: id, Content: []precis.Block{precis.Text{Text: text}}}}})
	}
	return append(out, precis.NewText(precis.RoleAssistant, "The files are read."), precis.NewText(precis.RoleUser, "Now report."))
}

// home is a home of conversations c1, c2, …, the last of them the newest.
func home(t testing.TB, talks ...[]precis.Message) conversation.Home {
	t.Helper()
	st := memory.New()
	for i, msgs := range talks {
		head, err := st.Append(t.Context(), precis.Fingerprint{}, msgs...)
		if err != nil {
			t.Fatal(err)
		}
		at := time.Date(2026, 1, 1+i, 12, 0, 0, 0, time.UTC)
		rec := store.Record{ID: fmt.Sprint("c", i+1), Title: fmt.Sprintf("Talk %d", i+1), Dialect: "anthropic", Model: "claude-sonnet-4-5", Head: head, Messages: len(msgs), Requests: 1, Created: at, Updated: at}
		if err := st.PutConversation(t.Context(), rec); err != nil {
			t.Fatal(err)
		}
	}
	settings, err := preset.Settings(preset.Frugal)
	if err != nil {
		t.Fatal(err)
	}
	m, err := preset.New(preset.Options{Settings: settings})
	if err != nil {
		t.Fatal(err)
	}
	return shelf.InStore(shelf.StoreOptions{Store: st, Manager: m, Window: func(string) precis.Window {
		return precis.Window{Tokens: 40_000, Source: precis.SourceConfigured}
	}})
}

func options(t *testing.T, edits bool) mcpserver.Options {
	t.Helper()
	return mcpserver.Options{Home: home(t, talk(20)), Edits: edits, Version: "test"}
}

// client connects a client of the SDK with a server in memory.
func client(t *testing.T, o mcpserver.Options) *mcp.ClientSession {
	t.Helper()
	return clientWith(t, o, nil)
}

func clientWith(t *testing.T, o mcpserver.Options, co *mcp.ClientOptions, roots ...*mcp.Root) *mcp.ClientSession {
	t.Helper()
	return clientAt(t, o, co, "", roots...)
}

// clientAt connects a client that speaks a version of the protocol; "": the newest.
func clientAt(t *testing.T, o mcpserver.Options, co *mcp.ClientOptions, version string, roots ...*mcp.Root) *mcp.ClientSession {
	t.Helper()
	ours, theirs := mcp.NewInMemoryTransports()
	ss, err := mcpserver.New(o).Connect(t.Context(), ours, nil)
	if err != nil {
		t.Fatal(err)
	}
	if co == nil {
		co = &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}}
	}
	c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, co)
	c.AddRoots(roots...)
	cs, err := c.Connect(context.WithoutCancel(t.Context()), theirs, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cs.Close()
		_ = ss.Wait()
	})
	return cs
}

type arguments = map[string]any

// call calls a tool. The error is that of the protocol, or what the tool says went wrong.
func call(ctx context.Context, cs *mcp.ClientSession, name string, in arguments) (out arguments, text string, err error) {
	res, err := cs.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: in})
	if err != nil {
		return nil, "", err
	}
	for _, c := range res.Content {
		text += c.(*mcp.TextContent).Text
	}
	if res.IsError {
		return nil, text, fmt.Errorf("tool: %s", text)
	}
	if res.StructuredContent == nil {
		return nil, text, nil
	}
	data, err := json.Marshal(res.StructuredContent)
	if err != nil {
		return nil, "", err
	}
	return out, text, json.Unmarshal(data, &out)
}

// want calls a tool that must succeed.
func want(t *testing.T, cs *mcp.ClientSession, name string, in arguments) (arguments, string) {
	t.Helper()
	out, text, err := call(t.Context(), cs, name, in)
	if err != nil {
		t.Fatalf("%s %v: %v", name, in, err)
	}
	return out, text
}

// at returns a member below an object.
func at(v any, path ...any) any {
	for _, p := range path {
		switch p := p.(type) {
		case string:
			m, _ := v.(arguments)
			v = m[p]
		case int:
			l, _ := v.([]any)
			if p >= len(l) {
				return nil
			}
			v = l[p]
		}
	}
	return v
}
