package verify

import (
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/preview"
	"github.com/precis-dev/precis/internal/toolcall"
)

// file doubts that a file was created, changed, removed or renamed, if calls show otherwise.
func (d *claimChecker) file(s Statement) bool {
	for _, at := range pathsIn(s.Text) {
		name, before, after := s.Text[at[0]:at[1]], s.Text[:at[0]], s.Text[at[1]:]
		f := d.File(strings.ReplaceAll(name, `\`, "/"))
		if f == nil || says("says gone", s.line) && says("says made", s.line) {
			continue // it is about several files, or several fates of one
		}
		why, shows := "", f.At
		switch {
		case says("removed it", before), says("was gone", after):
			why = d.notRemoved(f, name)
		case says("renamed it", before) && strings.Contains(after, " to "):
			if d.notRemoved(f, name) != "" {
				why = "nothing moved " + name
			}
		case says("changed it", before), says("was made", after):
			why, shows = d.notMade(f, name, s.line)
		}
		if why != "" {
			return d.contradictAt(s, DoubtFile, why, shows)
		}
	}
	return false
}

// notRemoved returns why a file still exists; "" when it may be gone.
func (d *claimChecker) notRemoved(f *File, name string) string {
	switch {
	case f.Removed || f.By != "" || f.Restored:
	case f.exists():
		return name + " was written, and nothing removed it"
	case f.State == "read" && !d.sweptSince(f):
		return name + " was read, and nothing removed it"
	}
	return ""
}

// notMade returns why a file lacks the stated change, with the call that shows it; else "".
func (d *claimChecker) notMade(f *File, name, line string) (string, precis.Handle) {
	switch {
	case f.State == "failed":
		return "no change of " + name + " succeeded", f.At
	case (f.State == "" || f.State == "read") && f.Refused != nil && f.Tried:
		return "the user refused the change of " + name, *f.Refused
	case f.State == "reverted" && !strings.Contains(line, f.By):
		return name + " has been reverted since (" + f.By + ")", f.At
	case f.MovedTo != "":
		return name + " has been moved since, to " + preview.Quote(f.MovedTo, 200), f.At
	case f.State == "deleted":
		return name + " has been removed since", f.At
	case f.State == "read" && !f.Tried && !d.mayWrite(name):
		return name + " was only read", f.At
	}
	return "", f.At
}

// sweptSince reports whether a command after a file's newest view may have removed or moved it.
func (d *claimChecker) sweptSince(f *File) bool {
	for i := range d.Index.Calls {
		c := &d.Index.Calls[i]
		if c.Use.From > f.At.From && (len(c.Swept) > 0 || says("removes", c.Line)) {
			return true
		}
	}
	return false
}

// mayWrite reports whether a person, or a call with unknown effects, names a file.
func (d *claimChecker) mayWrite(name string) bool {
	base := name[strings.LastIndexAny(name, `/\`)+1:]
	for i := range d.Index.Calls {
		c := &d.Index.Calls[i]
		named := strings.Contains(c.Line, base) || c.Line == "" && strings.Contains(c.Text, base)
		if c.Path == "" && len(c.Reads) == 0 && named &&
			!(c.Kind == toolcall.Command && says("only looks", c.Line)) {
			return true
		}
	}
	base = strings.ToLower(base)
	return d.personsSay(func(s string) bool { return strings.Contains(s, base) })
}
