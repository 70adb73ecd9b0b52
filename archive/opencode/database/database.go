// Package database answers what sessions are in the SQLite files of opencode, Kilo and OpenClaw. It
// returns each session in the program's export format: as the document of "opencode export" for
// archive/opencode, or as JSON lines of pi for archive/pi. It never writes to a file. Start with
// [Sessions]; a session is named PATH#ID.
package database

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the driver

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
)

// Session is a session in a file.
type Session struct {
	Name     string // PATH#ID
	Modified time.Time
	Size     int64 // approximate bytes of its parts
}

// programs are the names of database files by program.
var programs = []struct{ agent, begin, end string }{
	{"opencode", "opencode", ".db"}, {"kilo", "kilo", ".db"}, {"openclaw", "openclaw-agent", ".sqlite"},
}

// ProgramOf returns the program that names its database files like path; "" for other files.
func ProgramOf(path string) string {
	base := filepath.Base(path)
	for _, p := range programs {
		if strings.HasPrefix(base, p.begin) && strings.HasSuffix(base, p.end) {
			return p.agent
		}
	}
	return ""
}

// Split splits PATH#ID; ok is false for other names.
func Split(name string) (path, id string, ok bool) {
	for i := strings.IndexByte(name, '#'); i >= 0; {
		if path, id = name[:i], name[i+1:]; ProgramOf(path) != "" {
			return path, id, id != ""
		}
		next := strings.IndexByte(id, '#')
		if next < 0 {
			break
		}
		i += 1 + next
	}
	return "", "", false
}

// open opens a file for reading, including pages that another program has written only to the WAL
// file.
func open(ctx context.Context, path string) (*sql.DB, error) {
	name := (&url.URL{Scheme: "file",
		Opaque: (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath()}).String()
	var err error
	for _, way := range []string{"?mode=ro&_pragma=query_only(1)&_pragma=busy_timeout(2000)",
		"?mode=ro&immutable=1"} {
		// the second for read-only folders
		var db *sql.DB
		if db, err = sql.Open("sqlite", name+way); err != nil {
			return nil, failed(path, err)
		}
		if err = db.PingContext(ctx); err == nil {
			var in []generation
			if in, err = generationsIn(ctx, db); err == nil && len(in) > 0 {
				return db, nil
			} else if err == nil {
				err = errors.New("it holds no tables of sessions that precis knows")
			}
		}
		_ = db.Close()
	}
	return nil, failed(path, err)
}

func failed(path string, err error) error {
	return &precis.Error{Code: precis.CodeInvalid, Op: "read", Place: path, Err: err}
}

// Sessions lists the sessions of a file, the one changed last first. The error is
// [precis.CodeInvalid] without tables of a known program.
func Sessions(ctx context.Context, path string) ([]Session, error) {
	db, err := open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	in, err := generationsIn(ctx, db)
	var out []Session
	for _, g := range in {
		if err == nil {
			out, err = g.list(ctx, db, path, out)
		}
	}
	if err != nil {
		return nil, failed(path, err)
	}
	slices.SortStableFunc(out, func(a, b Session) int { return b.Modified.Compare(a.Modified) })
	return out, nil
}

// generation names the tables of one version of a program. Version 2 of opencode leaves the tables
// of version 1 unchanged and uses others; Kilo has the tables of version 1.
type generation struct {
	sessions, messages string
	// columns: time of the last change in milliseconds; JSON of a message
	newest, content string
	// column of the session's ID in sessions
	id string
	// writes the whole session
	write func(ctx context.Context, db *sql.DB, out *bytes.Buffer, id string) error
}

var generations = []generation{
	{"session_v2", "session_message", "time_updated", "data", "id", document("session_v2", writeMessages2)},
	{"session", "message", "time_updated", "data", "id", document("session", writeMessages)},
	{"session_windows", "transcript_events", "updated_at", "event_json", "session_id", writeEvents},
}

// generationsIn returns the generations with tables in a file, newest first.
func generationsIn(ctx context.Context, db *sql.DB) (out []generation, err error) {
	for _, g := range generations {
		var n int
		err := db.QueryRowContext(ctx,
			`SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name IN (?, ?)`, g.sessions,
			g.messages).Scan(&n)
		if err != nil {
			return nil, err
		}
		if n == 2 {
			out = append(out, g)
		}
	}
	return out, nil
}

// list appends the sessions that have messages and are not in out yet.
func (g generation) list(ctx context.Context, db *sql.DB, path string, out []Session) ([]Session, error) {
	rows, err := db.QueryContext(ctx,
		fmt.Sprintf(`SELECT s.%[1]s, s.%[2]s, sum(length(m.%[3]s)) FROM %[4]s s JOIN %[5]s m ON m.session_id = s.%[1]s GROUP BY s.%[1]s`,
			g.id, g.newest, g.content, g.sessions, g.messages))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var e Session
		var id string
		var ms int64
		if err := rows.Scan(&id, &ms, &e.Size); err != nil {
			return nil, err
		}
		e.Name, e.Modified = path+"#"+id, time.UnixMilli(ms)
		if !slices.ContainsFunc(out, func(o Session) bool { return o.Name == e.Name }) {
			out = append(out, e)
		}
	}
	return out, rows.Err()
}

