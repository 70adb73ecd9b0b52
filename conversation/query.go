package conversation

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"precis"
)

// Query finds texts that hold all its words. Make one with [NewQuery].
type Query struct {
	words  []string
	find   []*regexp.Regexp // by word
	pieces [][]string       // by word: what a text holds in lower case if find finds it
}

// NewQuery reads words, or regular expressions (RE2); the case of letters never
// counts. The white space inside a word stands for any. The error is
// [precis.CodeInvalid].
func NewQuery(words []string, expressions bool) (*Query, error) {
	q := &Query{words: words, find: make([]*regexp.Regexp, len(words)), pieces: make([][]string, len(words))}
	for i, w := range words {
		fields := strings.Fields(w)
		if len(fields) == 0 {
			return nil, precis.Errorf(precis.CodeInvalid, "read words", "word %d is empty", i+1)
		}
		source := w
		if !expressions {
			q.pieces[i] = fields
			quoted := make([]string, len(fields))
			for k, f := range fields {
				quoted[k], fields[k] = regexp.QuoteMeta(f), strings.ToLower(f)
			}
			source = strings.Join(quoted, `\s+`)
		}
		re, err := regexp.Compile("(?im:" + source + ")")
		if err != nil {
			return nil, precis.Errorf(precis.CodeInvalid, "read words", "%q is no regular expression: %w", w, err)
		}
		q.find[i] = re
	}
	return q, nil
}

// in returns which of the words a text holds, and how many.
func (q *Query) in(text string) (has []bool, n int) {
	has = make([]bool, len(q.words))
	lower := strings.ToLower(text)
	for i, re := range q.find {
		missing := slices.ContainsFunc(q.pieces[i], func(p string) bool { return !strings.Contains(lower, p) })
		if !missing && re.MatchString(text) {
			has[i] = true
			n++
		}
	}
	return has, n
}

// line returns the line of a text with most of the words, the first of several,
// and how many those are.
func (q *Query) line(text string) (best string, most int) {
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if _, n := q.in(line); n > most {
			best, most = line, n
			if most == len(q.words) {
				return best, most
			}
		}
	}
	if most > 0 {
		return best, most
	}
	for _, re := range q.find { // what is found begins on one line and ends on another
		if at := re.FindStringIndex(text); at != nil {
			start := strings.LastIndexByte(text[:at[0]], '\n') + 1
			line, _, _ := strings.Cut(text[start:], "\n")
			return line, 0
		}
	}
	return "", 0
}

// Places returns where the words stand in a line, in order and apart: pairs of
// byte offsets.
func (q *Query) Places(line string) [][]int {
	var all, out [][]int
	for _, re := range q.find {
		all = append(all, re.FindAllStringIndex(line, -1)...)
	}
	slices.SortFunc(all, func(a, b []int) int { return a[0] - b[0] })
	for _, p := range all {
		if last := len(out) - 1; last >= 0 && p[0] < out[last][1] {
			out[last][1] = max(out[last][1], p[1])
		} else if p[1] > p[0] {
			out = append(out, p)
		}
	}
	return out
}

// String lists the words: "a", "b" and "c".
func (q *Query) String() string {
	var s strings.Builder
	for i, w := range q.words {
		switch {
		case i > 0 && i == len(q.words)-1:
			s.WriteString(" and ")
		case i > 0:
			s.WriteString(", ")
		}
		fmt.Fprintf(&s, "%q", w)
	}
	return s.String()
}
