package toolcall

import "strings"

// word is a word of a command line. A redirection is followed by the word that
// names its file.
type word struct {
	text     string
	redirect bool // text is ">" for output, ">>" for output behind what is there, "<" for all that writes no result
	literal  bool // quotes or backslashes hide all of it from the shell that the shell would expand
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

// simpleCommands splits a command line into simple commands and those into
// words. Bodies of here-documents and comments are left out, and what follows the
// first [mostWords] or [mostBytes].
func simpleCommands(command string) [][]word { return lex(command).commands }

func lex(command string) *lexer {
	l := &lexer{s: command, end: min(len(command), mostBytes), documents: map[int]string{}}
	const least = 8 // words
	l.words = make([]word, 0, min(least+strings.Count(command[:l.end], " ")+strings.Count(command[:l.end], "\n"), mostWords))
	for l.at < l.end && l.count < mostWords {
		l.next()
	}
	l.endCommand(joinNext)
	return l
}

// How much of a command is looked at, here-documents not counted. An argument of a program
// has at most 128 KB under Linux; scripts that are written to a shell may be longer.
const (
	mostWords = 50_000
	mostBytes = 512 << 10
)

type lexer struct {
	s         string
	at        int
	end       int // of what is looked at
	commands  [][]word
	joins     []join // what follows each command
	words     []word
	count     int // words so far
	word      []byte
	inWord    bool
	quoted    bool           // a part of the word is quoted
	bare      bool           // it holds a sign that the shell expands, and no quotes hide it
	heredoc   string         // tag of the here-document that begins on the next line …
	reads     int            // … and the command that reads it
	documents map[int]string // here-documents by their commands
	hides     bool           // a pipe or ";" between commands: the exit code is that of the last one
}

func (l *lexer) endWord() {
	if l.inWord {
		l.add(word{text: string(l.word), literal: l.quoted && !l.bare})
	}
	l.word, l.inWord, l.quoted, l.bare = l.word[:0], false, false, false
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
		n := len(l.words)
		l.commands, l.joins = append(l.commands, l.words[:n:n]), append(l.joins, by)
		l.words = l.words[n:] // all words stand in one array, as far as it goes
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
			from := l.at
			l.at = skipHeredoc(l.s, l.at, l.heredoc)
			l.documents[l.reads] = l.s[min(from+1, l.at):l.at]
			l.end = min(len(l.s), l.end+l.at-from)
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
		l.bare = l.bare || strings.IndexByte(expanded, c) >= 0
		l.put(c)
	}
	l.at++
}

// expanded are the signs that a shell expands in a word, or groups commands by.
const expanded = "*?[]{}()$`"

// quote reads a quotation; in double quotes a backslash hides a quote.
func (l *lexer) quote(mark byte) {
	l.inWord, l.quoted = true, true
	for l.at++; l.at < l.end && l.s[l.at] != mark; l.at++ {
		if mark == '"' && l.s[l.at] == '\\' && strings.IndexByte("\"\\$`", l.peek(1)) >= 0 {
			l.at++
		} else if mark == '"' && (l.s[l.at] == '$' || l.s[l.at] == '`') {
			l.bare = true
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
	case l.inWord && next == '*' && l.isCmdlet():
		l.put('\\')
		l.put(next)
		l.bare = true
	case l.inWord && (next >= 'a' && next <= 'z' || next >= 'A' && next <= 'Z' || next >= '0' && next <= '9' || next == '_' || next == '.'):
		l.put('\\')
		l.put(next)
	case next != 0 && next != '\n':
		l.put(next)
		l.quoted = true
	}
	l.at += 2
}

// isCmdlet reports whether the command is one of PowerShell or cmd on files, whose paths have backslashes before a pattern.
func (l *lexer) isCmdlet() bool {
	if len(l.words) == 0 {
		return false
	}
	row, ok := cmdlets().Find(strings.ToLower(l.words[0].text))
	return ok && row.Get("shared") == ""
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
	l.add(word{text: sign, redirect: true})
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
		l.reads = len(l.commands)
		l.at++
		return
	default:
		l.at++
		if l.peek(0) == '&' && l.duplicate() {
			return
		}
	}
	l.add(word{text: "<", redirect: true})
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
