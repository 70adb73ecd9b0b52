// Package rules finds the rules that a person sets in the words that people use: standing
// orders, prohibitions and wishes about how to work. [Find] reads one text; [Fold] says of
// rules that were set one after another which still hold.
//
// A rule is an order, a prohibition or a wish by its grammar, which holds beyond the request
// it stands in: "never …", "from now on …", "before you …, ask me", "no new dependencies",
// "answers in French". So is what limits, counts or ranks what an agent does, see
// [lexicon.governs], and each order in a list under a title of rules. A rule may have the form
// of a condition ("it would be great if you …"), of a polite question, or of what follows from
// a reason ("…, so leave it"). Other questions, statements, an order to be done once, what a
// part of a product must do, and what is quoted are none. What a word is for, the table of its
// language says, see [language]; the grammar is the same for all of them.
package rules

import (
	"strings"
	"unicode/utf8"

	"precis/internal/harness"
)

// Bounds of a rule, in bytes: what is longer is data.
const (
	leastRule = 8
	mostRule  = 400
	mostRead  = 4000 // of a sentence in which one is looked for
)

// Sentence is a sentence that says what holds.
type Sentence struct {
	Text string // unchanged but for the list marks before it
	Kind Kind

	language *lexicon
}

// Kind says what a sentence does to what holds.
type Kind uint8

// The kinds of sentences.
const (
	Rule   Kind = iota + 1 // sets a rule
	Once                   // sets a rule for the present turn alone
	Revoke                 // takes one back, or allows what one forbade
	Value                  // says what a number is now, which may be what a rule is about
)

// Find returns the sentences of a person's text that set rules, or take them back, in order,
// each once. What the person mentions or pastes sets none: only what was typed does, with
// the words outside of quotation marks. A sentence ends at the end of a line or at a
// punctuation mark; of one over 400 bytes the clauses that set rules are returned. Find
// takes time in proportion to the text.
func Find(text string) []Sentence {
	var out []Sentence
	seen := map[string]bool{}
	ordered := map[string]bool{} // the words with which the sentences begin that set no rule
	base := 0                    // where the words stand in the text
	for _, typed := range ownWords(text) {
		base += max(strings.Index(text[base:], typed), 0)
		own := harness.Unquoted(typed) // as long as typed, byte for byte
		var around paragraph
		var lists listing
		logged := 0      // up to where a line of a log or of code goes on
		at, told := 0, 0 // what stands before told was announced by a rule, and belongs to it
		for s := range sentences(own) {
			if line := lineAt(own, at); at >= logged && (isLogged(line) || isComment(line)) {
				logged = at + len(line)
			}
			from := at + len(s) - len(unlisted(s))
			to := at + len(strings.TrimRight(s, " \t\r\n"))
			lists.next(own[at:min(from, at+len(s))], own[from:max(from, to)], at == 0 || own[at-1] == '\n')
			at += len(s)
			if to <= from { // an empty line
				around = paragraph{}
			}
			if to-from < leastRule || to-from > mostRead || from < told || from < logged {
				continue
			}
			from += command(own[from:to])
			open, end := tag(own[from:to])
			from, to = from+open, to-end
			r, lone := read(own[from:to]), false
			if r.kind == 0 {
				role := r.role
				r, lone = lists.read(own, from, to)
				r.role = role
			}
			described := around.describes(r.role)
			around.add(r.role)
			if r.kind == 0 || r.kind == Rule && (described || r.clause.excepts(ordered)) {
				first, _, _ := strings.Cut(own[from:to], " ")
				ordered[strings.ToLower(first)] = true
				continue
			}
			whole := typed[from:to]
			if len(whole) > mostRule {
				whole = strings.TrimSpace(whole[r.clause[0].from:r.clause[len(r.clause)-1].to])
			} else if r.kind == Rule && announces(whole) {
				end, alone := announced(text, base+to, mostRule-len(whole))
				if alone || lone && end == base+to {
					continue // each of what follows says itself what holds
				}
				told = end - base
				whole = text[base+from : end]
			}
			if len(whole) < leastRule || len(whole) > mostRule || seen[whole] {
				continue
			}
			seen[whole] = true
			out = append(out, Sentence{whole, r.kind, r.language})
		}
		base += len(typed)
	}
	return out
}

