package toolcall

import (
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
	Ran       Ran    // of a line that failed: Did when what writes the file came before what failed
}

// Effects returns the files that a shell command line says it writes or removes:
// redirections, tee, sed -i, rm, mv, cp, touch, their kin in PowerShell and cmd, and patches in it; a directory that
// is removed and made again in one command stays. A path is within the folder that the line changes into. Variables and patterns are not
// expanded. What programs do of their own cannot be seen.
func Effects(command string) []Effect { return readShell(command).effects }

// GitSteps returns what a shell command line has git do to files and commits, in order.
func GitSteps(command string) []GitStep { return readShell(command).steps }

// Reads returns the files whose content a shell command line prints.
func Reads(command string) []string { return readShell(command).reads }

// shellReader gathers what a command line does.
type shellReader struct {
	effects  []Effect
	steps    []GitStep
	reads    []string
	searched []string       // files that lines are printed of
	removed  map[string]int // where effects say that a path was removed last
	folder   string         // that the line has changed into; "" when it has not, or it is not known
	before   string         // the folder before that
	outer    []string       // the folders outside of the subshells that are open
}

func readShell(command string) *shellReader {
	r := &shellReader{removed: map[string]int{}}
	r.script(command)
	r.effects = append(r.effects, patched(command)...)
	kept := r.effects[:0]
	for i, e := range r.effects {
		if e.Path != "" {
			kept = append(kept, e)
			continue
		}
		for k := range r.steps {
			if r.steps[k].After > i {
				r.steps[k].After--
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
	for k, words := range l.commands {
		effects, steps := len(r.effects), len(r.steps)
		plain := r.redirected(words)
		plain = r.subshell(plain)
		r.program(plain, slices.ContainsFunc(words, func(w word) bool { return w.redirect && strings.HasPrefix(w.text, ">") }))
		if len(r.outer) > 0 && len(words) > 0 && strings.HasSuffix(words[len(words)-1].text, ")") {
			r.folder, r.outer = r.outer[len(r.outer)-1], r.outer[:len(r.outer)-1]
		}
		if k+1 < len(l.commands) && ran[k] == Did && !prefixes[words[0].text] && (l.joins[k] == joinNext || l.joins[k] == joinAnd && writers[words[0].text]) {
			for i := effects; i < len(r.effects); i++ {
				r.effects[i].Ran = Did
			}
		}
		if k > 0 && l.joins[k-1] == joinOr {
			r.steps = r.steps[:steps] // it may not have run, and the line ends well
			continue
		}
		for i := steps; i < len(r.steps); i++ {
			r.steps[i].After = min(max(r.steps[i].After, effects), len(r.effects))
			r.steps[i].Ran = ran[k]
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

// ran says of each command whether it ran when the line failed.
func (l *lexer) ran() []Ran {
	out := make([]Ran, len(l.commands))
	for k := range out {
		switch {
		case k == 0 || l.joins[k-1] == joinNext:
			out[k] = Did
		case l.joins[k-1] == joinAnd && out[k-1] == Did && passes(l.commands[k-1]):
			out[k] = Did
		}
	}
	for k := len(out) - 1; k >= 0; k-- { // the last one failed, or was not reached
		out[k] = Not
		if k == 0 || l.joins[k-1] != joinPipe {
			break
		}
	}
	return out
}

// passes reports whether a command hardly ever fails on its own.
func passes(words []word) bool {
	return words[0].text == "git" || stages[words[0].text] || writers[words[0].text]
}

// writers are programs that put what they are given into a file, or make one, and hardly ever fail.
var writers = wordSet("echo printf cat tee touch mkdir")

// add notes a file that is written or removed.
func (r *shellReader) add(e Effect) {
	p := strings.TrimSpace(strings.Trim(e.Path, `"'`))
	if !isFileName(p) {
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
	case len(r.removed) > 0 && strings.Contains(e.Path, "/"):
		r.there(path.Dir(e.Path))
	}
}

// isFileName reports whether a word names one file: no device, and nothing that a shell would expand.
func isFileName(p string) bool {
	return p != "" && p != "-" && !strings.HasPrefix(p, "/dev/") && !strings.HasPrefix(p, "&") && !strings.ContainsAny(p, "$*{}()<>|;`\n")
}

// made notes a directory that is made, or a file in it: it is there again, and what it is in.
func (r *shellReader) made(directory string) { r.there(within(r.folder, directory)) }

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
	before := r.folder
	switch {
	case to == "-":
		r.folder = r.before
	case to == "" || strings.ContainsAny(to, "$`~*"):
		r.folder = ""
	default:
		r.folder = within(r.folder, to)
	}
	const longest = 4096 // bytes of a path
	if strings.HasPrefix(r.folder, "..") || r.folder == "." || len(r.folder) > longest {
		r.folder = ""
	}
	r.before = before
}

// word is a word of a command line. A redirection is followed by the word that
// names its file.
type word struct {
	text     string
	redirect bool // text is ">" for output, ">>" for output behind what is there, "<" for all that writes no result
}

// redirected adds the files that output is redirected to and returns the words
// without redirections.
func (r *shellReader) redirected(words []word) []string {
	var plain []string
	for i := 0; i < len(words); i++ {
		switch {
		case !words[i].redirect:
			plain = append(plain, words[i].text)
		case i+1 < len(words) && !words[i+1].redirect:
			if strings.HasPrefix(words[i].text, ">") {
				r.add(Effect{Path: words[i+1].text, Whole: words[i].text == ">"})
			}
			i++
		}
	}
	return plain
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
		case prefixes[words[0]]:
			words = behindFlags(words[1:])
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
	case "remove-item", "ri", "del", "erase", "move-item", "move", "ren", "rename", "rename-item", "copy-item", "copy", "new-item", "ni", "set-content", "add-content", "out-file", "get-content", "gc", "type":
		r.cmdlet(name, rest)
	default:
		if len(args) > 0 {
			r.unix(name, rest, args, redirected)
		}
	}
}

// gitProgram adds what git does: its acts, and the files that it moves and removes.
func (r *shellReader) gitProgram(words []string) {
	if s, ok := r.git(words); ok {
		s.After = len(r.effects)
		r.steps = append(r.steps, s)
		return
	}
	own := r.folder
	for len(words) > 1 && strings.HasPrefix(words[0], "-") {
		if words[0] == "-C" {
			r.folder = within(r.folder, words[1])
		}
		n := 1
		if words[0] == "-C" || words[0] == "-c" {
			n = 2
		}
		words = words[n:]
	}
	defer func() { r.folder = own }()
	if len(words) == 0 || words[0] != "rm" && words[0] != "mv" {
		return
	}
	a := gitArguments(words[1:], "")
	s := GitStep{Act: GitAdd, All: true, By: "git " + words[0], Folder: r.folder}
	s.Paths = r.paths(&s, append(a.before, a.after...))
	switch from := len(r.effects); {
	case a.has("-n", "--dry-run"):
		return
	case a.has("--cached"):
		s.Act = GitUnstage
	default:
		r.unix(words[0], words[1:], append(a.before, a.after...), false)
		for _, e := range r.effects[from:] {
			s.Paths = append(s.Paths, e.Path)
		}
	}
	s.After = len(r.effects)
	r.steps = append(r.steps, s)
}

// unix adds what a program of Unix does with its arguments.
func (r *shellReader) unix(name string, words, args []string, redirected bool) {
	switch name {
	case "tee":
		appends := slices.Contains(words, "-a") || slices.Contains(words, "--append")
		for _, a := range args {
			r.add(Effect{Path: a, Whole: !appends})
		}
	case "touch":
		for _, a := range args {
			r.add(Effect{Path: a, Touched: true})
		}
	case "rm", "unlink":
		for _, a := range args {
			r.add(Effect{Path: a, Removed: true})
		}
	case "mkdir":
		for _, a := range args {
			r.made(a)
		}
	case "mv", "cp":
		if at := slices.IndexFunc(words, func(w string) bool { return w == "-t" || w == "--target-directory" }); at >= 0 && at+1 < len(words) {
			into := words[at+1]
			from := slices.DeleteFunc(slices.Clone(args), func(a string) bool { return a == into })
			r.copied(from, strings.TrimRight(into, "/")+"/", name == "mv", false)
		} else if len(args) > 1 {
			r.copied(args[:len(args)-1], args[len(args)-1], name == "mv", containsFlag(words, "rRa"))
		}
	case "sed", "perl":
		files, inPlace := editedFiles(words)
		replaced := ""
		if inPlace {
			replaced = substituted(words)
		}
		for _, a := range files {
			if inPlace {
				r.add(Effect{Path: a, Replaced: replaced})
			} else if name == "sed" && !redirected {
				r.read(a)
			}
		}
	case "grep", "egrep", "fgrep", "rg", "awk":
		for _, a := range args[1:] {
			if len(path.Ext(a)) > 1 && !redirected && isFileName(a) {
				r.searched = append(r.searched, within(r.folder, a))
			}
		}
	case "cat", "nl", "less", "more", "bat", "tac", "head", "tail":
		if redirected {
			return
		}
		for i, w := range words {
			if strings.HasPrefix(w, "-") || i > 0 && (name == "head" || name == "tail") && (words[i-1] == "-n" || words[i-1] == "-c" || words[i-1] == "--lines") {
				continue
			}
			r.read(w)
		}
	}
}

// read notes a file whose content is printed.
func (r *shellReader) read(p string) {
	if isFileName(p) && !strings.ContainsAny(p, "?[") {
		r.reads = append(r.reads, within(r.folder, p))
	}
}

// copied adds what copying or moving files does: into a directory each under its name.
func (r *shellReader) copied(from []string, to string, moves, recursive bool) {
	into := len(from) > 1 || strings.HasSuffix(to, "/") || strings.HasSuffix(to, `\`) || to == "." || to == ".." || strings.HasSuffix(to, "/.")
	for _, f := range from {
		if moves {
			r.add(Effect{Path: f, Removed: true})
		}
		e := Effect{Path: to, Whole: true}
		if into && (moves || !recursive) {
			if !isFileName(f) {
				continue
			}
			e.Path = strings.TrimRight(to, `/\`) + "/" + path.Base(normalPath(f))
		}
		if moves && isFileName(f) {
			e.MovedFrom = f
		}
		r.add(e)
	}
}

// containsFlag reports whether a short flag of the given letters is among words.
func containsFlag(words []string, letters string) bool {
	return slices.ContainsFunc(words, func(w string) bool {
		return len(w) > 1 && w[0] == '-' && w[1] != '-' && strings.ContainsAny(w, letters) || w == "--recursive" || w == "--archive"
	})
}

// cmdlet adds what a program of PowerShell or cmd does with its arguments.
func (r *shellReader) cmdlet(name string, words []string) {
	var args []string
	flags := map[string]string{}
	for i := 0; i < len(words); i++ {
		flag := strings.ToLower(words[i])
		switch {
		case cmdletFlags[flag] && i+1 < len(words):
			i++
			flags[flag] = words[i]
		case words[i] == "" || words[i][0] == '-' || len(words[i]) == 2 && words[i][0] == '/': // "/q"
		default:
			args = append(args, words[i])
		}
	}
	for _, flag := range []string{"-path", "-literalpath", "-filepath"} {
		if v := flags[flag]; v != "" {
			args = append([]string{v}, args...)
		}
	}
	for _, flag := range []string{"-destination", "-newname"} {
		if v := flags[flag]; v != "" {
			args = append(args, v)
		}
	}
	if len(args) == 0 {
		return
	}
	switch name {
	case "remove-item", "ri", "del", "erase":
		for _, a := range args {
			for p := range strings.SplitSeq(a, ",") {
				r.add(Effect{Path: p, Removed: true})
			}
		}
	case "ren", "rename", "rename-item":
		if len(args) == 2 {
			r.copied(args[:1], path.Join(path.Dir(normalPath(args[0])), normalPath(args[1])), true, false)
		}
	case "move-item", "move", "copy-item", "copy":
		if len(args) == 2 {
			r.copied(args[:1], args[1], name[0] == 'm', slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(w, "-recurse") }))
		}
	case "new-item", "ni":
		if strings.HasPrefix(strings.ToLower(flags["-itemtype"]), "d") {
			r.made(args[0])
			return
		}
		r.add(Effect{Path: args[0], Whole: true})
	case "set-content", "out-file":
		r.add(Effect{Path: args[0], Whole: !slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(w, "-append") })})
	case "add-content":
		r.add(Effect{Path: args[0]})
	case "get-content", "gc":
		r.read(args[0])
	case "type": // also of Unix, where it says what a command is
		if strings.ContainsAny(args[0], `./\`) {
			r.read(args[0])
		}
	}
}

// cmdletFlags are the flags of cmdlets that a value follows.
var cmdletFlags = wordSet("-path -literalpath -filepath -destination -newname -itemtype -type -value -encoding -filter -include -exclude -name -totalcount -tail -first -last")

// prefixes are words before the name of a program.
var prefixes = map[string]bool{
	"sudo": true, "doas": true, "env": true, "time": true, "timeout": true, "nice": true, "nohup": true, "exec": true, "command": true,
	"then": true, "do": true, "else": true, "{": true, "!": true,
}

// behindFlags returns the words behind the flags of a program that runs another one: "-u ann", "-n 5", a duration.
func behindFlags(words []string) []string {
	for len(words) > 0 {
		w := words[0]
		switch {
		case len(w) == 2 && w[0] == '-' && strings.IndexByte("ugnks", w[1]) >= 0 && len(words) > 1:
			words = words[2:]
		case len(w) > 1 && w[0] == '-', w != "" && w[0] >= '0' && w[0] <= '9' && strings.Trim(w, "0123456789.smhd") == "":
			words = words[1:]
		default:
			return words
		}
	}
	return words
}

// shellScript returns the index of the script in "bash -lc script", "pwsh -Command script" and "cmd /c script";
// 0 when words are something else.
func shellScript(words []string) int {
	switch strings.TrimSuffix(strings.ToLower(base(normalPath(words[0]))), ".exe") {
	case "sh", "bash", "zsh", "dash":
	case "pwsh", "powershell", "cmd":
		for i := 1; i+1 < len(words) && strings.IndexByte("-/", (words[i] + " ")[0]) >= 0; i++ {
			if flag := strings.ToLower(words[i]); flag == "-command" || flag == "-c" || flag == "/c" {
				return i + 1
			}
		}
		return 0
	default:
		return 0
	}
	for i := 1; i+1 < len(words) && strings.HasPrefix(words[i], "-"); i++ {
		if strings.HasSuffix(words[i], "c") && !strings.HasPrefix(words[i], "--") {
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
	if strings.HasPrefix(command, "apply_patch "+patchBegin) { // a list of words: the patch is not quoted
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
				plain[0] = "apply_patch"
			}
		}
		switch {
		case len(plain) == 0 || plain[0] == "cd":
		case plain[0] == "apply_patch" || plain[0] == "applypatch":
			found = true
		default:
			return false
		}
	}
	return found
}

// editedFiles returns the files that sed or perl is given, and whether it edits them in place.
func editedFiles(words []string) (files []string, inPlace bool) {
	scripted := false
	for k := 0; k < len(words); k++ {
		w := words[k]
		switch {
		case w == "": // of sed -i ''
		case strings.HasPrefix(w, "--"):
			inPlace = inPlace || strings.HasPrefix(w, "--in-place")
			scripted = scripted || strings.HasPrefix(w, "--expression=")
		case w[0] == '-':
			before, _, found := strings.Cut(w[1:], "i")
			if found && strings.Trim(before, "nErszpwual0123456789") == "" {
				inPlace = true
			} else if strings.HasSuffix(w, "e") || strings.HasSuffix(w, "f") {
				scripted = true
				k++
			}
		case !scripted:
			scripted = true
		default:
			files = append(files, w)
		}
	}
	return files, inPlace
}

// substituted returns the texts that scripts of sed or perl replace, "s/text/…/", each on a line, as far as they are no
// patterns.
func substituted(words []string) string {
	const shortest = 3
	var out strings.Builder
	for _, w := range words {
		for s := range strings.SplitSeq(w, ";") {
			s = strings.TrimSpace(s)
			if len(s) < 4 || s[0] != 's' || s[1] == ' ' || s[1] == '\\' || isWordByte(s[1]) {
				continue
			}
			var text []byte
			i := 2
			for ; i < len(s) && s[i] != s[1]; i++ {
				if s[i] == '\\' && i+1 < len(s) && !isWordByte(s[i+1]) {
					i++
				} else if strings.IndexByte(`*[]^$+?(){}|\`, s[i]) >= 0 {
					text = nil
					break
				}
				text = append(text, s[i])
			}
			if i < len(s) && s[i] == s[1] && len(text) >= shortest {
				out.Write(append(text, '\n'))
			}
		}
	}
	return out.String()
}

// isWordByte reports whether a byte is a letter or a digit.
func isWordByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// simpleCommands splits a command line into simple commands and those into
// words. Bodies of here-documents and comments are left out, and what follows the
// first [mostWords].
func simpleCommands(command string) [][]word { return lex(command).commands }

func lex(command string) *lexer {
	l := &lexer{s: command}
	for l.at < len(l.s) && l.count < mostWords {
		l.next()
	}
	l.endCommand(joinNext)
	return l
}

// mostWords is how many words of a command are looked at.
const mostWords = 50_000

type lexer struct {
	s        string
	at       int
	commands [][]word
	joins    []join // what follows each command
	words    []word
	count    int // words so far
	word     []byte
	inWord   bool
	quoted   bool   // a part of the word is quoted
	heredoc  string // tag of the here-document that begins on the next line
	hides    bool   // a pipe or ";" between commands: the exit code is that of the last one
}

func (l *lexer) endWord() {
	if l.inWord {
		l.add(word{text: string(l.word)})
	}
	l.word, l.inWord, l.quoted = l.word[:0], false, false
}

func (l *lexer) add(w word) {
	l.words = append(l.words, w)
	l.count++
}

// join is what stands between two commands.
type join byte

const (
	joinNext join = iota // ";" or a line end
	joinAnd              // "&&"
	joinOr               // "||"
	joinPipe             // "|"
)

func (l *lexer) endCommand(by join) {
	l.endWord()
	if len(l.words) > 0 {
		l.commands, l.joins = append(l.commands, l.words), append(l.joins, by)
		l.words = nil
	}
}

// joined returns what c and the byte after it join commands by.
func joined(c, next byte) join {
	switch {
	case c == '&' && next == '&':
		return joinAnd
	case c == '|' && next == '|':
		return joinOr
	case c == '|':
		return joinPipe
	}
	return joinNext
}

func (l *lexer) put(c byte) {
	l.word = append(l.word, c)
	l.inWord = true
}

// peek returns the byte n after the current one, or 0.
func (l *lexer) peek(n int) byte {
	if l.at+n < len(l.s) {
		return l.s[l.at+n]
	}
	return 0
}

func (l *lexer) next() {
	c := l.s[l.at]
	switch {
	case c == '\'' || c == '"':
		l.quote(c)
		return
	case c == '\\':
		l.escape()
		return
	case c == ' ' || c == '\t' || c == '\r':
		l.endWord()
	case c == '\n':
		l.endCommand(joinNext)
		if l.heredoc != "" {
			l.at = skipHeredoc(l.s, l.at, l.heredoc)
			l.heredoc = ""
		}
	case c == ';' || c == '|' || c == '&' && l.peek(1) != '>':
		l.hides = l.hides || c != '&'
		l.endCommand(joined(c, l.peek(1)))
	case c == '&':
		l.endWord() // of &>file
	case c == '>':
		l.output()
		return
	case c == '<':
		l.input()
		return
	case c == '#' && !l.inWord:
		end := strings.IndexByte(l.s[l.at:], '\n')
		if end < 0 {
			end = len(l.s) - l.at
		}
		l.at += end
		return
	default:
		l.put(c)
	}
	l.at++
}

// quote reads a quotation; in double quotes a backslash hides a quote.
func (l *lexer) quote(mark byte) {
	l.inWord, l.quoted = true, true
	for l.at++; l.at < len(l.s) && l.s[l.at] != mark; l.at++ {
		if mark == '"' && l.s[l.at] == '\\' && strings.IndexByte("\"\\$`", l.peek(1)) >= 0 {
			l.at++
		}
		l.put(l.s[l.at])
	}
	l.at++
}

// escape reads a backslash: of a path of Windows inside a word, else it hides
// the next byte.
func (l *lexer) escape() {
	next := l.peek(1)
	switch {
	case l.inWord && (next >= 'a' && next <= 'z' || next >= 'A' && next <= 'Z' || next >= '0' && next <= '9' || next == '_' || next == '.'):
		l.put('\\')
		l.put(next)
	case next != 0 && next != '\n':
		l.put(next)
		l.quoted = true
	}
	l.at += 2
}

// descriptor takes the number of a file descriptor off before a redirection.
func (l *lexer) descriptor() string {
	fd := string(l.word)
	if l.quoted || fd == "" || strings.Trim(fd, "0123456789") != "" {
		l.endWord()
		return ""
	}
	l.word, l.inWord = l.word[:0], false
	return fd
}

// output reads ">" in one of its forms.
func (l *lexer) output() {
	sign := ">"
	errors := l.descriptor() == "2"
	l.at++
	for l.peek(0) == '>' || l.peek(0) == '|' {
		if l.peek(0) == '>' {
			sign = ">>"
		}
		l.at++
	}
	if errors {
		sign = "<"
	}
	if l.peek(0) == '&' && l.duplicate() {
		return
	}
	l.add(word{sign, true})
}

// duplicate skips "&1" or "&-"; a name after "&" is that of a file.
func (l *lexer) duplicate() bool {
	l.at++
	from := l.at
	for c := l.peek(0); c >= '0' && c <= '9' || c == '-'; c = l.peek(0) {
		l.at++
	}
	return l.at > from
}

// input reads "<", "<<tag" or "<<<".
func (l *lexer) input() {
	l.descriptor()
	switch {
	case strings.HasPrefix(l.s[l.at:], "<<<"):
		l.at += 3
	case strings.HasPrefix(l.s[l.at:], "<<"):
		l.heredoc, l.at = heredocTag(l.s, l.at+2)
		l.at++
		return
	default:
		l.at++
		if l.peek(0) == '&' && l.duplicate() {
			return
		}
	}
	l.add(word{"<", true})
}

// heredocTag reads the tag after "<<" and returns it with the index of its last
// byte.
func heredocTag(command string, i int) (string, int) {
	for i < len(command) && (command[i] == '-' || command[i] == ' ') {
		i++
	}
	from := i
	for i < len(command) && command[i] > ' ' && strings.IndexByte(";|&<>)", command[i]) < 0 {
		i++
	}
	return strings.Trim(command[from:i], `"'\`), i - 1
}

// skipHeredoc returns the index of the line end that closes a here-document.
func skipHeredoc(command string, i int, tag string) int {
	for i < len(command) {
		end := strings.IndexByte(command[i+1:], '\n')
		line := command[i+1:]
		if end >= 0 {
			line = line[:end]
		}
		if strings.TrimSpace(line) == tag {
			return i + len(line) + 1
		}
		if end < 0 {
			return len(command)
		}
		i += end + 1
	}
	return i
}