// Answer is the model and size of one answer.
type Answer struct {
	Model  string
	Tokens int // of the request and the answer
}

// Spending is the newest answers of a session, oldest first, and the cost of all answers.
type Spending struct {
	Session string // its ID
	Answers []Answer
	CostUSD float64
}

// ReadSpending returns the newest finished answers of a session, at most answers, without those before the
// newest summary, since their size does not predict the next request. The cost includes all
// answers. With an empty id, the session is the one of the folder that changed last and is not a
// sub-agent's. The error is [precis.CodeNotFound] if there is no such session.
func ReadSpending(ctx context.Context, path, id, folder string, answers int) (out Spending, err error) {
	db, err := open(ctx, path)
	if err != nil {
		return out, err
	}
	defer db.Close()
	err = db.QueryRowContext(ctx,
		`SELECT id FROM session WHERE id = ?1 OR ?1 = '' AND directory = ?2 AND coalesce(parent_id, '') = '' ORDER BY time_updated DESC LIMIT 1`, id, folder).Scan(&out.Session)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return out, &precis.Error{Code: precis.CodeNotFound, Op: "open", Place: path,
			Err: fmt.Errorf("there is no session %.80q of %.200q", id, folder)}
	case err != nil:
		return out, failed(path, err)
	}
	id = out.Session
	const assistant = `json_valid(data) AND json_extract(data, '$.role') = 'assistant'`
	err = db.QueryRowContext(ctx,
		`SELECT coalesce(sum(json_extract(data, '$.cost')), 0) FROM message WHERE session_id = ? AND `+
			assistant, id).Scan(&out.CostUSD)
	if err != nil {
		return out, failed(path, err)
	}
	rows, err := db.QueryContext(ctx,
		`SELECT data FROM message WHERE session_id = ? AND `+assistant+` ORDER BY id DESC LIMIT ?`, id,
		answers)
	if err != nil {
		return out, failed(path, err)
	}
	defer rows.Close()
	for rows.Next() {
		var data []byte
		var m struct {
			Model   string `json:"modelID"`
			Summary bool   `json:"summary"`
			Tokens  struct {
				Input     int `json:"input"`
				Output    int `json:"output"`
				Reasoning int `json:"reasoning"`
				Cache     struct {
					Read  int `json:"read"`
					Write int `json:"write"`
				} `json:"cache"`
			} `json:"tokens"`
		}
		if err := rows.Scan(&data); err != nil {
			return out, failed(path, err)
		}
		if json.Unmarshal(data, &m) != nil {
			continue // an unknown format
		}
		if m.Summary {
			break
		}
		t := m.Tokens
		if n := t.Input + t.Output + t.Reasoning + t.Cache.Read + t.Cache.Write; n > 0 {
			out.Answers = append(out.Answers, Answer{m.Model, n})
		}
	}
	slices.Reverse(out.Answers)
	if err := rows.Err(); err != nil {
		return out, failed(path, err)
	}
	return out, nil
}

