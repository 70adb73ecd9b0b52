package toolcall

import (
	"path"
	"slices"
	"strings"
)

// Purpose is what a command is run for. One that failed is done with when a later one of the
// same kind, on the same things or more, did not fail, see [Purpose.Covers].
type Purpose struct {
	Kind string // the program and what it is told to do: "go test", "python -m pytest"
	Key  string // the same without what only runs the program, by the name that all its runs have: "go test", "pytest"

	folder string   // that the line changes into; "" for none
	things []thing  // files, folders and packages that it is run on; none: all, or those it knows
	filter string   // flags that choose a part of the things, with their values
	env    []string // variables that are set for it, with their values, and such flags of a script
	inline bool     // a script in the line: another one is another purpose, though nobody runs it again
}

// Inline reports whether what is run is a script that stands in the command line.
func (p Purpose) Inline() bool { return p.inline }

// thing is a file, a folder or a package that a command is run on.
type thing struct {
	path  string // cleaned
	below bool   // and all below it
	alone bool   // nothing below it, as of a package of Go without "/..."
}

func thingOf(name string, alone bool) thing {
	name, below := strings.CutSuffix(name, "...")
	return thing{path.Clean("./" + name), below, alone && !below}
}

// holds reports whether a thing is another or has it below itself.
func (t thing) holds(u thing) bool {
	switch {
	case t.alone || u.below && !t.below:
		return t == u
	case t.path == u.path || t.path == ".":
		return true
	}
	if !strings.HasPrefix(u.path, t.path) {
		return false
	}
	rest := u.path[len(t.path):]
	return rest[0] == '/' || strings.HasPrefix(rest, "::") // a test in a file, as pytest names it
}

// PurposeOf returns what a command line is run for: the purpose of its main program.
func PurposeOf(line string) Purpose {
	first, _ := mainProgram(line)
	commands := lexScript(line).commands
	for _, words := range commands {
		if p, ok := purposeOf(words, first); ok {
			p.folder = path.Join(folderOf(commands), p.folder)
			return p
		}
	}
	line = strings.TrimSpace(line)
	return Purpose{Kind: line, Key: line}
}

// Purposes returns what the parts of a command line are run for that ended well when the line did:
// all parts of "a && b", and of a pipeline or a list, where the end of a part may be hidden, the purpose of the line.
func Purposes(line string) []Purpose {
	l := lexScript(line)
	if l.hides || len(l.commands) < 2 {
		return []Purpose{PurposeOf(line)}
	}
	var out []Purpose
	folder := folderOf(l.commands)
	for _, words := range l.commands {
		if program := programOf(words); len(program) > 0 {
			if p, ok := purposeOf(words, base(program[0].text)); ok {
				p.folder = path.Join(folder, p.folder)
				out = append(out, p)
			}
		}
	}
	return out
}

// Covers reports whether p is run on all that q is: a failure of q is no longer one when p
// ends well after it. A folder covers its files; a package of Go those below it as "./..." only.
func (p Purpose) Covers(q Purpose) bool {
	if p.Key != q.Key || otherSetting(p.env, q.env) || p.folder != q.folder && p.folder != "" && q.folder != "" || p.filter != "" && p.filter != q.filter {
		return false
	}
	if len(p.things) == 0 {
		return true
	}
	holds := func(u thing) bool {
		return slices.ContainsFunc(p.things, func(t thing) bool { return t.holds(u) })
	}
	if len(q.things) == 0 {
		return holds(thing{path: ".", below: true})
	}
	return !slices.ContainsFunc(q.things, func(u thing) bool { return !holds(u) })
}

// folderOf returns the folder that commands begin with changing into; the words before it may be those of a shell.
func folderOf(commands [][]word) string {
	if len(commands) < 2 {
		return ""
	}
	first := commands[0]
	if first = first[shellScript(texts(first[:min(len(first), 8)])):]; len(first) == 2 && first[0].text == "cd" {
		return path.Clean(first[1].text)
	}
	return ""
}

func base(program string) string { return program[strings.LastIndexByte(program, '/')+1:] }

// Bounds of what is read of a command.
const (
	kindWords    = 3  // of the kind
	purposeWords = 64 // that are looked at
	mostThings   = 16
)

// purposeOf returns the purpose of a simple command that runs a program, and whether it does.
func purposeOf(words []word, program string) (Purpose, bool) {
	if script := scriptOf(words); script != nil {
		words = script
	}
	at := slices.IndexFunc(words, func(w word) bool { return base(w.text) == program })
	if at < 0 {
		return Purpose{}, false
	}
	p := Purpose{Kind: kindOf(words[at:min(len(words), at+1+purposeWords)], program)}
	for _, w := range words[:at] {
		if strings.Contains(w.text, "=") {
			p.env = append(p.env, w.text)
		}
	}
	p.read(unwrapped(words[at:min(len(words), at+1+purposeWords)]))
	return p, true
}

// kindOf returns the program and what it is told to do, as they are written.
func kindOf(words []word, program string) string {
	kind, words := []string{program}, words[1:]
	if strings.HasPrefix(program, "python") && len(words) > 1 && words[0].text == "-m" {
		kind, program, words = append(kind, "-m", words[1].text), words[1].text, words[2:]
	}
	for len(words) > 0 && !is("direct", program) && len(kind) < kindWords && isVerb(words[0]) {
		kind, words = append(kind, words[0].text), words[1:]
	}
	return strings.Join(kind, " ")
}

