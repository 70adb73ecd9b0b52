// Package plain answers: how does a foreign text look to a model without hidden characters and
// without false authority?
package plain

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/precis-dev/precis/internal/lazyregexp"
	"github.com/precis-dev/precis/internal/visible"
)

// Text removes from a text that is not the user's everything that could give it false authority:
// invisible characters, see [Visible], and the brackets of tags and headings that agent programs,
// models and precis itself use. Words, code and ordinary signs stay. Text is idempotent.
func Text(s string) string {
	s = Visible(s)
	if !strings.ContainsAny(s, "<[") {
		return s
	}
	for _, r := range []*lazyregexp.Regexp{strictTags, tokenTags, ourHeads} {
		s = r.ReplaceAllStringFunc(s, muted.Replace)
	}
	return withoutLooseTags(s)
}

// muted replaces brackets by harmless signs.
var muted = strings.NewReplacer("<", "‹", "[", "‹")

// withoutLooseTags mutes [looseTags] unless a word directly precedes them, because they may be the
// arguments of a type.
func withoutLooseTags(text string) string {
	var out strings.Builder
	at := 0
	for _, m := range looseTags.FindAllStringIndex(text, -1) {
		r, _ := utf8.DecodeLastRuneInString(text[:m[0]])
		if inName := r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r); inName && text[m[0]+1] != '/' {
			continue
		}
		out.WriteString(text[at:m[0]] + muted.Replace(text[m[0]:m[1]]))
		at = m[1]
	}
	return out.String() + text[at:]
}

var (
	// strictTags are the beginnings of tags that only harnesses and models use.
	strictTags = lazyregexp.New(`(?i)</?(?:antml:)?(?:system[-_]reminder|environment_|user_|user-prompt|task-notification|command|(?:tool|function)_(?:use|call|result|response|output)s?\b|invoke\b|parameter\s+name=|(?:analysis|think(?:ing)?|scratchpad|(?:start|end)_of_turn)>)`)
	// looseTags are words that are tags in lower or upper case only: code has
	// types and components of these names.
	looseTags = lazyregexp.New(`</?(?:` + looseNames + `|` + strings.ToUpper(looseNames) +
		`)(?:\s[^<>‹\n]*)?/?>`)
	// tokenTags are control tokens of models.
	tokenTags = lazyregexp.New(`<[|｜][^\s|｜<>]{1,40}[|｜]>|<</?SYS>>|\[/?INST\]`)
	// ourHeads are the headings that precis itself writes into a view.
	ourHeads = lazyregexp.New(`(?i)\[\s*(?:(?:summary|digest)\s+of\s+(?:no\s+)?messages|end\s+of\s+the\s+summary|added\s+from\s+the\s+conversation|hidden\s+to\s+save\s+room|cited\s+above,)`)
)

const looseNames = `system|user|human|assistant|developer|summary|task|feedback|instructions?`

// Visible removes invisible content from a text: terminal escape sequences, control and format
// characters, marks that reverse the direction of writing, characters that smuggle text, and
// invalid UTF-8. Line breaks of all kinds become "\n". Joiners stay where a script or an emoji
// needs them.
func Visible(text string) string {
	if !strings.ContainsFunc(text, unseen) && utf8.ValidString(text) {
		return text
	}
	text = lineBreaks.Replace(strings.ToValidUTF8(visible.WithoutSequences(text), "\uFFFD"))
	var out strings.Builder
	last := ' '
	for i, r := range text {
		next, size := utf8.DecodeRuneInString(text[i+utf8.RuneLen(r):])
		joins := (r == '\u200c' || r == '\u200d') && size > 0 && joined(last) && joined(next)
		if hiddenRune(r) && !joins {
			continue
		}
		out.WriteRune(r)
		last = r
	}
	return out.String()
}

// unseen reports whether a character is hidden or a line break other than "\n".
func unseen(r rune) bool {
	if r < utf8.RuneSelf {
		return r < ' ' && r != '\n' && r != '\t' || r == 0x7f
	}
	return hiddenRune(r) || r == '\u2028' || r == '\u2029'
}

var lineBreaks = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\u0085", "\n",
	"\u2028", "\n", "\u2029", "\n")

// joined reports whether a joiner next to a character is meaningful.
func joined(r rune) bool {
	return r > unicode.MaxASCII && !hiddenRune(r) && unicode.In(r, unicode.L, unicode.M, unicode.S)
}

func hiddenRune(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r >= 0xe0100 && r <= 0xe01ef: // variation selectors, which carry bytes unseen
		return true
	}
	return unicode.In(r, unicode.Cc, unicode.Cf)
}

// Indent indents the lines of a quotation after the first, so that only the text around it begins lines
// with a heading or a handle.
func Indent(text string) string {
	return strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n  ")
}
