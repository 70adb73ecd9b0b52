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
	unsure bool // for which words the commands run that follow, up to "fi", is not known
	skips  bool // nor behind it
}

// How many turns of loops are read in one command line, and how many words of a command count as one more.
const (
	mostTurns   = 200
	wordsOfTurn = 64
)

// looped follows the loops of a line. It returns a command for each turn of the loop that it is in; the command where there is
// none, or where it does not name the variable. A question about the variable makes it unsure what follows, unless it is whether
// the file is there.
func (r *shellReader) looped(c command) (out []command) {
	words := c.words
	if program := c.program(); len(program) > 0 {
		words = program
	}
	switch first := strings.TrimSuffix(words[0].text, ")"); {
	case first == "for" && len(words) > 3 && words[2].text == "in":
		r.loop = &loop{name: words[1].text, values: words[3:]}
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
	named := func(w word) bool { return l.names(w.text) }
	if !slices.ContainsFunc(c.words, named) && !slices.ContainsFunc(c.outputs, func(o output) bool { return named(o.word) }) {
		return []command{c}
	}
	switch name := words[0].text; {
	case is("tests", name):
		l.unsure = l.unsure || len(words) < 3 || !strings.HasPrefix(words[1].text, "-")
		return nil
	case is("asks", name):
		l.unsure = l.unsure || c.by == joinAnd || c.by == joinOr || slices.ContainsFunc(c.words, func(w word) bool { return w.text == "if" })
		return nil
	case l.unsure || l.skips:
		return nil
	}
	for _, v := range l.values {
		if r.turns += 1 + len(c.words)/wordsOfTurn; r.turns > mostTurns || strings.ContainsAny(v.text, "$`{") && !v.literal {
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

// names reports whether a word holds the variable of the loop.
func (l *loop) names(w string) bool {
	return strings.Contains(w, "$"+l.name) || strings.Contains(w, "${"+l.name)
}

// reference is a place where a word holds the value of a variable, or a part of it.
var reference = lazyregexp.New(`\$\(basename \$(\w+)\)|\$(\w+)|\$\{(\w+)(##\*/|%[^*?\[%}]*)?\}`)

// put puts a value in the place of the variable: "$f", "${f}", "${f%.js}", "${f##*/}".
func (l *loop) put(w *word, v word) {
	if !l.names(w.text) {
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
