package toolcall

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/precis-dev/precis/internal/lazyregexp"
)

// loop is a loop over words: "for f in a b". Its commands are read once for each word.
type loop struct {
	name   string
	values []word
	unsure bool     // unknown for which words the following commands run, up to "fi"
	skips  bool     // the same after "fi"
	except []string // words that it skips
}

// Limits of the loop turns in a command line, and the words that count as a further turn.
const (
	mostTurns   = 200
	wordsOfTurn = 64
)

// looped follows the loops of a line. It returns one command for each turn of the current loop; the
// command itself outside of loops, or if it does not use the variable. A condition on the variable
// makes the following commands uncertain, unless it tests whether the file exists.
func (r *shellReader) looped(c command) (out []command) {
	words := c.words
	if program := c.program(); len(program) > 0 {
		words = program
	}
	switch first := strings.TrimSuffix(words[0].text, ")"); {
	case first == "for" && len(words) > 3 && words[2].text == "in":
		r.loop = &loop{name: words[1].text, values: ofBraces(words[3:])}
		return nil
	case first == "done" || first == "end" || r.loop == nil:
		r.loop = nil
		return []command{c}
	case first == "continue":
		r.loop.skips = true
	case first == "fi":
		r.loop.unsure = false
	}
	l := r.loop
	if !slices.ContainsFunc(c.words, l.in) &&
		!slices.ContainsFunc(c.outputs, func(o output) bool { return l.in(o.word) }) {
		return []command{c}
	}
	switch name := words[0].text; {
	case is("tests", name) && len(words) > 3 && words[2].text == "!=" && c.joinedBy == joinAnd:
		l.except = append(l.except, words[3].text)
		return nil
	case is("tests", name):
		l.unsure = l.unsure || len(words) < 3 || !strings.HasPrefix(words[1].text, "-")
		return nil
	case is("asks", name):
		asked := c.joinedBy == joinAnd || c.joinedBy == joinOr || slices.Contains(texts(c.words), "if")
		l.unsure = l.unsure || asked
		return nil
	case l.unsure || l.skips:
		return nil
	}
	for _, v := range l.values {
		if r.turns += 1 + len(c.words)/wordsOfTurn; r.turns > mostTurns ||
			strings.ContainsAny(v.text, "$`{") && !v.literal ||
			slices.Contains(l.except, v.text) {
			continue
		}
		turn := c
		turn.words, turn.outputs = slices.Clone(c.words), slices.Clone(c.outputs)
		for i := range turn.words {
			l.put(&turn.words[i], v)
		}
		for i := range turn.outputs {
			l.put(&turn.outputs[i].word, v)
		}
		out = append(out, turn)
	}
	return out
}

// inBraces is a word with one list in braces: "{a,b}.txt".
var inBraces = lazyregexp.New("^([^{}$`\"' \\t\\n;:]*)\\{([^{}$`\"' \\t\\n;:]+)\\}([^{}$`\"' \\t\\n;:]*)$")

// ofBraces returns words with lists in braces expanded.
func ofBraces(words []word) (out []word) {
	const most = 20 // in a list
	for _, w := range words {
		var m []string
		if n := strings.Count(w.text, ","); n > 0 && n < most && !w.literal {
			m = inBraces.FindStringSubmatch(w.text)
		}
		if m == nil {
			out = append(out, w)
			continue
		}
		for part := range strings.SplitSeq(m[2], ",") {
			out = append(out, word{text: m[1] + part + m[3]})
		}
	}
	return out
}

// in reports whether a word uses the variable of the loop.
func (l *loop) in(w word) bool {
	return strings.Contains(w.text, "$"+l.name) || strings.Contains(w.text, "${"+l.name)
}

// reference matches the value of a variable, or a part of it, in a word.
var reference = lazyregexp.New(`\$\(basename \$(\w+)\)|\$(\w+)|\$\{(\w+)(##\*/|%[^*?\[%}]*)?\}`)

// put substitutes the variable: "$f", "${f}", "${f%.js}", "${f##*/}".
func (l *loop) put(w *word, v word) {
	if !l.in(*w) {
		return
	}
	w.literal = v.literal
	w.text = reference.ReplaceAllStringFunc(w.text, func(ref string) string {
		m := reference.FindStringSubmatch(ref)
		suffix, cuts := strings.CutPrefix(m[4], "%")
		switch {
		case cmp.Or(m[1], m[2], m[3]) != l.name, cuts && strings.ContainsAny(v.text, "*?["):
			return ref
		case m[1] != "" || m[4] == "##*/":
			return path.Base(v.text)
		}
		return strings.TrimSuffix(v.text, suffix)
	})
}
