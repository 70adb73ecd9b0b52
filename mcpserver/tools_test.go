package mcpserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/conversation/shelf"
	"github.com/precis-dev/precis/digest"
	"github.com/precis-dev/precis/mcpserver"
	"github.com/precis-dev/precis/preset"
	"github.com/precis-dev/precis/store"
	"github.com/precis-dev/precis/store/memory"
)

// transports are the ways in which a client reaches a server.
var transports = map[string]func(t *testing.T, o mcpserver.Options) *mcp.ClientSession{
	"memory": client,
	"http": func(t *testing.T, o mcpserver.Options) *mcp.ClientSession {
		return overHTTP(t, mcpserver.Handler(func(*http.Request) (mcpserver.Options, error) { return o, nil }), nil)
	},
}

// overHTTP connects a client of the SDK with a handler.
func overHTTP(t *testing.T, h http.Handler, header http.Header) *mcp.ClientSession {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	cs, err := connect(t, s.URL, header)
	if err != nil {
		t.Fatal(err)
	}
	return cs
}

func connect(t *testing.T, url string, header http.Header) (*mcp.ClientSession, error) {
	t.Helper()
	hc := &http.Client{Transport: withHeader{header}}
	cs, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: hc, DisableStandaloneSSE: true, MaxRetries: -1}, nil)
	if err == nil {
		t.Cleanup(func() { _ = cs.Close() })
	}
	return cs, err
}

type withHeader struct{ h http.Header }

func (w withHeader) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for k, v := range w.h {
		r.Header[k] = v
	}
	return http.DefaultTransport.RoundTrip(r)
}

func TestEveryToolOverBothTransports(t *testing.T) {
	for name, connect := range transports {
		t.Run(name, func(t *testing.T) {
			cs := connect(t, mcpserver.Options{Home: home(t, talk(3), talk(20)), Edits: true, Version: "test"})
			everyTool(t, cs)
		})
	}
}

// Who asks is told of edits that tools make, and of nothing else.
func TestEditsAreAnnounced(t *testing.T) {
	var told []string
	cs := client(t, mcpserver.Options{Home: home(t, talk(20)), Edits: true, Edited: func(_ context.Context, id string, edits []conversation.EditInfo) {
		for _, e := range edits {
			told = append(told, id+" "+e.ID)
		}
	}})
	want(t, cs, "condense", arguments{"target": 2000})
	if len(told) > 0 {
		t.Errorf("of a preview: %v", told)
	}
	pinned, _ := want(t, cs, "pin", arguments{"handles": []string{"m2"}})
	done, _ := want(t, cs, "condense", arguments{"target": 2000, "apply": true})
	expect := []string{fmt.Sprint("c1 ", pinned["edit"])}
	for _, id := range done["edits"].([]any) {
		expect = append(expect, fmt.Sprint("c1 ", id))
	}
	if len(expect) < 2 || !slices.Equal(told, expect) {
		t.Errorf("told %v, want %v", told, expect)
	}
}

