// Package harness recognizes the parts of a user message that the agent's program wrote: reminders,
// the editor's state, results of tools called in text, and the elements around the user's own
// words.
package harness

import (
	"strings"

	"github.com/precis-dev/precis/internal/lazyregexp"
)

// ResultHead reports whether text begins as the result of a tool call written as XML does, "[name
// for 'x'] Result:", and returns the tool's name.
//
// The part after "for" may extend over several lines: Roo Code quotes the message of a new task in
// full.
func ResultHead(text string) (name string, ok bool) {
	name, _, ok = resultHead(text)
	return name, ok
}

// WithoutHead returns the result after its head line; the text itself without a head.
func WithoutHead(text string) string {
	_, length, ok := resultHead(text)
	if !ok {
		return text
	}
	_, rest, _ := strings.Cut(text[length:], "\n")
	return rest
}

// resultHead returns the tool's name and the length of the head, see [ResultHead].
func resultHead(text string) (name string, length int, ok bool) {
	const closing, longest = "] Result:", 20_000
	if !strings.HasPrefix(text, "[") {
		return "", 0, false
	}
	line, _, _ := strings.Cut(text, "\n")
	end := strings.Index(line, closing)
	if end < 0 {
		if quote := strings.Index(line, ": '"); quote < 0 && !strings.Contains(line, " for '") {
			return "", 0, false
		}
		if end = strings.Index(text[:min(len(text), longest)], "'"+closing) + 1; end == 0 {
			return "", 0, false
		}
	}
	name, _, _ = strings.Cut(text[1:end], " ")
	return name, end + len(closing),
		name != "" && strings.Trim(name,
			"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == ""
}

// IsObservation reports whether a text block of a user message is an environment's answer to a
// command that the assistant wrote as text: it ends with a prompt and the state of the shell, as
// SWE-agent writes it, or begins with a mark of its own. The task given to such an environment also
// ends like this and is excluded.
func IsObservation(text string) bool {
	text = strings.TrimSpace(text)
	if begins(text, "observation") {
		return true
	}
	if !strings.HasSuffix(text, "bash-$") {
		return false
	}
	end := text[max(0, len(text)-600):]
	return strings.Contains(end, "(Current directory: ") && !strings.Contains(text, "\nISSUE:") &&
		!strings.Contains(text, "\nINSTRUCTIONS:")
}

// backgroundNotice begins a notice of Hermes about a background process.
const backgroundNotice = "[IMPORTANT: Background process "

// Background returns the text of a program's notice about a background process: its name first,
// then its outcome. It reports false for other texts.
func Background(text string) (string, bool) {
	return strings.CutPrefix(strings.TrimSpace(text), backgroundNotice)
}

// stateOpen and stateClose enclose the state of the editor.
const stateOpen, stateClose = "<environment_details>", "</environment_details>"

// outputNote begins the line that Claude Code appends to a notice about background work.
const outputNote = "Read the output file to retrieve the result: "

// IsEditorState reports whether a text begins as the state of the editor, which Roo Code and Cline send
// anew with each message.
func IsEditorState(text string) bool { return strings.HasPrefix(strings.TrimSpace(text), stateOpen) }

// WholeState reports whether a text consists of the state of the editor.
func WholeState(text string) bool {
	return IsEditorState(text) && strings.HasSuffix(strings.TrimRight(text, " \n\t\r"), stateClose)
}

// StateNote returns a note in the element of a state of the editor, to replace it.
func StateNote(note string) string { return stateOpen + note + stateClose }

// SaysToolsLoaded reports whether a text, next to the result that loaded them, says that tools were loaded.
func SaysToolsLoaded(text string) bool { return isOnly(text, "loaded") }

// IsProgramText reports whether a text block of a user message was written entirely by the agent's program,
// not by the user or a tool, see [ProgramEnd].
func IsProgramText(text string) bool {
	if begins(text, "sentence") || ofTheProgram(text) || IsOurs(text) || closedElement(text) {
		return true
	}
	n := ProgramEnd(text)
	return n > 0 && strings.Trim(text[n:], " \t\n\r\v\f") == ""
}

// ProgramEnd returns how many bytes at the start of a text the agent's program wrote: closed elements such
// as <system-reminder>…</system-reminder>, or, for a notice without an end, all of it up to the
// user's wrapped words and the sentence that introduces these; 0 when the text begins otherwise. An
// element extends to the last tag that closes it, since a quoted file or page may contain such a
// tag, too, and the text after that is not the user's.
func ProgramEnd(text string) int {
	end := metadata(text)
	for begins(text[end:], "section") {
		rest := strings.TrimLeft(text[end:], " \n\t\r")
		at := len(text) - len(rest)
		name, _, isTag := strings.Cut(strings.TrimPrefix(rest, "<"), ">")
		if name, _, _ = strings.Cut(name, " "); rest[0] != '<' || !isTag {
			return at + noticeEnd(rest)
		}
		closing := "</" + name + ">"
		n := strings.LastIndex(rest, closing)
		if n < 0 {
			return len(text)
		}
		end = at + n + len(closing)
		if rest := strings.TrimLeft(text[end:], " \n\t\r"); strings.HasPrefix(rest, outputNote) {
			line, _, _ := strings.Cut(rest, "\n")
			end = len(text) - len(rest) + len(line)
		}
	}
	return end + introductionLength(text[end:])
}

// noticeEnd returns the bytes of a notice up to the user's words in it; all without such words.
func noticeEnd(text string) int {
	const longest = 4000 // bytes of a notice
	if !begins(text, "hands") {
		return len(text)
	}
	if _, at := introduction(text[:min(len(text), longest)]); at > 0 {
		return at
	}
	return len(text)
}

// WrapsUser reports whether a text block contains the user's wrapped words after the program's own
// text, see [ProgramEnd].
func WrapsUser(text string) bool { return begins(text[ProgramEnd(text):], "user") }

// ExpandsCommand reports whether a text block records a typed command, and the next text block of the
// message is the program's expansion of it.
func ExpandsCommand(text string) bool { return begins(text, "expands") }

// programElement matches the opening tag of an element that no person types: its name contains a
// hyphen or an underscore, as names made up by programs do.
var programElement = lazyregexp.New(`^<([a-zA-Z0-9]+[_-][\w-]+)[> \t\n]`)

// closedElement reports whether a text is a sequence of closed elements of programs that do not
// wrap the user's words. An element extends to the last tag that closes it, since quoted text may
// contain such a tag, too.
func closedElement(text string) bool {
	const most = 50 // elements
	text = strings.TrimSpace(text)
	for n := range most {
		if text == "" {
			return n > 0
		}
		m := programElement.FindStringSubmatch(text)
		if m == nil || elements().Has(strings.ToLower(strings.ReplaceAll(m[1], "-", "_")), "holds", "words") {
			return false
		}
		closing := "</" + m[1] + ">"
		end := strings.LastIndex(text, closing)
		if end < 0 {
			return false
		}
		text = strings.TrimSpace(text[end+len(closing):])
	}
	return text == ""
}

// ofTheProgram reports whether a text is the record of a command that the program has carried out
// itself, and no other text follows.
func ofTheProgram(text string) bool {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "<command-") {
		return false
	}
	name := strings.TrimPrefix(Element(text, "command-name"), "/")
	return commands().Has("/"+name, "is", "recorded") &&
		strings.TrimSpace(afterLast(text, "</command-")) == ""
}
