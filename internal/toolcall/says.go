package toolcall

import (
	_ "embed"
	"regexp"
	"strings"
	"sync"

	"github.com/precis-dev/precis/internal/lazyregexp"
	"github.com/precis-dev/precis/internal/table"
)

//go:embed says.txt
var saysText string

// saysTable lists patterns of program output, with the kinds of text that they match.
var saysTable = table.Lazy("says.txt", saysText, "pattern", "kind")

// saysKinds returns the patterns of the table by kind.
var saysKinds = sync.OnceValue(func() map[string]*patterns {
	all := map[string][]string{}
	for _, row := range saysTable().Rows {
		for _, kind := range row.Words("kind") {
			all[kind] = append(all[kind], row.Get("pattern"))
		}
	}
	out := map[string]*patterns{}
	for kind, of := range all {
		out[kind] = newPatterns(of)
	}
	return out
})

// isOfKind reports whether a text is of a kind that says.txt lists.
func isOfKind(kind, text string) bool { return saysKinds()[kind].match(text) }

// patterns are alternatives. Literals, tried on every line of output, need no regular expression.
type patterns struct {
	literals []literal
	others   *lazyregexp.Regexp // nil: none
}

func newPatterns(all []string) *patterns {
	p := &patterns{}
	var others []string
	for _, pattern := range all {
		if l, ok := asLiteral(pattern); ok {
			p.literals = append(p.literals, l)
		} else {
			others = append(others, "(?:"+pattern+")")
		}
	}
	if others != nil {
		p.others = lazyregexp.New(strings.Join(others, "|"))
	}
	return p
}

func (p *patterns) match(text string) bool {
	for _, l := range p.literals {
		if l.in(text) {
			return true
		}
	}
	return p.others != nil && p.others.MatchString(text)
}

// literal is a pattern that matches only one text. A lower-case literal ignores case.
type literal struct {
	text               string
	begins, ends, fold bool
}

// asLiteral returns a pattern as a literal; false if it is not one.
func asLiteral(pattern string) (l literal, ok bool) {
	pattern, l.begins = strings.CutPrefix(pattern, "^")
	pattern, l.ends = strings.CutSuffix(pattern, "$")
	l.text = strings.ReplaceAll(pattern, `\`, "")
	l.fold = strings.ToLower(l.text) == l.text
	return l, regexp.QuoteMeta(l.text) == pattern
}

func (l literal) in(text string) bool {
	n := len(l.text)
	switch {
	case len(text) < n || l.begins && l.ends && len(text) > n:
		return false
	case l.begins:
		text = text[:n]
	case l.ends:
		text = text[len(text)-n:]
	}
	if l.fold {
		return containsFold(text, l.text)
	}
	return strings.Contains(text, l.text)
}
