package claudecode

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/harness"
	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/wire/anthropic"
)

// program is [precis.Said.Program] of the messages here.
const program = "claude-code"

// The attachments of a line: content that the program gave the model besides the line's text.
type noteBlocks []precis.Block

// attached reads the content of an attachment line. It returns nil if the model is sent no content,
// or only a momentary count of tokens. For an unknown type it returns the textual content, if any.
//
// Format: lines of type "attachment" as Claude Code 2.1 records them, and what the same sessions
// sent to the API.
func attached(raw []byte) noteBlocks {
	f, err := jsonspan.Fields(raw)
	if err != nil {
		return nil
	}
	a := attachment{f}
	kind := a.text("type")
	if silent[kind] {
		return nil
	}
	if kind == "queued_command" {
		return a.queued()
	}
	read, known := attachments[kind]
	if !known {
		read = kindOf{precis.AuthorProgram, precis.ActUnknown, attachment.plain}
	}
	text := strings.TrimSpace(read.text(a))
	if text == "" {
		return nil
	}
	return noteBlocks{precis.Text{
		Text:        harness.Reminder(text),
		Attribution: precis.Attribution{Program: program, Author: read.author, Act: read.act},
	}}
}

// silent are the types without content for the model, and counts of tokens.
var silent = map[string]bool{
	"hook_system_message": true, "hook_cancelled": true, "hook_non_blocking_error": true,
	"hook_error_during_execution": true,
	"hook_permission_decision":    true, "hook_deferred_tool": true, "command_permissions": true,
	"structured_output": true,
	"already_read_file": true, "edited_image_file": true, "prompt_snapshot": true,
	"prompt_render_point":   true,
	"deferred_tools_record": true, "tool_offer_record": true, "session_context": true,
	"withheld_memory":       true,
	"total_tokens_reminder": true, "token_usage": true, "output_token_usage": true, "budget_usd": true,
}

// kindOf is the author of a type of attachment, its purpose, and its text.
type kindOf struct {
	author precis.Author
	act    precis.Act
	text   func(attachment) string
}

