package harness

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"github.com/precis-dev/precis/internal/lazyregexp"
	"github.com/precis-dev/precis/internal/table"
)

// Program is the family of the program around a model, recognized by its marks in the user's
// messages: programs of one family write the same marks.
type Program string

// The families.
const (
	NoProgram Program = ""         // no mark of a program was found
	Reminders Program = "reminder" // Claude Code and its kin: <system-reminder>
	Wrappers  Program = "wrapper"  // Roo Code, Cline and their kin: <task>, <environment_details>
	Codex     Program = "codex"    // <environment_context>
)

// ProgramOf returns the family of the mark in a text in the user's role, outside of results;
// [NoProgram] without a mark.
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

// Result is a tool's result with the evidence about it.
type Result struct {
	Tool    string
	Text    string
	IsError bool
	Refused bool    // the recording states, apart from the text, that a person refused the call
	Acts    bool    // the call writes a file, or does more than print: its result contains no foreign text
	Around  Program // of the conversation
}

// Evidence is the certainty that a person refused a call.
type Evidence int

// The degrees.
const (
	NotRefused Evidence = iota
	Claimed             // only the text says so, and any page or command could
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
		out = append(out, refusalForm{Program(row.Get("by")), flagged, exact,
			lazyregexp.New(row.Get("form"))})
	}
	return out
})

// isServer reports whether a tool belongs to a server of the Model Context Protocol, by its name:
// its output may contain anything, in any form.
func isServer(tool string) bool {
	return strings.HasPrefix(tool, "mcp_") || tool == "use_mcp_tool" || tool == "access_mcp_resource" ||
		strings.Contains(tool, "__") || strings.ContainsAny(strings.TrimPrefix(tool, "functions."), "./:")
}

// Refusal reports how certain it is that a person refused the call with this result, and the
// person's words. Proven is a refusal that the recording states apart from text, or the program's
// own form as the whole result, if the conversation's program uses it. If the program is unknown,
// no other program must use the form, and the call must act or ask the user, because programs and
// SDKs copy such sentences. For any other call an error in that form is only claimed, and no part
// of it is a person's words. A result of an acting call that consists only of refusing words is
// claimed, too.
func Refusal(r Result) (said string, is Evidence) {
	text := r.Text
	if _, ok := ResultHead(text); ok {
		text, r.Around = WithoutHead(text), Wrappers
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
			said = strings.TrimSpace(m[1][ProgramEnd(m[1]):])
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

// longestRefusal is the most bytes of a refusal without a program's mark.
const longestRefusal = 400

// saysRefused matches the sentence of a program that a person refused a call, without marks: Codex,
// Cline and Roo Code, Copilot, Cursor, Goose.
var saysRefused = lazyregexp.New(`^(?:(?:exec command |patch |command failed: )?(?:rejected|aborted) by (?:the )?user(?: after \d+(?:\.\d+)? ?s)?\.?|(?:The )?[Uu]ser (?:has )?(?:declined|cancelled|canceled|rejected|denied|skipped) (?:to run |permission to (?:use|run) )?(?:this|the)? ?(?:specific )?(?:tool call|tool|command|operation|edit|change|patch)\b[^\n]{0,200})$`)
