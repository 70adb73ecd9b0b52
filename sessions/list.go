package sessions

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/precis-dev/precis"
)

// Filter selects sessions. The zero value selects all, the one used last first.
type Filter struct {
	Agent   string // only sessions of this program; "": any
	Project string // only sessions in this folder or below it
	Text    string // only sessions with this text in ID, title, project or model, in any case
	State   State  // "": any
	Since   time.Time
	Before  time.Time
	Parent  string // only sessions begun by this one

	Sort   string // see [Sorts]; "": used
	Limit  int    // at most this number; 0: all
	Offset int
}

// sorts are the orders of a list.
var sorts = map[string]string{
	"used": "used DESC", "tokens": "tokens DESC", "messages": "messages DESC", "cost": "cost DESC",
	"condensations": "condensations DESC", "title": "title COLLATE NOCASE",
	"project": "project COLLATE NOCASE, used DESC", "agent": "agent, used DESC",
}

// Sorts returns the valid values of [Filter.Sort].
func Sorts() []string {
	return []string{"used", "tokens", "messages", "cost", "condensations", "title", "project", "agent"}
}

// roots returns the folders of the places at the last refresh.
func (l *Library) roots() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.resolved
}

// resolve determines the folders of the places, with links resolved.
func (l *Library) resolve() {
	var out []string
	for _, p := range l.o.Places {
		root, err := filepath.EvalSymlinks(p.Root)
		if err != nil {
			root = p.Root // the folder does not exist
		}
		if !slices.Contains(out, root) {
			out = append(out, root)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.resolved = out
}

// under reports whether a path is root, or is in that folder or database.
func under(path, root string) bool {
	rest, ok := strings.CutPrefix(path, root)
	return ok && (rest == "" || strings.HasSuffix(root, string(filepath.Separator)) ||
		rest[0] == filepath.Separator || rest[0] == '#')
}

// where returns a filter as a condition over the tables sessions and files, with its arguments.
func (l *Library) where(f Filter) (string, []any) {
	var conds []string
	var args []any
	add := func(cond string, values ...any) {
		conds, args = append(conds, cond), append(args, values...)
	}
	var places []string
	for _, root := range l.roots() {
		base := strings.TrimSuffix(root, string(filepath.Separator)) + string(filepath.Separator)
		places = append(places, `path = ? OR substr(path, 1, ?) IN (?, ?)`)
		args = append(args, root, len([]rune(base)), base, root+"#")
	}
	conds = append(conds, "("+cmp.Or(strings.Join(places, " OR "), "0")+")")
	if f.Agent != "" {
		add("agent = ?", f.Agent)
	}
	if f.Project != "" {
		base := strings.TrimSuffix(f.Project, string(filepath.Separator)) + string(filepath.Separator)
		add("(project = ? OR substr(project, 1, ?) = ?)", f.Project, len([]rune(base)), base)
	}
	if f.Text != "" {
		like := "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(f.Text) + "%"
		add(`(id LIKE ? ESCAPE '\' OR title LIKE ? ESCAPE '\' OR project LIKE ? ESCAPE '\' OR model LIKE ? ESCAPE '\')`, like, like, like, like)
	}
	if f.State != "" {
		add("state = ?", string(f.State))
	}
	if f.Parent != "" {
		add("parent = ?", f.Parent)
	}
	if !f.Since.IsZero() {
		add("used >= ?", f.Since.UnixMicro())
	}
	if !f.Before.IsZero() {
		add("used < ?", f.Before.UnixMicro())
	}
	return strings.Join(conds, " AND "), args
}

const fromTables = ` FROM sessions JOIN files ON files.rowid = sessions.file WHERE `

// List returns the sessions that a filter selects, as of the last [Library.Refresh]. The error is
// [precis.CodeInvalid] for an unknown order.
func (l *Library) List(ctx context.Context, f Filter) ([]*Session, error) {
	order, ok := sorts[cmp.Or(f.Sort, "used")]
	if !ok {
		return nil, precis.Errorf(precis.CodeInvalid, "list sessions", "there is no order %q; want one of %s",
			f.Sort, strings.Join(Sorts(), ", "))
	}
	where, args := l.where(f)
	limit := f.Limit
	if limit <= 0 {
		limit = -1
	}
	return l.query(ctx, `SELECT facts, path, file`+fromTables+where+` ORDER BY `+order+
		`, id LIMIT ? OFFSET ?`, append(args, limit, max(0, f.Offset))...)
}

// Count returns the number of sessions that a filter selects, without its limit and offset.
func (l *Library) Count(ctx context.Context, f Filter) (n int, err error) {
	where, args := l.where(f)
	err = l.index.db.QueryRowContext(ctx, `SELECT count(*)`+fromTables+where, args...).Scan(&n)
	return n, indexError(err)
}

// query returns the sessions with the rows that a query selects.
func (l *Library) query(ctx context.Context, query string, args ...any) ([]*Session, error) {
	rows, err := l.index.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, indexError(err)
	}
	defer rows.Close()
	out := []*Session{}
	for rows.Next() {
		var facts sql.RawBytes
		var path string
		s := new(Session)
		if err := rows.Scan(&facts, &path, &s.row); err != nil {
			return nil, indexError(err)
		}
		if err := json.Unmarshal(facts, s); err != nil {
			return nil, indexError(err)
		}
		s.Path = path // the facts are JSON, which cannot hold invalid UTF-8
		out = append(out, s)
	}
	return out, indexError(rows.Err())
}
