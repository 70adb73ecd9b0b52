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
	Added     bool   // a patch states that the file is new
	Whole     bool   // a command writes the whole content: the file is new if it did not exist
	Touched   bool   // a command creates the file if it does not exist, else leaves it unchanged
	Replaced  string // the text that a command replaces, each part on a line; "" when unknown
	MovedFrom string // of a moved file: its path before; "" for others
	Below     bool   // it is moved with its folder, or by a pattern; only set by callers that know the files
	Ran       Ran    // of a failed line: Did if the write came before the failure
}

// Deeds are the effects of a call.
type Deeds struct {
	Effects  []Effect      // files it writes or removes
	Git      []Git         // its commands of git
	Reads    []string      // files that a command prints, or that a call reads together
	Searched []string      // files that a command prints in part
	Swept    []string      // patterns of files that a command removes
	Carried  []PatternMove // patterns of files that it moves
	Folders  []string      // folders that it creates
}

// shellReader collects the effects of a command line.
type shellReader struct {
	Deeds
	command         // the current command
	otherwise bool  // it runs only if the one before it fails
	loop      *loop // the current loop; nil: none
	turns     int   // loop turns so far
	// words that name files literally, although they contain signs that a shell expands
	literal map[string]bool
	folder  string   // the folder that the line has changed into; "" if it has not, or it is unknown
	before  string   // the folder before that
	place   string   // the line's name of an unknown current folder
	piped   []string // the words of the command before the pipe
	outer   []string // the folders outside of the open subshells
}

// readShell returns the effects of a command line on files: redirections, programs of Unix,
// PowerShell and cmd, patches in it, and the plain calls of inline code for an interpreter. A path
// is within the folder that the line changes into. Variables, other than loops over words, and
// patterns are not expanded. Files that programs write by themselves are unknown.
func readShell(line string) *shellReader {
	r := &shellReader{literal: map[string]bool{}}
	last := joinNext
	for _, c := range lex(line).commands {
		r.otherwise, last = last == joinOr, c.joinedBy
		if c.opens {
			r.outer = append(r.outer, r.folder)
		}
		for _, r.command = range r.looped(c) {
			for _, o := range r.outputs {
				r.named(o.word)
				r.add(Effect{Path: o.text, Whole: !o.behind})
			}
			r.run()
			if r.piped = nil; c.joinedBy == joinPipe {
				r.piped = texts(r.words)
			}
		}
		if n := len(r.outer); n > 0 && c.closes {
			r.folder, r.outer, r.place = r.outer[n-1], r.outer[:n-1], ""
		}
	}
	if IsPatch(line) {
		r.Effects = append(r.Effects, patched(line)...)
	}
	return r
}

// add records a file that is written or removed.
func (r *shellReader) add(e Effect) {
	p := strings.TrimSpace(strings.Trim(e.Path, `"'`))
	if e.Removed && r.isPattern(p) {
		if r.loop == nil || r.loop.except == nil { // otherwise the pattern has exceptions
			r.Swept = append(r.Swept, within(r.folder, p))
		}
		return
	}
	if !r.isFile(p) {
		return
	}
	e.Path, e.Ran = within(r.folder, p), r.effectInFailedLine()
	if e.MovedFrom != "" {
		e.MovedFrom = within(r.folder, e.MovedFrom)
	}
	r.Effects = append(r.Effects, e)
	if e.Removed {
		r.Folders = slices.DeleteFunc(r.Folders,
			func(f string) bool { return strings.HasPrefix(f+"/", e.Path+"/") })
	}
}

// effectInFailedLine returns whether the command took effect if the line failed: Did if a later command
// failed.
func (c *command) effectInFailedLine() Ran {
	name := c.words[0].text
	if c.ran == Did && !is("prefix", name) &&
		(c.joinedBy == joinNext || c.joinedBy == joinAnd && is("writes", name)) {
		return Did
	}
	return Maybe
}

// isPattern reports whether a word is a pattern of files.
func (r *shellReader) isPattern(p string) bool {
	return !r.literal[p] && strings.ContainsAny(p, "*?[") && isFileName(strings.ReplaceAll(p, "*", ""))
}

