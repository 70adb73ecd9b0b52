package harness

import (
	"strings"
)

// Denied is the result of a call that the user did not allow.
const Denied = "The user denied this operation."

// Resumes reports whether a text block says that the conversation goes on after an
// interruption: what stands behind it is no result of a tool.
func Resumes(text string) bool {
	return strings.HasPrefix(strings.TrimSpace(text), "[TASK RESUMPTION]")
}

// Introduced reports whether a text begins as programs hand on what the user said of a call.
func Introduced(text string) bool { return lead(text) > 0 }

// Comments reports whether a text block behind the result of a tool hands on what the
// user said of it: it stands where only the program writes, or behind a call that the user denied.
func Comments(tool, before, text string) bool {
	return lead(text) > 0 && (IsTool(tool, "own") || strings.TrimSpace(before) == Denied)
}

// Speaks reports whether an argument of a tool is what the agent says to the user: what it hands in, a plan, a question. Roo
// Code's, Cline's and OpenHands's agents end their turns by such calls, and say nothing beside them.
func Speaks(tool, argument string) bool {
	return tools().Has(tool, "says", argument)
}

// lead returns how many bytes at the start of a text stand before the user's words, when
// it begins as programs introduce them; 0 otherwise.
func lead(text string) int {
	const longest = 400
	from, to := introduction(text[:min(len(text), longest)])
	if strings.TrimSpace(text[:from]) != "" {
		return 0
	}
	return to
}

// introduction returns where a text first introduces words of the user, see leads.txt, and where their wrapping begins;
// 0, 0 when it does not.
func introduction(text string) (from, to int) {
	if m := leads().FindStringSubmatchIndex(text); m != nil {
		return m[0], m[2]
	}
	return 0, 0
}

// Answer returns where in the result of a tool the user's words stand: an answer to
// a question, what was said of a result, in place of an approval or with one; 0, 0 when the
// result holds none. Files, pages and the output of commands, which may imitate such results, are
// told by the tool's name, by what the program writes before them, and by what else is known, see [Refusal].
func Answer(r Result) (from, to int) {
	if _, head, ok := resultHead(r.Text); ok {
		from = head + strings.IndexByte(r.Text[head:]+"\n", '\n') + 1
		r.Around = Wrappers
	}
	from = min(from, len(r.Text))
	text := r.Text[from:]
	if IsTool(r.Tool, "asks") && !r.IsError {
		return trimmed(r.Text, from, answered(text))
	}
	if IsTool(r.Tool, "answers") || IsTool(r.Tool, "own") && r.Around == Wrappers && lead(text) > 0 {
		a, b := wrapped(text)
		return trimmed(r.Text, from+a, b-a)
	}
	said, is := Refusal(r)
	if is != Proven || said == "" {
		return 0, 0
	}
	at := strings.LastIndex(r.Text, said)
	if at < 0 { // escaped
		return 0, 0
	}
	return at, at + len(said)
}

// Feedback parts the output of a command from what a person is reported to have said of it: Cline writes that behind the output, where
// the command itself may have printed it. So it is no person's word, and none of the command's result either.
func Feedback(output string) (result, said string) {
	const lead, head, tail = "The user provided the following feedback:\n<feedback>\n", "<feedback>\n", "</feedback>"
	rest, ok := strings.CutSuffix(strings.TrimRight(output, " \t\r\n"), tail)
	if !ok {
		return output, ""
	}
	at := strings.LastIndex(rest, lead)
	if at < 0 || at > 0 && rest[at-1] != '\n' || strings.Contains(rest[at+len(lead):], head) {
		return output, ""
	}
	return output[:at], strings.TrimSpace(rest[at+len(lead):])
}

// answered returns the length of an answer without what programs write behind it.
func answered(text string) int {
	for _, tail := range []string{". You can now continue with the user's answers in mind.", " You can now continue with the user's answers in mind."} {
		if n := strings.Index(text, tail); n >= 0 && n+len(tail) >= len(strings.TrimSpace(text)) {
			return n
		}
	}
	return len(text)
}

// wrapped returns where the words stand that the first wrapping of the user's words
// holds, behind a lead; 0, 0 when the text begins otherwise.
func wrapped(text string) (from, to int) {
	n := lead(text)
	rest := strings.TrimLeft(text[n:], " \n\t\r")
	from = len(text) - len(rest)
	head, ok := markOf(rest, "user")
	if !ok {
		return 0, 0
	}
	to = len(text)
	if end := strings.LastIndex(rest, "</"+head.text[1:]); end >= 0 {
		to = from + end
	}
	return from + len(head.text), max(to, from+len(head.text))
}

// trimmed returns the span of n bytes of a text without the white space around it; 0, 0
// when nothing is left.
func trimmed(text string, from, n int) (int, int) {
	to := from + n
	words := strings.TrimSpace(text[from:to])
	if words == "" {
		return 0, 0
	}
	from += strings.Index(text[from:to], words)
	return from, from + len(words)
}
