package toolcall

import (
	"cmp"
	"iter"
	"strings"

	"github.com/precis-dev/precis/internal/jsonspan"
)

// Edited returns the texts that an edit adds and removes; of a patch only those for the given file,
// for all files when path is "". Both are empty when the call does not edit parts of a file.
func (c *Call) Edited(path string) (added, removed string) {
	var in, out strings.Builder
	for name, v := range c.Strings() {
		switch n := strings.ToLower(strings.ReplaceAll(name, "_", "")); {
		case is("new", n):
			in.WriteString(v + "\n")
		case IsReplacedArgument(name):
			out.WriteString(v + "\n")
		case is("change", n):
			if !replacements(v, &in, &out) {
				changes(v, path, &in, &out)
			}
		default:
			if isPatch(v) || IsPatch(v) {
				changes(v, path, &in, &out)
			}
		}
	}
	return in.String(), out.String()
}

// Written returns the whole content that a call writes into a file, or "".
func (c *Call) Written() string {
	for name, s := range c.Strings() {
		if IsContentArgument(name) {
			return s
		}
	}
	return ""
}

// Strings yields the names and string values of a call's arguments, nested values included.
func (c *Call) Strings() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for a := range c.Arguments() {
			if a.Raw == nil {
				if !yield(a.Name, a.Text) {
					return
				}
				continue
			}
			for name, s := range jsonspan.Strings(a.Raw) {
				if !yield(cmp.Or(name, a.Name), s) {
					return
				}
			}
		}
	}
}

// replacements writes the added and removed texts of search/replace blocks, as Roo Code, Cline and
// aider mark them. It reports whether there are any.
func replacements(diff string, added, removed *strings.Builder) bool {
	part, found := 0, false // 1: the search text, 2: the replacement
	for line := range strings.Lines(diff) {
		mark := strings.TrimRight(line, "\r\n")
		switch {
		case strings.HasPrefix(mark, "<<<<<<<") || strings.HasPrefix(mark, "------- SEARCH"):
			part, found = 1, true
		case part == 1 && mark == "=======":
			part = 2
		case part == 2 && (strings.HasPrefix(mark, ">>>>>>>") || strings.HasPrefix(mark, "+++++++ REPLACE")):
			part = 0
		case part == 1 && !strings.HasPrefix(mark, ":start_line:") && mark != "-------":
			removed.WriteString(line)
		case part == 2:
			added.WriteString(line)
		}
	}
	return found
}

// Change returns the text that a call adds to its file, all of it if the call is not an edit, and
// the text that it removes.
func (c *Call) Change() (added, removed string) {
	added, removed = c.Edited("")
	if added == "" && removed == "" {
		added = c.Written()
	}
	return added, removed
}
