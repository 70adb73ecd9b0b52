package harness

import (
	"strings"
)

// Rank orders what agent programs say once and what stays in force, by how much an
// agent is hurt that loses it: the lowest is left out last.
type Rank int

// The ranks.
const (
	Instructions Rank = iota // project rules, modes, the environment and the date, lists of skills, agents and tools
	Skills                   // the text of a skill that was loaded, rules of a folder
	Jobs                     // what became of work in the background
)

// List is one thing that a program says once and that stays in force.
type List struct {
	Key  string // texts with equal keys replace each other, the newest counts
	Rank Rank
}

// opening begins a passage that stays in force.
type opening struct {
	program string
	text    string
	name    string // of the list
	// delta says that a later passage may say only what is new: it takes the place of
	// no other, but of a copy.
	delta bool
	rank  Rank
}

// openings are the passages that programs are known to send, measured on their wires
// and read in their recordings. Versions are those of November 2026.
var openings = []opening{
	{"claude code", "Codebase and user instructions are shown below", "memory", false, Instructions},
	{"claude code", "As you answer the user's questions, you can use the following context", "context", false, Instructions},
	{"claude code", "Attribution for git commits", "attribution", false, Instructions},
	{"claude code", "# Environment", "environment", false, Instructions},
	{"claude code", "Here is useful information about the environment", "environment", false, Instructions},
	{"claude code", "You are powered by the model", "model", false, Instructions},
	{"claude code", "Today's date is", "date", false, Instructions},
	{"claude code", "The date has changed", "date", false, Instructions},
	{"claude code", "While bypass permissions mode is active", "mode", false, Instructions},
	{"claude code", "Plan mode is active", "mode", false, Instructions},
	{"claude code", "Plan mode still active", "mode", false, Instructions},
	{"claude code", "Auto mode is active", "mode", false, Instructions},
	{"claude code", "## Exited Plan Mode", "mode", false, Instructions},
	{"claude code", "## Re-entering Plan Mode", "mode", false, Instructions},
	{"claude code", "The following deferred tools are", "deferred tools", true, Instructions},
	{"claude code", "Available agent types for the", "agents", true, Instructions},
	{"claude code", "New agent types are", "agents", true, Instructions},
	{"claude code", "# MCP Server Instructions", "mcp", true, Instructions},
	{"claude code", "The following MCP servers", "mcp", true, Instructions},
	{"claude code", "The following skills are available", "skills", true, Instructions},
	{"claude code", "The following output style is active", "output style", false, Instructions},
	{"claude code", "Output Style:", "output style", false, Instructions},
	{"claude code", "The following skills were invoked", "invoked skills", false, Skills},
	{"qwen code", "This is the Qwen Code.", "context", false, Instructions},
	{"qwen code", "The following tools are reachable through", "deferred tools", true, Instructions},
	{"qwen code", "The text below was supplied by the MCP server", "mcp", true, Instructions},
	{"qwen code", "The following MCP tools became available", "deferred tools", true, Instructions},
	{"qwen code", "The current date is", "date", false, Instructions},
	{"gemini cli", "<session_context>", "context", false, Instructions},
	{"gemini cli", "This is the Gemini CLI.", "context", false, Instructions},
	{"codex", "<user_instructions>", "memory", false, Instructions},
	{"codex", "<environment_context>", "environment", true, Instructions},
	{"codex", "<permissions instructions>", "permissions", false, Instructions},
	{"codex", "<skills_instructions>", "skills", true, Instructions},
	{"codex", "<collaboration_mode>", "mode", false, Instructions},
	{"codex", "<multi_agent_mode>", "multi-agent mode", false, Instructions},
	{"codex", "<multi_agent_role>", "multi-agent role", false, Instructions},
	{"codex", "<tools>", "deferred tools", true, Instructions},
	{"codex", "<apps_instructions>", "apps", true, Instructions},
	{"codex", "<plugins_instructions>", "plugins", true, Instructions},
	{"codex", "<personality_spec>", "personality", false, Instructions},
	{"codex", "<skill>", "skill", true, Skills},
	{"openhands", "<REPOSITORY_INSTRUCTIONS>", "memory", false, Instructions},
	{"openhands", "<RUNTIME_INFORMATION>", "environment", false, Instructions},
}

// named are the passages that say themselves what they are of, up to the end of the
// line: the newest of each path or name counts.
var named = []struct {
	program, text, ending string
	rank                  Rank
}{
	{"claude code", "Contents of ", ".md", Skills},
	{"opencode", "Instructions from: ", "", Skills},
	{"claude code", SkillBase, "", Skills},
	{"codex", "# AGENTS.md instructions for ", "", Instructions},
}

// SkillBase begins the text of a loaded skill, before the folder of the skill.
const SkillBase = "Base directory for this skill:"

