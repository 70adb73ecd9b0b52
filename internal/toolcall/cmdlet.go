package toolcall

import (
	_ "embed"
	"path"
	"slices"
	"strings"

	"github.com/precis-dev/precis/internal/table"
)

//go:embed cmdlets.txt
var cmdletsText string

// cmdlets are the commands of PowerShell and cmd on files.
var cmdlets = table.Lazy("cmdlets.txt", cmdletsText, "program", "act", "shared")

// cmdletAct returns the effect of a PowerShell or cmd command on files; "" for other programs.
func cmdletAct(name string, words []string) string {
	row, ok := cmdlets().Find(name)
	if !ok || row.Get("shared") != "" && !slices.ContainsFunc(words, isParameter) {
		return ""
	}
	return row.Get("act")
}

// cmdletLooks reports whether a command of PowerShell changes no file, or only creates one.
func cmdletLooks(name string) bool {
	row, ok := cmdlets().Find(name)
	return ok && row.Get("shared") == "" && slices.Contains([]string{"look", "read", "search", "make"},
		row.Get("act"))
}

// isParameter reports whether a word is the full name of a parameter that no program of Unix has.
func isParameter(w string) bool {
	name := strings.ToLower(strings.TrimPrefix(w, "-"))
	if len(name) <= 3 || len(name) == len(w) {
		return false
	}
	return is("switch", name) || is("from", name) || is("to", name) || is("value", name)
}

// abbreviates reports whether a name is a prefix of a parameter of a kind.
func abbreviates(name, kind string) bool {
	return slices.ContainsFunc(wordsOf()[kind],
		func(full string) bool { return strings.HasPrefix(full, name) })
}

// cmdletWords are the words of a cmdlet, sorted by role.
type cmdletWords struct {
	from, to []string          // paths that parameters name
	plain    []string          // arguments without a parameter
	values   map[string]string // of other parameters
	set      []string          // switches
}

// readCmdlet sorts the words of a cmdlet: a parameter other than a switch is followed by its value.
func readCmdlet(words []string) cmdletWords {
	c := cmdletWords{values: map[string]string{}}
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch name := strings.ToLower(strings.TrimLeft(w, "-")); {
		case w == "", len(w) == 2 && w[0] == '/': // "/q"
		case w[0] != '-' || name == "":
			c.plain = append(c.plain, listed(w)...)
		case strings.Contains(name, ":"): // -Force:$true
		case abbreviates(name, "switch"), i+1 == len(words):
			c.set = append(c.set, name)
		default:
			i++
			c.value(name, words[i])
			for strings.HasSuffix(words[i], ",") && i+1 < len(words) {
				i++
				c.value(name, words[i])
			}
		}
	}
	return c
}

// listed returns the entries of a list with commas.
func listed(w string) []string { return strings.FieldsFunc(w, func(c rune) bool { return c == ',' }) }

// value records the value of a parameter.
func (c *cmdletWords) value(name, value string) {
	for _, p := range listed(value) {
		switch {
		case abbreviates(name, "to"):
			c.to = append(c.to, p)
		case abbreviates(name, "from"):
			c.from = append(c.from, p)
		default:
			c.values[name] = p
		}
	}
}

// sets reports whether a switch is among the words, in full or abbreviated.
func (c *cmdletWords) sets(name string) bool {
	return slices.ContainsFunc(c.set, func(s string) bool { return strings.HasPrefix(name, s) })
}

// cmdlet adds the effects of a program of PowerShell or cmd on files.
func (r *shellReader) cmdlet(act, name string, words []string) {
	c := readCmdlet(words)
	paths := slices.Concat(c.from, c.plain)
	if c.sets("whatif") {
		return
	}
	literal := slices.ContainsFunc(words,
		func(w string) bool { return strings.HasPrefix(strings.ToLower(w), "-lit") })
	for _, p := range paths {
		if strings.Contains(p, "*") && !literal {
			delete(r.literal, p) // a pattern also in quotes
		}
	}
	switch act {
	case "move", "copy", "rename":
		if paths = append(paths, c.to...); len(paths) == 2 {
			if act == "rename" { // in the same folder
				paths[1] = path.Join(path.Dir(normalPath(paths[0])), normalPath(paths[1]))
			}
			r.copied(paths[:1], paths[1], act != "copy", c.sets("recurse"))
		}
	case "make":
		r.make(c, paths)
	case "fetch":
		r.each(c.to[:min(len(c.to), 1)], Effect{Whole: true})
	case "write", "change":
		r.each(paths[:min(len(paths), 1)], Effect{Whole: act == "write" && !c.sets("append")})
	case "read":
		for _, p := range paths[:min(len(paths), 1+strings.Count(strings.Join(words, " "), ","))] {
			if name != "type" || strings.ContainsAny(p, `./\`) { // in Unix it prints the kind of a command
				r.read(p)
			}
		}
	case "search":
		if len(c.from) == 0 && len(c.plain) > 1 && c.values["pattern"] == "" {
			c.from = c.plain[1:]
		}
		r.act(act, c.from)
	default:
		r.act(act, paths)
	}
}

// make adds the file or the folder that New-Item creates.
func (r *shellReader) make(c cmdletWords, paths []string) {
	p := strings.Join(paths[:min(len(paths), 1)], "")
	if name := c.values["name"]; name != "" {
		p = path.Join(normalPath(p), name)
	}
	kind := strings.ToLower(c.values["itemtype"] + c.values["type"])
	switch {
	case strings.HasPrefix(kind, "d"):
		r.addFolder(p)
	default:
		r.add(Effect{Path: p, Whole: true})
	}
}