// A conversation that goes on from a client's own summary reads by the handles that it was
// given there.
func TestHandlesOfConversationsBefore(t *testing.T) {
	st := memory.New()
	for i, msgs := range [][]precis.Message{talk(3), talk(2), talk(1)} {
		head, err := st.Append(t.Context(), precis.Fingerprint{}, append(msgs, precis.NewText(precis.RoleUser, fmt.Sprint("the end of ", i)))...)
		if err != nil {
			t.Fatal(err)
		}
		rec := store.Record{ID: fmt.Sprintf("%d3f9abcd", i), Head: head, Messages: len(msgs) + 1, Created: time.Unix(int64(i), 0), Updated: time.Unix(int64(i), 0)}
		if i > 0 {
			rec.Continues = fmt.Sprintf("%d3f9abcd", i-1)
		}
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
	cs := client(t, mcpserver.Options{Home: shelf.InStore(shelf.StoreOptions{Store: st, Manager: m, Window: func(string) precis.Window {
		return precis.Window{Tokens: 40_000, Source: precis.SourceConfigured}
	}})})
	for handle, w := range map[string]string{"03f9ab:m9": "the end of 0", "13f9ab:m7": "the end of 1", "23f9ab:m5": "the end of 2", "m5": "the end of 2"} {
		if out, text := want(t, cs, "expand", arguments{"handle": handle}); !strings.Contains(text, w) {
			t.Errorf("%s: %v %s", handle, out, text)
		}
	}
	if _, _, err := call(t.Context(), cs, "expand", arguments{"id": "03f9abcd", "handle": "13f9ab:m7"}); err == nil {
		t.Error("a later conversation is read by a handle")
	}
}

// A status names the rungs that failed or were refused for an edit, not those that found
// nothing to do.
func TestDeclinedRungsAreInTheStatus(t *testing.T) {
	st := memory.New()
	msgs := talk(20)
	head, err := st.Append(t.Context(), precis.Fingerprint{}, msgs...)
	if err != nil {
		t.Fatal(err)
	}
	e := precis.Edit{Kind: precis.KindTruncation, Replace: []precis.Replacement{{From: 1, To: 3}}, Report: precis.EditReport{Rung: "truncate", Steps: []precis.RungResult{
		{Rung: "dedupe", Outcome: precis.OutcomeNothing, Reason: "nothing is repeated"},
		{Rung: "condense", Outcome: precis.OutcomeFailed, Reason: "the model is busy\u202e"},
		{Rung: "truncate", Outcome: precis.OutcomeAccepted},
	}}}
	if err := e.Identify(precis.NewTranscript(msgs...)); err != nil {
		t.Fatal(err)
	}
	if err := st.AddEdit(t.Context(), "", e); err != nil {
		t.Fatal(err)
	}
	if err := st.PutConversation(t.Context(), store.Record{ID: "c1", Head: head, Messages: len(msgs), Updated: time.Unix(1, 0)}); err != nil {
		t.Fatal(err)
	}
	m, err := preset.New(preset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	cs := client(t, mcpserver.Options{Home: shelf.InStore(shelf.StoreOptions{Store: st, Manager: m, Window: func(string) precis.Window {
		return precis.Window{Tokens: 40_000, Source: precis.SourceConfigured}
	}})})
	out, text := want(t, cs, "status", arguments{"id": "c1"})
	if got := at(out, "edits", 0, "declined"); fmt.Sprint(got) != "[condense: failed: the model is busy\u202e]" {
		t.Errorf("declined %v", got)
	}
	if !strings.Contains(text, `  declined: condense: failed: the model is busy\u202e`+"\n") {
		t.Errorf("text: %s", text)
	}
}

func everyTool(t *testing.T, cs *mcp.ClientSession) {
	out, text := want(t, cs, "sessions", nil)
	if at(out, "sessions", 0, "id") != "c2" || at(out, "sessions", 1, "id") != "c1" || !strings.Contains(text, "c2 · Talk 2") {
		t.Errorf("sessions: %v\n%s", out, text)
	}
	out, _ = want(t, cs, "search", arguments{"query": `"file 7 is off" setting_49`, "id": "c2", "limit": 1})
	if at(out, "hits", 0, "handle") != "m16.b0" || at(out, "hits", 0, "around") != "m15-m17" || at(out, "hits", 0, "view") != "shown" {
		t.Errorf("search in one: %v", out)
	}
	for _, in := range []arguments{{"query": "option", "limit": 1}, {"query": "option", "limit": 1, "id": "c2"}} {
		if _, text := want(t, cs, "search", in); !strings.Contains(text, "(related: setting ~ option)") {
			t.Errorf("%v: %s", in, text)
		}
		in["exact"] = true
		if _, text := want(t, cs, "search", in); strings.Contains(text, "related") {
			t.Errorf("%v: %s", in, text)
		}
	}
	out, _ = want(t, cs, "search", arguments{"query": "setting_4"})
	if at(out, "hits", 0, "handle") != "m6" {
		t.Errorf("search in all: %v", out)
	}
	_, text = want(t, cs, "expand", arguments{"handle": "m16", "lines": 3})
	if !strings.Contains(text, "; more with offset ") || !strings.Contains(text, "setting_49 of file 7") || !strings.HasPrefix(text, "[the newest of several sessions: c2]\n") {
		t.Errorf("expand: %s", text)
	}
	_, text = want(t, cs, "digest", arguments{"id": "@last", "tokens": 400, "focus": "setting_49"})
	if !strings.Contains(text, "Never write to the disk") || !strings.Contains(text, "About setting_49") || strings.Contains(text, "newest of several") {
		t.Errorf("digest: %s", text)
	}
	out, text = want(t, cs, "status", arguments{"id": "c2"})
	if at(out, "room", "lasts") == nil || at(out, "composition", 0, "kind") == nil || !strings.Contains(text, "turns of") {
		t.Errorf("status: %v\n%s", out, text)
	}
	out, text = want(t, cs, "verify", arguments{"id": "c2", "summary": "The agent read the files. It stops with ERR_NO_DATABASE in production."})
	if at(out, "lacks", 0, "kind") != "words" || at(out, "lacks", 0, "handle") != "m0" || at(out, "lacking").(float64) < 1 || at(out, "invented") != 1.0 ||
		!strings.Contains(text, "m0 words: Never write to the disk") || !strings.Contains(text, "invented:") || !strings.Contains(text, "the user's words: 15 of 50 characters") {
		t.Errorf("verify: %v\n%s", out, text)
	}
	if out, text = want(t, cs, "verify", arguments{"id": "c2", "view": true}); at(out, "what") != "what the model sees now" || !strings.Contains(text, "50 of 50 characters") {
		t.Errorf("verify the view: %v\n%s", out, text)
	}
	out, text = want(t, cs, "condense", arguments{"id": "c2", "target": 3000})
	if at(out, "applied") != false || at(out, "changes", 0) == nil || !strings.HasPrefix(text, "preview") {
		t.Errorf("preview: %v\n%s", out, text)
	}
	out, _ = want(t, cs, "condense", arguments{"id": "c2", "target": 3000, "apply": true, "focus": "file 7"})
	if at(out, "applied") != true || at(out, "tokens_after").(float64) >= at(out, "tokens_before").(float64) || at(out, "edits", 0) == nil {
		t.Errorf("condense: %v", out)
	}
	out, text = want(t, cs, "pin", arguments{"id": "c2", "handles": []string{"m2", "m4"}})
	if at(out, "edit") == "" || at(out, "hidden", 0, "state") == nil || !strings.Contains(text, "pinned m2, m4") {
		t.Errorf("pin: %v\n%s", out, text)
	}
	if out, _ = want(t, cs, "status", arguments{"id": "c2"}); at(out, "edits", 0) == nil || at(out, "edits_in_force").(float64) < 2 {
		t.Errorf("status after edits: %v", out)
	}
	want(t, cs, "pin", arguments{"id": "c2", "handles": []string{"m2"}, "unpin": true})
	_, text = want(t, cs, "handoff", arguments{"id": "c2", "goal": "write the report", "format": "claude-code"})
	if !strings.Contains(text, "write the report") || !strings.Contains(text, "m39 f19.txt") {
		t.Errorf("handoff: %s", text)
	}
}

// A number of tokens bounds all that an answer sends, a note on the session that was chosen
// included. What is sent as a text is not sent a second time as data.
func TestBudgetsCoverTheWholeAnswer(t *testing.T) {
	cs := client(t, mcpserver.Options{Home: home(t, talk(3), talk(60))})
	list, err := cs.ListTools(t.Context(), &mcp.ListToolsParams{})
	if err != nil {
		t.Fatal(err)
	}
	bounded := 0
	for _, tool := range list.Tools {
		data, err := json.Marshal(tool.InputSchema)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(data), `"tokens"`) {
			continue
		}
		bounded++
		for _, most := range []int{200, 300, 1000, 5000} {
			res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: tool.Name, Arguments: arguments{"tokens": most}})
			if err != nil || res.IsError {
				t.Fatalf("%s: %v %v", tool.Name, err, res)
			}
			sent, err := json.Marshal(res)
			if err != nil {
				t.Fatal(err)
			}
			if n := digest.EstimateTokens(string(sent)); n > most+most/10+20 { // JSON escapes ends of lines
				t.Errorf("%s of %d tokens: the answer has %d", tool.Name, most, n)
			}
		}
	}
	if bounded != 2 {
		t.Errorf("%d tools take a number of tokens", bounded)
	}
}