// Load returns a session named PATH#ID in the program's export format. The error is
// [precis.CodeNotFound] if the file has no such session.
func Load(ctx context.Context, name string) (archive.Source, error) {
	path, id, ok := Split(name)
	if !ok {
		return archive.Source{}, failed(name, errors.New("it names no session of a database"))
	}
	db, err := open(ctx, path)
	if err != nil {
		return archive.Source{}, err
	}
	defer db.Close()
	in, err := generationsIn(ctx, db)
	if err != nil {
		return archive.Source{}, failed(name, err)
	}
	for _, g := range in {
		var out bytes.Buffer
		err := g.write(ctx, db, &out, id)
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		if err != nil {
			return archive.Source{}, failed(name, err)
		}
		return archive.Source{Path: name, Data: out.Bytes()}, nil
	}
	return archive.Source{}, &precis.Error{Code: precis.CodeNotFound, Op: "open", Place: path,
		Err: fmt.Errorf("there is no session %.80q", id)}
}

// document returns a function that writes a session in opencode's export format: its data and
// messages.
func document(sessions string,
	messages func(context.Context, *sql.DB, *bytes.Buffer, string) error) func(context.Context, *sql.DB,
	*bytes.Buffer, string) error {
	return func(ctx context.Context, db *sql.DB, out *bytes.Buffer, id string) error {
		var parent, directory, title sql.NullString
		var created, updated int64
		err := db.QueryRowContext(ctx,
			`SELECT parent_id, directory, title, time_created, time_updated FROM `+sessions+` WHERE id = ?`,
			id).
			Scan(&parent, &directory, &title, &created, &updated)
		if err != nil {
			return err
		}
		info, err := json.Marshal(map[string]any{
			"id": id, "parentID": parent.String, "directory": directory.String, "title": title.String,
			"time": map[string]int64{"created": created, "updated": updated},
		})
		if err != nil {
			return err
		}
		fmt.Fprintf(out, `{"info":%s,"messages":[`, info)
		if err := messages(ctx, db, out, id); err != nil {
			return err
		}
		out.WriteString("]}")
		return nil
	}
}

// writeEvents writes the events of OpenClaw. Each is a line in pi's format.
func writeEvents(ctx context.Context, db *sql.DB, out *bytes.Buffer, id string) error {
	rows, err := db.QueryContext(ctx,
		`SELECT event_json FROM transcript_events WHERE session_id = ? ORDER BY seq`, id)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var event []byte
		if err := rows.Scan(&event); err != nil {
			return err
		}
		out.Write(bytes.ReplaceAll(event, []byte("\n"), []byte(" ")))
		out.WriteByte('\n')
		if out.Len() > archive.MaxBytes {
			return archive.ErrTooLarge
		}
	}
	if rows.Err() == nil && out.Len() == 0 {
		return sql.ErrNoRows
	}
	return rows.Err()
}

// writeMessages writes the messages with their parts, both by ID and so by time.
func writeMessages(ctx context.Context, db *sql.DB, out *bytes.Buffer, id string) error {
	parts, err := partsOf(ctx, db, id)
	if err != nil {
		return err
	}
	rows, err := db.QueryContext(ctx, `SELECT id, data FROM message WHERE session_id = ? ORDER BY id`, id)
	if err != nil {
		return err
	}
	defer rows.Close()
	for first := true; rows.Next(); first = false {
		var message string
		var data []byte
		if err := rows.Scan(&message, &data); err != nil {
			return err
		}
		if !json.Valid(data) {
			return fmt.Errorf("message %s is no JSON", message)
		}
		if !first {
			out.WriteByte(',')
		}
		fmt.Fprintf(out, `{"info":%s,"parts":[%s]}`, withID(data, message),
			bytes.Join(parts[message], []byte{','}))
		if out.Len() > archive.MaxBytes {
			return archive.ErrTooLarge
		}
	}
	return rows.Err()
}

