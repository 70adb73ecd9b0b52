package toolcall

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// Effect is a file that a call writes or removes.
type Effect struct {
	Path      string
	Removed   bool
	Added     bool   // a patch says that the file is new
	Whole     bool   // a command writes all that is in the file: it is new where there was none
	Touched   bool   // a command makes the file where there is none, and leaves it alone where there is one
	Replaced  string // what a command replaces in it, each text on a line; "" when that is not known
	MovedFrom string // of a file that is moved: its path before; "" for others
	Below     bool   // it is moved with the folder that it is in, or by a pattern; known to who knows the files
	Many      bool   // MovedFrom is a pattern, of files that are moved into the folder that Path is
	Ran       Ran    // of a line that failed: Did when what writes the file came before what failed
}

// Effects returns the files that a shell command line says it writes or removes:
// redirections, tee, sed -i, rm, mv, cp, touch, curl -o, their kin in PowerShell and cmd, patches in it, and the plain calls of code
// that it gives an interpreter; a directory that
// is removed and made again in one command stays. A path is within the folder that the line changes into. Variables, but those of
// loops over words, and patterns are not expanded. What programs do of their own cannot be seen.
func Effects(command string) []Effect { return readShell(command).effects }

// Reads returns the files whose content a shell command line prints.
func Reads(command string) []string { return readShell(command).reads }

// shellReader gathers what a command line does.
type shellReader struct {
	effects  []Effect
	runs     []Git
	reads    []string
	searched []string        // files that lines are printed of
	swept    []string        // patterns of files that are removed
	carried  []Carry         // of files that are moved
	folders  []string        // that are made
	loop     *loop           // that the command is in; nil: none
	turns    int             // of loops, so far
	literal  map[string]bool // words that name files as they stand, although they hold what a shell expands
	stdin    string          // the here-document that the command reads
	removed  map[string]int  // where effects say that a path was removed last
	folder   string          // that the line has changed into; "" when it has not, or it is not known
	before   string          // the folder before that
	place    string          // what the line calls the folder that it has changed into, where that is not known
	outer    []string        // the folders outside of the subshells that are open
	vars     []variable      // that the line sets, as far as their values are known
	piped    []string        // the words of the command whose output the command reads
}

func readShell(command string) *shellReader {
	r := &shellReader{removed: map[string]int{}, literal: map[string]bool{}}
	r.script(command)
	r.effects = append(r.effects, patched(command)...)
	kept := r.effects[:0]
	for i, e := range r.effects {
		if e.Path != "" {
			kept = append(kept, e)
			continue
		}
		for k := range r.runs {
			if r.runs[k].After > i {
				r.runs[k].After--
			}
		}
		for k := range r.carried {
			if r.carried[k].After > i {
				r.carried[k].After--
			}
		}
	}
	r.effects = kept
	return r
}

// script reads the commands of a script.
func (r *shellReader) script(command string) {
	l := lex(command)
	ran := l.ran()
	defer func(outer *loop) { r.loop = outer }(r.loop)
	r.loop = nil
	for k, words := range l.commands {
		effects, runs, carried, swept := len(r.effects), len(r.runs), len(r.carried), len(r.swept)
		var next []word
		if k+1 < len(l.commands) {
			next = l.commands[k+1]
		}
		if r.assigned(words) {
			continue
		}
		for _, turn := range r.looped(r.expand(words), next, l.joins[k]) {
			plain := r.redirected(turn)
			r.stdin = l.documents[k]
			plain = r.subshell(plain)
			r.program(plain, slices.ContainsFunc(turn, func(w word) bool { return w.redirect && strings.HasPrefix(w.text, ">") }))
			if r.piped = nil; l.joins[k] == joinPipe {
				r.piped = plain
			}
		}
		if r.loop != nil && len(r.loop.except) > 0 {
			for i := carried; i < len(r.carried); i++ {
				r.carried[i].Except = r.loop.except
			}
			r.swept = r.swept[:swept] // not all that a pattern names
		}
		if len(r.outer) > 0 && len(words) > 0 && strings.HasSuffix(words[len(words)-1].text, ")") {
			r.folder, r.outer, r.place = r.outer[len(r.outer)-1], r.outer[:len(r.outer)-1], ""
		}
		if k+1 < len(l.commands) && ran[k] == Did && !is("prefix", words[0].text) && (l.joins[k] == joinNext || l.joins[k] == joinAnd && is("writes", words[0].text)) {
			for i := effects; i < len(r.effects); i++ {
				r.effects[i].Ran = Did
			}
			for i := carried; i < len(r.carried); i++ {
				r.carried[i].Ran = Did
			}
		}
		for i := runs; i < len(r.runs); i++ {
			g := &r.runs[i]
			g.After = min(max(g.After, effects), len(r.effects))
			g.Ran, g.Else = ran[k], k > 0 && l.joins[k-1] == joinOr
		}
	}
}

