package precis

import "strings"

// IsUserTurn reports whether the user says something in the message: it has the
// user role and holds words, a picture or a document that are neither a tool's
// result nor the agent program's own, see [Message.UserBlocks].
func (m Message) IsUserTurn() bool { return len(m.UserBlocks()) > 0 }

// UserBlocks returns the indexes of the blocks that the user said: of a user
// message, all text, images and documents but tool results, those written as
// text by agents without native tools ("[read_file for 'x'] Result:" and what
// follows), and sections the agent's program adds ([IsHarness]).
func (m Message) UserBlocks() []int {
	if m.Role != RoleUser {
		return nil
	}
	var out []int
	result := false
	for i, b := range m.Content {
		switch b := b.(type) {
		case Text:
			_, head := ToolResultHead(b.Text)
			harness := IsHarness(b.Text)
			result = head || result && !harness && !IsUserSection(b.Text)
			if !result && !harness && !blank(b.Text) {
				out = append(out, i)
			}
		case Image, Document:
			if !result {
				out = append(out, i)
			}
		}
	}
	return out
}

// ToolResultHead reports whether text begins as the result of a tool call
// written as XML does, "[name for 'x'] Result:", and returns the tool's name.
func ToolResultHead(text string) (name string, ok bool) {
	if !strings.HasPrefix(text, "[") {
		return "", false
	}
	line, _, _ := strings.Cut(text, "\n")
	end := strings.Index(line, "] Result:")
	if end < 0 {
		return "", false
	}
	name, _, _ = strings.Cut(line[1:end], " ")
	return name, name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == ""
}

// harnessHeads begin the sections that agent programs add to user messages by
// themselves: the state of the editor, reminders, notices of interruption.
var harnessHeads = []string{
	"<environment_details>", "<environment_context>", "<system-reminder>", "<system_reminder>", "<session_context>",
	"<user_instructions>", "<notice>", "[ERROR]", "[TASK RESUMPTION]", "[Request interrupted",
	"<local-command", "<user-prompt-submit-hook>", "<task-notification>", "<agent-notification>", "Base directory for this skill:",
	"Caveat: The messages below were generated", "Stop hook feedback:",
}

// userHeads begin the sections in which agent programs wrap the user's words.
var userHeads = []string{"<task>", "<feedback>", "<user_message>", "<user_query>"}

// IsHarness reports whether a text block of a user message was written by the
// agent's program, not by the user or a tool: all of it, see [HarnessEnd].
func IsHarness(text string) bool {
	n := HarnessEnd(text)
	return n > 0 && blank(text[n:])
}

// HarnessEnd returns how many bytes at the start of a text the agent's program
// wrote: closed elements such as <system-reminder>…</system-reminder>, or, for a
// notice without an end, all of it; 0 when the text begins otherwise.
func HarnessEnd(text string) int {
	end := 0
	for hasHead(text[end:], harnessHeads) {
		rest := strings.TrimLeft(text[end:], " \n\t\r")
		at := len(text) - len(rest)
		name, _, isTag := strings.Cut(strings.TrimPrefix(rest, "<"), ">")
		if name, _, _ = strings.Cut(name, " "); rest[0] != '<' || !isTag {
			return len(text)
		}
		closing := "</" + name + ">"
		n := strings.Index(rest, closing)
		if n < 0 {
			return len(text)
		}
		end = at + n + len(closing)
	}
	return end
}

// IsUserSection reports whether a text block holds the user's words in the
// wrapping of an agent's program.
func IsUserSection(text string) bool { return hasHead(text, userHeads) }

func hasHead(text string, heads []string) bool {
	text = strings.TrimLeft(text, " \n\t\r")
	for _, h := range heads {
		if strings.HasPrefix(text, h) {
			return true
		}
	}
	return false
}
