package outline

import (
	"strings"
	"unicode/utf8"
)

// head is the first line of a definition, parsed.
type head struct {
	kind, name    string
	split         bool // the line before belongs to it: the type of a C function
	call          bool // its value is a call; the next line decides whether that makes a function
	argumentsOpen bool // its arguments continue; the line that closes them decides whether it is a function
}

// head reads a line of code as the beginning of a definition. Outer is the kind of the enclosing
// definition.
func (s *scanner) head(i int, outer, line string) (head, bool) {
	if len(line) > 1000 {
		line = line[:1000]
	}
	if line = s.withoutComment(line); line == "" {
		return head{}, false
	}
	if line[0] != '[' || s.w.calls != memberCalls { // in script languages a bracket begins a computed name
		line = withoutAnnotations(line)
	}
	if line == "" {
		return head{}, false
	}
	if s.w.preproc {
		line = strings.TrimPrefix(line, `extern "C" `)
	}
	h, rest, skipped, ok := s.readWorded(line)
	if ok {
		return h, true
	}
	if s.lang == "go" {
		return goMember(line, outer)
	}
	if s.w.assign {
		if h, ok := assignment(line, outer); ok {
			if h.call && !beginsFunction(s.next(i)) {
				return head{}, false
			}
			return h, true
		}
		if h, ok := memberHead(line); ok && s.w.calls == memberCalls && s.inObject(outer) {
			return h, true
		}
	}
	switch s.w.calls {
	case memberCalls:
		if outer == "" && !s.inObject(outer) {
			return head{}, false
		}
		return memberCall(rest, outer, skipped)
	case typedCalls:
		return s.typedCall(i, line, rest, outer, skipped)
	case shellCalls:
		return shellCall(line)
	}
	return head{}, false
}

// withoutComment removes "/* … */" at the start of a line, and "// …" at the end of one that has
// no quotation marks before it.
func (s *scanner) withoutComment(line string) string {
	if s.w.block == stars && strings.HasPrefix(line, "/*") {
		_, line, _ = strings.Cut(line, "*/")
		line = strings.TrimLeft(line, " \t")
	}
	n := strings.Index(line, " //")
	if n < 0 || len(s.w.comment) == 0 || s.w.comment[0] != "//" || strings.ContainsAny(line[:n], "\"'`") {
		return line
	}
	return strings.TrimRight(line[:n], " \t")
}

// readWorded reads a definition that begins with a word like class. Without one, rest is the line
// without modifiers, and skipped the last modifier.
func (s *scanner) readWorded(line string) (h head, rest, skipped string, ok bool) {
	rest = line
	for {
		word := leadingWord(rest)
		if word == "" {
			return head{}, rest, skipped, false
		}
		after := rest[len(word):]
		if kind := s.w.kinds[word]; kind != "" {
			if h, ok := s.readNamed(kind, word, after); ok {
				return h, "", "", true
			}
		}
		if !s.w.before[word] || after == "" {
			return head{}, rest, skipped, false
		}
		skipped = word
		switch rest = strings.TrimLeft(after, " \t"); {
		case word == "pub" || word == "extern":
			rest = withoutArguments(rest)
		case word == "template":
			rest = withoutGenerics(rest)
		case s.lang == "scala": // private[package]
			rest = withoutBrackets(rest)
		}
	}
}

// shellCall reads "name() {".
func shellCall(line string) (head, bool) {
	name, after, ok := strings.Cut(line, "()")
	name, after = strings.TrimRight(name, " \t"), strings.TrimSpace(after)
	h := head{kind: Function, name: name}
	return h, ok && name != "" && !strings.ContainsAny(name, " \t$=\"'`|;&") &&
		(after == "" || after[0] == '{' || after[0] == '(')
}

// readNamed reads the text after a word like class: generic parameters or a receiver, then the name.
func (s *scanner) readNamed(kind, word, after string) (head, bool) {
	if after != "" && after[0] != ' ' && after[0] != '\t' && after[0] != '<' && after[0] != '*' &&
		after[0] != '(' && after[0] != '!' {
		return head{}, false
	}
	rest := strings.TrimLeft(after, " \t*!")
	if h, ok, done := s.special(kind, word, rest); done {
		return h, ok
	}
	switch {
	case s.lang == "go" && strings.HasPrefix(rest, "("):
		kind, rest = Method, strings.TrimLeft(withoutArguments(rest), " \t")
	case word == "enum":
		rest = strings.TrimPrefix(strings.TrimPrefix(rest, "class "), "struct ")
	}
	rest = strings.TrimLeft(withoutGenerics(rest), " \t")
	name := leadingName(rest)
	if n := strings.IndexByte(name, ':'); n > 0 && s.lang != "lua" && !strings.HasPrefix(name[n:], "::") {
		// base classes
		name = name[:n]
	}
	switch {
	case s.lang == "ruby":
		name = strings.TrimPrefix(name, "self.")
	case name == "" && s.lang == "scala": // an operator
		name = operator(rest)
	}
	if s.lang == "c" || s.lang == "cpp" || s.lang == "objc" {
		return nativeType(kind, word, name, rest[len(name):])
	}
	if name == "" {
		return unnamed(kind, word, rest)
	}
	if s.w.calls == memberCalls && word == "type" && !strings.Contains(rest, "=") {
		return head{}, false
	}
	next := strings.TrimLeft(strings.TrimPrefix(rest, name), " \t")
	if next != "" && (next[0] == '.' || next[0] == ';' && kind == Module && s.lang == "rust") ||
		strings.HasPrefix(next, "= ") && kind == Class {
		return head{}, false
	}
	return head{kind: kind, name: name}, true
}