// message2 is the content of a message in version 2: a user's text, or the parts of the model.
type message2 struct {
	Text  string `json:"text"`
	Model struct {
		ID       string `json:"id"`
		Provider string `json:"providerID"`
	} `json:"model"`
	Content []struct {
		Type  string          `json:"type"`
		Text  string          `json:"text"`
		ID    string          `json:"id"`   // ID of a call
		Name  string          `json:"name"` // name of its tool
		State json.RawMessage `json:"state"`
	} `json:"content"`
}

// writeMessages2 writes the messages of version 2 in the export format of version 1. It leaves out
// messages that are not sent to a model.
func writeMessages2(ctx context.Context, db *sql.DB, out *bytes.Buffer, id string) error {
	rows, err := db.QueryContext(ctx,
		`SELECT id, type, time_created, data FROM session_message WHERE session_id = ? AND type IN ('user', 'assistant') ORDER BY seq`, id)
	if err != nil {
		return err
	}
	defer rows.Close()
	for first := true; rows.Next(); first = false {
		var name, role string
		var created int64
		var data []byte
		if err := rows.Scan(&name, &role, &created, &data); err != nil {
			return err
		}
		var m message2
		if err := json.Unmarshal(data, &m); err != nil {
			return fmt.Errorf("message %s: %w", name, err)
		}
		parts := []map[string]any{} // encodes as [], not null
		if m.Text != "" {
			parts = append(parts, map[string]any{"type": "text", "text": m.Text})
		}
		for _, p := range m.Content {
			part := map[string]any{"type": p.Type, "text": p.Text}
			if p.Type == "tool" {
				part = map[string]any{"type": p.Type, "callID": p.ID, "tool": p.Name, "state": p.State}
			}
			parts = append(parts, part)
		}
		info := map[string]any{"id": name, "role": role, "modelID": m.Model.ID,
			"providerID": m.Model.Provider, "time": map[string]int64{"created": created}}
		line, err := json.Marshal(map[string]any{"info": info, "parts": parts})
		if err != nil {
			return err
		}
		if !first {
			out.WriteByte(',')
		}
		if out.Write(line); out.Len() > archive.MaxBytes {
			return archive.ErrTooLarge
		}
	}
	return rows.Err()
}

// partsOf returns the parts of a session by message.
func partsOf(ctx context.Context, db *sql.DB, id string) (map[string][][]byte, error) {
	rows, err := db.QueryContext(ctx,
		`SELECT id, message_id, data FROM part WHERE session_id = ? ORDER BY id`, id)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := map[string][][]byte{}
	for rows.Next() {
		var part, message string
		var data []byte
		if err := rows.Scan(&part, &message, &data); err != nil {
			return nil, err
		}
		if !json.Valid(data) {
			return nil, fmt.Errorf("part %s is no JSON", part)
		}
		out[message] = append(out[message], withID(data, part))
	}
	return out, rows.Err()
}

// withID adds the ID, a separate column, to an object.
func withID(data []byte, id string) []byte {
	data = bytes.TrimSpace(data)
	name, err := json.Marshal(id)
	if err != nil || len(data) < 2 || data[0] != '{' {
		return data
	}
	out := append([]byte(`{"id":`), name...)
	if rest := bytes.TrimSpace(data[1:]); len(rest) > 0 && rest[0] != '}' {
		out = append(out, ',')
	}
	return append(out, data[1:]...)
}
