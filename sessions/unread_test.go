package sessions_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"database/sql"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/sample"
	"github.com/precis-dev/precis/sessions"
	"github.com/precis-dev/precis/store"
)

// badHome is a home with one session and something that cannot be read.
type badHome struct {
	make func(h *home, dir string) error // dir is a folder of projects of Claude Code
	why  sessions.Reason
	text string // part of what is said
}

const ends = `{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"big","message":{"role":"user","content":"%s"}}` + "\n"

func zip(data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(data)
	_ = w.Close()
	return b.Bytes()
}

func zst(data []byte) []byte {
	e, _ := zstd.NewWriter(nil)
	return e.EncodeAll(data, nil)
}

// into returns what writes a file.
func into(name string, data []byte) func(*home, string) error {
	return func(_ *home, dir string) error { return os.WriteFile(filepath.Join(dir, name), data, 0o600) }
}

// inDatabase returns what makes a database of opencode with some statements.
func inDatabase(queries ...string) func(*home, string) error {
	return func(h *home, _ string) error {
		path := h.path(".local", "share", "opencode", "opencode.db")
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		db, err := sql.Open("sqlite", path)
		for _, q := range queries {
			if err == nil {
				_, err = db.Exec(q)
			}
		}
		if err == nil {
			err = db.Close()
		}
		return err
	}
}

func badHomes(t *testing.T) map[string]badHome {
	link := func(to string) func(*home, string) error {
		return func(_ *home, dir string) error { return os.Symlink(to, filepath.Join(dir, "link.jsonl")) }
	}
	outside := t.TempDir()
	homes := map[string]badHome{
		"a foreign format":     {into("f.jsonl", []byte(`{"type":"init","session_id":"s","model":"m"}`+"\n")), sessions.ByFormat, "Gemini"},
		"an unknown format":    {into("f.jsonl", []byte(`{"a":1}`+"\n")), sessions.ByFormat, "no known format"},
		"a binary file":        {into("f.jsonl", []byte("\x7fELF\x00\x01\x02\xff")), sessions.ByFormat, "no JSON"},
		"UTF-16":               {into("f.jsonl", wide(fmt.Sprintf(ends, "hi"))), sessions.ByFormat, "UTF-16"},
		"an empty file":        {into("f.jsonl", nil), sessions.Empty, "empty"},
		"blank lines":          {into("f.jsonl", []byte("\n \n")), sessions.Empty, "empty"},
		"no message":           {into("f.jsonl", []byte(`{"type":"summary","summary":"Lamp","leafUuid":"u","sessionId":"s","uuid":"v"}`+"\n")), sessions.Empty, "no messages"},
		"zstd, cut off":        {into("f.jsonl", zst([]byte(strings.Repeat(fmt.Sprintf(ends, "a wick"), 99)))[:60]), sessions.Damaged, "damaged"},
		"a bomb of zstd":       {into("f.jsonl", zst(make([]byte, 64<<20))), sessions.TooLarge, "too much"},
		"a bomb of gzip":       {into("f.jsonl", zip(make([]byte, 64<<20))), sessions.TooLarge, "too much"},
		"a link to nowhere":    {link("/no/such/file.jsonl"), sessions.BrokenLink, "leads to no file"},
		"a link to itself":     {link("link.jsonl"), sessions.BrokenLink, "leads to no file"},
		"a link out of home":   {link(outside), sessions.LinkOut, "out of your home"},
		"a folder":             {func(_ *home, dir string) error { return os.Mkdir(filepath.Join(dir, "f.jsonl"), 0o755) }, sessions.NoFile, "a folder"},
		"a link to a device":   {link(os.DevNull), sessions.LinkOut, "out of your home"},
		"tables of no program": {inDatabase(`CREATE TABLE lamps (id text)`), sessions.Damaged, "no tables"},
		"other columns":        {inDatabase(`CREATE TABLE session (id text)`, `CREATE TABLE message (id text)`), sessions.Damaged, "no such column"},
		"folders in one another": {func(_ *home, dir string) error {
			return os.MkdirAll(filepath.Join(dir, strings.Repeat("d/", 40)), 0o755)
		}, sessions.TooDeep, "too deep"},
		"a sparse file": {func(_ *home, dir string) error {
			if err := into("f.jsonl", []byte("{"))(nil, dir); err != nil {
				return err
			}
			return os.Truncate(filepath.Join(dir, "f.jsonl"), 10<<30)
		}, sessions.TooLarge, "more than"},
		"a socket": {func(h *home, dir string) error {
			l, err := net.Listen("unix", filepath.Join(dir, "f.jsonl"))
			if err == nil {
				h.t.Cleanup(func() { _ = l.Close() })
			}
			return err
		}, sessions.NoFile, "a socket"},
	}
	homes["a corrupt database"] = badHome{func(h *home, _ string) error {
		h.write(".local/share/opencode/opencode.db", "no database at all, but as long as its head would be: "+strings.Repeat("x", 100))
		return nil
	}, sessions.Damaged, "database"}
	return homes
}