// subshell takes the marks of a subshell from the words of a command.
func (r *shellReader) subshell(words []string) []string {
	if len(words) == 0 || !strings.HasPrefix(words[0], "(") || len(words[0]) < 2 {
		if len(r.outer) > 0 && len(words) > 0 {
			words[len(words)-1] = strings.TrimSuffix(words[len(words)-1], ")")
		}
		return words
	}
	r.outer = append(r.outer, r.folder)
	words[0] = words[0][1:]
	words[len(words)-1] = strings.TrimSuffix(words[len(words)-1], ")")
	return words
}

// passes reports whether a command hardly ever fails on its own.
func passes(words []word) bool {
	return words[0].text == "git" || is("stages", words[0].text) || is("writes", words[0].text)
}

// add notes a file that is written or removed.
func (r *shellReader) add(e Effect) {
	p := strings.TrimSpace(strings.Trim(e.Path, `"'`))
	if e.Removed && !r.literal[p] && strings.ContainsAny(p, "*?[") && isFileName(strings.ReplaceAll(p, "*", "")) {
		r.swept = append(r.swept, within(r.folder, p))
		return
	}
	if !r.isFile(p) {
		return
	}
	e.Path = within(r.folder, p)
	if e.MovedFrom != "" {
		e.MovedFrom = within(r.folder, e.MovedFrom)
	}
	r.effects = append(r.effects, e)
	switch {
	case e.Removed:
		r.removed[e.Path] = len(r.effects) - 1
		r.folders = slices.DeleteFunc(r.folders, func(f string) bool { return f == e.Path || strings.HasPrefix(f, e.Path+"/") })
	case len(r.removed) > 0 && strings.Contains(e.Path, "/"):
		r.there(path.Dir(e.Path))
	}
}

// isFileName reports whether a word names one file: no device, and nothing that a shell would expand.
func isFileName(p string) bool {
	return p != "" && p != "-" && !strings.HasPrefix(p, "/dev/") && !strings.HasPrefix(p, "&") && !strings.ContainsAny(p, "$*{}()<>|;`\n")
}

// isFile reports whether a word names one file, see [isFileName]: what quotes hide stands for itself.
func (r *shellReader) isFile(p string) bool {
	return isFileName(p) || r.literal[p] && p != "" && !strings.ContainsAny(p, "\n") && !strings.HasPrefix(p, "/dev/")
}

// made notes a directory that is made: it is there again, and what it is in.
func (r *shellReader) made(directory string) {
	const most = 64
	p := within(r.folder, directory)
	r.there(p)
	if len(r.folders) < most && r.isFile(directory) && !strings.ContainsAny(p, "*$") {
		r.folders = append(r.folders, p)
	}
}

// there notes that a path and the folders that it is in are there.
func (r *shellReader) there(p string) {
	const deepest = 64
	for range deepest {
		if len(r.removed) == 0 {
			return
		}
		if i, ok := r.removed[p]; ok {
			r.effects[i].Path = ""
			delete(r.removed, p)
		}
		i := strings.LastIndexByte(p, '/')
		if i <= 0 {
			return
		}
		p = p[:i]
	}
}

// within returns a path as one that begins where the folder does.
func within(folder, p string) string {
	p = normalPath(p)
	if folder == "" || strings.HasPrefix(p, "/") || strings.HasPrefix(p, "~") || len(p) > 1 && p[1] == ':' {
		return p
	}
	return path.Join(folder, p)
}

// change notes a change of the directory; one that is not told leaves it unknown.
func (r *shellReader) change(to string) {
	const longest = 4096 // bytes of a path
	before, place := r.folder, within(cmp.Or(r.place, r.folder), to)
	known := to == "-" || strings.HasPrefix(place, "/") || r.place == ""
	switch {
	case to == "-":
		r.folder = r.before
	case to == "" || strings.ContainsAny(to, "$`~*"):
		r.folder, known = "", false
	default:
		r.folder = within(r.folder, to)
	}
	if strings.HasPrefix(r.folder, "..") || r.folder == "." || len(r.folder) > longest {
		r.folder, known = "", false
	}
	if isExpanded(to) {
		place = normalPath(to)
	}
	if r.before, r.place = before, ""; !known && to != "" && place != "." && len(place) <= longest {
		r.place = place
	}
}

