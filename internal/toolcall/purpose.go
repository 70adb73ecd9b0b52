package toolcall

import (
	"path"
	"slices"
	"strings"

	"precis/internal/lazyregexp"
)

// Purpose is what a command is run for. One that failed is done with when a later one of the
// same kind, on the same things or more, did not fail, see [Purpose.Covers].
type Purpose struct {
	Kind string // the program and what it is told to do: "go test", "python -m pytest"
	Key  string // the same without what only runs the program, by the name that all its runs have: "go test", "pytest"

	Inline bool // a script in the line is run: another one is another purpose, though nobody runs it again

	folder string   // that the line changes into; "" for none
	things []string // files, folders and packages that it is run on, see [holds]; none: all, or those it knows
	filter string   // flags that choose a part of the things, with their values
	set    []string // variables that are set for it, with their values
}

// holds reports whether a thing is another or has it below itself. Things end with "/..." with all that is below them.
func holds(thing, other string) bool {
	folder, all := strings.CutSuffix(thing, "/...")
	if !all {
		return thing == other
	}
	rest, in := strings.CutPrefix(strings.TrimSuffix(other, "/..."), folder)
	isTest := strings.HasPrefix(rest, "::") // in a file, as pytest names it
	return folder == "." || in && (rest == "" || rest[0] == '/' || isTest)
}

// thingOf returns what a word names. A package of Go is one without what is below it, unless its pattern says so.
func thingOf(name string, exact bool) string {
	name, below := strings.CutSuffix(name, "...")
	if name = path.Clean(name); below || !exact {
		name += "/..."
	}
	return name
}

// PurposeOf returns what a command line is run for: the purpose of its main program.
func PurposeOf(line string) Purpose {
	commands := lex(line).commands
	runs := programsOf(commands)
	at := slices.IndexFunc(runs, func(r run) bool { return !is("stages", r.name) })
	if at >= 0 && !strings.HasSuffix(runs[at].name, ":reads") {
		return runs[at].purpose(commands)
	}
	line = strings.TrimSpace(line)
	return Purpose{Kind: line, Key: line}
}

// Purposes returns what the parts of a command line are run for that ended well when the line did:
// all parts of "a && b", and of a pipeline or a list, where the end of a part may be hidden, the purpose of the line.
func Purposes(line string) (out []Purpose) {
	l := lex(line)
	if l.hides || len(l.commands) < 2 {
		return []Purpose{PurposeOf(line)}
	}
	for _, r := range programsOf(l.commands) {
		out = append(out, r.purpose(l.commands))
	}
	return out
}

// echo is how task runners print a command that they run: mise and yarn ("[test] $ go test ./..."), npm ("> jest"),
// go-task ("task: [test] go test ./..."), tox ("py312: commands[0]> pytest") and nox ("nox > pytest").
var echo = lazyregexp.New(`(?m)^(?:(?:\[[\w:./-]+\] )?\$ |(?:nox )?> |task: \[[^\]]+\] |` +
	`[\w.-]+: commands\[\d+\]> (?:[^\s>]*> )?)(.+?)\r?$`)

// IsEcho reports whether a line of output may be a command as a task runner prints it before it runs it, behind a sign,
// or the line before that.
func IsEcho(line string) bool { return echo.MatchString(line) }

// Ran returns what a command ran: the purposes of its line, see [Purposes], and behind them those of the commands that
// a task runner in it prints.
func (c *Call) Ran() []Purpose {
	const most, longest = 40, 8 << 10 // lines, bytes of the output
	out := Purposes(c.Line)
	if _, all := mainProgram(c.Line); !slices.ContainsFunc(all, func(p string) bool { return is("tasks", p) }) {
		return out
	}
	text, folder := c.Output(), folderOf(lex(c.Line).commands)
	for _, m := range echo.FindAllStringSubmatch(text[:min(len(text), longest)], most) {
		for _, p := range Purposes(m[1]) {
			p.folder = path.Join(folder, p.folder)
			out = append(out, p)
		}
	}
	return out
}