// Whatever cannot be read is named with its reason, once, and the session beside it is read. Nothing waits for it.
func TestNothingIsPassedOverInSilence(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links and sockets")
	}
	for name, bad := range badHomes(t) {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			h.claude(claudeA, "open")
			if err := bad.make(h, h.path(".claude", "projects", "-work-shop")); err != nil {
				t.Skip(err)
			}
			lib := h.library()
			for range 2 { // the second time from the index
				if _, err := lib.Refresh(t.Context()); err != nil {
					t.Fatal(err)
				}
				unread, err := lib.Unread(t.Context())
				if err != nil || len(unread) != 1 || unread[0].Why != bad.why || !strings.Contains(unread[0].Text, bad.text) || strings.Contains(unread[0].Text, h.dir) {
					t.Fatalf("%+v, %v", unread, err)
				}
				if _, err := lib.Find(t.Context(), claudeA); err != nil {
					t.Error(err)
				}
			}
			var faults []string
			if err := lib.Check(t.Context(), sessions.Filter{}, func(f sessions.Fault) { faults = append(faults, f.Text) }); err != nil || !strings.Contains(strings.Join(faults, "\n"), bad.text) {
				t.Errorf("check: %q, %v", faults, err)
			}
			if hits, err := lib.Search(t.Context(), store.SearchQuery{Text: "open"}); err != nil || len(hits) == 0 {
				t.Errorf("search: %v, %v", hits, err)
			}
		})
	}
}

// A large line is read; so is each of many files in one folder.
func TestLargeLinesAndFolders(t *testing.T) {
	h := newHome(t)
	h.write(".claude/projects/p/long.jsonl", `{"type":"queue-operation","operation":"enqueue"}`+"\n"+fmt.Sprintf(ends, strings.Repeat("wick ", sample.Of(1<<18, 1<<21, 1<<25))))
	n := sample.Of(200, 2000, 100_000)
	for i := range n {
		h.write(fmt.Sprintf(".claude/projects/p/%d.jsonl", i), "{}\n")
	}
	lib := h.library()
	if got, err := lib.Refresh(t.Context()); err != nil || got.Read != n+1 {
		t.Errorf("%+v, %v", got, err)
	}
	if unread, err := lib.Unread(t.Context()); err != nil || len(unread) != n {
		t.Errorf("%d not read, %v, the last %+v", len(unread), err, unread[len(unread)-1])
	}
	if s, err := lib.Find(t.Context(), "big"); err != nil || s.State != sessions.Interrupted {
		t.Errorf("%+v, %v", s, err)
	}
}

