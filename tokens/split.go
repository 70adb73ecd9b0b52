package tokens

// A splitter finds the pieces of a text. Encodings cut a text into pieces before they merge bytes into
// tokens, by a published regular expression with alternatives that are tried in order:
//
//	o200k_base:
//	  [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	| [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	| \p{N}{1,3}
//	|  ?[^\s\p{L}\p{N}]+[\r\n/]*
//	| \s*[\r\n]+ | \s+(?!\S) | \s+
//
//	cl100k_base:
//	  (?i:'s|'t|'re|'ve|'m|'ll|'d)
//	| [^\r\n\p{L}\p{N}]?\p{L}+
//	| \p{N}{1,3}
//	|  ?[^\s\p{L}\p{N}]+[\r\n]*
//	| \s*[\r\n]+ | \s+(?!\S) | \s+
//
// The functions below find the same ends without backtracking.
type splitter struct {
	classes *classTable
	cased   bool // the pattern of o200k_base; false: of cl100k_base
}

// next returns the end of the piece that starts at start, which must be less
// than len(text). The text must be valid UTF-8.
func (s *splitter) next(text string, start int) (end int) {
	if s.cased {
		return splitO200k(s.classes, text, start)
	}
	return splitCl100k(s.classes, text, start)
}

func splitO200k(t *classTable, text string, start int) int {
	class, size := t.at(text, start)
	second := start + size
	switch {
	case class&(letter|mark) != 0:
		return skipContraction(text, t.skipCased(text, start))
	case class == number:
		return t.skipNumbers(text, second)
	case class != newline:
		if end := t.skipCased(text, second); end > second {
			return skipContraction(text, end)
		}
	}
	if end := t.skipSymbols(text, start, class); end > start {
		for end < len(text) && (text[end] == '\n' || text[end] == '\r' || text[end] == '/') {
			end++
		}
		return end
	}
	return t.skipSpace(text, start)
}

func splitCl100k(t *classTable, text string, start int) int {
	if end := skipContraction(text, start); end > start {
		return end
	}
	class, size := t.at(text, start)
	second := start + size
	switch {
	case class&letter != 0:
		return t.skip(text, second, letter)
	case class == number:
		return t.skipNumbers(text, second)
	case class != newline:
		if end := t.skip(text, second, letter); end > second {
			return end
		}
	}
	if end := t.skipSymbols(text, start, class); end > start {
		for end < len(text) && (text[end] == '\n' || text[end] == '\r') {
			end++
		}
		return end
	}
	return t.skipSpace(text, start)
}

// skip returns the end of the characters of set that start at i.
func (t *classTable) skip(text string, i int, set classSet) int {
	for i < len(text) {
		if b := text[i]; b < 0x80 {
			if t.ascii[b]&set == 0 {
				break
			}
			i++
			continue
		}
		class, size := t.at(text, i)
		if class&set == 0 {
			break
		}
		i += size
	}
	return i
}

// skipCased matches the letters of the first two alternatives of o200k_base:
// a run without lower case, then a run without upper case, not both empty,
// where the second alternative gives up the need for the latter. It returns
// i if neither matches.
//
// When no lower-case letter follows the first run, the first alternative
// wants a character that belongs to both runs, and ends after the last one.
func (t *classTable) skipCased(text string, i int) int {
	start, both := i, -1
	for i < len(text) {
		class, size := t.at(text, i)
		if class&(upper|caseless|mark) == 0 {
			if class == lower {
				return t.skip(text, i+size, lower|caseless|mark)
			}
			break
		}
		i += size
		if class != upper {
			both = i
		}
	}
	if both > start {
		return both
	}
	return i
}

// skipNumbers returns the end of a number piece of at most three digits; the first one ends at i.
func (t *classTable) skipNumbers(text string, i int) int {
	for range 2 {
		if i == len(text) {
			break
		}
		class, size := t.at(text, i)
		if class != number {
			break
		}
		i += size
	}
	return i
}

// skipSymbols matches an optional blank and a run of characters that are not
// letters, numbers or white space. It returns start if there is no such run.
// class is the class of the character at start.
func (t *classTable) skipSymbols(text string, start int, class classSet) int {
	i := start
	if text[i] == ' ' {
		i++
	} else if class&(other|mark) == 0 {
		return start
	}
	if end := t.skip(text, i, other|mark); end > i {
		return end
	}
	return start
}

// skipSpace matches the last three alternatives, which are the same in both
// encodings: white space up to its last line end, else white space without
// its last character if something follows, else all of it.
func (t *classTable) skipSpace(text string, start int) int {
	i, last, afterLine := start, start, start
	for i < len(text) {
		class, size := t.at(text, i)
		if class&whiteSpace == 0 {
			break
		}
		last = i
		i += size
		if class == newline {
			afterLine = i
		}
	}
	switch {
	case afterLine > start:
		return afterLine
	case i < len(text) && last > start:
		return last
	}
	return i
}

// skipContraction returns the end of a contraction such as 's or 'LL at i, or i without one. The
// long s (U+017F) counts as an s.
func skipContraction(text string, i int) int {
	if i+1 >= len(text) || text[i] != '\'' {
		return i
	}
	switch text[i+1] | 0x20 {
	case 's', 't', 'm', 'd':
		return i + 2
	case 'r', 'v':
		if i+2 < len(text) && text[i+2]|0x20 == 'e' {
			return i + 3
		}
	case 'l':
		if i+2 < len(text) && text[i+2]|0x20 == 'l' {
			return i + 3
		}
	case 0xC5 | 0x20:
		if text[i+1] == 0xC5 && text[i+2] == 0xBF {
			return i + 3
		}
	}
	return i
}
