package harness

import (
	"strings"

	"github.com/precis-dev/precis/internal/lazyregexp"
)

// FromEditor reports whether a text begins with an editor's context before a person's words.
func FromEditor(text string) bool { return strings.HasPrefix(text, "# Context from my IDE setup:") }

// requestHeading separates an editor's context from a person's words.
const requestHeading = "\n## My request for Codex:"

// UserWords strips an agent program's tags around users' words, and an editor's context before
// them. A command is written as users type it.
func UserWords(text string) string {
	out := ""
	for _, at := range UserSpans(text) {
		between := "\n"
		if strings.HasSuffix(text[:at[0]], "<command-args>") {
			between = " "
		}
		out = strings.TrimSpace(out + between + strings.TrimSpace(text[at[0]:at[1]]))
	}
	return out
}

// afterLast returns the text after the last tag that begins with the given one.
func afterLast(text, tag string) string {
	_, after, _ := strings.Cut(text[max(strings.LastIndex(text, tag), 0):], ">")
	return after
}

// Element returns the text of the first nonempty element, trying the names in order.
func Element(text string, names ...string) string {
	for _, name := range names {
		from, to := within(text, name)
		if inside := strings.TrimSpace(text[from:to]); inside != "" {
			return inside
		}
	}
	return ""
}

// IsSummary reports whether a text is a summary that an agent's program put in the place of earlier
// messages.
func IsSummary(text string) bool {
	text = strings.TrimSpace(text)
	return begins(text, "summary") || bracketedSummary.MatchString(text) ||
		strings.HasPrefix(text, "<summary>") && strings.HasSuffix(text, "</summary>")
}

// bracketedSummary matches a head in brackets that announces a summary of earlier context, as
// Hermes and similar programs write it: "[CONTEXT COMPACTION — REFERENCE ONLY]".
var bracketedSummary = lazyregexp.New(`^\[(?:PRIOR CONTEXT|(?i:(?:(?:prior|previous|earlier) )?(?:context|conversation|history|session) (?:compaction|compression|summary|summari[sz]ed)))\b[^\]\n]{0,300}\](?:[^(]|$)`)

// IsLocalCommand reports whether the user's words are only commands to the agent's program, one on
// each line, and no request to the model.
func IsLocalCommand(words string) bool {
	n := 0
	for line := range strings.Lines(words) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		name, rest, _ := strings.Cut(line, " ")
		if !commands().Has(name, "is", "typed") || len(rest) >= 200 {
			return false
		}
		n++
	}
	return n > 0
}

// UserSpans returns the spans of a person's words in a text that wraps them, see [UserWords], in
// order; without a wrapping the whole text.
func UserSpans(text string) [][2]int {
	from := introductionLength(text)
	from += len(text[from:]) - len(strings.TrimLeft(text[from:], " \n\t\r\v\f"))
	body := text[from:]
	if FromEditor(body) {
		if n := strings.Index(body, requestHeading); n >= 0 {
			return [][2]int{{from + n + len(requestHeading), len(text)}}
		}
	}
	if head, ok := markOf(body, "user"); ok {
		words := len(head.text)
		a, b := within(body, head.text[1:words-1])
		if b == 0 { // it is not closed
			return [][2]int{{from + words, len(text)}}
		}
		rest := strings.TrimLeft(body[b+words+1:], " \n\t\r\v\f")
		return [][2]int{{from + a, from + b}, {len(text) - len(rest) + ProgramEnd(rest), len(text)}}
	}
	if a, b := within(body, "command-name"); b > a && strings.HasPrefix(body, "<command-") {
		c, d := within(body[b:], "command-args")
		behind := len(text) - len(afterLast(text, "</command-"))
		return [][2]int{{from + a, from + b}, {from + b + c, from + b + d}, {behind, len(text)}}
	}
	return [][2]int{{from, len(text)}}
}

// within returns the bounds of the text in the first element of a name; 0, 0 for none.
func within(text, name string) (from, to int) {
	open := "<" + name + ">"
	_, after, _ := strings.Cut(text, open)
	inside, _, closed := strings.Cut(after, "</"+name+">")
	if !closed {
		return 0, 0
	}
	from = len(text) - len(after)
	return from, from + len(inside)
}
