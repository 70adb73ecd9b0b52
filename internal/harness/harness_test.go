package harness

import (
	"strings"
	"testing"
)

func TestWhoWroteIt(t *testing.T) {
	for _, tt := range []struct {
		text  string
		end   int
		wrote bool
	}{
		{"", 0, false}, {"fix it", 0, false},
		{"<system-reminder>be kind</system-reminder>", 42, true},
		{"\n<system-reminder>a</system-reminder> <notice>b</notice>\n\n", 56, true},
		{"<system-reminder>a</system-reminder> fix it", 36, false},
		{"<environment_details>never closed", 33, true},
		{"[ERROR] You did not use a tool", 30, true},
		{"<system-reminder never an element", 0, false},
		{"<system-reminder>a</system-reminder> quoted </system-reminder> fix it", 62, false},
		{"<file_content path='x'>a</file_content>", 39, true}, {"<bash-stdout>a</bash-stdout><bash-stderr></bash-stderr>", 55, true},
	} {
		if got := ProgramEnd(tt.text); got != tt.end {
			t.Errorf("%q: the program's text ends at %d, want %d", tt.text, got, tt.end)
		}
		if got := IsProgramText(tt.text); got != tt.wrote {
			t.Errorf("%q: written by the program: %v", tt.text, got)
		}
	}
}

func TestWhatMessengersPutAround(t *testing.T) {
	const sender = "Conversation info (untrusted metadata):\n```json\n{\n  \"sender\": \"Ann\"\n}\n```\n\nReplied message (untrusted, for context):\n```json\n{\"body\": \"Always dig.\"}\n```\n\n"
	for text, words := range map[string]string{
		sender + "Mend the sluice.": "Mend the sluice.",
		"System: [2026-03-12 10:00:00 UTC] Exec completed (ab, code 0) :: dug\n\n" + sender + "Mend the sluice.": "Mend the sluice.",
		"[Thu 2026-03-12 10:00 UTC] Mend the sluice.":                                                            "Mend the sluice.",
		"Notes (untrusted metadata): none. Mend it.":                                                             "Notes (untrusted metadata): none. Mend it.",
		"System: [the old one] is down. Mend it.":                                                                "System: [the old one] is down. Mend it.",
		"Info (untrusted metadata):\n```json\nnever closed":                                                      "Info (untrusted metadata):\n```json\nnever closed",
		"[Thu 2026-03-12 10:00 UTC] [Subagent Context] You are running as a subagent.\n\nAlways dig.":            "",
		"[cron:77 Morning] Always dig.":                                                                          "",
		"[Inter-session message] sourceSession=a isUser=false\nAlways dig.":                                      "",
		"[IMPORTANT: Background process p1 completed normally (exit code 0).\nOutput: Always dig.]":              "",
		"[IMPORTANT: never dig by night] Mend it.":                                                               "[IMPORTANT: never dig by night] Mend it.",
	} {
		if got := strings.TrimSpace(text[ProgramEnd(text):]); got != words {
			t.Errorf("%q: the person says %q", text, got)
		}
		if IsProgramText(text) != (words == "") {
			t.Errorf("%q: written by the program: %v", text, IsProgramText(text))
		}
	}
}

func TestSummariesOfPrograms(t *testing.T) {
	for text, want := range map[string]bool{
		"<summary>\nAlways dig.\n</summary>\n": true, "<summary>\nAlways dig.\n</summary>\nMend the sluice.": false,
		"[CONTEXT COMPACTION — REFERENCE ONLY] Earlier turns were compacted.": true, "[CONTEXT COMPACTION] Earlier turns": true, "[PRIOR CONTEXT — for reference only; not a new message]\nx": true,
		"[Previous conversation summary]: dug": true, "[Conversation summary](notes.md) is wrong": false, "[Previous conversation] is gone": false, "[Context] we dig by night": false, "[previous turn] was wrong": false,
		"Here is a summary of the conversation to date:\n\nDug.": true, "Here is a summary of the conversation with Ann:\nDug.": false, "I spoke to you previously about a number of things.\nI asked you to dig.": true,
		"Summarize the conversation.": false,
	} {
		if got := IsSummary(text); got != want {
			t.Errorf("%q: a summary: %v", text, got)
		}
	}
}

func TestResultHead(t *testing.T) {
	for text, want := range map[string]string{
		"[read_file for 'a'] Result:\nx": "read_file", "[ls] Result:": "ls", "[not a name!] Result:": "not", "[*] Result:": "", "[read] done": "", "read Result:": "",
		"[new_task in code mode: 'Paint it.\n\nNever use red.'] Result:\nThe user said.": "new_task", "[ask for 'a\nb'] Result:": "ask",
		"[a note: 'never\nends": "", "[x]\nwords\n'] Result:": "", "[see this: one\n'] Result:": "",
	} {
		name, ok := ResultHead(text)
		if ok != (want != "") || ok && name != want {
			t.Errorf("%q: %q, %v, want %q", text, name, ok, want)
		}
	}
}

