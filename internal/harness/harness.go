// Package harness knows what the programs around a model write into user
// messages: reminders, the state of the editor, results of tools called in text,
// and the elements in which they wrap the user's own words.
package harness

import (
	"slices"
	"strings"
)

// ResultHead reports whether text begins as the result of a tool call
// written as XML does, "[name for 'x'] Result:", and returns the tool's name.
//
// What the call was about may go over several lines: the message of a task that Roo Code hands on is quoted whole.
func ResultHead(text string) (name string, ok bool) {
	name, _, ok = resultHead(text)
	return name, ok
}

// BehindHead returns the result behind its head, from the next line on; the text itself when
// it has none.
func BehindHead(text string) string {
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
	return name, end + len(closing), name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == ""
}

// IsObservation reports whether a text block of a user message is what an environment
// answered to a command that the assistant wrote as text: it ends with a prompt and
// the state of the shell, as SWE-agent writes it, or begins with a mark of its own. A
// task that such an environment was given ends so, too, and is none.
func IsObservation(text string) bool {
	text = strings.TrimSpace(text)
	for _, head := range []string{"<returncode>", "Observation:", "OBSERVATION:", "EXECUTION RESULT of ["} {
		if strings.HasPrefix(text, head) {
			return true
		}
	}
	if !strings.HasSuffix(text, "bash-$") {
		return false
	}
	end := text[max(0, len(text)-600):]
	return strings.Contains(end, "(Current directory: ") && !strings.Contains(text, "\nISSUE:") && !strings.Contains(text, "\nINSTRUCTIONS:")
}

// harnessHeads begin the sections that agent programs add to user messages by
// themselves: the state of the editor, reminders, notices of interruption.
var harnessHeads = []string{
	stateOpen, "<environment_context>", "<system-reminder>", "<system_reminder>", "<session_context>", "<hook_context>",
	"<user_instructions>", "<notice>", "[ERROR]", "[TASK RESUMPTION]", "[Request interrupted",
	"<local-command", "<bash-input>", "<bash-stdout>", "<bash-stderr>", "<file_content", "<files>", "<folder_content", "<url_content", "<user-prompt-submit-hook>", "<task-notification>", "<agent-notification>", SkillBase,
	"Caveat: The messages below were generated", "Stop hook feedback:", "(The user did not provide a new message.", "[The user has switched to",
	"[SYSTEM NOTIFICATION", "# AGENTS.md instructions for ", "<INSTRUCTIONS>", "<skill>", "<turn_aborted>", "<subagent_notification>", "<user_shell_command>",
	// Hermes: what went on in the background, and what it says after it compressed its context
	backgroundNotice, "[ASYNC DELEGATION ", "[Your active task list was preserved across context compression]", "[Continuing toward your standing goal]",
	// OpenClaw: of other sessions and agents, of jobs and schedules
	"[Inter-session message]", "[Internal task completion event]", "[System Message] ", "[Subagent Context] ", "[cron:", "Read HEARTBEAT.md if it exists", "Pre-compaction memory flush", "A new session was started via /new or /reset",
	"An async command you ran earlier has completed.",
}

// backgroundNotice begins what Hermes says of a process in the background.
const backgroundNotice = "[IMPORTANT: Background process "

// Background returns what a notice of the program says of a process in the background: its name first, then what became of it.
// It reports false for a text that is no such notice.
func Background(text string) (string, bool) {
	return strings.CutPrefix(strings.TrimSpace(text), backgroundNotice)
}

// stateOpen and stateClose stand around the state of the editor.
const stateOpen, stateClose = "<environment_details>", "</environment_details>"

// outputNote begins the line that Claude Code puts behind a notice of what went on in the background.
const outputNote = "Read the output file to retrieve the result: "

// State reports whether a text is the state of the editor, which Roo Code and Cline send
// anew with each message: it begins as such.
func State(text string) bool { return hasHead(text, []string{stateOpen}) }

// WholeState reports whether a text is the state of the editor from its first sign to its last.
func WholeState(text string) bool {
	return State(text) && strings.HasSuffix(strings.TrimRight(text, " \n\t\r"), stateClose)
}

// StateNote returns a note for the place of a state of the editor, in its element.
func StateNote(note string) string { return stateOpen + note + stateClose }

// sentences are what agent programs say in the user's place, by how it begins: requests
// for a summary, what they go on with behind one, and reports of a tool.
var sentences = []string{
	// Claude Code 2.1
	"CRITICAL: Respond with TEXT ONLY. Do NOT call any tools.", "Please continue the conversation from where we left it off without asking the user any further questions.",
	// Codex 0.169
	"You are performing a CONTEXT CHECKPOINT COMPACTION.",
	// opencode 1.18
	"What did we do so far?", "Continue if you have next steps, or stop and ask for clarification",
	// Qwen Code 0.24
	"You are the component that summarizes a conversation", "Resume the prior task using the summary above.", "The following files were recently accessed before context was compacted.", "Recently accessed file (full current content embedded):",
	// Cline 3
	"[SYSTEM] You still have team obligations.",
}

// loaded are what programs write beside the result that loads a tool.
var loaded = []string{"Tool loaded.", "Tools loaded."}

// Loaded reports whether a text says, beside the result that did it, that tools were
// loaded.
func Loaded(text string) bool { return slices.Contains(loaded, strings.TrimSpace(text)) }

