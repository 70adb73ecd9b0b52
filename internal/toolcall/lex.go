package toolcall

import (
	"strings"

	"github.com/precis-dev/precis/internal/lazyregexp"
)

// word is a word of a command line.
type word struct {
	text    string
	literal bool // quotes or backslashes protect all its special characters from the shell
}

// command is a simple command of a command line.
type command struct {
	words    []word
	outputs  []output // files that output is redirected to
	fed      bool     // its input is redirected
	input    string   // the here-document that it reads
	joinedBy join     // the operator between it and the next command
	ran      Ran      // set if the line failed
	opens    bool     // a subshell begins with it
	closes   bool     // one ends with it
}

// output is a file that output is redirected to: appended (>>) if behind is set, else replaced.
type output struct {
	word
	behind bool
}

// program returns the words of a command from its program on, without variable assignments and
// without programs that only run another one.
func (c *command) program() []word {
	words := c.words
	for len(words) > 0 {
		switch {
		case is("prefix", words[0].text):
			words = afterFlags(words[1:], words[0].text)
		case strings.Contains(words[0].text, "="):
			words = words[1:]
		default:
			return words
		}
	}
	return nil
}

// rarelyFails reports whether a command hardly ever fails on its own.
func (c *command) rarelyFails() bool {
	name := c.words[0].text
	return name == "git" || is("stages", name) || is("writes", name)
}

// markRan determines whether each command of a failed line ran: the last one ran, or was not
// reached.
func markRan(commands []command) {
	last := len(commands) - 1
	for last > 0 && commands[last-1].joinedBy == joinPipe {
		last--
	}
	for k := range commands {
		before := &commands[max(k-1, 0)]
		switch {
		case k >= last:
			commands[k].ran = Not
		case k == 0 || before.joinedBy == joinNext ||
			before.joinedBy == joinAnd && before.ran == Did && before.rarelyFails():
			commands[k].ran = Did
		}
	}
}

// lex splits a command line into simple commands, including the commands of scripts passed to
// shells. It skips bodies of here-documents and comments, and stops after [mostWords] or
// [mostBytes].
func lex(line string) *lexer {
	l := lexed(line, 0)
	markRan(l.commands)
	return l
}

func lexed(line string, depth int) *lexer {
	l := &lexer{s: line, end: min(len(line), mostBytes)}
	for l.at < l.end && l.count < mostWords {
		l.next()
	}
	l.endCommand(joinNext)
	l.group()
	const deepest = 3
	all := make([]command, 0, len(l.commands))
	for _, c := range l.commands {
		program := c.program()
		at := shellScript(program)
		for ; at > 0 && at < len(program)-1; at = shellScript(program) {
			program = program[at:]
			c.words = program
		}
		if at == 0 || depth == deepest {
			all = append(all, c)
			continue
		}
		inner := lexed(program[at].text, depth+1)
		all, l.hidesExitCode = append(all, inner.commands...), l.hidesExitCode || inner.hidesExitCode
		if len(inner.commands) > 0 {
			last := &all[len(all)-1]
			last.joinedBy, last.outputs = c.joinedBy, append(last.outputs, c.outputs...)
		}
	}
	l.commands = all
	return l
}

// group removes the marks of subshells from the words.
func (l *lexer) group() {
	open := 0
	for k := range l.commands {
		c := &l.commands[k]
		first, last := &c.words[0], &c.words[len(c.words)-1]
		if c.opens = len(first.text) > 1 && first.text[0] == '('; c.opens {
			first.text = first.text[1:]
			open++
		}
		if c.closes = open > 0 && strings.HasSuffix(last.text, ")"); c.closes {
			last.text = strings.TrimSuffix(last.text, ")")
			open--
		}
	}
}

// Limits of a command, not counting here-documents. An argument of a program has at most 128 KB
// under Linux; scripts that are written to a shell may be longer.
const (
	mostWords = 50_000
	mostBytes = 512 << 10
)

type lexer struct {
	s             string
	at            int
	end           int // of the text to read
	commands      []command
	now           command // the current command; its words are in words
	words         []word
	count         int // words so far
	word          []byte
	inWord        bool
	quoted        bool   // a part of the word is quoted
	bare          bool   // it holds an unquoted sign that the shell expands
	redirect      string // "<", ">" or ">>", when the next word names a file
	heredoc       string // tag of the here-document that begins on the next line …
	reads         int    // … and the command that reads it
	hidesExitCode bool   // a pipe or ";" hides exit codes: the line's is the last command's
}