// special reads heads with the name elsewhere than after the first word. done is false for others.
func (s *scanner) special(kind, word, rest string) (h head, ok, done bool) {
	h.kind = kind
	switch {
	case kind == Impl:
		name, _, _ := strings.Cut(strings.TrimSpace(withoutGenerics(rest)), "{")
		h.name = strings.TrimSpace(name)
		return h, true, true
	case s.lang == "go" && word == "type":
		h, ok = goTypeHead(rest)
		return h, ok, true
	case word == "delegate":
		before, _, _ := strings.Cut(rest, "(")
		h.name = lastWord(withoutLastGenerics(before))
		return h, true, true
	case s.lang == "kotlin" && word == "fun":
		rest = withoutGenerics(rest)
		if n := strings.LastIndexByte(rest, '`'); n > 0 && rest[0] == '`' {
			h.name = rest[:n+1]
			return h, true, true
		}
		before, _, ok := strings.Cut(rest, "(")
		h.name = lastWord(before)
		return h, ok, true
	case s.lang == "kotlin" && word == "constructor" && s.inHead():
		return h, false, true
	case word == "module" && strings.HasPrefix(rest, `"`):
		name, _, _ := strings.Cut(rest[1:], `"`)
		h.name = `"` + name + `"`
		return h, true, true
	case s.lang == "ruby" && strings.HasPrefix(rest, "<< "):
		h.name = rest[3:]
		return h, true, true
	}
	return h, false, false
}

// operator reads the name of an operator method.
func operator(s string) string {
	n := 0
	for n < len(s) && strings.IndexByte("+-*/<>=!&|^~%?#@\\:", s[n]) >= 0 {
		n++
	}
	return s[:n]
}

// inHead reports whether the innermost definition is a class without a body so far, so that a
// constructor belongs to its head.
func (s *scanner) inHead() bool {
	n := len(s.open)
	if n == 0 || s.open[n-1].index != len(s.defs)-1 {
		return false
	}
	return s.defs[len(s.defs)-1].Start == s.before &&
		!strings.HasSuffix(strings.TrimSpace(s.t.line(s.before-1)), "{")
}

// unnamed accepts definitions without a name.
func unnamed(kind, word, rest string) (head, bool) {
	switch {
	case rest == "":
		return head{}, false
	case word == "constructor" || word == "init":
		return head{kind: kind, name: word}, rest[0] == '('
	case word == "object":
		return head{kind: kind, name: "companion"}, rest[0] == '{'
	case word == "function":
		return head{kind: kind, name: ""}, rest[0] == '('
	}
	return head{kind: kind, name: ""}, word == "class" && rest[0] == '{'
}

// goMember reads a line within a type group or an interface.
func goMember(line, outer string) (head, bool) {
	name := leadingWord(line)
	if name == "" {
		return head{}, false
	}
	if outer == Interface {
		return head{kind: Method, name: name}, strings.HasPrefix(line[len(name):], "(")
	}
	if outer == "" && name != "var" && name != "const" &&
		(strings.HasSuffix(line, " struct {") || strings.HasSuffix(line, " interface {")) {
		return goTypeHead(line)
	}
	return head{}, false
}

// goTypeHead reads "Name struct {" after the word type; it fails for a group.
func goTypeHead(rest string) (head, bool) {
	name := leadingWord(rest)
	if name == "" {
		return head{}, false
	}
	switch after := strings.TrimLeft(withoutBrackets(rest[len(name):]), " \t"); {
	case strings.HasPrefix(after, "struct"):
		return head{kind: Struct, name: name}, true
	case strings.HasPrefix(after, "interface"):
		return head{kind: Interface, name: name}, true
	}
	return head{kind: Type, name: name}, true
}

// nativeType decides whether "struct x …" of the C family defines a type.
func nativeType(kind, word, name, after string) (head, bool) {
	after = strings.TrimSpace(after)
	if args := strings.TrimSuffix(after, withoutGenerics(after)); strings.HasPrefix(after, "<") &&
		kind != Type {
		// of a template
		name, after = name+strings.TrimSpace(args), withoutGenerics(after)
	}
	switch {
	case word == "typedef":
		if _, pointer, ok := strings.Cut(after, "(*"); ok {
			return head{kind: kind, name: leadingWord(pointer)}, true
		}
		if strings.HasSuffix(after, "{") {
			return head{kind: kind, name: ""}, true
		}
		for strings.HasSuffix(strings.TrimRight(after, "; \t"), "]") { // array
			after = after[:max(strings.LastIndexByte(after, '['), 0)]
		}
		if before, _, ok := strings.Cut(after, "("); ok { // function
			after = before
		}
		return head{kind: kind, name: lastWord(after)}, true
	case word == "using":
		return head{kind: kind, name: name}, strings.HasPrefix(after, "=")
	case word == "concept" || word == "namespace":
		return head{kind: kind, name: name}, !strings.HasPrefix(after, "=")
	case after == "" || after[0] == '{' || after[0] == ':' || strings.HasPrefix(after, "final"):
		return head{kind: kind, name: name}, true
	}
	return head{}, false
}