// userHeads begin the sections in which agent programs wrap the user's words.
var userHeads = []string{"<task>", "<feedback>", "<user_message>", "<answer>", "<user_query>"}

// Answers reports whether the results of a tool that is called in text are the
// user's words, in their wrapping.
func Answers(tool string) bool { return slices.Contains(answerTools, tool) }

// Wrote reports whether a text block of a user message was written by the
// agent's program, not by the user or a tool: all of it, see [End].
func Wrote(text string) bool {
	if hasHead(text, sentences) || ofTheProgram(text) || Ours(text) || closedElement(text) {
		return true
	}
	n := End(text)
	return n > 0 && strings.Trim(text[n:], " \t\n\r\v\f") == ""
}

// End returns how many bytes at the start of a text the agent's program
// wrote: closed elements such as <system-reminder>…</system-reminder>, or, for a
// notice without an end, all of it up to the user's words in their wrapping, and the sentence that introduces
// these; 0 when the text begins otherwise. An element
// goes on to the last tag that closes it: what it quotes, of a file or a page, may
// hold such a tag, too, and what follows there is not the user's.
func End(text string) int {
	end := metadata(text)
	for hasHead(text[end:], harnessHeads) {
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
	return end + lead(text[end:])
}

// handingOn are the notices that hand on what the user said, of Roo Code and Cline. Others hold
// files, output or what agents said, which may imitate that.
var handingOn = []string{"[ERROR]", "[TASK RESUMPTION]", "[The user has switched to", "(The user did not provide a new message."}

// noticeEnd returns the bytes of a notice up to the user's words that it hands on; all
// when it holds none.
func noticeEnd(text string) int {
	const longest = 4000 // bytes of a notice
	if !hasHead(text, handingOn) {
		return len(text)
	}
	notice := text[:min(len(text), longest)]
	for at := 0; ; {
		n := firstHead(notice[at:])
		if n < 0 {
			return len(text)
		}
		at += n
		line := strings.LastIndexByte(strings.TrimRight(text[:at], " \n\t\r"), '\n') + 1
		if leads.MatchString(text[line:at]) {
			return at
		}
		at++
	}
}

// WrapsUser reports whether a text block holds the user's words in the
// wrapping of an agent's program, behind what the program wrote, see [End].
func WrapsUser(text string) bool { return hasHead(text[End(text):], userHeads) }

func hasHead(text string, heads []string) bool {
	text = strings.TrimLeft(text, " \n\t\r")
	for _, h := range heads {
		if strings.HasPrefix(text, h) {
			return true
		}
	}
	return false
}

// closedElement reports whether a text is made of closed elements that no person types, one
// after another: their names have a hyphen or an underscore within, as the names that
// programs make up have, and they are none in which programs wrap the user's words. An
// element goes on to the last tag that closes it: what it quotes may hold such a tag, too.
func closedElement(text string) bool {
	text = strings.TrimSpace(text)
	if text == "" {
		return false
	}
	for n := 0; text != ""; n++ {
		const most = 50 // elements
		name := elementAt(text)
		if name == "" || n == most {
			return false
		}
		closing := "</" + name + ">"
		end := strings.LastIndex(text, closing)
		if end < 0 {
			return false
		}
		text = strings.TrimSpace(text[end+len(closing):])
	}
	return true
}

// elementAt returns the name of the program's element that a text begins with; "" when it
// begins otherwise.
func elementAt(text string) string {
	if len(text) < 5 || text[0] != '<' {
		return ""
	}
	end := strings.IndexAny(text, "> \t\n")
	if end < 0 {
		return ""
	}
	name := text[1:end]
	if within := strings.IndexAny(name, "_-"); within <= 0 || within == len(name)-1 || strings.Trim(name, elementName) != "" {
		return ""
	}
	if slices.Contains(userElements, strings.ToLower(strings.ReplaceAll(name, "-", "_"))) {
		return ""
	}
	return name
}

const elementName = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"

// userElements are elements with such names, in lower case and with underscores, that hold what the user wrote: of Roo Code,
// Cline, Cursor, Windsurf, Claude Code and of templates that people fill in.
var userElements = []string{
	"user_message", "user_query", "user_input", "user_request", "user_prompt", "user_question", "user_task", "human_input", "command_message", "command_name", "command_args",
	"pr_description", "issue_description", "task_description", "problem_statement", "bug_report", "code_review", "uploaded_files",
}

// programCommands are commands of Claude Code that it carries out itself: they ask the
// model nothing.
var programCommands = []string{
	"add-dir", "agents", "clear", "compact", "config", "context", "copy", "cost", "doctor", "effort", "exit", "export", "fast", "help", "hooks", "ide", "keybindings", "login", "logout", "mcp",
	"memory", "model", "output-style", "permissions", "plugin", "quit", "rename", "resume", "rewind", "sandbox", "skills", "stats", "status", "statusline", "tasks", "terminal-setup", "theme", "todos", "upgrade", "usage", "vim",
}

// ofTheProgram reports whether a text is the record of a command that the program has
// carried out itself, with nothing behind it.
func ofTheProgram(text string) bool {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "<command-") {
		return false
	}
	name := strings.TrimPrefix(inner(text, "command-name"), "/")
	return slices.Contains(programCommands, name) && strings.TrimSpace(afterLast(text, "</command-")) == ""
}
