package outline

import (
	"strings"
	"unicode/utf8"
)

// control are the words before a parenthesis that do not begin a definition.
var control = set("if else for foreach while do switch case catch return throw new await yield delete typeof sizeof using lock fixed synchronized assert goto super this try defer go select with import require not and or when until elsif unless print echo")

// statements are the control words that no method has as its name.
var statements = set("if else for foreach while switch return throw sizeof typeof")

// memberCall reads "name(…) {" in a class.
func memberCall(rest, outer, skipped string) (head, bool) {
	if !holdsMembers(outer) && outer != "" || outer == Type {
		return head{}, false
	}
	rest = strings.TrimLeft(rest, "*# \t")
	name := leadingWord(rest)
	if strings.HasPrefix(rest, "[") { // a computed name
		name = rest[:strings.IndexByte(rest, ']')+1]
	}
	if name == "" && skipped != "" && strings.HasPrefix(rest, "(") {
		name = skipped // a method called get, set or async
	}
	after := strings.TrimPrefix(strings.TrimPrefix(rest, name), "?")
	after = withoutGenerics(strings.TrimLeft(after, " \t"))
	if name == "" || statements[name] || outer == "" && control[name] || !strings.HasPrefix(after, "(") ||
		strings.HasSuffix(after, "=> {") {
		return head{}, false
	}
	end := rest[len(rest)-1]
	body := withoutArguments(after)
	if outer == "" { // perhaps in an object
		return head{kind: Method, name: name}, strings.HasPrefix(body, "{")
	}
	if body == "," {
		return head{}, false
	}
	ends := end == '{' || end == '(' || end == ',' || end == '}' ||
		end == ';' && (strings.Contains(after, "): ") || name == "constructor")
	return head{kind: Method, name: name}, ends || outer == Interface || skipped == "abstract"
}

// typedCall reads "type name(…)" of Java, C# or C: words, then a name, then a parenthesis, without
// signs of a statement.
func (s *scanner) typedCall(i int, line, rest, outer, skipped string) (head, bool) {
	open := strings.IndexByte(line, '(')
	if open <= 0 || control[leadingWord(rest)] {
		return head{}, false
	}
	types, name := split(strings.TrimRight(line[:open], " \t"))
	if s.lang == "csharp" && strings.HasSuffix(name, ">") {
		name = withoutLastGenerics(name)
	}
	if name == "" || statements[name] || types == "" && control[name] ||
		strings.ContainsAny(types, "=\"'{};+/|!()") || line[0] == ':' || line[0] == ',' {
		return head{}, false
	}
	if types == "new" || strings.HasSuffix(types, ".") || strings.HasSuffix(types, "->") { // a statement
		return head{}, false
	}
	native := s.w.preproc
	if native && strings.HasPrefix(line[open+1:], "*") { // a pointer to a function
		return head{}, false
	}
	h := head{kind: Function, name: name}
	if types == "" {
		h.split = native && name[0] != '~' && s.typeBefore(i)
		if !h.split && !s.untyped(i, line, name, outer, native) {
			return head{}, false
		}
	}
	anywhere := native || s.lang == "dart" || s.lang == "groovy" || s.lang == "d"
	if !anywhere && !holdsMembers(outer) {
		return head{}, false
	}
	if strings.Contains(name, "::") {
		h.kind = Method
	}
	switch end := line[len(line)-1]; end {
	case ';':
		bodiless := native || outer == Interface || strings.Contains(line, "=>")
		for _, word := range []string{"abstract", "partial", "extern"} {
			bodiless = bodiless || strings.Contains(" "+types+" ", " "+word+" ")
		}
		return h, bodiless || skipped == "native"
	case '.', '"', '+', '=':
		return h, false
	}
	return h, true
}

// split splits the text before a parenthesis into types and name.
func split(before string) (types, name string) {
	if n := strings.LastIndex(before, "operator"); n >= 0 && (n == 0 || !wordByte(before[n-1])) {
		if name = before[n:]; name == "operator" { // the call operator
			name = "operator()"
		}
		return strings.TrimSpace(before[:n]), name
	}
	name = before[lastNameStart(withoutLastGenerics(before)):]
	return strings.TrimSpace(strings.TrimSuffix(before, name)), name
}

// typeBefore reports whether the line before i has only words: the type of a function with its name
// at the beginning of line i.
func (s *scanner) typeBefore(i int) bool {
	if i == 0 || s.before != i {
		return false
	}
	line := strings.TrimSpace(s.t.line(i - 1))
	if line == "" || len(line) > 200 || control[leadingWord(line)] || leadingWord(line) == "typedef" ||
		leadingWord(line) == "template" {
		return false
	}
	for k := 0; k < len(line); k++ {
		if c := line[k]; !wordByte(c) && !strings.ContainsRune(" \t*&:<>,", rune(c)) {
			return false
		}
	}
	return line[len(line)-1] != ':' && line[len(line)-1] != ','
}