// ReminderOpen and ReminderClose are the tags of the element in which most programs remind the model.
const ReminderOpen, ReminderClose = "<system-reminder>", "</system-reminder>"

// reminders are the elements around what programs say to the model.
var reminders = []string{"system-reminder", "system_reminder"}

// Standing reports whether a text that an agent's program wrote stays in force until it
// is said anew, and what it is: project rules, lists of skills, agents and tools, the
// environment, the date, a mode, a loaded skill, the end of a background job. A text
// of several lists replaces only one with the same lists. What a person wrote is never
// known here; ask [Wrote] first where both may have.
func Standing(text string) (List, bool) {
	body := Inside(strings.TrimSpace(text))
	if id, ok := job(body); ok {
		return List{"job " + id, Jobs}, true
	}
	var names []string
	delta, rank := false, Jobs
	for _, p := range paragraphs(body) {
		for _, o := range openings {
			if strings.HasPrefix(p, o.text) {
				names, delta, rank = append(names, o.name), delta || o.delta, min(rank, o.rank)
				break
			}
		}
		if len(names) == 0 {
			break // what begins as something else is something else
		}
	}
	if len(names) == 0 {
		return namedList(body)
	}
	key := strings.Join(names, ", ")
	if delta {
		key = "=" + body
	}
	return List{key, rank}, true
}

func namedList(body string) (List, bool) {
	line, _, _ := strings.Cut(body, "\n")
	line = strings.TrimRight(line, " \r")
	for _, n := range named {
		rest, ok := strings.CutPrefix(line, n.text)
		rest, _, _ = strings.Cut(rest, " (")
		if rest = strings.TrimSpace(strings.TrimSuffix(rest, ":")); ok && rest != "" && strings.HasSuffix(rest, n.ending) {
			return List{n.text + rest, n.rank}, true
		}
	}
	return List{}, false
}

// Reminder returns a text as programs put it into the user's role, see [Inside].
func Reminder(text string) string {
	return ReminderOpen + "\n" + strings.TrimSpace(text) + "\n" + ReminderClose
}

// Inside returns what a reminder holds; the text itself when it is none.
func Inside(text string) string {
	for _, name := range reminders {
		if rest, ok := strings.CutPrefix(text, "<"+name+">"); ok {
			rest, _ = strings.CutSuffix(rest, "</"+name+">")
			return strings.TrimSpace(rest)
		}
	}
	return text
}

// Appended returns the lists that a program adds to the result of a tool: reminders behind all
// else in it that stay in force, as the rules of the folder of a file that is read; and where
// the first reminder behind the result begins. The end of the text where there is none.
func Appended(text string) (lists []List, from int) {
	from = len(text)
	for range mostAppended {
		rest := strings.TrimRight(text[:from], " \t\r\n")
		name := ""
		for _, r := range reminders {
			if strings.HasSuffix(rest, "</"+r+">") {
				name = r
			}
		}
		if name == "" {
			break
		}
		at := strings.LastIndex(rest, "<"+name+">")
		if at < 0 || at > 0 && rest[at-1] != '\n' {
			break
		}
		if l, ok := Standing(rest[at:]); ok {
			lists = append(lists, l)
		}
		from = at
	}
	return lists, from
}

// mostAppended is how many reminders are read behind a result.
const mostAppended = 8

// paragraphs returns the passages of a text: what begins behind an empty line, or as a
// closed element does.
func paragraphs(text string) []string {
	const most = 200 // passages that may begin a list
	var out []string
	for at := 0; at >= 0 && at < len(text) && len(out) < most; {
		out = append(out, text[at:])
		n := strings.Index(text[at:], "\n\n")
		if n < 0 {
			break
		}
		at += n
		at += len(text[at:]) - len(strings.TrimLeft(text[at:], "\n"))
	}
	return out
}

// jobMarks begin the words by which programs say what became of work in the background.
var jobMarks = []string{"[SYSTEM NOTIFICATION", "<task-notification>", "<agent-notification>", "<subagent_notification>"}

// job returns the name of the job of which a notice says what became: its ID, or else
// the notice itself.
func job(body string) (string, bool) {
	if !hasHead(body, jobMarks) {
		return "", false
	}
	for _, element := range []string{"task-id", "task_id", "agent-id", "agent_id"} {
		if _, rest, ok := strings.Cut(body, "<"+element+">"); ok {
			if id, _, ok := strings.Cut(rest, "</"+element+">"); ok {
				return strings.TrimSpace(id), true
			}
		}
	}
	return "=" + body, true
}

// passing are reminders that are of the moment alone.
var passing = []string{
	"The task tools haven't been used recently", "The TodoWrite tool hasn't been used recently", "<total_tokens>", "Token usage:", "USD budget:",
}

// Passing reports whether a text of the program is of the moment alone: a reminder of a
// tool, a count of what is left.
func Passing(text string) bool { return hasHead(Inside(strings.TrimSpace(text)), passing) }
