package retain

import (
	"strings"

	"github.com/precis-dev/precis/internal/visible"
)

// Kind is the type of an [Anchor].
type Kind uint8

// The kinds of anchors.
const (
	KindIdentifier Kind = iota // a name in code: camelCase, snake_case, dotted, kebab-case-name
	KindPath                   // a file or directory
	KindError                  // an error's name, code or message
	KindURL
	KindHash   // a commit, a UUID, a digest
	KindNumber // a number with meaning: four digits or more, a unit, a version, a price
	KindQuote  // words in quotation marks
	KindFlag   // a command line flag
	KindTicket // #123, ABC-123
	kinds
)

var kindNames = [kinds]string{"identifier", "path", "error", "url", "hash", "number", "quote", "flag",
	"ticket"}

// String returns the kind's name.
func (k Kind) String() string {
	if k < kinds {
		return kindNames[k]
	}
	return "unknown"
}

// MarshalText writes the kind's name.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// Anchor is a fact that a later turn may need, at its place in a text. Start and End delimit
// [Start,End) in bytes.
type Anchor struct {
	Kind       Kind
	Start, End int
}

// longest is the maximal length of a name in bytes; longer runs of word characters are data.
const longest = 256

// Scan calls f for each anchor of the text in the order of their starts; a
// dotted name is followed by its parts. It works on bytes, makes no copies, and
// takes linear time. Ordinary words of a natural language are not anchors.
func Scan(text string, f func(Anchor)) {
	s := scanner{text: text, f: f}
	for s.at < len(text) {
		c := text[s.at]
		switch {
		case classes[c]&start != 0:
			s.word()
		case c == '-':
			s.flag()
		case c == '#':
			s.ticket()
		case c == '\\' && strings.IndexByte("nrt", byteAt(text, s.at+1)) >= 0:
			s.at += 2 // skip an escape: its letter begins no word
		case c == '\x1b':
			s.at += visible.Sequence(text[s.at:])
		case c == '\\' && strings.HasPrefix(text[s.at:], escaped):
			s.at += len(escaped) - 1 + visible.Sequence("\x1b"+text[s.at+len(escaped):min(len(text),
				s.at+len(escaped)+longest)])
		default:
			if classes[c]&quote != 0 {
				s.quoted(c)
			}
			s.at++
		}
	}
}

// escaped is JSON's form of the character that begins a terminal sequence.
const escaped = `\u001b`

type scanner struct {
	text string
	at   int
	shut int // no quotation may begin before this: the end of the last one
	f    func(Anchor)
}

func (s *scanner) yield(k Kind, start, end int) { s.f(Anchor{k, start, end}) }

// The classes of bytes.
const (
	letter = 1 << iota
	upper
	digit
	start // may begin a word
	inner // may be inside a word
	quote // opens a quotation
)

var classes = makeClasses()

func makeClasses() (t [256]uint8) {
	for c := 'a'; c <= 'z'; c++ {
		t[c] = letter | start | inner
		t[c-'a'+'A'] = letter | upper | start | inner
	}
	for c := '0'; c <= '9'; c++ {
		t[c] = digit | start | inner
	}
	for _, c := range "_$" {
		t[c] = start | inner
	}
	for _, c := range "/.~@" {
		t[c] = start
	}
	for _, c := range "\"`'" {
		t[c] = quote
	}
	return t
}

func is(c byte, class uint8) bool { return classes[c]&class != 0 }

// byteAt returns the byte at i, or 0 outside the string.
func byteAt(s string, i int) byte {
	if i < 0 || i >= len(s) {
		return 0
	}
	return s[i]
}

// word reads the run of word characters at s.at and yields its anchors.
func (s *scanner) word() {
	from := s.at
	w := wordShape{}
	i := from
	for i < len(s.text) {
		n := w.take(s.text, from, i)
		if n == 0 {
			break
		}
		i += n
		if w.url {
			s.link(from, i)
			return
		}
	}
	s.at = max(i, from+1)
	end := i
	for end > from && strings.IndexByte("./:@-~", s.text[end-1]) >= 0 {
		end--
		if s.text[end] == '.' { // ends a sentence
			w.dots--
		}
	}
	if end-from < 2 || end-from > longest {
		return
	}
	s.classify(from, end, w)
}

// wordShape counts the kinds of characters in a word while it is read.
type wordShape struct {
	slashes, dots, colons, dashes, unders int
	digits, letters, uppers               int
	drive, url                            bool
	ref                                   int // start of ":line" after a path; 0: none
}

