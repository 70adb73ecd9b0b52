package sessions

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/precis-dev/precis"
)

// shortest is the least number of leading characters that may abbreviate an ID.
const shortest = 4

// Find returns the session for a name:
//
//	ID, or its beginning when no other has it   the session itself
//	PATH                                        that recording
//	@last                                       the one used last
//	@AGENT                                      the one used last with that program
//	@last~2                                     the one used last but two
//
// If several sessions have the ID, Find returns the one used last. The error is
// [precis.CodeNotFound], or [precis.CodeInvalid] if several IDs begin with the name.
func (l *Library) Find(ctx context.Context, name string) (*Session, error) {
	if at, ok := strings.CutPrefix(name, "@"); ok {
		return l.findNewest(ctx, name, at)
	}
	for _, cond := range []string{"id = ?", "path = ?"} {
		some, err := l.withCondition(ctx, cond, 1, name)
		if err != nil || len(some) > 0 {
			return first(some), err
		}
	}
	if len(name) < shortest {
		return nil, notFound(name)
	}
	some, err := l.withCondition(ctx, "substr(id, 1, ?) = ?", 20, len([]rune(name)), name)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, s := range some {
		if !slices.Contains(ids, s.ID) {
			ids = append(ids, s.ID)
		}
	}
	switch len(ids) {
	case 0:
		return nil, notFound(name)
	case 1:
		return some[0], nil
	}
	return nil, &precis.Error{Code: precis.CodeInvalid, Op: "find session",
		Err:  fmt.Errorf("%d sessions begin with %.40q", len(ids), name),
		Hint: "they are " + strings.Join(ids[:min(len(ids), 5)], ", ")}
}

func first(some []*Session) *Session {
	if len(some) == 0 {
		return nil
	}
	return some[0]
}

func notFound(name string) error {
	return &precis.Error{Code: precis.CodeNotFound, Op: "find session",
		Err: fmt.Errorf("there is no session %.80q", name), Hint: "precis sessions lists them"}
}

// withCondition returns sessions of this library, the one used last first.
func (l *Library) withCondition(ctx context.Context, cond string, limit int,
	args ...any) ([]*Session, error) {
	where, all := l.where(Filter{})
	all = append(append(all, args...), limit)
	return l.query(ctx, `SELECT facts, path, file`+fromTables+where+` AND `+cond+
		` ORDER BY used DESC, id LIMIT ?`, all...)
}

// findNewest returns the session for @last, @AGENT or @last~N.
func (l *Library) findNewest(ctx context.Context, name, at string) (*Session, error) {
	who, back, counted := strings.Cut(at, "~")
	f := Filter{Limit: 1}
	if counted {
		n, err := strconv.Atoi(back)
		if err != nil || n < 0 {
			return nil, precis.Errorf(precis.CodeInvalid, "find session", "%.40q: want a number after ~",
				name)
		}
		f.Offset = n
	}
	if who != "last" {
		f.Agent = who
	}
	some, err := l.List(ctx, f)
	if err != nil {
		return nil, err
	}
	if len(some) == 0 {
		e := notFound(name).(*precis.Error)
		if agents, err := l.agents(ctx); err == nil && len(agents) > 0 && who != "last" &&
			!slices.Contains(agents, who) {
			e.Hint = "there are @last, @" + strings.Join(agents, ", @")
		}
		return nil, e
	}
	return some[0], nil
}

// agents returns the programs that have sessions, sorted.
func (l *Library) agents(ctx context.Context) (out []string, err error) {
	where, args := l.where(Filter{})
	rows, err := l.index.db.QueryContext(ctx, `SELECT DISTINCT agent`+fromTables+where+` ORDER BY agent`,
		args...)
	if err != nil {
		return nil, indexError(err)
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, indexError(err)
		}
		out = append(out, name)
	}
	return out, indexError(rows.Err())
}

// IsName reports whether a word that is not a file may be a session: it begins with @, or has the
// form of an ID.
func IsName(word string) bool {
	if strings.HasPrefix(word, "@") {
		return len(word) > 1
	}
	return len(word) >= shortest && !strings.ContainsAny(word, " \t\n"+string(filepath.Separator)+"/") &&
		filepath.Ext(word) == ""
}
