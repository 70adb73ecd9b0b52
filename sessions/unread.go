package sessions

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/internal/compressed"
)

// Unread is a file, folder or link in a place that could not be read as a session.
type Unread struct {
	Path  string `json:"path"`
	Agent string `json:"agent,omitempty"` // the program of the place
	Why   Reason `json:"why"`
	Text  string `json:"text"` // in English
}

// Reason is a reason why a path was not read.
type Reason string

// Values of Reason.
const (
	ByFormat   Reason = "format"     // unknown format, or one of another program
	Forbidden  Reason = "permission" // the system denies reading
	Damaged    Reason = "damaged"    // known format with broken content
	Busy       Reason = "busy"       // another program has locked it
	TooLarge   Reason = "size"       // more than [archive.MaxBytes] bytes, or an excessive compression ratio
	Empty      Reason = "empty"      // no bytes, or no messages
	NoFile     Reason = "no_file"    // a folder, pipe, socket or device with the name of a recording
	BrokenLink Reason = "link"       // a link to a missing target, or to itself
	LinkOut    Reason = "outside"    // a link out of the user's home folder
	TooDeep    Reason = "depth"      // more than 32 nested folders
)

// Reasons returns all reasons in display order.
func Reasons() []Reason {
	return []Reason{ByFormat, Empty, Damaged, Forbidden, Busy, TooLarge, NoFile, BrokenLink, LinkOut, TooDeep}
}

// isPermanent reports whether only a change of the file can make it readable, so that the index may
// cache the reason.
func (r Reason) isPermanent() bool { return r != Forbidden && r != Busy }

// unreadReason returns the reason for a read error; "" if the file is gone.
func unreadReason(err error) Reason {
	var e *precis.Error
	op := ""
	if errors.As(err, &e) {
		op = e.Op
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ""
	case errors.Is(err, fs.ErrPermission):
		return Forbidden
	case errors.Is(err, archive.ErrTooLarge), errors.Is(err, compressed.ErrTooLarge):
		return TooLarge
	case errors.Is(err, archive.ErrNoMessages), errors.Is(err, archive.ErrEmpty):
		return Empty
	case op == "recognize":
		return ByFormat
	case strings.Contains(err.Error(), "locked"):
		return Busy
	}
	return Damaged
}

// unreadOf describes a path that could not be read.
func unreadOf(path, agent string, err error) (Unread, bool) {
	why := unreadReason(err)
	return Unread{Path: path, Agent: agent, Why: why, Text: reason(err, path)}, why != ""
}

// Unread returns the paths in the places that the last refresh could not read, sorted by path.
func (l *Library) Unread(ctx context.Context) ([]Unread, error) {
	rows, err := l.index.db.QueryContext(ctx, `SELECT path, program, why, reason FROM files WHERE why <> ''`)
	if err != nil {
		return nil, indexError(err)
	}
	defer rows.Close()
	l.mu.Lock()
	out := slices.Clone(l.unread)
	l.mu.Unlock()
	roots := l.roots()
	for rows.Next() {
		var u Unread
		if err := rows.Scan(&u.Path, &u.Agent, &u.Why, &u.Text); err != nil {
			return nil, indexError(err)
		}
		if slices.ContainsFunc(roots, func(root string) bool { return under(u.Path, root) }) {
			out = append(out, u)
		}
	}
	slices.SortFunc(out, func(a, b Unread) int { return strings.Compare(a.Path, b.Path) })
	return out, indexError(rows.Err())
}

// special names a kind of directory entry that cannot be a recording; "" for a regular file.
func special(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "it is a folder"
	case mode&fs.ModeNamedPipe != 0:
		return "it is a named pipe"
	case mode&fs.ModeSocket != 0:
		return "it is a socket"
	case mode&(fs.ModeDevice|fs.ModeCharDevice) != 0:
		return "it is a device"
	case mode&fs.ModeIrregular != 0:
		return "it is no regular file"
	}
	return ""
}