// A verification names the first of long lists and how many there are, and for a conversation
// that goes on from a client's own summary the one whose messages the handles name.
func TestVerificationsAreBounded(t *testing.T) {
	msgs := []precis.Message{precis.NewText(precis.RoleUser, "Write the parts of the parser one by one, please.")}
	for i := range 60 {
		id := fmt.Sprint("t", i)
		msgs = append(msgs,
			precis.Message{Role: precis.RoleAssistant, Content: []precis.Block{precis.ToolUse{ID: id, Name: "Write", Input: fmt.Appendf(nil, `{"file_path":"/src/part%d.go","content":"package parser"}`, i)}}},
			precis.Message{Role: precis.RoleUser, Content: []precis.Block{precis.ToolResult{ToolUseID: id, Content: []precis.Block{precis.Text{Text: "the file was written"}}}}})
	}
	st := memory.New()
	for i, msgs := range [][]precis.Message{msgs, {precis.NewText(precis.RoleUser, "The parts of the parser were written: part0.go. Go on.")}} {
		head, err := st.Append(t.Context(), precis.Fingerprint{}, msgs...)
		if err != nil {
			t.Fatal(err)
		}
		rec := store.Record{ID: fmt.Sprint("c", i), Head: head, Messages: len(msgs), Updated: time.Unix(int64(i), 0)}
		if i > 0 {
			rec.Continues = "c0"
		}
		if err := st.PutConversation(t.Context(), rec); err != nil {
			t.Fatal(err)
		}
	}
	m, err := preset.New(preset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	cs := client(t, mcpserver.Options{Home: shelf.InStore(shelf.StoreOptions{Store: st, Manager: m})})
	out, text := want(t, cs, "verify", nil)
	if len(at(out, "lacks").([]any)) != 20 || at(out, "lacking") != 60.0 || at(out, "of") != "c0" || at(out, "id") != "c1" || !strings.Contains(text, "lacking, the first 20 of 60:\n") || !strings.Contains(text, "handles are those of session c0\n") {
		t.Errorf("%v\n%s", out, text)
	}
}

func TestPagesOfSessionsAndHits(t *testing.T) {
	cs := client(t, mcpserver.Options{Home: home(t, talk(1), talk(2), talk(3))})
	var ids []any
	in := arguments{"limit": 2}
	for range 2 {
		out, text := want(t, cs, "sessions", in)
		for i := range at(out, "sessions").([]any) {
			ids = append(ids, at(out, "sessions", i, "id"))
		}
		if in["cursor"] = at(out, "next_cursor"); in["cursor"] == nil {
			break
		}
		if !strings.Contains(text, "more with cursor") {
			t.Errorf("the text does not say that more follows: %s", text)
		}
	}
	if len(ids) != 3 || ids[0] != "c3" || ids[2] != "c1" {
		t.Errorf("pages: %v", ids)
	}
	out, _ := want(t, cs, "sessions", arguments{"since": "2026-01-02"})
	if len(at(out, "sessions").([]any)) != 2 {
		t.Errorf("since: %v", out)
	}
	out, _ = want(t, cs, "search", arguments{"query": "setting_0", "limit": 2})
	if len(at(out, "hits").([]any)) != 2 || at(out, "next_cursor") != "2" {
		t.Fatalf("hits: %v", out)
	}
	out, _ = want(t, cs, "search", arguments{"query": "setting_0", "limit": 2, "cursor": "2"})
	if len(at(out, "hits").([]any)) != 1 || at(out, "next_cursor") != nil {
		t.Errorf("the second page: %v", out)
	}
	out, text := want(t, cs, "search", arguments{"query": "nowhere at all", "id": "c1"})
	if len(at(out, "hits").([]any)) != 0 || !strings.Contains(text, "occurs nowhere") {
		t.Errorf("nothing: %v\n%s", out, text)
	}
}

func TestExpandReadsOnToTheEnd(t *testing.T) {
	cs := client(t, mcpserver.Options{Home: home(t, talk(5))})
	var all strings.Builder
	in := arguments{"handle": "m0-m12", "lines": 40}
	for range 100 {
		_, text := want(t, cs, "expand", in)
		end := strings.LastIndex(text, "\n[")
		var read, size, next int
		if _, err := fmt.Sscanf(text[max(end, 0):], "\n[%d of %d bytes; more with offset %d]", &read, &size, &next); err != nil {
			all.WriteString(text)
			break
		}
		all.WriteString(text[:end])
		in["offset"] = next
	}
	for _, w := range []string{"Never write", "setting_16 of file 4 is off", "Now report."} {
		if !strings.Contains(all.String(), w) {
			t.Errorf("%q is missing", w)
		}
	}
	if n := strings.Count(all.String(), "setting_9 of file 3"); n != 60 {
		t.Errorf("%d lines of file 3, want 60", n)
	}
}

// Each request over HTTP has a server of its own.
func BenchmarkCallOverHTTP(b *testing.B) {
	o := mcpserver.Options{Home: home(b, talk(3))}
	h := mcpserver.Handler(func(*http.Request) (mcpserver.Options, error) { return o, nil })
	for b.Loop() {
		r := httptest.NewRequest("POST", "http://localhost/precis/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"expand","arguments":{"id":"c1","handle":"m0"}}}`))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != 200 || !strings.Contains(w.Body.String(), "Never write") {
			b.Fatal(w.Code, w.Body)
		}
	}
}