// redirected adds the files that output is redirected to and returns the words
// without redirections.
func (r *shellReader) redirected(words []word) []string {
	var plain []string
	for i := 0; i < len(words); i++ {
		switch {
		case !words[i].redirect:
			r.named(words[i])
			plain = append(plain, words[i].text)
		case i+1 < len(words) && !words[i+1].redirect:
			r.named(words[i+1])
			if strings.HasPrefix(words[i].text, ">") {
				r.add(Effect{Path: words[i+1].text, Whole: words[i].text == ">"})
			}
			i++
		}
	}
	return plain
}

// named notes a word that names a file as it stands, although it holds what a shell expands.
func (r *shellReader) named(w word) {
	const longest = 1024 // bytes
	if w.literal && len(w.text) <= longest && strings.ContainsAny(w.text, expanded+"<>|;&") {
		r.literal[w.text] = true
	}
}

// program adds what the well-known programs do that write files, follows changes of the
// directory, and reads the scripts that shells are given. Redirected says that the output goes to a file.
func (r *shellReader) program(words []string, redirected bool) {
	for len(words) > 0 {
		if n := shellScript(words); n > 0 {
			if len(words) == n+1 {
				r.script(words[n])
				return
			}
			words = words[n:]
			continue
		}
		switch {
		case is("prefix", words[0]):
			words = behindFlags(words[1:], words[0])
			continue
		case strings.Contains(words[0], "="):
			words = words[1:]
			continue
		}
		break
	}
	if len(words) == 0 {
		return
	}
	name, rest := strings.TrimSuffix(strings.ToLower(base(words[0])), ".exe"), words[1:]
	if name == "git" {
		r.gitProgram(rest)
		return
	}
	var args []string
	for _, w := range rest {
		if w != "" && !strings.HasPrefix(w, "-") {
			args = append(args, w)
		}
	}
	switch name {
	case "cd", "pushd", "chdir", "set-location":
		if slices.Contains(rest, "-") {
			args = []string{"-"}
		}
		r.change(strings.Join(args, " "))
	case "popd":
		r.change("-")
	case "patch":
		if !slices.Contains(rest, "--dry-run") && !slices.Contains(rest, "-R") {
			r.applied(r.stdin)
		}
	default:
		if act := cmdletAct(name, rest); act != "" {
			r.cmdlet(act, name, rest)
			return
		}
		r.unix(name, rest, redirected)
		if is("interpreter", name) {
			r.coded(rest)
		}
	}
}

// shellScript returns the index of the script in "bash -lc script", "pwsh -Command script" and "cmd /c script";
// 0 when words are something else.
func shellScript(words []string) int {
	name := strings.TrimSuffix(strings.ToLower(base(normalPath(words[0]))), ".exe")
	windows := is("powershell", name)
	if !windows && !is("shell", name) {
		return 0
	}
	for i := 1; i+1 < len(words); i++ {
		flag := strings.ToLower(words[i])
		switch {
		case windows && (flag == "-command" || flag == "-c" || flag == "/c"):
			return i + 1
		case windows && (strings.HasPrefix(flag, "-") || strings.HasPrefix(flag, "/")):
		case windows, !strings.HasPrefix(flag, "-"):
			return 0
		case strings.HasSuffix(words[i], "c") && !strings.HasPrefix(flag, "--"):
			return i + 1
		}
	}
	return 0
}

// appliesPatch reports whether a command line does nothing but apply a patch that it holds, as Codex has its
// models write.
func appliesPatch(command string) bool {
	command = strings.TrimSpace(command)
	if !IsPatch(command) {
		return false
	}
	if strings.HasPrefix(command, PatchProgram+" "+patchBegin) { // a list of words: the patch is not quoted
		return true
	}
	found := false
	for _, words := range simpleCommands(command) {
		var plain []string
		for _, w := range words {
			if !w.redirect {
				plain = append(plain, w.text)
			}
		}
		for len(plain) > 0 && shellScript(plain) > 0 {
			plain = plain[shellScript(plain):]
			if len(plain) == 1 && plain[0] != command && appliesPatch(plain[0]) {
				plain[0] = PatchProgram
			}
		}
		switch {
		case len(plain) == 0 || plain[0] == "cd":
		case plain[0] == PatchProgram || plain[0] == "applypatch":
			found = true
		default:
			return false
		}
	}
	return found
}