// attachments are the known types. Each text begins as the program writes it, so that it is
// recognized in requests too.
var attachments = map[string]kindOf{
	"instructions": {precis.AuthorOperator, precis.ActInstruction, func(a attachment) string {
		return headed("Codebase and user instructions are shown below.",
			a.each("files", func(f attachment) string {
				return contents(f.text("path"), f.text("content"))
			}))
	}},
	"nested_memory": {precis.AuthorOperator, precis.ActInstruction, func(a attachment) string {
		c := a.object("content")
		return contents(c.text("path"), c.text("content"))
	}},
	"relevant_memories": {precis.AuthorOperator, precis.ActReminder, func(a attachment) string {
		return a.each("memories", func(m attachment) string {
			return contents(m.text("path"),
				m.text("content"))
		})
	}},
	"invoked_skills": {precis.AuthorOperator, precis.ActInstruction, func(a attachment) string {
		return headed("The following skills were invoked in this session.",
			a.each("skills", func(s attachment) string {
				return "### Skill: " + s.text("name") + "\n\n" + s.text("content")
			}))
	}},
	"skill_listing": {precis.AuthorOperator, precis.ActInstruction, func(a attachment) string {
		return headed("The following skills are available for use with the Skill tool:", a.text("content"))
	}},
	"agent_listing_delta": {precis.AuthorProgram, precis.ActInstruction, func(a attachment) string {
		return headed("Available agent types for the Agent tool:", a.lines("addedLines"))
	}},
	"deferred_tools_delta": {precis.AuthorProgram, precis.ActInstruction, func(a attachment) string {
		return headed("The following deferred tools are now available via ToolSearch.", a.lines("addedLines"))
	}},
	"mcp_instructions_delta": {precis.AuthorOperator, precis.ActInstruction, func(a attachment) string {
		return headed("# MCP Server Instructions", a.lines("addedBlocks"))
	}},
	"plan_mode": {precis.AuthorProgram, precis.ActInstruction,
		constant("Plan mode is active. No edits are to be made until the user has approved a plan.")},
	"plan_mode_reentry": {precis.AuthorProgram, precis.ActInstruction,
		constant("## Re-entering Plan Mode\n\nPlan mode is active again.")},
	"plan_mode_exit": {precis.AuthorProgram, precis.ActInstruction,
		constant("## Exited Plan Mode\n\nPlan mode has ended: edits may be made.")},
	"auto_mode":      {precis.AuthorProgram, precis.ActInstruction, constant("Auto mode is active.")},
	"auto_mode_exit": {precis.AuthorProgram, precis.ActInstruction, constant("## Exited Auto Mode")},
	"output_style": {precis.AuthorOperator, precis.ActInstruction,
		func(a attachment) string { return headed("Output Style:", a.text("style")) }},
	"plan_file_reference": {precis.AuthorProgram, precis.ActReminder, func(a attachment) string {
		return headed("A plan exists from plan mode: "+a.text("planFilePath"), a.text("planContent"))
	}},
	"todo_reminder": {precis.AuthorProgram, precis.ActReminder, attachment.tasks},
	"task_reminder": {precis.AuthorProgram, precis.ActReminder, attachment.tasks},
	"environment": {precis.AuthorProgram, precis.ActEnvironment, func(a attachment) string {
		s := a.object("snapshot")
		if s.text("workingDirectory") == "" {
			return ""
		}
		return "# Environment\n - Primary working directory: " + s.text("workingDirectory") +
			"\n - Platform: " + s.text("platform") + "\n - Shell: " + s.text("shell") + "\n - OS Version: " +
			s.text("osVersion")
	}},
	"model": {precis.AuthorProgram, precis.ActEnvironment,
		func(a attachment) string { return a.text("text") }},
	"date": {precis.AuthorProgram, precis.ActEnvironment,
		func(a attachment) string { return sentence("Today's date is ", a.text("date")) }},
	"date_change": {precis.AuthorProgram, precis.ActEnvironment, func(a attachment) string {
		return sentence("The date has changed. Today's date is now ", a.text("newDate"))
	}},
	"remote_session_change": {precis.AuthorProgram, precis.ActInstruction, func(a attachment) string {
		return headed("Attribution for git commits and pull requests:",
			joined(a.text("commit"), a.text("pr")))
	}},
	"file": {precis.AuthorTool, precis.ActQuote, attachment.file},
	"directory": {precis.AuthorTool, precis.ActQuote,
		func(a attachment) string { return contents(a.text("path"), a.text("content")) }},
	"mcp_resource": {precis.AuthorTool, precis.ActQuote, func(a attachment) string {
		return contents(a.text("uri"),
			a.object("content").each("contents", func(c attachment) string { return c.text("text") }))
	}},
	"selected_lines_in_ide": {precis.AuthorTool, precis.ActQuote, func(a attachment) string {
		return headed("The user selected these lines of "+a.text("filename")+":", a.text("content"))
	}},
	"selected_lines_in_diff": {precis.AuthorTool, precis.ActQuote, func(a attachment) string {
		return headed("The user selected these lines of a diff: "+a.text("filePath"), a.text("content"))
	}},
	"opened_file_in_ide": {precis.AuthorProgram, precis.ActNotice, func(a attachment) string {
		return sentence("The user opened this file in the editor: ", a.text("filename"))
	}},
	"edited_text_file": {precis.AuthorProgram, precis.ActNotice, func(a attachment) string {
		return "Note: " + a.text("filename") + " changed on disk since it was read.\n" + a.text("snippet")
	}},
	"compact_file_reference": {precis.AuthorProgram, precis.ActNotice, func(a attachment) string {
		return sentence("Note: this file was read before the conversation was summarized, and is too large to include: ", a.text("filename"))
	}},
	"pdf_reference": {precis.AuthorProgram, precis.ActNotice,
		func(a attachment) string { return sentence("PDF file, not included: ", a.text("filename")) }},
	"agent_mention": {precis.AuthorProgram, precis.ActNotice,
		func(a attachment) string { return sentence("The user asks for the agent ", a.text("agentType")) }},
	"hook_additional_context": {precis.AuthorProgram, precis.ActNotice, func(a attachment) string {
		return sentence(a.text("hookName")+" hook additional context: ", a.lines("content"))
	}},
	"hook_blocking_error": {precis.AuthorProgram, precis.ActNotice, func(a attachment) string {
		e := a.object("blockingError")
		return sentence(a.text("hookName")+" hook blocking error from command: "+e.text("command")+": ",
			e.text("blockingError"))
	}},
	"hook_stopped_continuation": {precis.AuthorProgram, precis.ActNotice, func(a attachment) string {
		return sentence(a.text("hookName")+" hook stopped continuation: ", a.text("message"))
	}},
	"hook_success": {precis.AuthorProgram, precis.ActNotice, func(a attachment) string {
		switch a.text("hookEvent") {
		case "SessionStart", "UserPromptSubmit", "UserPromptExpansion": // output of other hooks is not sent
			return sentence(a.text("hookName")+" hook success: ", a.text("content"))
		}
		return ""
	}},
	"async_hook_response": {precis.AuthorProgram, precis.ActNotice, func(a attachment) string {
		r := a.object("response")
		return joined(r.text("systemMessage"), r.object("hookSpecificOutput").text("additionalContext"))
	}},
	"task_status": {precis.AuthorProgram, precis.ActNotice, func(a attachment) string {
		return joined(sentence("Task "+a.text("taskId")+" "+a.text("status")+": ", a.text("description")),
			a.text("deltaSummary"))
	}},
	"diagnostics": {precis.AuthorProgram, precis.ActNotice, func(a attachment) string {
		return headed("New diagnostics:", a.each("files", func(f attachment) string {
			return headed(f.text("uri"), f.each("diagnostics",
				func(d attachment) string { return " " + d.text("severity") + ": " + d.text("message") }))
		}))
	}},
	"teammate_mailbox": {precis.AuthorDelegate, precis.ActNotice, func(a attachment) string {
		return a.each("messages", func(m attachment) string {
			return sentence("Message from "+m.text("from")+
				": ", m.text("text"))
		})
	}},
}

