package sessions_test

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/conversation/recording"
	"github.com/precis-dev/precis/models"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/preset"
	"github.com/precis-dev/precis/sessions"
	"github.com/precis-dev/precis/store"
)

// home is the home folder of somebody who uses many agents.
type home struct {
	t   testing.TB
	dir string
}

func newHome(t testing.TB) *home { return &home{t: t, dir: t.TempDir()} }

func (h *home) path(elem ...string) string { return filepath.Join(append([]string{h.dir}, elem...)...) }

func (h *home) write(name, text string) string {
	h.t.Helper()
	path := h.path(filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
	return path
}

// claude writes a session of Claude Code with the given words of the user.
func (h *home) claude(id string, said ...string) string {
	var b strings.Builder
	parent := "null"
	for i, s := range said {
		fmt.Fprintf(&b, `{"type":"user","uuid":"%s-u%d","parentUuid":%s,"sessionId":%q,"cwd":"/src/shop","timestamp":"2026-03-01T10:%02d:00Z","message":{"role":"user","content":%q}}`+"\n", id, i, parent, id, i, s)
		fmt.Fprintf(&b, `{"type":"assistant","uuid":"%s-a%d","parentUuid":"%s-u%d","sessionId":%q,"timestamp":"2026-03-01T10:%02d:30Z","message":{"id":"msg_%s_%d","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":"Done %d."}],"usage":{"input_tokens":10,"output_tokens":5,"cache_read_input_tokens":100}}}`+"\n", id, i, id, i, id, i, id, i, i)
		parent = fmt.Sprintf("%q", fmt.Sprintf("%s-a%d", id, i))
	}
	return h.write(".claude/projects/-work-shop/"+id+".jsonl", b.String())
}

const (
	claudeA = "aaaaaaaa-1111-4111-8111-111111111111"
	claudeB = "aaaabbbb-1111-4111-8111-111111111111"
)

// fill writes a session of every agent that can be written as files.
func (h *home) fill() {
	h.claude(claudeA, "The harbour gate is painted blue.", "Now paint it green.")
	h.write(".codex/sessions/2026/03/02/rollout-2026-03-02T10-00-00-cccccccc-2222.jsonl", strings.Join([]string{
		`{"timestamp":"2026-03-02T10:00:00Z","type":"session_meta","payload":{"id":"cccccccc-2222","timestamp":"2026-03-02T10:00:00Z","cwd":"/src/till","source":{"subagent":{"thread_spawn":{"parent_thread_id":"` + claudeA + `"}}}}}`,
		`{"timestamp":"2026-03-02T10:00:01Z","type":"turn_context","payload":{"model":"gpt-5-codex"}}`,
		`{"timestamp":"2026-03-02T10:00:01Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Count the lanterns"}]}}`,
		`{"timestamp":"2026-03-02T10:00:02Z","type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{}","call_id":"c1"}}`,
		`{"timestamp":"2026-03-02T10:00:03Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"seventeen lanterns"}}`,
		`{"timestamp":"2026-03-02T10:00:04Z","type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":1000,"cached_input_tokens":400,"output_tokens":20},"last_token_usage":{"total_tokens":1020}}}}`,
		`{"timestamp":"2026-03-02T10:00:05Z","type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":2500,"cached_input_tokens":900,"output_tokens":50},"last_token_usage":{"total_tokens":1530}}}}`,
	}, "\n"))
	task := ".config/Code/User/globalStorage/rooveterinaryinc.roo-cline/tasks/1700000000000/"
	h.write(task+"api_conversation_history.json", `[
	 {"role":"user","content":[{"type":"text","text":"<task>\nMend the sail\n</task>"},{"type":"text","text":"<environment_details>\n# Current Workspace Directory (/src/boat) Files\nsail.go\n</environment_details>"}],"ts":1700000000000},
	 {"role":"assistant","content":[{"type":"text","text":"Mended."}],"ts":1700000001000}]`)
	h.write(task+"ui_messages.json", `[{"ts":1700000000000,"type":"say","say":"text","text":"Mend the sail"},{"ts":1700000000500,"type":"say","say":"api_req_started","text":"{\"tokensIn\":300,\"tokensOut\":20,\"cacheReads\":100,\"cost\":0.25}"}]`)
	h.write(task+"history_item.json", `{"id":"1700000000000","task":"Mend the sail","parentTaskId":"1699999999999","status":"completed","workspace":"/src/boat"}`)
	h.write(".config/Code/User/globalStorage/saoudrizwan.claude-dev/tasks/1710000000000/api_conversation_history.json", `[{"role":"user","content":"Tie the knot"},{"role":"assistant","content":"Tied."}]`)
	h.write(".pi/agent/sessions/--work-pier--/2026-03-04T10-00-00-000Z_dddddddd-3333.jsonl", strings.Join([]string{
		`{"type":"session","id":"dddddddd-3333","timestamp":"2026-03-04T10:00:00Z","cwd":"/src/pier","parentSession":"/x/2026-03-03_` + claudeA + `.jsonl"}`,
		`{"type":"message","timestamp":"2026-03-04T10:00:01Z","message":{"role":"user","content":"Sweep the pier"}}`,
		`{"type":"message","timestamp":"2026-03-04T10:00:02Z","message":{"role":"assistant","model":"claude-opus-4-5","content":[{"type":"text","text":"Swept."}],"usage":{"input":7,"output":3,"cacheRead":0,"cacheWrite":2,"cost":{"total":0.5}}}}`,
	}, "\n"))
	for i, e := range []string{
		`{"id":"e0","timestamp":"2026-03-05T10:00:00","source":"agent","kind":"SystemPromptEvent","system_prompt":{"type":"text","text":"Help."},"tools":[]}`,
		`{"id":"e1","timestamp":"2026-03-05T10:00:01","source":"user","kind":"MessageEvent","llm_message":{"role":"user","content":[{"type":"text","text":"Light the beacon"}]}}`,
		`{"id":"e2","timestamp":"2026-03-05T10:00:02","source":"agent","kind":"MessageEvent","llm_message":{"role":"assistant","content":[{"type":"text","text":"Lit."}]}}`,
	} {
		h.write(fmt.Sprintf(".openhands/conversations/eeeeeeee4444/events/event-%05d-e%d.json", i, i), "{\n"+e[1:])
	}
	h.write(".qwen/projects/-work-mole/chats/ffffffff-5555.jsonl", strings.Join([]string{
		`{"uuid":"q1","parentUuid":null,"sessionId":"ffffffff-5555","timestamp":"2026-03-06T10:00:00Z","type":"user","cwd":"/src/mole","message":{"role":"user","parts":[{"text":"Measure the mole"}]}}`,
		`{"uuid":"q2","parentUuid":"q1","sessionId":"ffffffff-5555","timestamp":"2026-03-06T10:00:01Z","type":"assistant","model":"qwen3","message":{"role":"model","parts":[{"text":"Forty yards."}]},"usageMetadata":{"promptTokenCount":50,"candidatesTokenCount":5}}`,
	}, "\n"))
	h.write(".gemini/tmp/abc/chats/session-2026-03-07T10-00-1234.json", `{"sessionId":"99999999-6666","projectHash":"abc","messages":[{"id":"1","timestamp":"2026-03-07T10:00:00Z","type":"user","content":"Polish the bell"},{"id":"2","timestamp":"2026-03-07T10:00:01Z","type":"gemini","model":"gemini-2.5-pro","content":"Polished.","tokens":{"input":40,"output":4,"cached":10}}]}`)
	h.write(".gemini/tmp/abc/logs.json", `[{"sessionId":"99999999-6666","messageId":0,"type":"user","message":"Polish the bell"}]`)
	h.write(".cline/data/sessions/s7/s7.messages.json", `{"version":1,"updated_at":"2026-03-08T10:00:00Z","agent":"lead","sessionId":"s7-cline","messages":[{"id":"m1","role":"user","content":[{"type":"text","text":"Coil the rope"}],"ts":1772964000000},{"id":"m2","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"read_files","input":{}}],"modelInfo":{"id":"m"},"metrics":{"inputTokens":9,"outputTokens":1}},{"id":"m3","role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"query":"rope.go","result":"rope rope"},{"query":"x","error":"gone","success":false}]}]},{"id":"m4","role":"assistant","content":"Coiled."}],"system_prompt":"Sail."}`)
	h.write(".cline/data/sessions/s7/s7.json", `{"cwd":"/src/rope","status":"completed","started_at":"2026-03-08T09:59:00Z","metadata":{"title":"Coil"}}`)
	h.opencode()
}

// opencode writes a database of opencode with one session.
func (h *home) opencode() {
	path := h.path(".local", "share", "opencode", "opencode.db")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		h.t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		h.t.Fatal(err)
	}
	defer db.Close()
	for _, q := range []string{
		`CREATE TABLE session (id text PRIMARY KEY, parent_id text, directory text NOT NULL, title text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL)`,
		`CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, data text NOT NULL)`,
		`CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL, data text NOT NULL)`,
		`INSERT INTO session VALUES ('ses_8888', NULL, '/src/quay', 'Load the quay', 1772964000000, 1772964005000), ('ses_none', NULL, '/src/quay', 'New', 1, 1)`,
		`INSERT INTO message VALUES ('msg_1', 'ses_8888', '{"role":"user","time":{"created":1772964000000}}'), ('msg_2', 'ses_8888', '{"role":"assistant","modelID":"claude-sonnet-4-5","cost":0.125,"tokens":{"input":6,"output":2,"reasoning":1,"cache":{"read":3,"write":0}},"time":{"created":1772964001000}}')`,
		`INSERT INTO part VALUES ('prt_1', 'msg_1', 'ses_8888', '{"type":"text","text":"Load the quay with barrels"}'), ('prt_2', 'msg_2', 'ses_8888', '{"type":"text","text":"Loaded."}')`,
	} {
		if _, err := db.Exec(q); err != nil {
			h.t.Fatal(err)
		}
	}
}