func (l *lexer) endWord() {
	if l.inWord {
		w := word{string(l.word), l.quoted && !l.bare}
		switch l.redirect {
		case "":
			l.words = append(l.words, w)
		case ">", ">>":
			l.now.outputs = append(l.now.outputs, output{w, l.redirect == ">>"})
		}
		l.redirect = ""
		l.count++
	}
	l.word, l.inWord, l.quoted, l.bare = l.word[:0], false, false, false
}

// join is the operator between two commands.
type join byte

const (
	joinNext join = iota // ";" or a line end
	joinAnd              // "&&"
	joinOr               // "||"
	joinPipe             // "|"
)

func (l *lexer) endCommand(by join) {
	l.endWord()
	l.redirect = ""
	if len(l.now.outputs) > 0 && len(l.words) == 0 {
		l.words = append(l.words, word{text: ":"})
	}
	if n := len(l.words); n > 0 {
		l.now.words, l.now.joinedBy = l.words[:n:n], by
		l.commands = append(l.commands, l.now)
		l.words = l.words[n:] // the next command's words follow in the same array, while it has room
	}
	l.now = command{}
}

// joined returns the operator that c and the byte after it form.
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
			if l.reads < len(l.commands) {
				l.commands[l.reads].input = l.s[min(from+1, l.at):l.at]
			}
			l.end = min(len(l.s), l.end+l.at-from)
			l.heredoc = ""
		}
	case c == ';' || c == '|' || c == '&' && l.peek(1) != '>':
		l.hidesExitCode = l.hidesExitCode || c != '&'
		l.endCommand(joined(c, l.peek(1)))
	case c == '&':
		l.endWord() // of &>file
	case c == '>' || c == '<':
		l.redirects()
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

// expanded are the signs that a shell expands in a word or uses to group commands.
const expanded = "*?[]{}()$`"

// quote reads a quotation; in double quotes a backslash escapes a quote.
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

// escape reads a backslash: inside a Windows path it is a separator, else it escapes the next byte.
func (l *lexer) escape() {
	next := l.peek(1)
	switch {
	case l.inWord && next == '*' && l.isCmdlet():
		l.put('\\')
		l.put(next)
		l.bare = true
	case l.inWord && (next >= 'a' && next <= 'z' || next >= 'A' && next <= 'Z' ||
		next >= '0' && next <= '9' || next == '_' || next == '.'):
		l.put('\\')
		l.put(next)
	case next != 0 && next != '\n':
		l.put(next)
		l.quoted = true
	}
	l.at += 2
}

// isCmdlet reports whether the command is a cmdlet; its paths may have a backslash before a
// pattern.
func (l *lexer) isCmdlet() bool {
	if len(l.words) == 0 {
		return false
	}
	row, ok := cmdlets().Find(strings.ToLower(l.words[0].text))
	return ok && row.Get("shared") == ""
}

// descriptor removes the number of a file descriptor before a redirection.
func (l *lexer) descriptor() string {
	fd := string(l.word)
	if l.quoted || fd == "" || strings.Trim(fd, "0123456789") != "" {
		l.endWord()
		return ""
	}
	l.word, l.inWord = l.word[:0], false
	return fd
}

// redirection matches a redirection operator, with a target descriptor instead of a file.
var redirection = lazyregexp.New(`^(>[>|]*|<<<|<<|<)(?:&([\d-]*))?`)

// redirects reads a redirection in any of its forms.
func (l *lexer) redirects() {
	fd := l.descriptor()
	m := redirection.FindStringSubmatch(l.s[l.at:])
	l.at += len(m[0])
	switch {
	case m[2] != "":
	case m[1] == "<<":
		l.heredoc, l.at = heredocTag(l.s, l.at)
		l.reads = len(l.commands)
	case fd == "2":
		l.redirect = "<"
	default:
		l.redirect = strings.TrimSuffix(m[1], "|")
		l.now.fed = l.now.fed || m[1][0] == '<'
	}
}

// heredocTag reads the tag after "<<" and returns it with the index after it.
func heredocTag(command string, i int) (string, int) {
	rest := strings.TrimLeft(command[i:], "- ")
	end := strings.IndexAny(rest, " \t\r\n;|&<>)")
	if end < 0 {
		end = len(rest)
	}
	return strings.Trim(rest[:end], `"'\`), len(command) - len(rest) + end
}

// skipHeredoc returns the line end that closes the here-document after the line end at i.
func skipHeredoc(command string, i int, tag string) int {
	i++
	for line := range strings.Lines(command[i:]) {
		if strings.TrimSpace(line) == tag {
			return i + len(strings.TrimSuffix(line, "\n"))
		}
		i += len(line)
	}
	return len(command)
}
