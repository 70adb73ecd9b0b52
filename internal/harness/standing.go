package harness

import (
	"slices"
	"strings"
)

// Rank orders the texts that agent programs send once and that stay in force, by the damage of
// losing them: the lowest rank is dropped last.
type Rank int

// The ranks.
const (
	// project rules, modes, the environment and the date, lists of skills, agents and tools
	Instructions Rank = iota
	Skills            // the text of a skill that was loaded, rules of a folder
	Jobs              // outcomes of background work
)

// List is one text that a program sends once and that stays in force.
type List struct {
	Key  string // texts with equal keys replace each other, the newest counts
	Rank Rank
}

// SkillBase begins the text of a loaded skill, before the folder of the skill.
const SkillBase = "Base directory for this skill:"

// ReminderOpen and ReminderClose are the tags that most programs use to remind the model.
const ReminderOpen, ReminderClose = "<system-reminder>", "</system-reminder>"

// reminders are the elements around texts of programs for the model.
var reminders = []string{"system-reminder", "system_reminder"}

// StandingList reports whether a text of an agent's program stays in force until a newer one replaces
// it, and its kind: project rules, lists of skills, agents and tools, the environment, the date, a
// mode, a loaded skill, the end of a background job. A text of several lists replaces only one with
// the same lists. Standing assumes that the program wrote the text; ask [IsProgramText] first if a person
// may have.
func StandingList(text string) (List, bool) {
	body := ReminderContent(strings.TrimSpace(text))
	if id, ok := job(body); ok {
		return List{"job " + id, Jobs}, true
	}
	var names []string
	delta, rank := false, Jobs
	const most = 200 // passages that may begin a list
	for _, p := range strings.SplitN(body, "\n\n", most) {
		if m, ok := markOf(p, "list"); ok {
			names, delta, rank = append(names, m.list), delta || slices.Contains(m.is, "delta"), min(rank,
				m.rank())
		}
		if len(names) == 0 {
			return listOfPath(body) // a text that begins otherwise is not a list
		}
	}
	key := strings.Join(names, ", ")
	if delta {
		key = "=" + body
	}
	return List{key, rank}, len(names) > 0
}

// listOfPath reads a text that names its subject in its first line: the newest of each path counts.
func listOfPath(body string) (List, bool) {
	line, _, _ := strings.Cut(body, "\n")
	m, ok := markOf(line, "path")
	rest, _, _ := strings.Cut(strings.TrimPrefix(line, m.text), " (")
	rest = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), ":"))
	if !ok || rest == "" || slices.Contains(m.is, "file") && !strings.HasSuffix(rest, ".md") {
		return List{}, false
	}
	return List{m.text + rest, m.rank()}, true
}

// rank returns the rank of a list.
func (m mark) rank() Rank {
	if slices.Contains(m.is, "loads") {
		return Skills
	}
	return Instructions
}

// Reminder returns a text in the form of programs' texts in the user's role, see [ReminderContent].
func Reminder(text string) string {
	return ReminderOpen + "\n" + strings.TrimSpace(text) + "\n" + ReminderClose
}

// ReminderContent returns the content of a reminder; other texts unchanged.
func ReminderContent(text string) string {
	for _, name := range reminders {
		if rest, ok := strings.CutPrefix(text, "<"+name+">"); ok {
			rest, _ = strings.CutSuffix(rest, "</"+name+">")
			return strings.TrimSpace(rest)
		}
	}
	return text
}

// Appended returns the lists in the reminders that a program appends to the result of a tool and
// that stay in force, such as the rules of a read file's folder; and where the first appended
// reminder begins, or the end of the text.
func Appended(text string) (lists []List, from int) {
	from = len(text)
	for range mostAppended {
		rest := strings.TrimRight(text[:from], " \t\r\n")
		at := -1
		for _, name := range reminders {
			if strings.HasSuffix(rest, "</"+name+">") {
				at = strings.LastIndex(rest, "<"+name+">")
			}
		}
		if at < 0 || at > 0 && rest[at-1] != '\n' {
			break
		}
		if l, ok := StandingList(rest[at:]); ok {
			lists = append(lists, l)
		}
		from = at
	}
	return lists, from
}

// mostAppended is the most reminders read at the end of a result.
const mostAppended = 8

// job returns the name of the job that a notice is about: its ID, or else the notice itself.
func job(body string) (string, bool) {
	if !begins(body, "job") {
		return "", false
	}
	if id := Element(body, "task-id", "task_id", "agent-id", "agent_id"); id != "" {
		return id, true
	}
	return "=" + body, true
}

// IsTransient reports whether a text of the program matters only for the moment: a reminder of a tool,
// a count of remaining tokens.
func IsTransient(text string) bool {
	return begins(ReminderContent(strings.TrimSpace(text)), "passing")
}