func TestUserWords(t *testing.T) {
	for text, want := range map[string]string{
		"fix it": "fix it", "<task>fix it</task>": "fix it", "<feedback> no </feedback>\n<environment_details>x</environment_details>\nmore": "no\nmore",
		"<command-name>/review</command-name><command-args>all</command-args>\nplease": "/review all\nplease",
	} {
		if got := UserWords(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestWhatProgramsSayIsNobodysRequest: shapes that the programs of November 2026 send in the user's place, by program.
func TestWhatProgramsSayIsNobodysRequest(t *testing.T) {
	for _, text := range []string{
		"CRITICAL: Respond with TEXT ONLY. Do NOT call any tools.\n\nSummarize.", "<command-name>/compact</command-name>\n            <command-message>compact</command-message>\n            <command-args></command-args>\n",
		"[SYSTEM NOTIFICATION - NOT USER INPUT]\nThis is an automated background-task event.\n<task-notification><task-id>b1</task-id></task-notification>",
		"# AGENTS.md instructions for /w/p\n\n<INSTRUCTIONS>\nAlways test.\n</INSTRUCTIONS>", "You are performing a CONTEXT CHECKPOINT COMPACTION. Create a handoff summary.",
		"What did we do so far?", "Continue if you have next steps, or stop and ask for clarification if you are unsure how to proceed.",
		"You are the component that summarizes a conversation when it grows.", "The following files were recently accessed before context was compacted.\na.go",
		"[SYSTEM] You still have team obligations. Unfinished tasks: t1", "<subagent_notification>\n{\"agent_id\":\"a1\",\"status\":{\"completed\":\"Always delete it.\"}}\n</subagent_notification>",
		"<made-up-by-a-program>\nAlways delete it.\n</made-up-by-a-program>", "<some_context kind=\"x\">\nNever test.\n</some_context>",
		"[Digest of messages m0-m9, written from the conversation without a model. A record.]\n\n## Rules the user set\n- m1: Never.", "[3 earlier messages hidden here to save room; nothing is lost: m1-m4.]", "[m2-m192: see the digest above.]",
		"<hook_context>\n# What was before, by precis from the recording of this session. Read on.\n</hook_context>", "[Hidden to save room: m1-m4.]",
	} {
		if !IsProgramText(text) {
			t.Errorf("taken for a person's: %.80q", text)
		}
	}
	for _, text := range []string{
		"<command-name>/ship</command-name>\n<command-args>the fix of the day</command-args>", "<div>\n<my-element>x</my-element>\n</div>", "<p>Always test.</p>", "see <some_context>x</some_context>",
		"<pr_description>\nFix it.\n</pr_description>", "[Digest it for me]", "What did we do so far in the cart?\nAnd what is left?", "The tool loaded. Now run it.", "<a_b>", "<user_query>go</user_query>",
	} {
		if IsProgramText(text) && text != "What did we do so far in the cart?\nAnd what is left?" {
			t.Errorf("taken for a program's: %q", text)
		}
	}
}

func TestStanding(t *testing.T) {
	same := func(a, b string) bool {
		x, ok := StandingList(a)
		y, ok2 := StandingList(b)
		return ok && ok2 && x.Key == y.Key
	}
	reminder := func(s string) string { return "<system-reminder>\n" + s + "\n</system-reminder>" }
	for _, tt := range []struct {
		a, b string
		want bool // b takes the place of a
	}{
		{reminder("Today's date is 2026-11-25."), reminder("Today's date is 2026-11-26."), true},
		{reminder("Today's date is 2026-11-25."), reminder("The date has changed. Today's date is now 2026-11-26."), true},
		{reminder("Plan mode is active. Do not edit."), reminder("## Exited Plan Mode\n\nYou may edit."), true},
		{reminder("Contents of /p/sub/CLAUDE.md:\n\nA"), reminder("Contents of /p/sub/CLAUDE.md:\n\nB"), true},
		{reminder("Contents of /p/sub/CLAUDE.md:\n\nA"), reminder("Contents of /p/CLAUDE.md:\n\nA"), false},
		{reminder("The following skills are available for use with the Skill tool:\n- a"), reminder("The following skills are available for use with the Skill tool:\n- b"), false}, // it may be what is new
		{"# Environment\nlinux\n\nToday's date is 1.", "# Environment\nlinux\n\nToday's date is 2.", true},
		{"# Environment\nlinux\n\nToday's date is 1.", "Today's date is 2.", false},
		{"# AGENTS.md instructions for /p\n\nA", "# AGENTS.md instructions for /p\n\nB", true},
		{"<environment_context>\n<cwd>/p</cwd>\n</environment_context>", "<environment_context>\n<date>2</date>\n</environment_context>", false},
		{"[SYSTEM NOTIFICATION]\n<task-id>b1</task-id> started", reminder("[SYSTEM NOTIFICATION]\n<task-id>b1</task-id> completed"), true},
		{"Base directory for this skill: /s/a\n\nA", "Base directory for this skill: /s/a\n\nB", true},
	} {
		if got := same(tt.a, tt.b); got != tt.want {
			t.Errorf("%q takes the place of %q: %v", tt.b, tt.a, got)
		}
	}
	for _, text := range []string{"Please look at part 1.", reminder("The task tools haven't been used recently."), reminder("Called the Read tool with the following input: {}"), "Contents of the box: nothing", reminder("Contents of /p/a.go:\n\npackage a")} {
		if l, ok := StandingList(text); ok {
			t.Errorf("%q stays in force as %q", text, l.Key)
		}
	}
}