// What may not be read is named, and read as soon as it may be, though its time did not change.
func TestPermissionIsAskedForAgain(t *testing.T) {
	h := newHome(t)
	h.claude(claudeA, "open")
	file := h.path(".claude", "projects", "-work-shop", claudeA+".jsonl")
	if err := os.Chmod(file, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := os.ReadFile(file); err == nil {
		t.Skip("this user reads every file")
	}
	lib := h.library()
	refresh(t, lib, sessions.Refreshed{Read: 1})
	if unread, err := lib.Unread(t.Context()); err != nil || len(unread) != 1 || unread[0].Why != sessions.Forbidden {
		t.Errorf("%+v, %v", unread, err)
	}
	if err := os.Chmod(file, 0o600); err != nil {
		t.Fatal(err)
	}
	refresh(t, lib, sessions.Refreshed{Sessions: 1, Read: 1})
	if unread, err := lib.Unread(t.Context()); err != nil || len(unread) != 0 {
		t.Errorf("%+v, %v", unread, err)
	}
}

// A database that another program has locked is read all the same or named; nothing waits for long.
func TestLockedDatabase(t *testing.T) {
	h := newHome(t)
	h.opencode()
	db, err := sql.Open("sqlite", h.path(".local", "share", "opencode", "opencode.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	conn, err := db.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(t.Context(), "BEGIN EXCLUSIVE"); err != nil {
		t.Fatal(err)
	}
	lib := h.library()
	if _, err := lib.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	unread, err := lib.Unread(t.Context())
	if found := list(t, lib, sessions.Filter{}); err != nil || len(found)+len(unread) == 0 || slices.ContainsFunc(unread, func(u sessions.Unread) bool { return u.Why != sessions.Busy }) {
		t.Errorf("%v, %+v, %v", ids(found), unread, err)
	}
}

// Kilo has opencode's tables in a database of its own, OpenClaw lines of pi in files and in a database.
func TestRelatives(t *testing.T) {
	h := newHome(t)
	h.opencode()
	if err := os.Rename(h.path(".local", "share", "opencode"), h.path(".local", "share", "kilo")); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(h.path(".local", "share", "kilo", "opencode.db"), h.path(".local", "share", "kilo", "kilo.db")); err != nil {
		t.Fatal(err)
	}
	claw := func(id, text string) []string {
		return []string{`{"type":"session","version":3,"id":"` + id + `","timestamp":"2026-03-07T10:00:00Z","cwd":"/src/bell"}`,
			`{"type":"message","id":"e1","parentId":null,"timestamp":"2026-03-07T10:00:01Z","message":{"role":"user","content":"` + text + `"}}`}
	}
	h.write(".openclaw/agents/main/sessions/claw-1.jsonl", strings.Join(claw("claw-1111", "Ring the bell"), "\n")+"\n")
	h.write(".openclaw/agents/main/sessions/claw-2.jsonl.reset.2026-03-07", strings.Join(claw("claw-2222", "Before the reset"), "\n")+"\n")
	h.write(".openclaw/agents/main/sessions/sessions.json", `{"agent:main:main":{"sessionId":"claw-1111"}}`)
	path := h.path(".openclaw", "agents", "main", "agent", "openclaw-agent.sqlite")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	lines := claw("claw-3333", "Polish it")
	for _, q := range []string{
		`CREATE TABLE session_windows (session_id text PRIMARY KEY, session_key text, updated_at integer)`,
		`CREATE TABLE transcript_events (session_id text, seq integer, event_json text, created_at integer)`,
		`INSERT INTO session_windows VALUES ('claw-3333', 'agent:main:main', 1772964000000), ('claw-none', 'x', 1)`,
		`INSERT INTO transcript_events VALUES ('claw-3333', 1, '` + lines[1] + `', 2), ('claw-3333', 0, '` + lines[0] + `', 1)`,
	} {
		if _, err := db.Exec(q); err != nil {
			t.Fatal(err)
		}
	}
	lib := h.library()
	refresh(t, lib, sessions.Refreshed{Sessions: 4, Read: 4})
	for id, agent := range map[string]string{"ses_8888": "kilo", "claw-1111": "openclaw", "claw-2222": "openclaw", "claw-3333": "openclaw"} {
		s, err := lib.Find(t.Context(), id)
		if err != nil || s.Agent != agent || s.Messages == 0 || s.Project == "" {
			t.Errorf("%s: %+v, %v", id, s, err)
		}
	}
	if unread, err := lib.Unread(t.Context()); err != nil || len(unread) != 0 {
		t.Errorf("%+v, %v", unread, err)
	}
	given := h.library(func(o *sessions.Options) {
		o.Places, o.Index = []sessions.Place{{Root: path, Given: true}, {Root: h.path(".local", "share", "kilo"), Given: true}}, ""
	})
	refresh(t, given, sessions.Refreshed{Sessions: 2, Read: 2})
	if got := ids(list(t, given, sessions.Filter{})); len(got) != 2 {
		t.Errorf("listed %v", got)
	}
	if _, err := given.Find(t.Context(), "claw-9999"); precis.CodeOf(err) != precis.CodeNotFound {
		t.Error(err)
	}
}
