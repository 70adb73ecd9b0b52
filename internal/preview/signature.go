package preview

import "strings"

// isSignature guesses whether a line of code opens a definition.
func isSignature(body string, st style) bool {
	t, indent := trimLeft(body)
	if t == "" || indent > 12 {
		return false
	}
	switch st {
	case styleKeys:
		return indent == 0 && isKey(t)
	case styleMarkup:
		return isLandmark(t)
	case styleSheet:
		return indent == 0 && (strings.HasSuffix(trimRight(t), "{") || t[0] == '@')
	}
	return isDefinition(t, indent)
}

// isKey reports a section or a key of a configuration file.
func isKey(t string) bool {
	if t[0] == '[' {
		return true
	}
	if !isLetter(t[0]) && t[0] != '"' && t[0] != '.' {
		return false
	}
	i := 0
	for i < len(t) && (isWord(t[i]) || strings.IndexByte(`.-"/$()% `, t[i]) >= 0) {
		i++
	}
	return i < len(t) && (t[i] == ':' || t[i] == '=')
}

// isLandmark reports a tag that helps a reader to find the way in a page.
func isLandmark(t string) bool {
	if len(t) < 3 || t[0] != '<' {
		return false
	}
	switch strings.ToLower(firstWord(t[1:])) {
	case "h1", "h2", "h3", "title", "head", "body", "script", "style", "template", "section", "form", "main",
		"nav", "header", "footer", "table", "article", "project", "dependency":
		return true
	}
	return strings.Contains(t, ` id="`)
}

// isDefinition reports a definition in a language with definitions that begin with a keyword, or
// with a type and a name.
func isDefinition(t string, indent int) bool {
	rest, modifiers := withoutModifiers(t)
	word := firstWord(rest)
	after := rest[len(word):]
	if definer(word) && after != "" && strings.IndexByte(" <(!", after[0]) >= 0 {
		if len(after) < 2 || after[0] == ' ' && !isWord(after[1]) &&
			strings.IndexByte("(*[&`\"'", after[1]) < 0 {
			return false
		}
		return after[0] != '(' || word == "func" && indent == 0 || isTestCall(word)
	}
	switch word {
	case "const", "let", "var", "val":
		return indent == 0 && (modifiers || strings.Contains(after, "=> ") ||
			strings.Contains(after, "function") || word != "let")
	case "CREATE", "ALTER", "FROM", "ENTRYPOINT", "CMD":
		return indent == 0 && t == rest
	case "if", "for", "while", "switch", "else", "return", "catch", "do", "try", "elif", "with", "throw",
		"await", "new", "case", "when", "match", "delete", "assert", "yield", "print", "using", "lock",
		"foreach", "import", "from", "export":
		return false
	}
	return isHeader(rest, word, indent, modifiers)
}

// isHeader reports the header of a function without a keyword: a method with modifiers, a method of
// a class, a C function, a shell function.
func isHeader(rest, word string, indent int, modifiers bool) bool {
	open := strings.IndexByte(rest, '(')
	if word == "" || open < 0 {
		return false
	}
	rest = trimRight(rest)
	last := rest[len(rest)-1]
	if modifiers {
		return last != ';' && !strings.Contains(rest[:open], "=") && !strings.Contains(rest[:open], ".")
	}
	if last != '{' && (last != ')' || indent > 0) {
		return false
	}
	before := rest[:open]
	if strings.ContainsAny(before, "=.\"'!|+") || strings.Contains(rest, "=> {") {
		return false
	}
	if strings.IndexByte(before, ' ') < 0 {
		return last == '{' && indent <= 4 || strings.HasSuffix(rest, "() {")
	}
	return indent <= 4
}

// withoutModifiers cuts the modifiers before the keyword of a definition.
func withoutModifiers(t string) (rest string, found bool) {
	for {
		w := firstWord(t)
		switch w {
		case "pub", "export", "default", "async", "public", "private", "protected", "static", "final",
			"abstract", "override", "inline", "virtual",
			"unsafe", "extern", "internal", "sealed", "partial", "open", "data", "declare", "suspend",
			"constexpr", "readonly", "synchronized", "local", "const", "explicit", "friend", "native":
		default:
			return t, found
		}
		after := t[len(w):]
		if w == "pub" && strings.HasPrefix(after, "(") {
			if i := strings.IndexByte(after, ')'); i > 0 {
				after = after[i+1:]
			}
		}
		if len(after) < 2 || after[0] != ' ' ||
			w == "const" && !strings.HasPrefix(after, " fn ") && !strings.HasPrefix(after, " enum ") {
			return t, found
		}
		t, found = after[1:], true
	}
}

// definer reports keywords that begin definitions.
func definer(w string) bool {
	switch w {
	case "func", "def", "class", "fn", "impl", "struct", "enum", "trait", "interface", "type", "function",
		"module", "namespace", "union", "mod",
		"macro_rules", "protocol", "extension", "object", "record", "defmodule", "defp", "defmacro", "sub",
		"proc", "message", "service", "rpc", "contract",
		"package", "typedef", "fun", "test", "describe", "it", "resource", "variable", "output", "data",
		"newtype", "instance", "schema", "query", "mutation":
		return true
	}
	return false
}

func isTestCall(w string) bool { return w == "describe" || w == "it" || w == "test" }