// isFileName reports whether a word names one file: not a device, and without shell expansion.
func isFileName(p string) bool {
	return p != "" && p != "-" && !strings.HasPrefix(p, "/dev/") && !strings.HasPrefix(p, "&") &&
		!strings.ContainsAny(p, "$*{}()<>|;`\n")
}

// isFile reports whether a word names one file, see [isFileName]; quoted signs are literal.
func (r *shellReader) isFile(p string) bool {
	return isFileName(p) || r.literal[p] && p != "" && !strings.ContainsAny(p, "\n") &&
		!strings.HasPrefix(p, "/dev/")
}

// addFolder records a directory that is created.
func (r *shellReader) addFolder(directory string) {
	const most = 64
	if len(r.Folders) < most && r.isFile(directory) && !strings.ContainsAny(directory, "*$") {
		r.Folders = append(r.Folders, within(r.folder, directory))
	}
}

// within returns a path relative to the folder's own base.
func within(folder, p string) string {
	p = normalPath(p)
	if folder == "" || strings.HasPrefix(p, "/") || strings.HasPrefix(p, "~") || len(p) > 1 && p[1] == ':' {
		return p
	}
	return path.Join(folder, p)
}

// changeFolder records a change of the directory; an unclear target makes the folder unknown.
func (r *shellReader) changeFolder(to string) {
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

// named records a word that names a file literally although it contains signs that a shell expands.
func (r *shellReader) named(w word) {
	const longest = 1024 // bytes
	if w.literal && len(w.text) <= longest && strings.ContainsAny(w.text, expanded+"<>|;&") {
		r.literal[w.text] = true
	}
}

// run adds the effects of well-known programs on files, and follows changes of the directory.
func (r *shellReader) run() {
	for _, w := range r.words {
		r.named(w)
	}
	words := texts(ofBraces(r.program()))
	if len(words) == 0 {
		return
	}
	name, rest := strings.TrimSuffix(strings.ToLower(base(words[0])), ".exe"), words[1:]
	if name == "git" {
		r.gitProgram(rest)
		return
	}
	switch name {
	case "cd", "pushd", "chdir", "set-location":
		r.changeFolder(strings.Join(rest[max(len(rest)-1, 0):], ""))
	case "popd":
		r.changeFolder("-")
	case "patch":
		if !slices.Contains(rest, "--dry-run") && !slices.Contains(rest, "-R") {
			r.applied()
		}
	default:
		if act := cmdletAct(name, rest); act != "" {
			r.cmdlet(act, name, rest)
			return
		}
		r.unix(name, rest)
		if is("interpreter", name) {
			r.coded(rest)
		}
	}
}

// shellScript returns the index of the script in "bash -lc script", "pwsh -Command script" and "cmd
// /c script"; 0 for other words.
func shellScript(words []word) int {
	if len(words) == 0 {
		return 0
	}
	name := strings.TrimSuffix(strings.ToLower(base(normalPath(words[0].text))), ".exe")
	windows := is("powershell", name)
	if !windows && !is("shell", name) {
		return 0
	}
	for i := 1; i+1 < len(words); i++ {
		flag := words[i].text
		switch {
		case !strings.HasPrefix(flag, "-") && !(windows && strings.HasPrefix(flag, "/")):
			return 0
		case windows && is("given", strings.ToLower(flag)),
			!windows && strings.HasSuffix(flag, "c") && flag[1] != '-':
			return i + 1
		}
	}
	return 0
}

// appliesPatch reports whether a command line only applies a patch that it contains, the form that
// Codex has its models write.
func appliesPatch(line string) bool {
	line = strings.TrimSpace(line)
	if !IsPatch(line) {
		return false
	}
	if strings.HasPrefix(line, PatchProgram+" "+patchBegin) { // a list of words: the patch is not quoted
		return true
	}
	found := false
	for _, c := range lex(line).commands {
		switch c.words[0].text {
		case "cd":
		case PatchProgram, "applypatch":
			found = true
		default:
			return false
		}
	}
	return found
}
