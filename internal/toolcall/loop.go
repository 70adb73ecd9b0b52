package toolcall

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"precis/internal/lazyregexp"
)

// loop is one over words: "for f in a b". Its commands are read for each of them.
type loop struct {
	name   string
	values []word
	except []string // words that it passes over
	unsure bool     // for which words the commands run that follow, up to "fi", is not known
	asked  bool     // nor for the next command
}

// How many turns of loops are read in one command line, and how many words of a command count as one more.
const (
	mostTurns   = 200
	wordsOfTurn = 64
)

// looped follows the loops of a script. It returns the words of a command for each turn of the loop that it is in; the words as
// they are where there is none, or where it does not name the variable.
func (r *shellReader) looped(words []word, next []word, by join) [][]word {
	switch first := strings.TrimSuffix(words[0].text, ")"); {
	case first == "for" && len(words) > 3 && words[2].text == "in":
		r.loop = &loop{name: words[1].text, values: words[3:]}
		return nil
	case first == "done" || first == "end":
		r.loop = nil
	case first == "fi" && r.loop != nil:
		r.loop.unsure = false
	}
	l := r.loop
	if l == nil || !slices.ContainsFunc(words, func(w word) bool { return l.names(w.text) }) {
		return [][]word{words}
	}
	if l.tests(words, next, by) || l.unsure {
		return nil
	}
	if l.asked {
		l.asked = by == joinAnd
		return nil
	}
	var out [][]word
	for _, v := range l.values {
		if r.turns += 1 + len(words)/wordsOfTurn; r.turns > mostTurns || strings.ContainsAny(v.text, "$`{") && !v.literal || slices.Contains(l.except, v.text) {
			continue
		}
		turn := slices.Clone(words)
		for i, w := range turn {
			if l.names(w.text) {
				turn[i].text, turn[i].literal = l.put(w.text, v.text), v.literal
			}
		}
		out = append(out, turn)
	}
	return out
}

// names reports whether a word holds the variable of the loop.
func (l *loop) names(w string) bool {
	return strings.Contains(w, "$"+l.name) || strings.Contains(w, "${"+l.name)
}

// reference is a place where a word holds the value of a variable, or a part of it.
var reference = lazyregexp.New(`\$\(basename \$(\w+)\)|\$(\w+)|\$\{(\w+)(##\*/|%[^*?\[%}]*)?\}`)

// put puts a value in the place of the variable: "$f", "${f}", "${f%.js}", "${f##*/}".
func (l *loop) put(w, value string) string {
	return reference.ReplaceAllStringFunc(w, func(ref string) string {
		m := reference.FindStringSubmatch(ref)
		suffix, cuts := strings.CutPrefix(m[4], "%")
		switch {
		case cmp.Or(m[1], m[2], m[3]) != l.name, cuts && strings.ContainsAny(value, "*?["):
			return ref
		case m[1] != "" || m[4] == "##*/":
			return path.Base(value)
		}
		return strings.TrimSuffix(value, suffix)
	})
}

// tests reports whether a command only tests the variable, and notes which words it passes over.
func (l *loop) tests(words, next []word, by join) bool {
	asks := false
	for len(words) > 0 && (is("prefix", words[0].text) || words[0].text == "if" || words[0].text == "elif") {
		asks = asks || words[0].text == "if" || words[0].text == "elif"
		words = words[1:]
	}
	if len(words) == 0 {
		return false
	}
	if words[0].text == "case" || words[0].text == "while" {
		l.unsure = true
		return true
	}
	if words[0].text != "[" && words[0].text != "[[" && words[0].text != "test" {
		l.unsure = l.unsure || asks
		l.asked = l.asked || by == joinAnd && is("asks", words[0].text)
		return asks || is("asks", words[0].text)
	}
	skips := len(next) > 0 && next[len(next)-1].text == "continue"
	switch {
	case len(words) < 4: // whether it is there
		l.unsure = l.unsure || len(words) > 1 && words[1].text == "!"
	case words[2].text == "!=" && !skips && by != joinOr:
		l.except = append(l.except, words[3].text)
	case (words[2].text == "=" || words[2].text == "==") && (skips && by != joinOr || by == joinOr):
		l.except = append(l.except, words[3].text)
	case words[1].text == "-f" || words[1].text == "-e" || words[1].text == "-d":
	default:
		l.unsure = true
	}
	return true
}
