package outline

import (
	"strings"
	"unicode/utf8"
)

// MaxFolded is the default size of a [Folded] context, in UTF-16 units.
const MaxFolded = 50_000

const (
	leastRoom = 200 // units that must be left to cut a section instead of dropping it
	foldSlack = 100 // units reserved for the text around the cut definitions
)

// Folded is the definitions of many files as text for a model: after a condensation it replaces the
// files that were read before.
type Folded struct {
	Sections   []string // one for each processed file, each to be sent as a separate block
	Processed  int      // files with a section
	Skipped    int      // the others
	Characters int      // length of Content in UTF-16 units
}

// Content returns the sections joined by line breaks.
func (f Folded) Content() string { return strings.Join(f.Sections, "\n") }

// Fold makes a section of each file's definitions, in the order of paths, until the sections hold
// max UTF-16 units; 0 means [MaxFolded], and a negative max has no room. The function definitions
// returns a file's definitions as text, as [Format] writes them; a file without definitions, or
// with an error, is skipped. It is not called for files without room.
//
// The first section that does not fit is cut if at least 200 units are left, and is the last. The
// text around it may exceed max by a few units if its path is long. The rule and the form are Roo
// Code 3.52.1's.
func Fold(paths []string, definitions func(path string) (string, error), max int) Folded {
	if max == 0 {
		max = MaxFolded
	}
	var f Folded
	used := 0
	for _, p := range paths {
		defs, err := definitions(p)
		if err != nil || defs == "" {
			continue
		}
		text := section(p, defs)
		size := units(text)
		room := max - used
		if size > room && room < leastRoom {
			break
		}
		if size > room {
			text = section(p, firstUnits(defs, room-foldSlack)+"\n... (truncated)")
		}
		f.Sections = append(f.Sections, text)
		if used += size; used > max {
			break
		}
	}
	f.Processed = len(f.Sections)
	f.Skipped = len(paths) - f.Processed
	f.Characters = units(f.Content())
	return f
}

func section(path, defs string) string {
	return "<system-reminder>\n## File Context: " + path + "\n" + defs + "\n</system-reminder>"
}

// units returns the length of s in UTF-16 units.
func units(s string) int {
	n := 0
	for _, r := range s {
		n += width(r)
	}
	return n
}

func width(r rune) int {
	if r > 0xFFFF {
		return 2
	}
	return 1
}

// firstUnits returns the longest beginning of s with at most n UTF-16 units.
func firstUnits(s string, n int) string {
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if n -= width(r); n < 0 {
			return s[:i]
		}
		i += size
	}
	return s
}