func (h *home) places() []sessions.Place {
	return sessions.Places(sessions.Environment{OS: "linux", Home: h.dir})
}

// library opens a library over the places of a home, with an index in it.
func (h *home) library(change ...func(*sessions.Options)) *sessions.Library {
	h.t.Helper()
	manager, err := preset.New(preset.Options{})
	if err != nil {
		h.t.Fatal(err)
	}
	catalog, err := models.New(models.Options{})
	if err != nil {
		h.t.Fatal(err)
	}
	o := sessions.Options{Places: h.places(), Index: h.path("index", "sessions.db"), Manager: manager, Open: openHome,
		Prices: func(model string) models.Prices { m, _ := catalog.Find(model); return m.Prices }}
	for _, c := range change {
		c(&o)
	}
	lib, err := sessions.Open(h.t.Context(), o)
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() {
		if err := lib.Close(); err != nil {
			h.t.Error(err)
		}
	})
	return lib
}

func openHome(_ context.Context, path string) (sessions.Home, error) {
	f, err := recording.Open(path)
	if err != nil {
		return nil, err
	}
	settings, err := preset.Settings(preset.Frugal)
	if err != nil {
		return nil, err
	}
	m, err := preset.New(preset.Options{Settings: settings})
	if err != nil {
		return nil, err
	}
	return f.Home(m, policy.Request{Window: precis.Window{Tokens: 100_000, Source: precis.SourceConfigured}}), nil
}

func refresh(t *testing.T, lib *sessions.Library, want sessions.Refreshed) {
	t.Helper()
	got, err := lib.Refresh(t.Context())
	if err != nil || got != want {
		t.Fatalf("refresh: %+v, %v; want %+v", got, err, want)
	}
}