// assignment reads "const name = (…) =>", "a.b = function(…)" and the like.
func assignment(line, outer string) (head, bool) {
	rest, declared := line, holdsMembers(outer)
	for {
		word := leadingWord(rest)
		switch word {
		case "export", "default", "declare", "const", "let", "var", "local", "static", "private", "public",
			"protected", "readonly":
			declared = declared || word == "const" || word == "let" || word == "var" || word == "local"
			rest = strings.TrimLeft(rest[len(word):], " \t")
			continue
		}
		break
	}
	name := leadingName(rest)
	after := rest[len(name):]
	n := strings.Index(after, "= ")
	arrow := false
	if n < 0 {
		if n, arrow = strings.Index(after, "<- "), true; n < 0 {
			return head{}, false
		}
	}
	if name == "" || strings.HasPrefix(name, "this.") ||
		!declared && !arrow && !strings.Contains(name, ".") ||
		n > 0 && strings.ContainsAny(after[:n], "=({[") && !strings.Contains(after[:n], ": ") {
		return head{}, false
	}
	value := strings.TrimLeft(after[n+2:], " \t")
	if n := strings.LastIndex(after, " = "); strings.Contains(after[:max(n, 0)], "=> ") {
		// the declared type is a function too
		value = strings.TrimLeft(after[n+3:], " \t")
	}
	h := head{kind: Function, name: name, argumentsOpen: opensArguments(value)}
	call := strings.TrimPrefix(value, leadingName(value))
	h.call = !h.argumentsOpen && 'A' <= name[0] && name[0] <= 'Z' && call != value &&
		withoutGenerics(call) == "("
	return h, h.argumentsOpen || h.call || isFunctionValue(name, value)
}

// next returns the trimmed line after line i.
func (s *scanner) next(i int) string {
	if i+1 >= s.t.lines() {
		return ""
	}
	_, line := indent(s.t.line(i + 1))
	return line
}

// beginsFunction reports whether a line is the beginning of a function's value.
func beginsFunction(line string) bool {
	return strings.HasPrefix(line, "(") || strings.HasPrefix(line, "async ") ||
		strings.Contains(line, "=>") || leadingWord(line) == "function"
}

// inObject reports whether the line may be in an object: in something other than a function or a
// class that begins without indentation.
func (s *scanner) inObject(outer string) bool {
	if outer != "" || s.margin == "" {
		return false
	}
	switch leadingWord(s.margin) {
	case "const", "let", "var", "export": // not for the result of a call
		if strings.Contains(s.margin, "(") {
			return false
		}
	}
	end := s.margin[len(s.margin)-1]
	return (end == '{' || end == '(' || end == '[') && !strings.Contains(s.margin, "=>") &&
		!strings.Contains(s.margin, "function")
}

// memberHead reads "name: function(…) {" and "name: (…) =>" of an object.
func memberHead(line string) (head, bool) {
	name := leadingName(line)
	if strings.HasPrefix(line, "[") {
		name = line[:strings.IndexByte(line, ']')+1]
	}
	value, ok := strings.CutPrefix(line[len(name):], ": ")
	if !ok || name == "" || control[name] || name == "default" {
		return head{}, false
	}
	value = strings.TrimPrefix(value, "async ")
	if value == "" || strings.HasSuffix(value, ";") { // a type
		return head{}, false
	}
	word := leadingWord(value)
	ok = word == "function" || value[0] == '(' && strings.Contains(value, "=>") ||
		word != "" && strings.HasPrefix(value[len(word):], " =>")
	return head{kind: Function, name: name}, ok
}

// opensArguments reports whether a value is the beginning of a list of arguments or generic
// parameters that continues, or of another expression in parentheses.
func opensArguments(value string) bool {
	value = strings.TrimPrefix(value, "async ")
	if value == "" || value[0] != '(' && value[0] != '<' || strings.Contains(value, "=>") {
		return false
	}
	end := value[len(value)-1]
	return end == '(' || end == '{' || end == '[' || end == '<' || end == ','
}

func isFunctionValue(name, value string) bool {
	value = strings.TrimPrefix(value, "async ")
	if value == "" {
		return false
	}
	if leadingWord(value) == "function" {
		return true
	}
	end := value[len(value)-1]
	arrow := strings.Contains(value, "=>")
	switch {
	case value[0] == '(' || value[0] == '<':
		return arrow
	case arrow && strings.HasPrefix(strings.TrimLeft(value[len(leadingWord(value)):], " "), "=>"):
		return true
	}
	c, _ := utf8.DecodeRuneInString(name)
	return 'A' <= c && c <= 'Z' && end == '{' && (arrow || strings.Contains(value, "function"))
}