// attachment is the object of an attachment line, or an object in it.
type attachment struct{ fields map[string]json.RawMessage }

func (a attachment) text(name string) string {
	s, _ := jsonspan.String(a.fields[name])
	return s
}

func (a attachment) object(name string) attachment {
	f, err := jsonspan.Fields(a.fields[name])
	if err != nil {
		return attachment{}
	}
	return attachment{f}
}

// each writes the objects of a list, one per line.
func (a attachment) each(name string, write func(attachment) string) string {
	var out []string
	for span, err := range jsonspan.Array(a.fields[name]) {
		if err != nil {
			break
		}
		if f, err := jsonspan.Fields(span.Raw); err == nil {
			out = append(out, write(attachment{f}))
		}
	}
	return joined(out...)
}

// lines returns a text, or the texts of a list, one per line.
func (a attachment) lines(name string) string {
	if s, ok := jsonspan.String(a.fields[name]); ok {
		return s
	}
	var out []string
	for span, err := range jsonspan.Array(a.fields[name]) {
		if err != nil {
			break
		}
		if s, ok := jsonspan.String(span.Raw); ok {
			out = append(out, s)
		}
	}
	return strings.Join(out, "\n")
}

// plain returns the text of an attachment of an unknown type.
func (a attachment) plain() string {
	for _, name := range []string{"content", "text", "message", "prompt"} {
		if s := a.lines(name); strings.TrimSpace(s) != "" {
			return s
		}
	}
	return ""
}

func (a attachment) tasks() string {
	return headed("The tasks as they stand:", a.each("content", func(t attachment) string {
		name := t.text("subject")
		if name == "" {
			name = t.text("content")
		}
		return fmt.Sprintf("- [%s] %s", t.text("status"), name)
	}))
}

// file writes a file that the user mentioned or that the program read again.
func (a attachment) file() string {
	content := a.object("content")
	f := content.object("file")
	text := f.text("content")
	if text == "" {
		text = f.each("cells", func(c attachment) string { return c.text("source") })
	}
	return contents(a.text("filename"), text)
}

// queued returns input that entered the conversation while the agent worked: from a person, from
// another agent, or from the program.
func (a attachment) queued() noteBlocks {
	said := precis.Attribution{Program: program, Author: precis.AuthorPerson, Act: precis.ActRequest}
	switch origin := a.object("origin").text("kind"); {
	case origin == "peer" || origin == "coordinator" || origin == "teammate":
		said.Author, said.Act = precis.AuthorDelegate, precis.ActNotice
	case a.text("commandMode") == "task-notification", origin != "" && origin != "human",
		jsonspan.Kind(a.fields["isMeta"]) == 't':
		said.Author, said.Act = precis.AuthorProgram, precis.ActNotice
	}
	blocks, err := anthropic.DecodeContent(a.fields["prompt"])
	if err != nil {
		return nil
	}
	var out noteBlocks
	for _, b := range blocks {
		if t, ok := b.(precis.Text); ok {
			if strings.TrimSpace(t.Text) == "" {
				continue
			}
			t.Attribution, t.Raw = said, nil
			b = t
		}
		out = append(out, b)
	}
	return out
}

// contents writes the content of a file or folder; "" if it is empty.
func contents(path, text string) string {
	return headed("Contents of "+path+":", text)
}

// headed writes a text below a heading; "" for an empty text.
func headed(line, text string) string {
	if strings.TrimSpace(text) == "" {
		return ""
	}
	return line + "\n\n" + text
}

// sentence puts begin before a text; "" for an empty text.
func sentence(begin, text string) string {
	if strings.TrimSpace(text) == "" {
		return ""
	}
	return begin + text
}

func constant(text string) func(attachment) string {
	return func(attachment) string { return text }
}

// joined joins the texts that are not empty, one per line.
func joined(texts ...string) string {
	var out []string
	for _, t := range texts {
		if strings.TrimSpace(t) != "" {
			out = append(out, t)
		}
	}
	return strings.Join(out, "\n")
}
