package harness

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"precis/internal/lazyregexp"
	"precis/internal/table"
)

// Program is the family of the program around a model, as far as what it writes into the
// user's messages tells: programs of one family write the same marks.
type Program string

// The families.
const (
	NoProgram Program = ""         // nothing of a program was seen
	Reminders Program = "reminder" // Claude Code and its kin: <system-reminder>
	Wrappers  Program = "wrapper"  // Roo Code, Cline and their kin: <task>, <environment_details>
	Codex     Program = "codex"    // <environment_context>
)

// ProgramOf returns the family that a text in the user's role, outside of results, is a
// mark of; [NoProgram] when it is none.
func ProgramOf(text string) Program {
	for _, family := range []Program{Reminders, Wrappers, Codex} {
		if begins(text, string(family)) {
			return family
		}
	}
	if _, ok := ResultHead(text); ok {
		return Wrappers
	}
	return NoProgram
}

// Result is what is known of a tool's result.
type Result struct {
	Tool    string
	Text    string
	IsError bool
	Refused bool    // the recording says, apart from the text, that a person refused the call
	Acts    bool    // the call writes a file, or runs a command that does more than print: its result says nothing that others wrote
	Around  Program // of the conversation
}

// Evidence says how sure it is that a person refused a call.
type Evidence int

// The degrees.
const (
	NotRefused Evidence = iota
	Claimed             // the text says so, and nothing else does: any page or command could
	Proven              // the recording says so, or the program does in its own place
)

//go:embed refusals.txt
var refusalsText string

var refusals = table.Lazy("refusals.txt", refusalsText, "form", "by", "is")

// refusalForm is an entry of refusals.txt.
type refusalForm struct {
	by             Program
	flagged, exact bool
	form           *lazyregexp.Regexp
}

var refusalForms = sync.OnceValue(func() (out []refusalForm) {
	for _, row := range refusals().Rows {
		is := row.Words("is")
		flagged, exact := slices.Contains(is, "flagged"), slices.Contains(is, "exact")
		out = append(out, refusalForm{Program(row.Get("by")), flagged, exact, lazyregexp.New(row.Get("form"))})
	}
	return out
})

// isServer reports whether a tool is one of a server of the Model Context Protocol, by the name
// that programs give such tools: what it gives back may say anything, in any form.
func isServer(tool string) bool {
	return strings.HasPrefix(tool, "mcp_") || tool == "use_mcp_tool" || tool == "access_mcp_resource" ||
		strings.Contains(tool, "__") || strings.ContainsAny(strings.TrimPrefix(tool, "functions."), "./:")
}

// Refusal reports how sure it is that a person refused the call whose result this is, and
// what they said. A refusal is what the recording says apart from text, or the program's own form
// as the whole result of a conversation of that program, or of nobody known where no other
// program words it so and the call acts or asks the user: programs and SDKs take such sentences
// over. Of any other call an error in that form is only claimed to be one, and nothing in it is a person's. A result that is nothing but such words of a call that acts is claimed to be one, too.
func Refusal(r Result) (said string, is Evidence) {
	text := r.Text
	if _, ok := ResultHead(text); ok {
		text, r.Around = BehindHead(text), Wrappers
	}
	text = strings.TrimSpace(text)
	server := isServer(r.Tool)
	for _, f := range refusalForms() {
		if !r.Refused && f.flagged && !r.IsError {
			continue
		}
		m := f.form.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		if len(m) > 1 {
			said = strings.TrimSpace(m[1][End(m[1]):])
		}
		known := f.by == r.Around || f.exact && (r.Acts || IsTool(r.Tool, "asks")) && r.Around == NoProgram
		switch {
		case r.Refused, known && !server:
			return said, Proven
		case r.IsError, f.by == r.Around:
			return "", Claimed
		}
	}
	switch {
	case r.Refused:
		return "", Proven
	case r.Acts && !server && len(text) < longestRefusal && saysRefused.MatchString(text):
		return "", Claimed // most likely it was not carried out
	}
	return "", NotRefused
}

// longestRefusal is how many bytes a refusal has that no mark of a program stands with.
const longestRefusal = 400

// saysRefused is how programs say that a person refused a call, whatever their marks: Codex, Cline and Roo Code, Copilot, Cursor, Goose.
var saysRefused = lazyregexp.New(`^(?:(?:exec command |patch |command failed: )?(?:rejected|aborted) by (?:the )?user(?: after \d+(?:\.\d+)? ?s)?\.?|(?:The )?[Uu]ser (?:has )?(?:declined|cancelled|canceled|rejected|denied|skipped) (?:to run |permission to (?:use|run) )?(?:this|the)? ?(?:specific )?(?:tool call|tool|command|operation|edit|change|patch)\b[^\n]{0,200})$`)