func list(t *testing.T, lib *sessions.Library, f sessions.Filter) []*sessions.Session {
	t.Helper()
	some, err := lib.List(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	return some
}

func ids(some []*sessions.Session) []string {
	out := []string{}
	for _, s := range some {
		out = append(out, s.ID)
	}
	return out
}

func TestEveryAgentIsFound(t *testing.T) {
	h := newHome(t)
	h.fill()
	lib := h.library()
	refresh(t, lib, sessions.Refreshed{Sessions: 10, Read: 10})
	type facts struct {
		agent, project, title, parent string
		state                         sessions.State
		messages, turns               int
		requests, input, cached       int
		cost                          float64
	}
	want := map[string]facts{
		claudeA:         {"claude-code", "/src/shop", "The harbour gate is painted blue.", "", sessions.Answered, 4, 2, 2, 20, 200, -1},
		"cccccccc-2222": {"codex", "/src/till", "Count the lanterns", claudeA, sessions.Interrupted, 3, 1, 2, 1600, 900, -1},
		"1700000000000": {"roo", "/src/boat", "Mend the sail", "1699999999999", sessions.Completed, 2, 1, 1, 200, 100, 0.25},
		"1710000000000": {"cline", "", "Tie the knot", "", sessions.Answered, 2, 1, 0, 0, 0, 0},
		"dddddddd-3333": {"pi", "/src/pier", "Sweep the pier", claudeA, sessions.Answered, 2, 1, 1, 7, 0, 0.5},
		"eeeeeeee4444":  {"openhands", "", "Light the beacon", "", sessions.Answered, 2, 1, 0, 0, 0, 0},
		"ffffffff-5555": {"qwen", "/src/mole", "Measure the mole", "", sessions.Answered, 2, 1, 1, 50, 0, 0},
		"99999999-6666": {"gemini", "", "Polish the bell", "", sessions.Answered, 2, 1, 1, 30, 10, -1},
		"s7-cline":      {"cline", "/src/rope", "Coil", "", sessions.Completed, 4, 1, 1, 9, 0, 0},
		"ses_8888":      {"opencode", "/src/quay", "Load the quay", "", sessions.Answered, 2, 1, 1, 6, 3, 0.125},
	}
	for _, s := range list(t, lib, sessions.Filter{}) {
		w, ok := want[s.ID]
		if !ok {
			t.Errorf("session %s is not expected", s.ID)
			continue
		}
		got := facts{agent: s.Agent, project: s.Project, title: s.Title, parent: s.Parent, state: s.State, messages: s.Messages, turns: s.Turns, cost: s.Cost}
		for _, sp := range s.Spent {
			got.requests, got.input, got.cached = got.requests+sp.Requests, got.input+sp.Usage.Input, got.cached+sp.Usage.CacheRead
		}
		if w.cost < 0 { // by the catalog
			if !s.Estimated || s.Cost <= 0 {
				t.Errorf("%s: cost %g, estimated %v", s.ID, s.Cost, s.Estimated)
			}
			w.cost = got.cost
		}
		if got != w {
			t.Errorf("%s:\n got %+v\nwant %+v", s.ID, got, w)
		}
		if s.Tokens == 0 || s.View == 0 || s.Begun.IsZero() && s.Agent != "cline" || s.Last.IsZero() {
			t.Errorf("%s: %d tokens, %d in the view, begun %v, last %v", s.ID, s.Tokens, s.View, s.Begun, s.Last)
		}
	}
}

func TestRefreshReadsOnlyWhatChanged(t *testing.T) {
	h := newHome(t)
	h.fill()
	refresh(t, h.library(), sessions.Refreshed{Sessions: 10, Read: 10})
	lib := h.library() // another process
	refresh(t, lib, sessions.Refreshed{Sessions: 10})
	path := h.claude(claudeA, "one", "two", "three")
	refresh(t, lib, sessions.Refreshed{Sessions: 10, Read: 1})
	if s, err := lib.Find(t.Context(), claudeA); err != nil || s.Messages != 6 {
		t.Errorf("after a change: %+v, %v", s, err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	refresh(t, lib, sessions.Refreshed{Sessions: 9, Gone: 1})
}

func TestIndexIsShared(t *testing.T) {
	h := newHome(t)
	h.fill()
	refresh(t, h.library(), sessions.Refreshed{Sessions: 10, Read: 10})
	backup := h.write("backup/"+claudeB+".jsonl", string(must(os.ReadFile(h.claude(claudeB, "elsewhere")))))
	other := h.library(func(o *sessions.Options) { o.Places = []sessions.Place{{Root: filepath.Dir(backup), Given: true}} })
	if _, err := other.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := ids(list(t, other, sessions.Filter{})); !slices.Equal(got, []string{claudeB}) {
		t.Errorf("the other library lists %v", got)
	}
	refresh(t, h.library(), sessions.Refreshed{Sessions: 12, Read: 1}) // the other's session is still there
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestDamagedIndexIsMadeAnew(t *testing.T) {
	for name, damage := range map[string]string{"garbage": "this is no database", "another database": "", "cut off": "SQLite format 3\x00"} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			h.fill()
			path := h.write("index/sessions.db", damage)
			if damage == "" {
				_ = os.Remove(path)
				db := must(sql.Open("sqlite", path))
				must(db.Exec(`CREATE TABLE made (version TEXT)`))
				must(db.Exec(`INSERT INTO made VALUES ('0')`))
				if err := db.Close(); err != nil {
					t.Fatal(err)
				}
			}
			refresh(t, h.library(), sessions.Refreshed{Sessions: 10, Read: 10})
		})
	}
}

// Processes that begin at the same time share one index.
func TestIndexIsMadeOnce(t *testing.T) {
	h := newHome(t)
	h.fill()
	var group sync.WaitGroup
	for range 6 {
		group.Go(func() {
			l, err := sessions.Open(t.Context(), sessions.Options{Places: h.places(), Index: h.path("index", "sessions.db"), Manager: must(preset.New(preset.Options{}))})
			if err != nil {
				t.Error(err)
				return
			}
			if r, err := l.Refresh(t.Context()); err != nil || r.Sessions != 10 {
				t.Errorf("%+v, %v", r, err)
			}
			if hits, err := l.Search(t.Context(), store.SearchQuery{Text: "barrels"}); err != nil || len(hits) != 1 {
				t.Errorf("%d hits, %v", len(hits), err)
			}
			if err := l.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	refresh(t, h.library(), sessions.Refreshed{Sessions: 10})
}

func TestIndexThatCannotBeWritten(t *testing.T) {
	h := newHome(t)
	h.write("file", "x")
	_, err := sessions.Open(t.Context(), sessions.Options{Index: h.path("file", "below", "sessions.db")})
	if precis.CodeOf(err) != precis.CodeInternal {
		t.Errorf("got %v", err)
	}
}

// Links within the user's home are followed, circular ones once; links out of it are counted.
func TestLinks(t *testing.T) {
	h := newHome(t)
	outside := newHome(t)
	outside.claude(claudeB, "secret")
	h.claude(claudeA, "open")
	if err := os.Symlink(outside.path(".claude", "projects", "-work-shop"), h.path(".claude", "projects", "out")); err != nil {
		t.Skip(err)
	}
	if err := os.Symlink(outside.path(".claude", "projects", "-work-shop", claudeB+".jsonl"), h.path(".claude", "projects", "-work-shop", "link.jsonl")); err != nil {
		t.Fatal(err)
	}
	lib := h.library()
	refresh(t, lib, sessions.Refreshed{Sessions: 1, Read: 1})
	if got := ids(list(t, lib, sessions.Filter{})); !slices.Equal(got, []string{claudeA}) {
		t.Errorf("listed %v", got)
	}
	if err := os.Rename(outside.path(".claude", "projects", "-work-shop"), h.path("moved")); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"in": h.path("moved"), "twice": h.path("moved"), "circle": h.path(".claude", "projects"), "nowhere": h.path("none")} {
		if err := os.Symlink(to, h.path(".claude", "projects", link)); err != nil {
			t.Fatal(err)
		}
	}
	refresh(t, lib, sessions.Refreshed{Sessions: 2, Read: 1})
}

// A folder that may not be read is counted.
func TestFoldersWithoutPermission(t *testing.T) {
	h := newHome(t)
	h.claude(claudeA, "open")
	closed := h.path(".claude", "projects", "-closed")
	if err := os.Mkdir(closed, 0o000); err != nil {
		t.Fatal(err)
	}
	if _, err := os.ReadDir(closed); err == nil {
		t.Skip("this user reads every folder")
	}
	refresh(t, h.library(), sessions.Refreshed{Sessions: 1, Read: 1})
}

// What else lies in the folders of programs is not looked at, and names may be any bytes.
func TestPlaces(t *testing.T) {
	h := newHome(t)
	const chat = `{"version":3,"responderUsername":"GitHub Copilot","sessionId":"c-1","requests":[{"message":{"text":"Ring the bell"},"response":[{"value":"Rung."}]}]}`
	h.write(".config/Code/User/workspaceStorage/hash/chatSessions/c-1.json", chat)
	h.write(".config/Code/User/workspaceStorage/hash/workspace.json", `{"folder":"file:///src/bell"}`)
	h.write(".config/Code/User/workspaceStorage/hash/other/chatSessions/c-2.json", chat)
	h.write(".gemini/tmp/abc/other/chats/session-1.json", `{"sessionId":"g","projectHash":"abc","messages":[{"id":"1","type":"user","content":"Polish"}]}`)
	h.write(".claude/projects/odd\xff\xfename/x.jsonl", lineA+"\n"+lineB+"\n")
	lib := h.library()
	refresh(t, lib, sessions.Refreshed{Sessions: 2, Read: 2})
	s, err := lib.Find(t.Context(), "@copilot")
	if err != nil || s.ID != "c-1" || s.Project != "/src/bell" || s.Title != "Ring the bell" {
		t.Errorf("%+v, %v", s, err)
	}
	if m, err := conversation.Messages(t.Context(), lib.Home(), "@claude-code", conversation.MessageQuery{}); err != nil || m.Total != 2 {
		t.Errorf("%d messages, %v", m.Total, err)
	}
}

func TestUnreadableIsListed(t *testing.T) {
	h := newHome(t)
	h.write(".codex/sessions/2026/rollout-broken.jsonl", "{not json\n{\"type\":\"session_meta\",\"payload\":{\"id\":\"x\"}}\n")
	h.write(".claude/projects/p/empty.jsonl", "")
	lib := h.library()
	refresh(t, lib, sessions.Refreshed{Sessions: 1, Read: 1})
	some := list(t, lib, sessions.Filter{State: sessions.Unreadable})
	if len(some) != 1 || some[0].Agent != "codex" || some[0].Problem == "" || strings.Contains(some[0].Problem, h.dir) {
		t.Errorf("listed %+v", some)
	}
}

func TestFilters(t *testing.T) {
	h := newHome(t)
	h.fill()
	h.claude(claudeB, "100% of the _boats_")
	lib := h.library()
	if _, err := lib.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	day := func(d int) time.Time { return time.Date(2026, 3, d, 0, 0, 0, 0, time.UTC) }
	for _, tt := range []struct {
		f    sessions.Filter
		want []string
	}{
		{sessions.Filter{Agent: "codex"}, []string{"cccccccc-2222"}},
		{sessions.Filter{Project: "/src/shop"}, []string{claudeA, claudeB}},
		{sessions.Filter{Project: "/src/sho"}, nil},
		{sessions.Filter{Project: "/src/"}, []string{"ses_8888", "s7-cline", "ffffffff-5555", "dddddddd-3333", "cccccccc-2222", claudeA, claudeB, "1700000000000"}},
		{sessions.Filter{Text: "LANTERNS"}, []string{"cccccccc-2222"}},
		{sessions.Filter{Text: "100%"}, []string{claudeB}},
		{sessions.Filter{Text: "0_o"}, nil},
		{sessions.Filter{State: sessions.Completed}, []string{"s7-cline", "1700000000000"}},
		{sessions.Filter{Since: day(4), Before: day(6)}, []string{"eeeeeeee4444", "dddddddd-3333"}},
		{sessions.Filter{Parent: claudeA}, []string{"dddddddd-3333", "cccccccc-2222"}},
		{sessions.Filter{Sort: "cost", Limit: 2}, []string{"dddddddd-3333", "1700000000000"}},
		{sessions.Filter{Agent: "claude-code", Limit: 1, Offset: 1}, []string{claudeB}},
	} {
		if got := ids(list(t, lib, tt.f)); !slices.Equal(got, append([]string{}, tt.want...)) {
			t.Errorf("%+v:\n got %v\nwant %v", tt.f, got, tt.want)
		}
	}
	if _, err := lib.List(t.Context(), sessions.Filter{Sort: "size; DROP TABLE files"}); precis.CodeOf(err) != precis.CodeInvalid {
		t.Errorf("an unknown order: %v", err)
	}
}

func TestFind(t *testing.T) {
	h := newHome(t)
	h.fill()
	h.claude(claudeB, "another")
	lib := h.library()
	if _, err := lib.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		claudeA: claudeA, "aaaaaaaa": claudeA, "aaaab": claudeB, "cccc": "cccccccc-2222", "@codex": "cccccccc-2222",
		"@claude-code~1": claudeB, h.path(".claude", "projects", "-work-shop", claudeA+".jsonl"): claudeA,
	} {
		if s, err := lib.Find(t.Context(), name); err != nil || s.ID != want {
			t.Errorf("%s: %v, %v; want %s", name, s, err, want)
		}
	}
	newest := list(t, lib, sessions.Filter{Limit: 2})
	for i, name := range []string{"@last", "@last~1"} {
		if s, err := lib.Find(t.Context(), name); err != nil || s.ID != newest[i].ID {
			t.Errorf("%s: %v, %v", name, s, err)
		}
	}
	for name, code := range map[string]precis.Code{
		"aaaa": precis.CodeInvalid, "aaa": precis.CodeNotFound, "zzzz": precis.CodeNotFound, "@nobody": precis.CodeNotFound,
		"@last~x": precis.CodeInvalid, "@last~999": precis.CodeNotFound, "": precis.CodeNotFound, "' OR 1=1 --": precis.CodeNotFound,
	} {
		if s, err := lib.Find(t.Context(), name); precis.CodeOf(err) != code {
			t.Errorf("%q: %v, %v; want %s", name, s, err, code)
		}
	}
}

func TestSearch(t *testing.T) {
	h := newHome(t)
	h.fill()
	h.claude(claudeB, "港の門は青い。 Ärger")
	lib := h.library()
	if _, err := lib.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	search := func(text string, f sessions.Filter) []string {
		t.Helper()
		hits, err := lib.SearchIn(t.Context(), f, store.SearchQuery{Text: text})
		if err != nil {
			t.Fatal(err)
		}
		out := []string{}
		for _, hit := range hits {
			out = append(out, fmt.Sprintf("%s m%d", hit.Conversation, hit.Message))
		}
		return out
	}
	expect := func(text string, f sessions.Filter, want ...string) {
		t.Helper()
		if got := search(text, f); !slices.Equal(got, append([]string{}, want...)) {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
	expect("seventeen LANTERNS", sessions.Filter{}, "cccccccc-2222 m2")
	expect("blue harbour", sessions.Filter{}, claudeA+" m0")
	expect("blue green", sessions.Filter{})
	expect("門", sessions.Filter{}, claudeB+" m0")
	expect("harbours gates", sessions.Filter{}, claudeA+" m0")
	if hits, err := lib.Search(t.Context(), store.SearchQuery{Text: "seventeen lanterns", Exact: true}); err != nil || len(hits) != 1 {
		t.Errorf("%v, %v", hits, err)
	}
	if hits, err := lib.Search(t.Context(), store.SearchQuery{Text: "harbours gates", Exact: true}); err != nil || len(hits) != 0 {
		t.Errorf("found by other forms, which was turned off: %v, %v", hits, err)
	}
	expect("ärger", sessions.Filter{}, claudeB+" m0")
	expect("barrels", sessions.Filter{}, "ses_8888 m0")
	expect("barrels", sessions.Filter{Agent: "codex"})
	expect("", sessions.Filter{})
	path := h.claude(claudeA, "The harbour gate is red.")
	if _, err := lib.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	expect("blue harbour", sessions.Filter{})
	expect("red harbour", sessions.Filter{}, claudeA+" m0")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	expect("red harbour", sessions.Filter{}) // gone, though the index has it still
	if _, err := lib.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	expect("red harbour", sessions.Filter{})
	hits, err := lib.Search(t.Context(), store.SearchQuery{Text: "barrels", Conversation: "@opencode"})
	if err != nil || len(hits) != 1 {
		t.Errorf("in one session: %v, %v", hits, err)
	}
}

// A refresh, and all who look, do not wait for the words of many sessions; what a file
// said before it was changed is not taken for what it says.
func TestRefreshWhileWordsAreIndexed(t *testing.T) {
	h := newHome(t)
	h.fill()
	lib := h.library()
	if _, err := lib.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	var slow *sessions.Library
	changed := false
	slow = h.library(func(o *sessions.Options) {
		o.Workers, o.Progress = 1, func(int, int) {
			if changed {
				return
			}
			changed = true
			h.claude(claudeA, "The harbour gate is red.")
			if r, err := slow.Refresh(t.Context()); err != nil || r.Read != 1 {
				t.Errorf("%+v, %v", r, err)
			}
		}
	})
	if _, err := slow.Search(t.Context(), store.SearchQuery{Text: "harbour"}); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]int{"harbour red": 1, "harbour blue": 0} {
		if hits, err := slow.Search(t.Context(), store.SearchQuery{Text: text}); err != nil || len(hits) != want {
			t.Errorf("%s: %d hits, %v", text, len(hits), err)
		}
	}
}

// What was said cannot be read in the index, but for titles.
func TestIndexHoldsNoWords(t *testing.T) {
	h := newHome(t)
	h.claude(claudeA, "Title of it", "correcthorsebatterystaple")
	lib := h.library()
	if _, err := lib.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if hits, err := lib.Search(t.Context(), store.SearchQuery{Text: "correcthorsebatterystaple"}); err != nil || len(hits) != 1 {
		t.Fatalf("%v, %v", hits, err)
	}
	for _, end := range []string{"", "-wal"} {
		if data, err := os.ReadFile(h.path("index", "sessions.db") + end); err == nil && strings.Contains(string(data), "correcthorse") {
			t.Errorf("sessions.db%s holds what was said", end)
		}
	}
}

func TestStats(t *testing.T) {
	h := newHome(t)
	h.fill()
	lib := h.library()
	if _, err := lib.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	st, err := lib.Stats(t.Context(), sessions.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	if st.Total.Sessions != 10 || st.Total.Messages != 25 || st.Total.Requests != 10 || len(st.Agents) != 9 {
		t.Errorf("total %+v of %d agents", st.Total, len(st.Agents))
	}
	for name, sums := range map[string][]sessions.Sum{"agents": st.Agents, "projects": st.Projects, "months": st.Months, "models": st.Models} {
		n, tokens, cost := 0, 0, 0.0
		for _, s := range sums {
			n, tokens, cost = n+s.Sessions, tokens+s.Tokens, cost+s.CostUSD
		}
		if n != 10 || tokens != st.Total.Tokens || cost < st.Total.CostUSD-1e-9 || cost > st.Total.CostUSD+1e-9 {
			t.Errorf("%s add up to %d sessions, %d tokens, $%g of %+v", name, n, tokens, cost, st.Total)
		}
	}
	if st.Tools[0].Calls != 1 || len(st.Tools) != 2 {
		t.Errorf("tools %v", st.Tools)
	}
}

// The cost of a session is what its program recorded, and the price of the requests for which it
// recorded none.
func TestRequestsWithoutACostAreEstimated(t *testing.T) {
	h := newHome(t)
	line := func(id, parent, rest string) string {
		return fmt.Sprintf(`{"id":%q,"parentId":%q,"timestamp":"2026-01-01T00:00:00Z",%s}`, id, parent, rest) + "\n"
	}
	h.write(".pi/agent/sessions/--p--/2026_s1.jsonl", `{"type":"session","version":3,"id":"s1","timestamp":"2026-01-01T00:00:00Z","cwd":"/p"}`+"\n"+
		line("a", "", `"type":"message","message":{"role":"user","content":"Go."}`)+
		line("b", "a", `"type":"message","message":{"role":"assistant","model":"m","content":[{"type":"text","text":"Done."}],"usage":{"input":9000,"cost":{"total":0.5}}}`)+
		line("c", "b", `"type":"usage","kind":"cache_warm","model":"m","usage":{"input":250000}`))
	lib := h.library(func(o *sessions.Options) {
		o.Prices = func(string) models.Prices {
			return models.Prices{Input: 1, Output: 1, Sources: models.PriceSources{Input: precis.SourceCatalog, Output: precis.SourceCatalog}}
		}
	})
	for range 2 { // the second refresh reads no file
		if _, err := lib.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		if s := list(t, lib, sessions.Filter{})[0]; s.Cost != 0.75 || !s.Estimated {
			t.Errorf("cost %g, estimated %v", s.Cost, s.Estimated)
		}
	}
}

// TestARequestOfAForkIsSpentOnce: a fork of a session of Claude Code repeats its lines,
// and one of a part of them.
func TestARequestOfAForkIsSpentOnce(t *testing.T) {
	h := newHome(t)
	answer := func(at int, id, model string, input int) string {
		return fmt.Sprintf(`{"type":"assistant","uuid":"a-%s","parentUuid":null,"cwd":"/p","timestamp":"2026-01-01T00:00:0%dZ","message":{"id":%q,"role":"assistant","model":%q,"content":[{"type":"text","text":"ok"}],"usage":{"input_tokens":%d,"output_tokens":1}}}`, id, at, id, model, input)
	}
	const small, large = "claude-haiku-4-5", "claude-sonnet-4-5"
	lines := []string{answer(1, "msg_1", large, 1000), answer(2, "msg_2", small, 200), answer(3, "msg_3", large, 30)}
	for id, with := range map[string][]string{
		"original": lines,
		"fork":     append(slices.Clone(lines[:2]), answer(4, "msg_4", large, 4)),
		"copy":     lines[:2],
		"other":    {answer(5, "msg_5", large, 50000)},
		"mirror":   {answer(6, "msg_5", large, 50000), answer(7, "msg_6", small, 7)}, // began with the same
	} {
		text := ""
		for _, line := range with {
			text += strings.TrimSuffix(line, "}") + fmt.Sprintf(`,"sessionId":%q}`, id) + "\n"
		}
		h.write(".claude/projects/-p/"+id+".jsonl", text)
	}
	lib := h.library(func(o *sessions.Options) {
		o.Prices = func(string) models.Prices {
			return models.Prices{Input: 1, Output: 1, Sources: models.PriceSources{Input: precis.SourceCatalog, Output: precis.SourceCatalog}}
		}
	})
	for range 2 { // the second refresh reads no file
		if _, err := lib.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		st, err := lib.Stats(t.Context(), sessions.Filter{})
		if err != nil {
			t.Fatal(err)
		}
		want := 1000 + 200 + 30 + 4 + 50000 + 7
		if st.Total.Sessions != 5 || st.Total.Requests != 6 || st.Total.Usage.Input != want || math.Abs(st.Total.CostUSD-float64(want+6)/1e6) > 1e-9 {
			t.Errorf("total %+v", st.Total)
		}
		for _, m := range st.Models {
			if want := map[string]int{small: 2, large: 4}[m.Name]; m.Requests != want || math.Abs(m.CostUSD-float64(m.Usage.Input+want)/1e6) > 1e-9 {
				t.Errorf("%s: %+v, want %d requests", m.Name, m, want)
			}
		}
	}
	alone, err := lib.Stats(t.Context(), sessions.Filter{Text: "fork"})
	if err != nil || alone.Total.Requests != 3 {
		t.Errorf("of the fork alone: %+v, %v", alone.Total, err)
	}
}

// TestARequestOfACodexForkIsSpentOnce: a rollout that was forked, or of a sub-agent that was given
// the conversation, begins with the events of the one before; others with the same numbers are
// their own.
func TestARequestOfACodexForkIsSpentOnce(t *testing.T) {
	h := newHome(t)
	head := func(id, more string) string {
		return fmt.Sprintf(`{"timestamp":"2026-01-01T00:00:00Z","type":"session_meta","payload":{"id":%q,"timestamp":"2026-01-01T00:00:00Z","cwd":"/p"%s}}`, id, more)
	}
	event := func(total, last int) string {
		return fmt.Sprintf(`{"timestamp":"2026-01-01T00:00:09Z","type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":%d,"output_tokens":1},"last_token_usage":{"input_tokens":%d,"output_tokens":1}}}}`, total, last)
	}
	said := `{"timestamp":"2026-01-01T00:00:01Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}}`
	first := head("t-1", "")
	forked := head("t-2", `,"forked_from_id":"t-1"`)
	for id, lines := range map[string][]string{
		"t-1": {first, said, event(1000, 1000), event(1000, 1000)},
		"t-2": {forked, first, said, event(1000, 1000), event(2700, 1700)},
		"t-3": {head("t-3", `,"forked_from_id":"t-2"`), forked, first, said, event(1000, 1000), event(2700, 1700), event(2705, 5)},
		"t-4": {head("t-4", `,"source":{"subagent":{"thread_spawn":{"parent_thread_id":"t-1","depth":1}}},"forked_from_id":"t-1"`), first, said, event(1000, 1000), event(1030, 30)},
		"t-5": {head("t-5", `,"source":{"subagent":{"thread_spawn":{"parent_thread_id":"t-1","depth":1}}}`), said, event(1000, 1000)},
		"t-6": {head("t-6", ""), said, event(1000, 1000)},
		"t-7": {head("t-7", `,"forked_from_id":"t-1"`), said, event(1200, 200)}, // without the events
	} {
		h.write(".codex/sessions/2026/01/01/rollout-2026-01-01T00-00-00-"+id+".jsonl", strings.Join(lines, "\n")+"\n")
	}
	lib := h.library()
	if _, err := lib.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	st, err := lib.Stats(t.Context(), sessions.Filter{})
	if want := 1000 + 1700 + 5 + 30 + 1000 + 1000 + 200; err != nil || st.Total.Sessions != 7 || st.Total.Usage.Input != want {
		t.Errorf("%+v, want %d tokens, %v", st.Total, want, err)
	}
}

func TestTree(t *testing.T) {
	h := newHome(t)
	h.fill()
	for i, id := range []string{"cycle-one", "cycle-two"} { // each the other's parent
		h.write(fmt.Sprintf(".pi/agent/sessions/x/%d_%s.jsonl", i, id), fmt.Sprintf(`{"type":"session","id":%q,"cwd":"/","parentSession":"9_%s.jsonl"}
{"type":"message","timestamp":"2026-01-01T00:00:00Z","message":{"role":"user","content":"hello"}}`, id, []string{"cycle-two", "cycle-one"}[i]))
	}
	lib := h.library()
	if _, err := lib.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	trees, err := lib.Tree(t.Context(), sessions.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	all := 0
	var walk func(n *sessions.Node)
	walk = func(n *sessions.Node) {
		all++
		for _, c := range n.Children {
			if c.Parent != n.ID {
				t.Errorf("%s is below %s", c.ID, n.ID)
			}
			walk(c)
		}
	}
	for _, n := range trees {
		walk(n)
		if n.ID == claudeA && len(n.Children) != 2 {
			t.Errorf("%d children of %s", len(n.Children), n.ID)
		}
	}
	if all != 12 || len(trees) != 10 {
		t.Errorf("%d sessions in %d trees", all, len(trees))
	}
}

func TestHome(t *testing.T) {
	h := newHome(t)
	h.fill()
	lib := h.library(func(o *sessions.Options) {
		o.Window = func(string, int) precis.Window { return precis.Window{Tokens: 1000} }
	})
	if _, err := lib.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	home := lib.Home()
	ctx := t.Context()
	var seen []string
	for cursor := ""; ; {
		page, err := conversation.List(ctx, home, conversation.ListQuery{Limit: 3, Cursor: cursor})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range page.Items {
			seen = append(seen, c.ID)
			if c.Client == "" || c.Percent <= 0 {
				t.Errorf("listed %+v", c)
			}
		}
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	if want := ids(list(t, lib, sessions.Filter{})); !slices.Equal(seen, want) {
		t.Errorf("paged %v, want %v", seen, want)
	}
	if n, known, err := conversation.Count(ctx, home); err != nil || !known || n != len(seen) {
		t.Errorf("counted %d, %v, want %d: %v", n, known, len(seen), err)
	}
	if _, err := conversation.List(ctx, home, conversation.ListQuery{Cursor: "-1"}); precis.CodeOf(err) != precis.CodeInvalid {
		t.Errorf("a wrong cursor: %v", err)
	}
	d, err := conversation.Status(ctx, home, "aaaaaaaa")
	if err != nil || d.ID != claudeA || d.Client != "claude-code" || d.Status.Messages != 4 {
		t.Errorf("status %+v, %v", d, err)
	}
	h.claude(claudeA, "one", "two", "three") // while it is open
	if m, err := conversation.Messages(ctx, home, claudeA, conversation.MessageQuery{}); err != nil || m.Total != 6 {
		t.Errorf("after a change: %d messages, %v", m.Total, err)
	}
	if _, err := conversation.Pin(ctx, home, claudeA, precis.MessageHandle(0)); precis.CodeOf(err) != precis.CodeInvalid {
		t.Errorf("an edit: %v", err)
	}
	if f, err := conversation.FamilyOf(ctx, home, claudeA); err != nil || f.Parent != nil || len(f.Children) != 2 || f.Children[0].ID != "dddddddd-3333" {
		t.Errorf("family %+v, %v", f, err)
	}
	if f, err := conversation.FamilyOf(ctx, home, "@codex"); err != nil || f.Parent == nil || f.Parent.ID != claudeA || len(f.Children) != 0 {
		t.Errorf("family %+v, %v", f, err)
	}
	if f, err := conversation.FamilyOf(ctx, home, "@roo"); err != nil || f.Parent != nil { // its parent is not here
		t.Errorf("family %+v, %v", f, err)
	}
	if found, err := conversation.Search(ctx, home, conversation.SearchOptions{Text: "barrels"}); err != nil || len(found.Items) != 1 || found.Items[0].Handle.String() != "m0" {
		t.Errorf("found %+v, %v", found, err)
	}
	if _, err := conversation.Status(ctx, home, "nobody"); precis.CodeOf(err) != precis.CodeNotFound {
		t.Errorf("nobody: %v", err)
	}
}

func TestCanceled(t *testing.T) {
	h := newHome(t)
	h.fill()
	ctx, cancel := context.WithCancel(t.Context())
	lib := h.library(func(o *sessions.Options) { o.Workers, o.Progress = 1, func(int, int) { cancel() } })
	if _, err := lib.Refresh(ctx); precis.CodeOf(err) != precis.CodeCanceled {
		t.Errorf("refresh: %v", err)
	}
	if _, err := lib.Refresh(t.Context()); err != nil {
		t.Error(err)
	}
	if n, err := lib.Count(t.Context(), sessions.Filter{}); err != nil || n != 10 {
		t.Errorf("%d sessions, %v", n, err)
	}
}

// Every recording is found by its shape and counted as its reader counts.
func TestRecordings(t *testing.T) {
	root := os.Getenv("PRECIS_TRANSCRIPTS")
	if root == "" {
		t.Skip("PRECIS_TRANSCRIPTS names no recordings")
	}
	root = must(filepath.EvalSymlinks(root))
	h := newHome(t)
	lib := h.library(func(o *sessions.Options) { o.Places = []sessions.Place{{Root: root, Given: true}} })
	if _, err := lib.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	byPath := map[string]*sessions.Session{}
	for _, s := range list(t, lib, sessions.Filter{}) {
		byPath[s.Path] = s
	}
	names := map[string]string{"openai-chat": "tau-bench"}
	found := 0
	err := filepath.WalkDir(root, func(path string, e os.DirEntry, err error) error {
		base := filepath.Base(path)
		if err != nil || e.IsDir() || strings.HasSuffix(base, "S.md") || slices.Contains([]string{"ui_messages.json", "task_metadata.json", "history_item.json"}, base) {
			return err
		}
		f, err := recording.Open(path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			return nil
		}
		if base == "api_conversation_history.json" {
			path = filepath.Dir(path)
		}
		s := byPath[path]
		if s == nil {
			t.Errorf("%s is not found", path)
			return nil
		}
		found++
		agent := strings.Split(strings.TrimPrefix(path, root+"/"), "/")[0]
		if n := names[agent]; n != "" {
			agent = n
		}
		if strings.HasSuffix(base, ".gz") { // messages alone: the folder does not name the agent
			agent = s.Agent
		}
		if s.Agent != agent || s.Messages != f.Conversation.Transcript.Len() {
			t.Errorf("%s: %d messages of %s, want %d of %s", path, s.Messages, s.Agent, f.Conversation.Transcript.Len(), agent)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found != len(byPath) || found == 0 {
		t.Errorf("%d recordings, %d sessions", found, len(byPath))
	}
}

// The recording of a session is found by the ID that its program names it by.
func TestFileOf(t *testing.T) {
	dir := t.TempDir()
	put := func(path string) string {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("{}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const id = "11111111-1111-4111-8111-111111111111"
	old := put(".claude/projects/-w-old/" + id + ".jsonl")
	claude := put(".claude/projects/-w-p/" + id + ".jsonl")
	put(".claude/projects/-w-p/" + id + "/subagents/agent-" + id + ".jsonl")
	codex := put(".codex/sessions/2026/01/02/rollout-2026-01-02T03-04-05-" + id + ".jsonl")
	before := time.Now().Add(-time.Hour)
	if err := os.Chtimes(old, before, before); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ agent, id, want string }{
		{"claude-code", id, claude}, {"codex", id, codex}, {"claude-code", "22222222-1111", ""}, {"gemini", id, ""},
		{"claude-code", "../../../etc/passwd", ""}, {"claude-code", "", ""}, {"codex", "-", ""}, {"codex", "*", ""},
	} {
		if got := sessions.FileOf(sessions.Environment{Home: dir}, tt.agent, tt.id); got != tt.want {
			t.Errorf("%s of %s: %q, want %q", tt.id, tt.agent, got, tt.want)
		}
	}
}
