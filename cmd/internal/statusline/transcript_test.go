package statusline_test

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // opencode's

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive/opencode/database"
	"github.com/precis-dev/precis/cmd/internal/console"
	"github.com/precis-dev/precis/cmd/internal/statusline"
)

func of(transcript string) statusline.Sources {
	return statusline.Sources{Transcript: transcript, Threshold: 75, Window: func(string) precis.Window { return precis.Window{Tokens: 100_000} }}
}

// Claude Code and pi write what each request used into their transcripts.
func TestOfATranscript(t *testing.T) {
	for name, form := range map[string]string{
		"Claude Code": `{"type":"assistant","message":{"id":"m%d","model":"m","usage":{"input_tokens":%d,"output_tokens":10,"cache_read_input_tokens":5,"cache_creation_input_tokens":5}}}`,
		"pi":          `{"type":"message","id":"e%d","message":{"role":"assistant","model":"m","usage":{"input":%d,"output":10,"cacheRead":5,"cacheWrite":5,"totalTokens":1,"cost":{"total":1}}}}`,
		"an old pi":   `{"type":"message","n":%d,"message":{"role":"assistant","model":"m","usage":{"input":%d,"output":10,"cacheRead":5,"cacheWrite":5}}}`,
	} {
		var b strings.Builder
		b.WriteString(`{"type":"system","subtype":"compact_boundary","compactMetadata":{"trigger":"auto","preTokens":100000}}` + "\n" + `{"type":"compaction","tokensBefore":100000}` + "\n")
		b.WriteString(`{"type":"system","subtype":"compact_boundary","compactMetadata":{"trigger":"manual","preTokens":120000}}` + "\n")
		b.WriteString(`{"type":"message","message":{"role":"user","content":"the \"usage\" of it"}}` + "\nnot JSON \"usage\"\n")
		for i := range 5 {
			fmt.Fprintf(&b, form+"\n", i, 9_980+10_000*i)
		}
		path := filepath.Join(t.TempDir(), "s.jsonl")
		if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		s := statusline.Read(t.Context(), of(path))
		if got, want := s.Line(&console.Words{}), "50 % of 100,000, about 5 turns left"; got != want || s.Model != "m" {
			t.Errorf("%s: %s, model %s", name, got, s.Model)
		}
	}
}

func TestManyTurnsAreNotEstimated(t *testing.T) {
	s := statusline.Status{Tokens: 17_000, Window: 1_000_000, Percent: 1.7, TurnsLeft: 1_046}
	if got, want := s.Line(&console.Words{}), "1.7 % of 1,000,000, more than 100 turns left"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// opencode's database has that, and what it cost.
func TestOfOpencode(t *testing.T) {
	path := filepath.Join(t.TempDir(), "opencode.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	message := func(n, input int) string {
		return fmt.Sprintf(`INSERT INTO message VALUES ('msg_%d', 's1', '{"role":"assistant","modelID":"m","cost":0.01,"tokens":{"input":%d,"output":10,"reasoning":0,"cache":{"read":5,"write":5}}}')`, n, input)
	}
	for _, q := range []string{
		`CREATE TABLE session (id text, parent_id text, directory text, title text, time_created integer, time_updated integer)`,
		`CREATE TABLE message (id text, session_id text, data text)`,
		`INSERT INTO session VALUES ('s1', NULL, '/src', '', 1, 1)`,
		message(1, 9_980), message(2, 19_980), message(3, 29_980),
		`INSERT INTO message VALUES ('msg_4', 's1', '{"role":"assistant","cost":0,"tokens":{"input":0}}'), ('msg_5', 's1', '{"role":"user","cost":7}'), ('msg_6', 's1', '{broken'), ('msg_7', 's2', '{"role":"assistant","cost":9}')`,
	} {
		if _, err := db.Exec(q); err != nil {
			t.Fatal(err)
		}
	}
	from := of("")
	if from.Database, err = database.ReadSpending(t.Context(), path, "", "/src", statusline.MostRequests); err != nil {
		t.Fatal(err)
	}
	s := statusline.Read(t.Context(), from)
	if got, want := s.Line(&console.Words{}), "30 % of 100,000, $0.030"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
