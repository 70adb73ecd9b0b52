package retain

import "strings"

// classify yields the anchors of the word [from,end), if it holds any.
func (s *scanner) classify(from, end int, w wordShape) {
	word := s.text[from:end]
	switch {
	case w.slashes > 0:
		s.path(from, end, w)
	case w.letters == 0:
		s.number(from, end, w)
	case isUUID(word):
		s.yield(KindHash, from, end)
	case w.colons > 0 || w.dots > 0:
		s.dotted(from, end, w)
	case w.dashes > 0:
		s.dashed(from, end, w)
	default:
		s.simple(from, end)
	}
}

// path yields a path, without a line number after it.
func (s *scanner) path(from, end int, w wordShape) {
	if w.ref > from && w.ref < end {
		end = w.ref
	}
	word := strings.TrimRight(s.text[from:end], "/")
	if len(word) < 5 || w.letters < 2 {
		return
	}
	if isPath(word, w) {
		s.yield(KindPath, from, from+len(word))
		return
	}
	last := from
	for i := from; i <= from+len(word); i++ { // and/or, a.b/c.d: each part is a word of its own
		if i < from+len(word) && s.text[i] != '/' {
			continue
		}
		if i-last >= 3 {
			s.plain(last, i)
		}
		last = i + 1
	}
}

// isPath distinguishes paths from fractions, dates and alternatives.
func isPath(p string, w wordShape) bool {
	if w.drive {
		return true
	}
	base := p[strings.LastIndexByte(p, '/')+1:]
	parts := strings.Count(strings.Trim(p, "/"), "/") + 1
	switch {
	case base == "" || parts < 2 && p[0] != '~':
		return false
	case hasExtension(base):
		return true
	case strings.IndexByte("/.~@", p[0]) >= 0:
		return true
	case parts >= 3 && len(p) >= 3*parts:
		return true
	}
	return w.unders > 0 || w.dashes > 0 || w.digits > 0 || mixed(p)
}

// plain classifies a word of letters, digits, dots and underscores.
func (s *scanner) plain(from, end int) {
	w := wordShape{}
	for i := from; i < end; i++ {
		w.take(s.text, from, i)
	}
	s.classify(from, end, w)
}

// dotted yields a file name, a version, or a qualified name and its parts.
func (s *scanner) dotted(from, end int, w wordShape) {
	if w.ref > from && w.ref < end { // file.go:12
		end = w.ref
	}
	word := s.text[from:end]
	if word[0] == '.' && !isDotFile(word) { // a call in a chain
		s.plain(end-len(strings.TrimLeft(word, ".")), end)
		return
	}
	if w.colons == 0 && (word[0] == '.' || hasExtension(word) && !attribute(word)) {
		s.yield(KindPath, from, end)
		return
	}
	if isVersion(word) {
		s.yield(KindNumber, from, end)
		return
	}
	if is(word[0], digit) {
		s.number(from, end, w)
		return
	}
	if len(word) >= 5 && (w.dots+w.colons > 1 || isQualifiedName(word)) {
		s.yield(KindIdentifier, from, end)
	}
	last := from
	for i := from; i <= end; i++ {
		if i < end && s.text[i] != '.' && s.text[i] != ':' {
			continue
		}
		if i-last >= 4 {
			s.simple(last, i)
		}
		last = i + 1
	}
}

// isQualifiedName distinguishes a qualified name from two sentences that have no
// space between them.
func isQualifiedName(word string) bool {
	i := strings.IndexAny(word, ".:")
	if i < 0 {
		return false
	}
	next := strings.TrimLeft(word[i:], ".:")
	return i >= 2 && len(next) >= 2 && !(is(next[0], upper) && is(word[0], upper) && len(next) < 4)
}

