package harness

import (
	"slices"
	"strings"

	"precis/internal/lazyregexp"
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

// marksOf are the words by which the texts of a family begin.
var marksOf = []struct {
	of    Program
	heads []string
}{
	{Reminders, []string{"<system-reminder>", "<local-command", "<command-name>", "<command-message>", "Caveat: The messages below were generated", "[Request interrupted by user", "This session is being continued from a previous conversation"}},
	{Wrappers, []string{"<task>", "<user_message>", "<feedback>", "<environment_details>", "[TASK RESUMPTION]"}},
	{Codex, []string{"<environment_context>", "# AGENTS.md instructions for ", "<user_instructions>", "<turn_aborted>"}},
}

// ProgramOf returns the family that a text in the user's role, outside of results, is a
// mark of; [NoProgram] when it is none.
func ProgramOf(text string) Program {
	for _, m := range marksOf {
		if hasHead(text, m.heads) {
			return m.of
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

// refusalForm is how a program tells a model that a person refused a call. The text is
// the whole result.
type refusalForm struct {
	by      Program
	flagged bool // the result is marked as an error, too
	exact   bool // nothing else words it so: of a call that acts or asks it is known in the conversation of nobody known, too
	form    *lazyregexp.Regexp
}

// refusalForms stand with the versions that wrote them: Claude Code 2.0 and 2.1; opencode
// 1.18; Roo Code 3.28 and 3.52, Cline 3; Codex 0.40 to 0.169. The first group is what the
// person said.
var refusalForms = []refusalForm{
	{Reminders, true, true, lazyregexp.New(`^The user doesn't want to proceed with this tool use\. The tool use was rejected(?: \(eg\. if it was a file edit, the new_string was NOT written to the file\))?\. To tell you how to proceed, the user said:\n(?s:(.*))$`)},
	{Reminders, true, true, lazyregexp.New(`^The user doesn't want to proceed with this tool use\. The tool use was rejected(?: \(eg\. if it was a file edit, the new_string was NOT written to the file\))?\. STOP what you are doing and wait for the user to tell you how to proceed\.(?s:.*)$`)},
	{Reminders, true, true, lazyregexp.New(`^The user doesn't want to take this action right now\. STOP what you are doing and wait for the user to tell you how to proceed\.$`)},
	{Reminders, true, false, lazyregexp.New(`^User (?:rejected tool use|chose to stay in plan mode and continue planning)\.?$`)},
	{Reminders, true, false, lazyregexp.New(`^(?:\{"error": ?")?\[Operation Cancelled\] Reason: User (?:denied execution|did not allow tool call|cancelled[^\n"]*)\.?(?:"\})?$`)},
	{"opencode", true, true, lazyregexp.New(`^The user rejected permission to use this specific tool call with the following feedback: (?s:(.*))$`)},
	{"opencode", true, true, lazyregexp.New(`^The user rejected permission to use this specific tool call\.$`)},
	{Wrappers, false, false, lazyregexp.New(`^The user denied this operation\.$`)},
	{Wrappers, false, false, lazyregexp.New(`^The user denied this operation(?:\.\nThe user provided| and provided) the following feedback:\n<feedback>\n?(?s:(.*?))\n?</feedback>$`)},
	{Wrappers, false, false, lazyregexp.New(`^\{\s*"status": ?"denied",\s*"message": ?"The user denied this operation[^"]*"(?:,\s*"feedback": ?"(?s:(.*))")?\s*\}$`)},
	{Codex, false, false, lazyregexp.New(`^(?:exec command |patch |command failed: )?(?:rejected|aborted) by (?:the )?user(?: after \d+(?:\.\d+)? ?s)?\.?$`)},
	{Codex, false, false, lazyregexp.New(`^user (?:rejected|cancelled) MCP tool call$`)},
}

// IsServer reports whether a tool is one of a server of the Model Context Protocol, by the name
// that programs give such tools: what it gives back may say anything, in any form.
func IsServer(tool string) bool {
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
	server := IsServer(r.Tool)
	for _, f := range refusalForms {
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
		switch {
		case r.Refused, f.by == r.Around && !server, f.exact && (r.Acts || slices.Contains(askTools, r.Tool)) && r.Around == NoProgram && !server:
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
