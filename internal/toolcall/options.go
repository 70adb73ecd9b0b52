package toolcall

import (
	"slices"
	"strings"

	"github.com/precis-dev/precis/internal/table"
)

// options are the arguments of a program.
type options struct {
	Names []string          // the words other than flags
	flags map[string]string // with their values
}

// Has reports whether any of the flags is given, also within combined short flags.
func (o *options) Has(flags ...string) bool {
	return slices.ContainsFunc(flags, func(name string) bool { _, ok := o.flags[name]; return ok })
}

// Value returns the word after the first given flag; "" without one.
func (o *options) Value(flags ...string) string {
	for _, name := range flags {
		if v := o.flags[name]; v != "" {
			return v
		}
	}
	return ""
}

// arguments records the flags and names among words. It returns the words after "--".
func (o *options) arguments(words []string, valued map[string]bool) (behind []string) {
	o.flags = map[string]string{}
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case w == "--":
			return words[i+1:]
		case strings.HasPrefix(w, "--"):
			name, value, given := strings.Cut(w, "=")
			if !given && valued[name] && i+1 < len(words) {
				i++
				value = words[i]
			}
			o.flag(name, value)
		case len(w) > 1 && w[0] == '-':
			if name := o.letters(w[1:], valued); name != "" && i+1 < len(words) {
				i++
				o.flag(name, words[i])
			}
		case w != "":
			o.Names = append(o.Names, w)
		}
	}
	return nil
}

// flag records a flag with its value. Of repeated ones the first counts: a message's subject.
func (o *options) flag(name, value string) {
	if o.flags[name] == "" {
		o.flags[name] = value
	}
}

// letters records combined short flags. It returns the last one if it takes the next word as its
// value.
func (o *options) letters(all string, valued map[string]bool) (open string) {
	for k := range len(all) {
		name, rest := "-"+all[k:k+1], all[k+1:]
		switch {
		case valued[name+"?"], valued[name] && rest != "":
			o.flag(name, rest)
			return ""
		case valued[name]:
			return name
		}
		o.flag(name, "")
	}
	return ""
}

// verb holds the entries of a program, or of a subcommand of git.
type verb struct {
	entries []entry
	values  map[string]bool // flags that take a value
}

// entry is an entry of a table of commands. Of each list of flags and words one must be given.
type entry struct {
	table.Row
	needs         [][]string
	firstWordActs bool // its first word other than a flag selects the action: "pop" of "stash"
}

// verbs returns the entries of a table of commands by the first of their words.
func verbs(t *table.Table) map[string]*verb {
	all := map[string]*verb{}
	for _, row := range t.Rows {
		words := row.Words("command")
		e := entry{Row: row}
		for _, w := range words[1:] {
			e.needs, e.firstWordActs = append(e.needs, strings.Split(w, "|")), e.firstWordActs || w[0] != '-'
		}
		for name := range strings.SplitSeq(words[0], "|") {
			v := all[name]
			if v == nil {
				v = &verb{values: map[string]bool{}}
				all[name] = v
			}
			v.entries = append(v.entries, e)
			for _, flag := range row.Words("values") {
				v.values[flag] = true
			}
		}
	}
	return all
}

// entry returns the first entry that matches a command. The last one always does.
func (v *verb) entry(o *options) entry {
	return v.entries[slices.IndexFunc(v.entries, func(e entry) bool { return e.fits(o) })]
}

// fits reports whether all required flags and words of an entry are given.
func (e entry) fits(o *options) bool {
	for _, one := range e.needs {
		if !o.Has(one...) && (len(o.Names) == 0 || !slices.Contains(one, o.Names[0])) {
			return false
		}
	}
	return true
}

// afterFlags returns the words after the flags, variable assignments and time limit of a program
// that runs another one: "-u ann", "-n 5", "CI=1", "10s".
func afterFlags(words []word, program string) []word {
	valued := ofProgram(base(program), "before")
	for i := 0; i < len(words); i++ {
		switch w := words[i].text; {
		case w == "--":
			return words[i+1:]
		case i+1 < len(words) && slices.Contains(valued, w):
			i++
		case !strings.HasPrefix(w, "-") && !isOfKind("time", w) &&
			(!strings.Contains(w, "=") || strings.ContainsAny(w, "/ ")):
			return words[i:]
		}
	}
	return nil
}

// texts returns the texts of words.
func texts(words []word) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w.text
	}
	return out
}