// dashed yields names such as my-package-name or ABC-123. In other words with dashes it scans
// each part.
func (s *scanner) dashed(from, end int, w wordShape) {
	word := s.text[from:end]
	head, tail, _ := strings.Cut(word, "-")
	switch {
	case isToolID(word):
	case isUpper(head) && len(head) >= 2 && allDigits(tail) && len(tail) >= 2:
		s.yield(KindTicket, from, end)
	case w.digits == end-from-w.dashes: // a date
		s.yield(KindNumber, from, end)
	case len(word) >= 6 && (w.dashes > 1 || w.digits > 0 || w.unders > 0):
		s.yield(KindIdentifier, from, end)
	default:
		last := from
		for i := from; i <= end; i++ {
			if i < end && s.text[i] != '-' {
				continue
			}
			if i-last >= 4 {
				s.simple(last, i)
			}
			last = i + 1
		}
	}
}

// simple yields a word of letters, digits and underscores if it looks like a name, and the
// message after a word that announces an error.
func (s *scanner) simple(from, end int) {
	word := s.text[from:end]
	var digits, letters, uppers, unders, humps int
	hex := true
	for i := 0; i < len(word); i++ {
		c := word[i]
		switch class := classes[c]; {
		case class&digit != 0:
			digits++
		case class&upper != 0:
			uppers++
			letters++
			if i > 0 && is(word[i-1], letter) && !is(word[i-1], upper) {
				humps++
			}
		case class&letter != 0:
			letters++
		case c == '_':
			unders++
		}
		hex = hex && (c >= '0' && c <= '9' || c >= 'a' && c <= 'f')
	}
	if announcesError(word) {
		defer s.message(end)
	}
	switch {
	case letters == 0:
		s.number(from, end, wordShape{digits: digits})
	case hex && digits > 0 && len(word) >= 7 && len(word) <= 64:
		s.yield(KindHash, from, end)
	case len(word) < 4 || isToolID(word):
	case humps > 0 && isErrorName(word), isErrorCode(word, uppers, digits):
		s.yield(KindError, from, end)
	case strings.Trim(word, "_$") == "":
	case strings.Contains(strings.Trim(word, "_$"), "_"), humps > 0 && len(word) >= 5,
		digits > 0 && letters > 1:
		if digits > 0 && letters <= 2 && is(word[0], digit) { // 12ms
			s.yield(KindNumber, from, end)
			return
		}
		s.yield(KindIdentifier, from, end)
	case word[0] == '$' && len(word) > 4:
		s.yield(KindIdentifier, from, end)
	}
}

// number yields numbers with meaning: four digits or more, a fraction or
// thousands with a unit, a price, a version.
func (s *scanner) number(from, end int, w wordShape) {
	word := s.text[from:end]
	if isVersion(word) {
		s.yield(KindNumber, from, end)
		return
	}
	if next := byteAt(s.text, end); next == '%' && w.digits > 1 {
		s.yield(KindNumber, from, end+1)
		return
	}
	switch {
	case w.digits >= 4 && w.digits <= 20 && w.dots <= 1:
	case w.dots == 1 && w.letters > 0 && w.digits > 1: // 2.5s
	case word[0] == '$' && w.digits > 1:
	default:
		return
	}
	s.yield(KindNumber, from, end)
}

// message yields the words after "error:" and similar.
func (s *scanner) message(end int) {
	const most = 80
	if byteAt(s.text, end) != ':' || byteAt(s.text, end+1) != ' ' {
		return
	}
	from := end + 2
	i := from
	for i < len(s.text) && i-from < most && s.text[i] != '\n' && s.text[i] != '"' && s.text[i] != '\\' &&
		s.text[i] != '`' {
		i++
	}
	if i-from == most { // back to the last whole word
		for i > from && s.text[i-1] != ' ' {
			i--
		}
	}
	for i > from && strings.IndexByte(" \r.,;", s.text[i-1]) >= 0 {
		i--
	}
	if i-from >= 14 && strings.IndexByte(s.text[from:i], ' ') > 0 {
		s.yield(KindError, from, i)
	}
}

