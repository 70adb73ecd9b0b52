package toolcall

import (
	"slices"
	"strings"
)

// Effect is a file that a call writes or removes.
type Effect struct {
	Path    string
	Removed bool
	Added   bool // a patch says that the file is new
}

// Effects returns the files that a shell command line says it writes or removes:
// redirections, tee, sed -i, rm, mv, cp, touch, and patches in it; a directory that
// is removed and made again in one command stays. Variables and patterns are not
// expanded. What programs do of their own cannot be seen.
func Effects(command string) []Effect {
	var out []Effect
	removed := map[string]int{} // where out says that a path was removed last
	var script func(command string)
	add := func(p string, gone bool) {
		p = strings.TrimSpace(strings.Trim(p, `"'`))
		if p != "" && p != "-" && !strings.HasPrefix(p, "/dev/") && !strings.HasPrefix(p, "&") && !strings.ContainsAny(p, "$*{}()<>|;`\n") {
			out = append(out, Effect{Path: normalPath(p), Removed: gone})
			if gone {
				removed[normalPath(p)] = len(out) - 1
			}
		}
	}
	made := func(directory string) {
		if i, ok := removed[normalPath(directory)]; ok {
			out[i].Path = "" // it is there again
		}
	}
	script = func(command string) {
		for _, words := range simpleCommands(command) {
			program(redirected(words, add), add, made, script)
		}
	}
	script(command)
	out = append(out, patched(command)...)
	return slices.DeleteFunc(out, func(e Effect) bool { return e.Path == "" })
}

// word is a word of a command line. A redirection is followed by the word that
// names its file.
type word struct {
	text     string
	redirect bool // text is ">" for output, "<" for all that writes no result
}

// redirected adds the files that output is redirected to and returns the words
// without redirections.
func redirected(words []word, add func(path string, removed bool)) []string {
	var plain []string
	for i := 0; i < len(words); i++ {
		switch {
		case !words[i].redirect:
			plain = append(plain, words[i].text)
		case i+1 < len(words) && !words[i+1].redirect:
			if words[i].text == ">" {
				add(words[i+1].text, false)
			}
			i++
		}
	}
	return plain
}

// program adds the effects of the well-known programs that write files, names the
// directories that are made, and reads the scripts that shells are given.
func program(words []string, add func(path string, removed bool), made func(directory string), script func(string)) {
	for len(words) > 0 {
		if n := shellScript(words); n > 0 {
			if len(words) == n+1 {
				script(words[n])
				return
			}
			words = words[n:]
			continue
		}
		if !prefixes[words[0]] && !strings.Contains(words[0], "=") {
			break
		}
		words = words[1:]
	}
	if len(words) < 2 {
		return
	}
	var args []string
	for _, w := range words[1:] {
		if w != "" && !strings.HasPrefix(w, "-") {
			args = append(args, w)
		}
	}
	if len(args) == 0 {
		return
	}
	last := args[len(args)-1]
	switch words[0] {
	case "tee", "touch":
		for _, a := range args {
			add(a, false)
		}
	case "rm":
		for _, a := range args {
			add(a, true)
		}
	case "mkdir":
		for _, a := range args {
			made(a)
		}
	case "mv":
		if len(args) == 2 {
			add(args[0], true)
		}
		add(last, false)
	case "cp":
		add(last, false)
	case "sed", "perl":
		for _, a := range editedInPlace(words[1:]) {
			add(a, false)
		}
	}
}

// prefixes are words before the name of a program.
var prefixes = map[string]bool{
	"sudo": true, "env": true, "git": true, "time": true, "nohup": true, "exec": true, "command": true,
	"then": true, "do": true, "else": true, "{": true, "!": true,
}

// shellScript returns the index of the script in "bash -lc script"; 0 when words
// are something else.
func shellScript(words []string) int {
	switch base(words[0]) {
	case "sh", "bash", "zsh", "dash":
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

// editedInPlace returns the files that sed -i or perl -pi edits.
func editedInPlace(words []string) []string {
	var files []string
	inPlace, scripted := false, false
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
	if !inPlace {
		return nil
	}
	return files
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
	l.endCommand()
	return l
}

// mostWords is how many words of a command are looked at.
const mostWords = 50_000

type lexer struct {
	s        string
	at       int
	commands [][]word
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

func (l *lexer) endCommand() {
	l.endWord()
	if len(l.words) > 0 {
		l.commands = append(l.commands, l.words)
		l.words = nil
	}
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
		l.endCommand()
		if l.heredoc != "" {
			l.at = skipHeredoc(l.s, l.at, l.heredoc)
			l.heredoc = ""
		}
	case c == ';' || c == '|' || c == '&' && l.peek(1) != '>':
		l.hides = l.hides || c != '&'
		l.endCommand()
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
	if l.descriptor() == "2" {
		sign = "<"
	}
	l.at++
	for l.peek(0) == '>' || l.peek(0) == '|' {
		l.at++
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
