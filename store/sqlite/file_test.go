package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/store/sqlite"
)

func open(t testing.TB, path string) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// raw opens a file behind the store's back.
func raw(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// with runs SQL on a file behind the store's back and returns the first value.
func with(t *testing.T, path, query string) string {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var v sql.NullString
	if err := db.QueryRow(query).Scan(&v); err != nil && !errors.Is(err, sql.ErrNoRows) {
		t.Fatalf("%s: %v", query, err)
	}
	return v.String
}

// wantError checks the code and that the file is named.
func wantError(t *testing.T, err error, code precis.Code, path string) {
	t.Helper()
	var e *precis.Error
	if !errors.As(err, &e) || e.Code != code || !strings.Contains(err.Error(), path) {
		t.Errorf("error %v (code %q), want code %q naming %s", err, precis.CodeOf(err), code, path)
	}
}

func TestFilesAreTheOwnersAlone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a dir with ?#%20&ü")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	s := open(t, filepath.Join(dir, "p?x=1#%41.db"))
	if _, err := s.Append(t.Context(), precis.Fingerprint{}, precis.NewText(precis.RoleUser, "x")); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 3 {
		t.Fatalf("files %v, %v, want the file, its log and the log's index", files, err)
	}
	for _, f := range files {
		info, err := f.Info()
		if err != nil || info.Mode() != 0o600 || !strings.HasPrefix(f.Name(), "p?x=1#%41.db") {
			t.Errorf("%s has mode %v, %v", f.Name(), info.Mode(), err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if files, _ := os.ReadDir(dir); len(files) != 1 {
		t.Errorf("after Close there are %v", files)
	}
}

func TestSettingsOfTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.db")
	open(t, path)
	for pragma, want := range map[string]string{"journal_mode": "wal", "user_version": "7", "application_id": "1886544755"} {
		if got := with(t, path, "PRAGMA "+pragma); got != want {
			t.Errorf("%s is %s, want %s", pragma, got, want)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	file := func(name string, data string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	garbage := file("garbage.db", strings.Repeat("this is no database at all. ", 400))
	short := file("short.db", "SQLite format 3\x00 and no more")
	other := filepath.Join(dir, "other.db")
	with(t, other, "CREATE TABLE cookies (id)")
	marked := filepath.Join(dir, "marked.db")
	with(t, marked, "PRAGMA application_id = 7")
	newer := filepath.Join(dir, "newer.db")
	open(t, newer).Close()
	with(t, newer, "PRAGMA user_version = 99")
	missing := filepath.Join(dir, "no", "such", "dir", "p.db")
	for _, c := range []struct {
		path string
		code precis.Code
		text string
	}{
		{garbage, precis.CodeInvalid, ""},
		{short, precis.CodeInvalid, ""},
		{other, precis.CodeInvalid, "another program"},
		{marked, precis.CodeInvalid, "another program"},
		{newer, precis.CodeInvalid, "schema version 99"},
		{missing, precis.CodeInternal, "no such file"},
		{dir, precis.CodeInternal, "is a directory"},
		{"", precis.CodeInvalid, ""},
		{":memory:", precis.CodeInvalid, ""},
	} {
		before, _ := os.ReadFile(c.path)
		s, err := sqlite.Open(t.Context(), c.path, sqlite.Options{})
		if s != nil {
			t.Errorf("%s was opened", c.path)
		}
		wantError(t, err, c.code, c.path)
		if err != nil && !strings.Contains(err.Error(), c.text) {
			t.Errorf("%v does not say %q", err, c.text)
		}
		if after, _ := os.ReadFile(c.path); c.path != newer && c.path != other && c.path != marked && string(before) != string(after) {
			t.Errorf("%s was changed", c.path)
		}
	}
	if got := with(t, other, "SELECT group_concat(name) FROM sqlite_schema"); got != "cookies" {
		t.Errorf("another program's file now has the tables %s", got)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.db")
	for field, o := range map[string]sqlite.Options{
		"Options.Readers": {Readers: -1}, "Options.BusyTimeout": {BusyTimeout: -time.Second},
	} {
		_, err := sqlite.Open(t.Context(), path, o)
		wantError(t, err, precis.CodeInvalid, field)
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := sqlite.Open(canceled, path, sqlite.Options{}); precis.CodeOf(err) != precis.CodeCanceled {
		t.Errorf("Open with an ended context: %v", err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a refused Open made the file")
	}
}

// TestDamage overwrites pages in the middle: whatever is read then, nothing
// panics and what fails names the file.
func TestDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.db")
	s := open(t, path)
	var at precis.Fingerprint
	for i := range 200 {
		var err error
		if at, err = s.Append(t.Context(), at, precis.NewText(precis.RoleUser, fmt.Sprint(i, strings.Repeat("x", 500)))); err != nil {
			t.Fatal(err)
		}
	}
	s.Close()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := 2 * 4096; i < len(data); i++ {
		data[i] ^= 0x5a
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err = sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		wantError(t, err, precis.CodeInternal, path)
		return
	}
	defer s.Close()
	_, _, err = s.Load(t.Context(), at)
	wantError(t, err, precis.CodeInternal, path)
	_, err = s.Append(t.Context(), precis.Fingerprint{}, precis.NewText(precis.RoleUser, "new"))
	wantError(t, err, precis.CodeInternal, path)
}

// TestStoredMessageIsDamaged: the file is sound, a row is not.
func TestStoredMessageIsDamaged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.db")
	s := open(t, path)
	node, err := s.Append(t.Context(), precis.Fingerprint{}, precis.NewText(precis.RoleUser, "secret words"), precis.NewText(precis.RoleUser, "more"))
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range []string{`DELETE FROM nodes WHERE depth = 1`, `UPDATE bodies SET data = CAST('{"role":"user","content":[{"type":"secret words"' AS BLOB)`, `UPDATE bodies SET data = NULL`} {
		with(t, path, change)
		_, _, err = s.Load(t.Context(), node)
		wantError(t, err, precis.CodeInternal, path)
		if strings.Contains(fmt.Sprint(err), "secret words") {
			t.Errorf("the error tells content: %v", err)
		}
	}
}

func TestBusy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.db")
	patient := open(t, path)
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{BusyTimeout: 20 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	other, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err := other.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	_, err = s.Append(t.Context(), precis.Fingerprint{}, precis.NewText(precis.RoleUser, "x"))
	wantError(t, err, precis.CodeInternal, path)
	impatient, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := patient.Append(impatient, precis.Fingerprint{}, precis.NewText(precis.RoleUser, "x")); precis.CodeOf(err) != precis.CodeCanceled {
		t.Errorf("a caller that did not wait: %v", err)
	}
	if _, _, err := s.Load(t.Context(), precis.Fingerprint{}); err != nil {
		t.Errorf("reading while another process writes: %v", err)
	}
	if _, err := other.ExecContext(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if _, err = s.Append(t.Context(), precis.Fingerprint{}, precis.NewText(precis.RoleUser, "x")); err != nil {
		t.Errorf("once the other process is done: %v", err)
	}
}

// TestTwoHandlesRace: of callers in two processes with the same knowledge one
// wins, and the others hear of a conflict, not of a lock.
func TestTwoHandlesRace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.db")
	handles := []*sqlite.Store{open(t, path), open(t, path)}
	node, err := handles[0].Append(t.Context(), precis.Fingerprint{}, precis.NewText(precis.RoleUser, "x"))
	if err != nil {
		t.Fatal(err)
	}
	after := ""
	for round := range 20 {
		var wg sync.WaitGroup
		var won atomic.Pointer[string]
		for i := range 8 {
			wg.Go(func() {
				id := fmt.Sprint("round ", round, " racer ", i)
				err := handles[i%2].AddEdit(t.Context(), after, precis.Edit{ID: id, Kind: precis.KindPin, At: node, Seen: 1})
				switch {
				case err == nil && !won.CompareAndSwap(nil, &id):
					t.Errorf("%s won as well", id)
				case err != nil && precis.CodeOf(err) != precis.CodeConflict:
					t.Errorf("%s: %v", id, err)
				}
			})
		}
		wg.Wait()
		if won.Load() == nil {
			t.Fatal("nobody won")
		}
		after = *won.Load()
	}
}

// TestTwoHandles: two processes share the file; neither loses the other's edits.
func TestTwoHandles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.db")
	a, b := open(t, path), open(t, path)
	node, err := a.Append(t.Context(), precis.Fingerprint{}, precis.NewText(precis.RoleUser, "x"))
	if err != nil {
		t.Fatal(err)
	}
	edit := func(id string) precis.Edit { return precis.Edit{ID: id, Kind: precis.KindPin, At: node, Seen: 1} }
	if err := a.AddEdit(t.Context(), "", edit("a")); err != nil {
		t.Fatal(err)
	}
	if err := b.AddEdit(t.Context(), "", edit("b")); precis.CodeOf(err) != precis.CodeConflict {
		t.Errorf("the other handle's edit was not seen: %v", err)
	}
	if err := b.AddEdit(t.Context(), "a", edit("b")); err != nil {
		t.Error(err)
	}
	if _, edits, err := a.Load(t.Context(), node); err != nil || len(edits) != 2 {
		t.Errorf("%d edits, %v", len(edits), err)
	}
}
