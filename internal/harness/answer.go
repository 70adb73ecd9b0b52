package harness

import (
	"strings"
)

// Denied is the result of a call that the user did not allow.
const Denied = "The user denied this operation."

// IsResumption reports whether a text block says that the conversation continues after an interruption:
// the blocks after it are not results of a tool.
func IsResumption(text string) bool {
	return strings.HasPrefix(strings.TrimSpace(text), "[TASK RESUMPTION]")
}

// IsIntroduced reports whether a text begins with a program's introduction of the user's comment on a
// call.
func IsIntroduced(text string) bool { return introductionLength(text) > 0 }

// Comments reports whether a text block after the result of a tool contains the user's comment on
// it: only the program writes at this place, or the user denied the call.
func Comments(tool, before, text string) bool {
	return introductionLength(text) > 0 && (IsTool(tool, "own") || strings.TrimSpace(before) == Denied)
}

// Speaks reports whether an argument of a tool is addressed to the user: a submission, a plan, a
// question. Agents of Roo Code, Cline and OpenHands end their turns with such calls and write no
// other text.
func Speaks(tool, argument string) bool {
	return tools().Has(tool, "says", argument)
}

// introductionLength returns the length in bytes of a program's introduction of the user's words at the
// start of a text, else 0.
func introductionLength(text string) int {
	const longest = 400
	from, to := introduction(text[:min(len(text), longest)])
	if strings.TrimSpace(text[:from]) != "" {
		return 0
	}
	return to
}

// introduction returns where a text first introduces words of the user, see leads.txt, and where
// their wrapping begins; 0, 0 when it does not.
func introduction(text string) (from, to int) {
	if m := leads().FindStringSubmatchIndex(text); m != nil {
		return m[0], m[2]
	}
	return 0, 0
}

// Answer returns the bounds of the user's words in the result of a tool: an answer to a question,
// or a comment on a result, with or without an approval; 0, 0 for none. Files, pages and the output
// of commands may imitate such results; they are excluded by the tool's name, by the program's text
// before them, and by other evidence, see [Refusal].
func Answer(r Result) (from, to int) {
	if _, head, ok := resultHead(r.Text); ok {
		from = head + strings.IndexByte(r.Text[head:]+"\n", '\n') + 1
		r.Around = Wrappers
	}
	from = min(from, len(r.Text))
	text := r.Text[from:]
	if IsTool(r.Tool, "asks") && !r.IsError {
		return trimmed(r.Text, from, answerLength(text))
	}
	if IsTool(r.Tool, "answers") ||
		IsTool(r.Tool, "own") && r.Around == Wrappers && introductionLength(text) > 0 {
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

// Feedback splits the output of a command into the result and a person's reported comment. Cline
// appends the comment to the output, but the command itself may have printed it. So it counts
// neither as a person's words nor as the command's result.
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

// answerLength returns the length of an answer without the text that programs append to it.
func answerLength(text string) int {
	for _, tail := range []string{". You can now continue with the user's answers in mind.",
		" You can now continue with the user's answers in mind."} {
		if n := strings.Index(text, tail); n >= 0 && n+len(tail) >= len(strings.TrimSpace(text)) {
			return n
		}
	}
	return len(text)
}

// wrapped returns the bounds of the text in the first wrapping of the user's words, after a lead;
// 0, 0 when the text begins otherwise.
func wrapped(text string) (from, to int) {
	n := introductionLength(text)
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

// trimmed returns the span of n bytes of a text without the white space around it; 0, 0 if it is
// blank.
func trimmed(text string, from, n int) (int, int) {
	to := from + n
	words := strings.TrimSpace(text[from:to])
	if words == "" {
		return 0, 0
	}
	from += strings.Index(text[from:to], words)
	return from, from + len(words)
}