func announcesError(word string) bool {
	switch {
	case len(word) < 4 || len(word) > 60:
		return false
	case strings.HasSuffix(word, "rror"), strings.HasSuffix(word, "xception"),
		strings.HasSuffix(word, "anic"),
		strings.HasSuffix(word, "atal"), strings.HasSuffix(word, "ailed"), word == "undefined",
		word == "cannot",
		word == "FAIL", word == "FAILED", word == "ERROR", word == "FATAL":
		return true
	}
	return false
}

func isErrorName(word string) bool {
	return strings.HasSuffix(word, "Error") || strings.HasSuffix(word, "Exception") ||
		strings.HasSuffix(word, "Failure")
}

// isErrorCode recognizes TS2345, E0308, ENOENT, SIGTERM.
func isErrorCode(word string, uppers, digits int) bool {
	if uppers+digits != len(word) {
		return false
	}
	if digits >= 3 && digits <= 5 && uppers >= 1 && uppers <= 4 {
		return strings.IndexAny(word, "0123456789") == uppers
	}
	_, known := errorCodes[word]
	return known || digits == 0 && strings.HasPrefix(word, "SIG")
}

// isToolID recognizes the identifiers APIs give to tool calls: names within one
// request, not facts.
func isToolID(word string) bool {
	for _, p := range []string{"toolu_", "call_", "msg_", "chatcmpl"} {
		if strings.HasPrefix(word, p) && len(word) >= len(p)+12 {
			return true
		}
	}
	return false
}

func isUUID(w string) bool {
	if len(w) != 36 || w[8] != '-' || w[13] != '-' || w[18] != '-' || w[23] != '-' {
		return false
	}
	for i := 0; i < len(w); i++ {
		if c := w[i]; c != '-' && !(c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F') {
			return false
		}
	}
	return true
}

// isVersion recognizes v1.2.3 and 1.2.3-rc.1.
func isVersion(w string) bool {
	w = strings.TrimPrefix(w, "v")
	if w == "" || !is(w[0], digit) {
		return false
	}
	dots := 0
	for i := 0; i < len(w); i++ {
		switch {
		case w[i] == '.' && is(byteAt(w, i+1), digit):
			dots++
		case is(w[i], digit):
		default:
			return dots >= 2
		}
	}
	return dots >= 2
}

func isUpper(w string) bool {
	for i := 0; i < len(w); i++ {
		if !is(w[i], upper) {
			return false
		}
	}
	return w != ""
}

func allDigits(w string) bool { return w != "" && strings.Trim(w, "0123456789") == "" }

// mixed reports whether a lower-case letter is followed by an upper-case one.
func mixed(w string) bool {
	for i := 1; i < len(w); i++ {
		if is(w[i], upper) && is(w[i-1], letter) && !is(w[i-1], upper) {
			return true
		}
	}
	return false
}

// isDotFile recognizes .env, .gitignore, .eslintrc, .prettierrc.json.
func isDotFile(word string) bool {
	if len(word) < 4 || !is(word[1], letter) {
		return false
	}
	rest := word[1:]
	return strings.HasPrefix(rest, "env") || strings.HasPrefix(rest, "git") ||
		strings.HasPrefix(rest, "docker") ||
		strings.HasSuffix(rest, "rc") || strings.HasSuffix(rest, "ignore") ||
		hasExtension(rest) && !attribute(rest)
}

// attribute reports whether a bare name.ext is more likely an object's
// attribute than a file.
func attribute(word string) bool {
	_, doubtful := ambiguous[strings.ToLower(word[strings.LastIndexByte(word, '.')+1:])]
	return doubtful
}

// hasExtension reports whether a file name ends with an extension that files
// have: name.ext, at least one letter before the dot.
func hasExtension(name string) bool {
	i := strings.LastIndexByte(name, '.')
	if i < 0 || len(name)-i > 9 {
		return false
	}
	if i == 0 { // .gitignore, .env
		return false
	}
	var low [8]byte
	ext := name[i+1:]
	for k := 0; k < len(ext); k++ {
		c := ext[k]
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		low[k] = c
	}
	_, ok := extensions[string(low[:len(ext)])]
	return ok
}