// untyped accepts "name(…)" without a type: a constructor, or the second line of a C function's
// head.
func (s *scanner) untyped(i int, line, name, outer string, native bool) bool {
	if holdsMembers(outer) && strings.TrimPrefix(name, "~") == s.defs[s.open[len(s.open)-1].index].Name {
		return true
	}
	if strings.HasSuffix(line, ";") && !strings.Contains(name, "::") && name[0] != '~' {
		return false
	}
	if holdsMembers(outer) {
		return line[len(line)-1] == '{' && !native
	}
	if !native {
		return false
	}
	if strings.Contains(name, "::") {
		return true
	}
	if strings.HasSuffix(line, ") {") && name == strings.ToUpper(name) { // a macro that makes a function
		return true
	}
	return line[len(line)-1] == ')' && i+1 < s.t.lines() && strings.HasPrefix(s.t.line(i+1), "{")
}

// leadingWord returns the identifier that s begins with; "@interface" counts as
// one.
func leadingWord(s string) string {
	if strings.HasPrefix(s, "@interface ") {
		return "@interface"
	}
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			if !wordByte(c) && c != '$' {
				return s[:i]
			}
			i++
			continue
		}
		_, n := utf8.DecodeRuneInString(s[i:])
		i += n
	}
	return s
}

func wordByte(c byte) bool {
	return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// leadingName returns the word at the start of s with the words that dots, colons, dashes or
// backslashes join to it, and with a question or exclamation mark at its end, as in Ruby.
func leadingName(s string) string {
	n := len(leadingWord(s))
	for n > 0 && n < len(s) {
		sep := 0
		switch {
		case strings.HasPrefix(s[n:], "::"):
			sep = 2
		case s[n] == '.', s[n] == ':', s[n] == '-', s[n] == '\\':
			sep = 1
		}
		more := 0
		if sep > 0 {
			more = len(leadingWord(s[n+sep:]))
		}
		if more == 0 {
			break
		}
		n += sep + more
	}
	if n > 0 && n < len(s) && (s[n] == '?' || s[n] == '!') {
		n++
	}
	return s[:n]
}

// lastNameStart returns the offset of the name at the end of s, including "::" and "~".
func lastNameStart(s string) int {
	i := len(s)
	for i > 0 && (wordByte(s[i-1]) || s[i-1] == '$' || s[i-1] == ':' || s[i-1] == '~' ||
		s[i-1] >= utf8.RuneSelf) {
		i--
	}
	if i > 0 && s[i-1] == '>' && strings.HasPrefix(s[i:], "::") { // Name<T>::name
		return lastNameStart(withoutLastGenerics(s[:i]))
	}
	return i
}

// withoutLastGenerics cuts off "<…>" at the end of s.
func withoutLastGenerics(s string) string {
	depth := 0
	for i := len(s) - 1; i >= 0; i-- {
		switch s[i] {
		case '>':
			depth++
		case '<':
			depth--
		}
		if depth == 0 {
			if i == len(s)-1 {
				return s
			}
			return s[:i]
		}
	}
	return s
}

func lastWord(s string) string {
	s = strings.TrimRight(s, "; \t")
	return s[lastNameStart(s):]
}

// withoutAnnotations cuts off "@Name(…)", "#[…]" and "[…]" at the start of a
// line.
func withoutAnnotations(s string) string {
	for range 20 {
		switch {
		case strings.HasPrefix(s, "@") && !strings.HasPrefix(s, "@interface "):
			rest := s[1:]
			s = withoutArguments(rest[len(leadingName(rest)):])
		case strings.HasPrefix(s, "#["):
			s = withoutBrackets(s[1:])
		case strings.HasPrefix(s, "["):
			s = withoutBrackets(s)
		default:
			return s
		}
		s = strings.TrimLeft(s, " \t")
	}
	return s
}

func withoutArguments(s string) string { return withoutPair(s, '(', ')') }
func withoutBrackets(s string) string  { return withoutPair(s, '[', ']') }
func withoutGenerics(s string) string  { return withoutPair(s, '<', '>') }

// withoutPair cuts off a pair of brackets and its content at the start of s; all of s when the pair
// is not closed.
func withoutPair(s string, open, end byte) string {
	if s == "" || s[0] != open {
		return s
	}
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case open:
			depth++
		case end:
			if depth--; depth == 0 {
				return strings.TrimLeft(s[i+1:], " \t")
			}
		}
	}
	return ""
}
