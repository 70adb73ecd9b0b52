package outline

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// quote is a form of quotation that may extend over many lines.
type quote struct {
	open, close string
	escapes     bool // a backslash escapes the next character
	doubled     bool // a doubled end mark is content
}

var (
	backquotes = []quote{{open: "`", close: "`", escapes: true}}
	tripled    = []quote{{open: `"""`, close: `"""`}}
)

// quotesOf lists the languages with multi-line comments and quotations that are tracked anywhere in
// a line. In other languages only comments at the start of a line are.
var quotesOf = map[string][]quote{
	"go":         {{open: "`", close: "`"}},
	"javascript": backquotes, "typescript": backquotes, "tsx": backquotes, "vue": backquotes,
	"svelte": backquotes, "astro": backquotes,
	"kotlin": tripled, "scala": tripled, "java": tripled, "groovy": tripled, "swift": tripled,
	"dart": tripled,
	"csharp": {{open: `@"`, close: `"`, doubled: true}, {open: `@$"`, close: `"`, doubled: true},
		{open: `"""`, close: `"""`}},
	"rust": {{open: `"`, close: `"`, escapes: true}},
	"lua":  {{open: "[[", close: "]]"}, {open: "[=[", close: "]=]"}},
	"c":    {}, "cpp": {}, "objc": {}, "d": {}, "zig": {}, "protobuf": {}, "thrift": {}, "solidity": {},
	"haxe": {}, "v": {},
}

// enter finds a comment or quotation that a line of code opens and does not close. A quotation
// without an end in the line or in the rest of the file is ignored: an excerpt may begin anywhere.
func (s *scanner) enter(line string) {
	quotes, ok := quotesOf[s.lang]
	if !ok {
		s.enterByParts(line)
		return
	}
	s.t.walked += len(line)
	dead := make([]string, 0, 4) // openers without an end from here on; its room is on the stack
	for i := 0; i < len(line); {
		if c := line[i]; c == ' ' || wordByte(c) && c != 'r' && c != 'R' { // the common case: not an opener
			i++
			continue
		}
		rest := line[i:]
		if isComment(rest, s.w.comment) {
			return
		}
		q, form := s.opener(rest, line[:i], quotes)
		if q.open == "" || slices.Contains(dead, q.open) || len(dead) >= mostDead {
			i++
			if rest[0] == '\\' {
				i++
			}
			continue
		}
		n := q.end(rest[len(q.open):])
		switch {
		case n >= 0:
			i += len(q.open) + n + len(q.close)
		case form == inText && s.endsIn(q.close):
			s.quoted = q
			return
		case form == inComment && s.endsIn(q.close):
			s.comment = q.close
			return
		default:
			dead = append(dead, q.open)
			i += len(q.open)
		}
	}
}

// mostDead limits the searches for the end of a quotation in one line.
const mostDead = 20

// What a sign in a line begins.
const (
	inLine    = iota // ends in this line, or begins no quotation
	inText           // may end in a later line
	inComment        // likewise
)

// opener returns the string or comment that begins here, else a quote with an empty open.
func (s *scanner) opener(rest, before string, quotes []quote) (q quote, form int) {
	if s.w.block[0] != "" && strings.HasPrefix(rest, s.w.block[0]) {
		return quote{open: s.w.block[0], close: s.w.block[1]}, inComment
	}
	if q, ok := s.quoteAt(rest, quotes); ok {
		return q, inText
	}
	switch c := rest[0]; {
	case c == '\'' && s.lang == "rust":
		if n := runeLiteral(rest); n > 1 {
			return quote{open: rest[:n-1], close: "'"}, inLine
		}
	case c == '"' || c == '\'' || c == '/' && s.w.calls == memberCalls && beginsPattern(before):
		return quote{open: rest[:1], close: rest[:1], escapes: true}, inLine
	}
	return quote{}, inLine
}

// end returns the offset of the string's end, or -1.
func (q quote) end(s string) int {
	if q.escapes {
		return closingOffset(s, q.close[0])
	}
	if !q.doubled {
		return strings.Index(s, q.close)
	}
	for at := 0; ; {
		n := strings.Index(s[at:], q.close)
		if n < 0 || !strings.HasPrefix(s[at+n+len(q.close):], q.close) {
			if n >= 0 {
				n += at
			}
			return n
		}
		at += n + 2*len(q.close)
	}
}

// isComment reports whether a line comment begins here, with one of the signs.
func isComment(rest string, signs []string) bool {
	for _, c := range signs {
		if strings.HasPrefix(rest, c) && !strings.HasPrefix(rest, "--[") &&
			!(c == "#" && strings.HasPrefix(rest, "#[")) {
			return true
		}
	}
	return false
}

// quoteAt returns the form of quotation that begins here, including the forms of Rust and C++ with
// an end mark chosen by the author.
func (s *scanner) quoteAt(rest string, quotes []quote) (quote, bool) {
	for _, q := range quotes {
		if strings.HasPrefix(rest, q.open) {
			return q, true
		}
	}
	switch {
	case s.lang == "rust" && rest[0] == 'r' && len(rest) > 1 && (rest[1] == '"' || rest[1] == '#'):
		marks := len(rest[1:]) - len(strings.TrimLeft(rest[1:], "#"))
		if marks < 20 && strings.HasPrefix(rest[1+marks:], `"`) {
			return quote{open: rest[:2+marks], close: `"` + rest[1:1+marks]}, true
		}
	case s.lang == "cpp" && strings.HasPrefix(rest, `R"`):
		if n := strings.IndexByte(rest[:min(len(rest), 20)], '('); n > 0 {
			return quote{open: rest[:n+1], close: ")" + rest[2:n] + `"`}, true
		}
	}
	return quote{}, false
}

// endsIn reports whether the end of a string occurs after the current line.
func (s *scanner) endsIn(end string) bool {
	here := s.t.from + s.t.length()
	at, known := s.texts[end]
	if known && (at < 0 || at >= here) || !known && len(s.texts) == mostNames {
		return at > 0
	}
	if s.texts == nil {
		s.texts = map[string]int{}
	}
	n := strings.Index(s.t.content[here:], end)
	if at = -1; n >= 0 {
		at = here + n
		s.t.walked += n
	}
	s.texts[end] = at
	return at >= 0
}

// leave reads a line that begins in a quotation, and returns the part that is code.
func (s *scanner) leave(line string) string {
	q := s.quoted
	n := q.end(line)
	if n < 0 {
		return ""
	}
	s.quoted = quote{}
	return line[n+len(q.close):]
}

// closingOffset returns the offset of the unescaped character c, or -1.
func closingOffset(s string, c byte) int {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case c:
			return i
		}
	}
	return -1
}

// runeLiteral returns the length of 'x' in Rust; 1 for a lifetime.
func runeLiteral(s string) int {
	if strings.HasPrefix(s, `'\`) {
		return max(closingOffset(s[1:min(len(s), 14)], '\'')+2, 1)
	}
	_, n := utf8.DecodeRuneInString(s[1:])
	if strings.HasPrefix(s[1+n:], "'") && n > 0 {
		return n + 2
	}
	return 1
}

// beginsPattern reports whether a slash after this code begins a regular expression rather than
// being a division.
func beginsPattern(before string) bool {
	before = strings.TrimRight(before, " \t")
	return before == "" || strings.IndexByte("(,=:[!&|?{};+", before[len(before)-1]) >= 0 ||
		strings.HasSuffix(before, "return")
}