// take returns how many bytes at i belong to the word; 0 means that the word ends.
func (w *wordShape) take(text string, from, i int) int {
	c := text[i]
	class := classes[c]
	if class&(letter|digit) != 0 {
		if class&digit != 0 {
			w.digits++
		} else {
			w.letters++
			if class&upper != 0 {
				w.uppers++
			}
		}
		return 1
	}
	next := byteAt(text, i+1)
	switch c {
	case '_':
		w.unders++
		return 1
	case '$':
		if i == from {
			return 1
		}
	case '.':
		if is(next, inner) || next == '.' || next == '/' || i <= from+1 && next == '\\' {
			w.dots++
			return 1
		}
	case '/':
		w.slashes++
		return 1
	case '~', '@':
		if next == '/' || is(next, letter|digit) {
			return 1
		}
	case '-':
		if i > from && is(next, letter|digit) {
			w.dashes++
			return 1
		}
	case '\\':
		return w.backslash(text, from, i, next)
	case ':':
		return w.colon(text, from, i, next)
	}
	return 0
}

// backslash returns how many bytes a backslash adds to the word: it is part of
// a word only in a Windows path.
func (w *wordShape) backslash(text string, from, i int, next byte) int {
	n := 1
	if next == '\\' {
		n, next = 2, byteAt(text, i+2)
	}
	if !is(next, inner) && next != '.' {
		return 0
	}
	if w.drive || text[from] == '.' && i <= from+2 {
		w.drive = true
		w.slashes++
		return n
	}
	return 0
}

func (w *wordShape) colon(text string, from, i int, next byte) int {
	switch {
	case next == '/' && byteAt(text, i+2) == '/' && w.letters > 1 && w.letters == i-from:
		w.url = true
		return 3
	case next == '\\' && i == from+1:
		w.drive = true
		return 1
	case next == ':' && is(byteAt(text, i+2), letter):
		w.colons++
		return 2
	case is(next, digit) && w.ref == 0 && (w.slashes > 0 || w.dots > 0) && w.letters > 0:
		w.ref = i
		return 1
	case is(next, digit) && w.ref > 0:
		return 1
	}
	return 0
}

// link yields a URL: everything up to the next character that cannot be part of
// one.
func (s *scanner) link(from, i int) {
	for i < len(s.text) && s.text[i] > ' ' && s.text[i] < 0x7f &&
		strings.IndexByte("\"'<>`|\\)]}", s.text[i]) < 0 {
		i++
	}
	s.at = i
	for strings.IndexByte(".,;:!?*", s.text[i-1]) >= 0 {
		i--
	}
	if i-from > 9 && i-from <= 2*longest {
		s.yield(KindURL, from, i)
	}
}

// flag reads "--name" at s.at.
func (s *scanner) flag() {
	from := s.at
	i := from
	for i < len(s.text) && s.text[i] == '-' {
		i++
	}
	dashes := i - from
	if dashes != 2 || is(byteAt(s.text, from-1), inner) || !is(byteAt(s.text, i), letter) {
		s.at = i
		return
	}
	for i < len(s.text) && (is(s.text[i], letter|digit) || s.text[i] == '-' || s.text[i] == '_') {
		i++
	}
	s.at = i
	for s.text[i-1] == '-' {
		i--
	}
	if i-from >= 4 && i-from <= longest {
		s.yield(KindFlag, from, i)
	}
}

// ticket reads "#123" at s.at.
func (s *scanner) ticket() {
	from := s.at
	i := from + 1
	for i < len(s.text) && is(s.text[i], digit) {
		i++
	}
	s.at = i
	if n := i - from; n >= 3 && n <= 8 && !is(byteAt(s.text, i), letter) &&
		!is(byteAt(s.text, from-1), inner) {
		s.yield(KindTicket, from, i)
	}
}

// quoted yields the text between s.at and the next quotation mark of the same
// kind. It does not advance s.at, so the quoted text is scanned for anchors as
// well.
func (s *scanner) quoted(mark byte) {
	const most = 80
	from := s.at + 1
	if s.at < s.shut || mark == '\'' && is(byteAt(s.text, s.at-1), letter|digit) {
		return
	}
	joints, letters := 0, 0 // spaces and hyphens between words
	for i := from; i < len(s.text) && i-from <= most; i++ {
		switch c := s.text[i]; {
		case c == mark:
			s.shut = i + 1
			if i-from >= 6 && joints > 0 && letters >= 4 && s.text[from] != ' ' && s.text[i-1] != ' ' {
				s.yield(KindQuote, from, i)
			}
			return
		case c == '\n' || c == '\\' || strings.IndexByte("{}<>;=()", c) >= 0:
			return
		case c == ' ' || c == '-':
			joints++
		case is(c, letter) || c >= 0x80:
			letters++
		}
	}
}