// isVerb reports whether a word may say what a program is to do: it is no flag, no path and no value.
func isVerb(w word) bool {
	return !w.redirect && !strings.HasPrefix(w.text, "-") && !strings.ContainsAny(w.text, "/.=")
}

// read reads what a program is run for and on.
func (p *Purpose) read(words []word) {
	program, golang := programName(words[0].text), words[0].text == "go"
	key, words := []string{program}, words[1:]
	if compose, ok := strings.CutSuffix(program, "-compose"); ok && compose == "docker" {
		key, program = []string{"docker", "compose"}, "docker"
	}
	if strings.HasPrefix(program, "python") && len(words) > 1 && words[0].text == "-m" {
		key, program, words = append(key, "-m", words[1].text), words[1].text, words[2:]
	}
	if program == "make" || program == "ninja" { // how, not what
		words = slices.DeleteFunc(slices.Clone(words), func(w word) bool {
			return len(w.text) > 1 && w.text[0] == '-' && strings.Trim(w.text[1:], "jksBi0123456789") == ""
		})
	}
	if program == "vitest" && len(words) > 0 && (words[0].text == "run" || words[0].text == "watch") { // how, too
		words = words[1:]
	}
	var chosen []string
	for len(words) > 0 && !is("direct", program) && len(key) < kindWords {
		if isVerb(words[0]) {
			if !is("packages", program) || len(key) > 1 || words[0].text != "run" && words[0].text != "run-script" {
				key = append(key, words[0].text)
			}
			words = words[1:]
			continue
		}
		n := p.option(program, words, &chosen)
		if n == 0 || len(key) > 1 {
			break
		}
		words = words[n:]
	}
	p.Key = strings.Join(key, " ")
	p.arguments(program, words, golang, chosen)
}

// option reads a flag before what a program is told to do, that says where it runs or chooses a part. It returns how many
// words it takes, 0 for what is none.
func (p *Purpose) option(program string, words []word, chosen *[]string) int {
	name, value, given := strings.Cut(words[0].text, "=")
	if words[0].redirect || !strings.HasPrefix(name, "-") {
		return 0
	}
	narrow, valued := narrows(program, name)
	n := 1
	if (valued || is("folder", name)) && !given && len(words) > 1 {
		value, n = words[1].text, 2
	}
	switch {
	case is("folder", name):
		p.folder = path.Join(p.folder, path.Clean(value))
	case narrow:
		*chosen = append(*chosen, name+" "+value)
	}
	return n
}

// arguments reads what a program is run on, and the flags that choose a part of it.
func (p *Purpose) arguments(program string, words []word, golang bool, chosen []string) {
	passedOn := false // what follows is for the program that a script of a package runs
	for i := 0; i < len(words); i++ {
		name, value, given := strings.Cut(words[i].text, "=")
		narrow, valued := narrows(program, name)
		switch {
		case words[i].redirect:
			i++
		case name == "--":
			passedOn = is("packages", program)
		case narrow && (given || !valued):
			chosen = append(chosen, strings.TrimSpace(name+" "+value))
		case narrow && i+1 < len(words):
			i++
			chosen = append(chosen, name+" "+words[i].text)
		case (name == "-c" || name == "-e") && (is("interpreter", program) || is("direct", program)): // a script in the line: written once, and never again
			p.inline = is("interpreter", program)
			i++
		case name == "-" && is("interpreter", program): // a script from standard input
			p.inline = true
		case is("folder", name) && (given || i+1 < len(words)):
			if !given {
				i++
				value = words[i].text
			}
			p.folder = path.Clean(value)
		case strings.HasPrefix(name, "--") && runsScript(program) && !says("manner", name):
			if !given && i+1 < len(words) && !strings.HasPrefix(words[i+1].text, "-") {
				value = words[i+1].text
			}
			p.env = append(p.env, name+"="+value)
		case strings.HasPrefix(name, "-"), given:
		case program == "sbt":
			chosen = append(chosen, name)
		case strings.ContainsAny(name, " \t\n"), len(p.things) == mostThings:
		case strings.ContainsAny(name, "/."), is("direct", program) && (i == 0 || !strings.HasPrefix(words[i-1].text, "-")):
			p.things = append(p.things, thingOf(name, golang))
		case passedOn:
			chosen = append(chosen, name)
		}
	}
	if golang && len(p.things) == 0 {
		p.things = []thing{thingOf(".", golang)}
	}
	p.filter = strings.Join(chosen, " ")
}

// runsScript reports whether a program is a script, or runs one: what its flags say is what it is for.
func runsScript(program string) bool {
	return is("interpreter", program) || is("shell", program) || program == "php" || is("script", path.Ext(program))
}

// otherSetting reports whether two environments give a variable different values.
func otherSetting(a, b []string) bool {
	for _, v := range a {
		name, value, _ := strings.Cut(v, "=")
		for _, w := range b {
			if n, other, _ := strings.Cut(w, "="); n == name && other != value {
				return true
			}
		}
	}
	return false
}