// lineAt returns the line of a text that begins at a byte; "" where none begins.
func lineAt(text string, at int) string {
	if at > 0 && text[at-1] != '\n' {
		return ""
	}
	line, _, _ := strings.Cut(text[at:], "\n")
	return line
}

// command returns how many bytes of a sentence are the command before it with which a program is told what to do with
// the rest: "/ask ".
func command(s string) int {
	if !strings.HasPrefix(s, "/") {
		return 0
	}
	n := strings.IndexByte(s, ' ')
	if n < 2 || strings.Trim(s[1:n], "abcdefghijklmnopqrstuvwxyz-") != "" {
		return 0
	}
	return n + 1
}

// excepts reports whether a prohibition only says where an order before it ends: "connect the red dots. Do not
// connect the blue ones." The verb is one that says nothing of how to work.
func (c clause) excepts(ordered map[string]bool) bool {
	c = c.bare()
	return len(c) > 1 && c[0].class&ban != 0 && c[0].class&often == 0 && c[1].class == 0 && ordered[c[1].text]
}

// Texts returns the rules that a text sets for longer than its turn.
func Texts(text string) []string {
	var out []string
	for _, s := range Find(text) {
		if s.Kind == Rule {
			out = append(out, s.Text)
		}
	}
	return out
}

// sentences yields the sentences of a text, line breaks with them: together they are the
// text. A full stop ends one only before white space, so that file names and versions stay
// whole.
func sentences(text string) func(func(string) bool) {
	return func(yield func(string) bool) {
		from := 0
		for i := 0; i < len(text); {
			r, n := utf8.DecodeRuneInString(text[i:])
			end := false
			switch r {
			case '\n', '。', '！', '？':
				end = true
			case '.', '!', '?':
				end = i+1 >= len(text) || strings.IndexByte(" \t\r\n\"')", text[i+1]) >= 0
				end = end && !abbreviated(text[from:i])
			}
			i += n
			for end && r != '\n' && i < len(text) { // the marks that close a quotation belong to what they close
				mark, n := utf8.DecodeRuneInString(text[i:])
				if !strings.ContainsRune("\"')]”’»」』", mark) {
					break
				}
				i += n
			}
			if end {
				if !yield(text[from:i]) {
					return
				}
				from = i
			}
		}
		if from < len(text) {
			yield(text[from:])
		}
	}
}

// abbreviated reports whether a text ends with a short form that a full stop belongs to.
func abbreviated(text string) bool {
	word := text[strings.LastIndexAny(text, " \t\n(")+1:]
	switch strings.ToLower(word) {
	case "e.g", "i.e", "z.b", "d.h", "p.ej", "p.ex", "vs", "approx", "ca", "dr", "mr", "mrs", "ms", "prof", "nr", "bzw", "usw", "incl", "т.е", "т.к":
		return true
	}
	return false
}

// unlisted returns a sentence without the marks of lists, headings and
// quotations before it: signs and numbers that are followed by white space or
// by a letter of another script.
func unlisted(s string) string {
	for {
		s = strings.TrimLeft(s, " \t\r\n")
		rest := strings.TrimLeft(s, "-*+#>•")
		if rest == s {
			digits := strings.TrimLeft(s, "0123456789")
			if rest = strings.TrimLeft(digits, ".)"); rest == digits || digits == s {
				return s
			}
		}
		if rest != "" && rest[0] < 0x80 && strings.IndexByte(" \t\r\n", rest[0]) < 0 {
			return s
		}
		s = rest
	}
}
