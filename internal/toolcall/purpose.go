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

	folder string  // that the line changes into; "" for none
	things []thing // files, folders and packages that it is run on; none: all, or those it knows
	filter string  // flags that choose a part of the things, with their values
	inline bool    // a script in the line: another one is another purpose, though nobody runs it again
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

// filters are flags that choose some of the tests, or one of several packages, by what follows
// them.
var filters = wordSet("-run --run -k -t -g --grep --filter --tests --testNamePattern --test -p --package -w --workspace -pl --projects -R --tests-regex -Dtest")

// direct are programs that are told what to run on, and nothing before it.
var direct = wordSet("pytest py.test mypy flake8 pylint eslint jest vitest mocha rspec phpunit python python3 node ruby php bash sh")

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
	return Purpose{Kind: strings.TrimSpace(line)}
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
		for _, w := range words {
			if prefixes[w.text] || strings.Contains(w.text, "=") {
				continue
			}
			if p, ok := purposeOf(words, base(w.text)); ok {
				p.folder = path.Join(folder, p.folder)
				out = append(out, p)
			}
			break
		}
	}
	return out
}

// Covers reports whether p is run on all that q is: a failure of q is no longer one when p
// ends well after it. A folder covers its files; a package of Go those below it as "./..." only.
func (p Purpose) Covers(q Purpose) bool {
	if p.Kind != q.Kind || p.folder != q.folder && p.folder != "" && q.folder != "" || p.filter != "" && p.filter != q.filter {
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
	var plain []string
	for _, w := range first[:min(len(first), 8)] {
		plain = append(plain, w.text)
	}
	if first = first[shellScript(plain):]; len(first) == 2 && first[0].text == "cd" {
		return path.Clean(first[1].text)
	}
	return ""
}

func base(program string) string { return program[strings.LastIndexByte(program, '/')+1:] }

// purposeOf returns the purpose of a simple command that runs a program, and whether it does.
func purposeOf(words []word, program string) (Purpose, bool) {
	if script := scriptOf(words); script != nil {
		words = script
	}
	at := slices.IndexFunc(words, func(w word) bool { return base(w.text) == program })
	if at < 0 {
		return Purpose{}, false
	}
	const kindWords, most, mostThings = 3, 64, 16 // words of the kind; words and things that are looked at
	words = words[at+1 : min(len(words), at+1+most)]
	kind, golang := []string{program}, program == "go"
	if strings.HasPrefix(program, "python") && len(words) > 1 && words[0].text == "-m" {
		kind, program, words = append(kind, "-m", words[1].text), words[1].text, words[2:]
	}
	for len(words) > 0 && !direct[program] && len(kind) < kindWords && !words[0].redirect && !strings.HasPrefix(words[0].text, "-") && !strings.ContainsAny(words[0].text, "/.=") {
		kind, words = append(kind, words[0].text), words[1:]
	}
	if program == "make" || program == "ninja" { // how, not what
		words = slices.DeleteFunc(slices.Clone(words), func(w word) bool {
			return len(w.text) > 1 && w.text[0] == '-' && strings.Trim(w.text[1:], "jksBi0123456789") == ""
		})
		for len(kind) < kindWords && len(words) > 0 && !words[0].redirect && !strings.HasPrefix(words[0].text, "-") && !strings.ContainsAny(words[0].text, "/.=") {
			kind, words = append(kind, words[0].text), words[1:]
		}
	}
	p := Purpose{Kind: strings.Join(kind, " ")}
	var chosen []string
	for i := 0; i < len(words); i++ {
		name, value, given := strings.Cut(words[i].text, "=")
		switch {
		case words[i].redirect:
			i++
		case filters[name] && given:
			chosen = append(chosen, name+" "+value)
		case filters[name] && i+1 < len(words):
			i++
			chosen = append(chosen, name+" "+words[i].text)
		case (name == "-c" || name == "-e") && (interpreters[program] || direct[program]): // a script in the line: written once, and never again
			p.inline = interpreters[program]
			i++
		case name == "-" && interpreters[program]: // a script from standard input
			p.inline = true
		case name == "-C" && i+1 < len(words):
			i++
			p.folder = path.Clean(words[i].text)
		case strings.HasPrefix(name, "-"), given, strings.ContainsAny(name, " \t\n"), len(p.things) == mostThings:
		case strings.ContainsAny(name, "/."), direct[program] && (i == 0 || !strings.HasPrefix(words[i-1].text, "-")):
			p.things = append(p.things, thingOf(name, golang))
		}
	}
	if golang && len(p.things) == 0 {
		p.things = []thing{thingOf(".", golang)}
	}
	p.filter = strings.Join(chosen, " ")
	return p, true
}