// Covers reports whether p is run on all that q is: a failure of q is no longer one when p
// ends well after it. A folder covers its files; a package of Go those below it as "./..." only.
func (p Purpose) Covers(q Purpose) bool {
	elsewhere := p.folder != q.folder && p.folder != "" && q.folder != ""
	differs := func(s string) bool { // the same variable has another value
		name, _, _ := strings.Cut(s, "=")
		sets := func(o string) bool { return strings.HasPrefix(o, name+"=") }
		return slices.ContainsFunc(q.set, sets) && !slices.Contains(q.set, s)
	}
	if p.Key != q.Key || elsewhere || p.filter != "" && p.filter != q.filter || slices.ContainsFunc(p.set, differs) {
		return false
	}
	things := q.things
	if len(things) == 0 {
		things = []string{"./..."}
	}
	return len(p.things) == 0 || !slices.ContainsFunc(things, func(u string) bool {
		return !slices.ContainsFunc(p.things, func(t string) bool { return holds(t, u) })
	})
}

// folderOf returns the folder that commands begin with changing into; "" for none.
func folderOf(commands []command) string {
	if len(commands) > 1 && len(commands[0].words) == 2 && commands[0].words[0].text == "cd" {
		return path.Clean(commands[0].words[1].text)
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

// purpose returns what a program is run for, one of some commands.
func (r run) purpose(commands []command) Purpose {
	words := r.words[:min(len(r.words), 1+purposeWords)]
	p := Purpose{Kind: kindOf(words), set: r.set}
	p.read(unwrapped(words))
	p.folder = path.Join(folderOf(commands), p.folder)
	return p
}

// kindOf returns a program and what it is told to do, as they are written.
func kindOf(words []word) string {
	program, n := base(words[0].text), 1
	for n < min(len(words), kindWords) && !is("direct", program) && isVerb(words[n]) {
		n++
	}
	if runsModule(words) {
		n = kindWords
	}
	return strings.Join(append([]string{program}, texts(words[1:n])...), " ")
}

// runsModule recognizes "python -m module".
func runsModule(words []word) bool {
	return len(words) > 2 && strings.HasPrefix(base(words[0].text), "python") && words[1].text == "-m"
}

// isVerb reports whether a word may say what a program is to do: it is no flag, no path and no value.
func isVerb(w word) bool {
	return !strings.HasPrefix(w.text, "-") && !strings.ContainsAny(w.text, "/.=")
}

// read reads what a program is run for and on.
func (p *Purpose) read(words []word) {
	var chosen []string
	program := programName(words[0].text)
	key := []string{program}
	if runsModule(words) {
		program, words = words[2].text, words[2:]
		key = append(key, "-m", program)
	} else if program == "docker-compose" {
		program, key = "docker", []string{"docker", "compose"}
	}
	verbs, runsCode := !is("direct", program), is("interpreter", program)
	passedOn := false // what follows is for the program that a script of a package runs
	for i := 1; i < len(words); i++ {
		name, value, given := strings.Cut(words[i].text, "=")
		flag, behindFlag := strings.HasPrefix(name, "-"), strings.HasPrefix(words[i-1].text, "-")
		verb := verbs && isVerb(words[i])
		verbs = verb || verbs && flag && len(key) == 1
		narrow, valued := narrows(program, name)
		sets := strings.HasPrefix(name, "--") && runsScript(program) && !says("manner", name)
		next := i+1 < len(words) && !given
		if next && (valued || is("folder", name)) || next && sets && !strings.HasPrefix(words[i+1].text, "-") {
			i++
			value, given = words[i].text, true
		}
		switch {
		case len(key) == 1 && is("packages", program) && is("how", name):
		case verb && len(key) < kindWords:
			key = append(key, name)
		case name == "--":
			passedOn = is("packages", program)
		case sets, narrow && (given || !valued):
			chosen = append(chosen, strings.TrimSpace(name+" "+value))
		case (name == "-c" || name == "-e") && (runsCode || is("direct", program)): // a script in the line
			p.Inline = runsCode
			i++
		case name == "-" && runsCode: // a script from standard input
			p.Inline = true
		case is("folder", name) && given:
			p.folder = path.Join(p.folder, path.Clean(value))
		case flag, given:
		case strings.ContainsAny(name, " \t\n"), len(p.things) == mostThings:
		case strings.ContainsAny(name, "/."), is("direct", program) && !behindFlag:
			p.things = append(p.things, thingOf(name, is("patterns", program)))
		case passedOn:
			chosen = append(chosen, name)
		}
	}
	if program == "go" && len(p.things) == 0 {
		p.things = []string{"."}
	}
	p.Key, p.filter = strings.Join(key, " "), strings.Join(chosen, " ")
}

// runsScript reports whether a program is a script, or runs one: what its flags say is what it is for.
func runsScript(program string) bool {
	return is("interpreter", program) || is("shell", program) || is("script", path.Ext(program))
}
