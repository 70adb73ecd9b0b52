package database_test

import (
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/archive/opencode"
	"github.com/precis-dev/precis/archive/opencode/database"
)

// file writes a database with one session.
func file(t *testing.T, more ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a #1 folder", "opencode.db")
	if err := os.Mkdir(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, q := range append([]string{
		`CREATE TABLE session (id text PRIMARY KEY, parent_id text, directory text NOT NULL, title text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL)`,
		`CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, data text NOT NULL)`,
		`CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL, data text NOT NULL)`,
		`INSERT INTO session VALUES ('ses_1', 'ses_0', '/src/quay', 'Load "it"', 1000, 2000), ('ses_empty', NULL, '', 'New', 1, 9000)`,
		`INSERT INTO message VALUES ('msg_2', 'ses_1', ' {"role":"assistant","modelID":"m","time":{"created":2}}'), ('msg_1', 'ses_1', '{"role":"user","time":{"created":1}}')`,
		`INSERT INTO part VALUES ('prt_1', 'msg_1', 'ses_1', '{"type":"text","text":"Load"}'), ('prt_2', 'msg_2', 'ses_1', '{"type":"text","text":"Loaded."}')`,
	}, more...) {
		if _, err := db.Exec(q); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// Version 2 uses its own tables, next to the tables of version 1.
func TestTablesOfVersion2(t *testing.T) {
	path := file(t,
		`CREATE TABLE session_v2 (id text PRIMARY KEY, parent_id text, directory text, title text, time_created integer, time_updated integer)`,
		`CREATE TABLE session_message (id text PRIMARY KEY, session_id text, type text, seq integer, time_created integer, data text)`,
		`INSERT INTO session_v2 VALUES ('ses_2', NULL, '/src/quay', 'Load', 1000, 3000), ('ses_none', NULL, '/src/quay', 'Empty', 1000, 4000)`,
		`INSERT INTO session_message VALUES ('m2', 'ses_2', 'assistant', 1, 2, '{"model":{"id":"m","providerID":"p"},"content":[{"type":"reasoning","text":"hm"},{"type":"text","text":"Loading."},
			{"type":"tool","id":"call_1","name":"read","state":{"status":"completed","input":{"filePath":"quay.go"},"output":"package quay"}}]}'),
			('m1', 'ses_2', 'user', 0, 1, '{"text":"Load it."}'), ('m3', 'ses_2', 'agent-switched', 2, 3, '{"agent":"plan"}')`)
	entries, err := database.Sessions(t.Context(), path)
	if err != nil || len(entries) != 2 || entries[0].Name != path+"#ses_2" || entries[1].Name != path+"#ses_1" {
		t.Fatalf("%+v, %v", entries, err)
	}
	src, err := database.Load(t.Context(), entries[0].Name)
	if err != nil {
		t.Fatal(err)
	}
	r, err := archive.Read(src, []archive.Format{opencode.Format{}})
	if err != nil {
		t.Fatalf("%v: %s", err, src.Data)
	}
	said := ""
	for _, m := range r.Conversation.Transcript.Messages() {
		for _, b := range m.Content {
			switch b := b.(type) {
			case precis.Text:
				said += b.Text + " "
			case precis.ToolUse:
				said += b.Name + string(b.Input) + " "
			case precis.ToolResult:
				said += b.Text() + " "
			}
		}
	}
	if want := `Load it. Loading. read{"filePath":"quay.go"} package quay `; said != want || r.Conversation.Model != "m" {
		t.Errorf("%q by %s, want %q", said, r.Conversation.Model, want)
	}
	if _, err := database.Load(t.Context(), path+"#ses_9"); precis.CodeOf(err) != precis.CodeNotFound {
		t.Errorf("a session that is not there: %v", err)
	}
}

func TestSessionsAreListedAndRead(t *testing.T) {
	path := file(t)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := database.Sessions(t.Context(), path)
	if err != nil || len(entries) != 1 || entries[0].Name != path+"#ses_1" || !entries[0].Modified.Equal(time.UnixMilli(2000)) || entries[0].Size == 0 {
		t.Fatalf("%+v, %v", entries, err)
	}
	src, err := database.Load(t.Context(), entries[0].Name)
	if err != nil || !json.Valid(src.Data) {
		t.Fatalf("%s, %v", src.Data, err)
	}
	r, err := archive.Read(src, []archive.Format{opencode.Format{}})
	if err != nil {
		t.Fatal(err)
	}
	if c := r.Conversation; c.ID != "ses_1" || c.Title != `Load "it"` || c.Transcript.Len() != 2 || c.Transcript.At(0).ID != "msg_1" || r.Origin.Parent != "ses_0" || r.Origin.Project != "/src/quay" {
		t.Errorf("%+v of %+v", c, r.Origin)
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Error("the file was changed")
	}
}

func TestErrors(t *testing.T) {
	path := file(t, `INSERT INTO session VALUES ('ses_2', NULL, '', '', 1, 1)`, `INSERT INTO message VALUES ('msg_3', 'ses_2', '{broken')`)
	other := filepath.Join(t.TempDir(), "opencode.db")
	if err := os.WriteFile(other, []byte("no database"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, code := range map[string]precis.Code{
		path + "#ses_9": precis.CodeNotFound, path + "#ses_2": precis.CodeInvalid, other + "#ses_1": precis.CodeInvalid,
		path: precis.CodeInvalid, path + "#": precis.CodeInvalid, filepath.Join(t.TempDir(), "opencode.db") + "#x": precis.CodeInvalid,
	} {
		if _, err := database.Load(t.Context(), name); precis.CodeOf(err) != code {
			t.Errorf("%s: %v, want %s", filepath.Base(name), err, code)
		}
	}
	if _, err := database.Sessions(t.Context(), other); precis.CodeOf(err) != precis.CodeInvalid {
		t.Errorf("no database: %v", err)
	}
}

func TestSplit(t *testing.T) {
	for name, want := range map[string]string{
		"/a/opencode.db#ses_1": "ses_1", "opencode-dev.db#x.y": "x.y", "/a/opencode.db": "", "/a/opencode.db#": "", "/a/other.db#ses_1": "", "/a #1/b.json": "",
	} {
		if _, id, ok := database.Split(name); ok != (want != "") || ok && id != want {
			t.Errorf("%s: %q, %v", name, id, ok)
		}
	}
}

func TestTheNewestOfAFolder(t *testing.T) {
	path := file(t, `INSERT INTO session VALUES ('ses_3', '', '/src/a b', '', 1, 5), ('ses_4', NULL, '/src/a b', '', 1, 6), ('ses_5', 'ses_4', '/src/a b', '', 1, 7)`)
	for _, c := range []struct {
		path, id, folder, want string
		code                   precis.Code
	}{
		{path, "", "/src/a b", "ses_4", ""}, {path, "ses_5", "/elsewhere", "ses_5", ""}, {path, "", "/src", "", precis.CodeNotFound}, {path, "nobody", "/src/a b", "", precis.CodeNotFound},
		{filepath.Join(t.TempDir(), "opencode.db"), "", "/src", "", precis.CodeInvalid},
	} {
		if got, err := database.ReadSpending(t.Context(), c.path, c.id, c.folder, 9); got.Session != c.want || precis.CodeOf(err) != c.code {
			t.Errorf("%q in %s: %+v, %v", c.id, c.folder, got, err)
		}
	}
}

func TestSpent(t *testing.T) {
	answer := `'{"role":"assistant","modelID":"m","cost":0.5,"tokens":{"input":1,"output":2,"reasoning":3,"cache":{"read":4,"write":5}}}'`
	path := file(t, `INSERT INTO message VALUES ('msg_3', 'ses_1', `+answer+`), ('msg_4', 'ses_1', `+strings.Replace(answer, `"m"`, `"n"`, 1)+`), ('msg_5', 'ses_1', '{"role":"assistant","tokens":"none"}')`)
	got, err := database.ReadSpending(t.Context(), path, "ses_1", "", 3)
	if err != nil || got.CostUSD != 1 || len(got.Answers) != 2 || got.Answers[0] != (database.Answer{Model: "m", Tokens: 15}) || got.Answers[1].Model != "n" {
		t.Errorf("%+v, %v", got, err)
	}
	path = file(t, `INSERT INTO message VALUES ('msg_3', 'ses_1', `+answer+`), ('msg_4', 'ses_1', '{"role":"assistant","summary":true,"cost":1,"tokens":{"input":9}}'), ('msg_5', 'ses_1', `+answer+`)`)
	if got, err := database.ReadSpending(t.Context(), path, "ses_1", "", 9); err != nil || got.CostUSD != 2 || len(got.Answers) != 1 {
		t.Errorf("behind a summary: %+v, %v", got, err)
	}
}
