package harness

import (
	"slices"
	"strings"

	"precis/internal/lazyregexp"
)

// FromEditor reports whether a text begins with what an editor puts before the words of a
// person.
func FromEditor(text string) bool { return strings.HasPrefix(text, "# Context from my IDE setup:") }

// requestHeading stands between what an editor writes and the words of a person.
const requestHeading = "\n## My request for Codex:"

// UserWords strips the tags in which agent programs wrap what users say, and what an
// editor puts before it.
func UserWords(text string) string {
	text = strings.TrimSpace(text[lead(text):])
	if FromEditor(text) {
		if _, words, ok := strings.Cut(text, requestHeading); ok {
			return strings.TrimSpace(words)
		}
	}
	for _, tag := range []string{"task", "feedback", "user_message", "answer", "user_query"} {
		after, ok := strings.CutPrefix(text, "<"+tag+">")
		if !ok {
			continue
		}
		words, rest, _ := strings.Cut(after, "</"+tag+">")
		rest = strings.TrimSpace(rest[End(rest):])
		return strings.TrimSpace(strings.TrimSpace(words) + "\n" + rest)
	}
	if strings.HasPrefix(text, "<command-") {
		return slashCommand(text)
	}
	return text
}

// slashCommand writes a command of Claude Code's as users type it.
func slashCommand(text string) string {
	name, args := inner(text, "command-name"), inner(text, "command-args")
	if name == "" {
		return text
	}
	rest := afterLast(text, "</command-")
	return strings.TrimSpace(strings.TrimSpace(name+" "+args) + "\n" + strings.TrimSpace(rest))
}

// afterLast returns what stands after the last tag that begins as given.
func afterLast(text, tag string) string {
	_, after, _ := strings.Cut(text[max(strings.LastIndex(text, tag), 0):], ">")
	return after
}

// inner returns the text of the first element of a name.
func inner(text, name string) string {
	_, after, _ := strings.Cut(text, "<"+name+">")
	s, _, found := strings.Cut(after, "</"+name+">")
	if !found {
		return ""
	}
	return strings.TrimSpace(s)
}

// IsSummary reports whether a text is the summary that an agent's program has put in
// the place of earlier messages.
func IsSummary(text string) bool {
	text = strings.TrimSpace(text)
	return hasHead(text, summaryHeads) || bracketedSummary.MatchString(text) || strings.HasPrefix(text, "<summary>") && strings.HasSuffix(text, "</summary>")
}

// summaryHeads are how such summaries begin: of Gemini CLI and Qwen Code, Claude Code and Cline, Codex,
// pi, precis, Droid, aider, LangChain, Kimi and goose.
var summaryHeads = []string{
	"<state_snapshot>", "This session is being continued from a previous conversation", "Another language model started to solve this problem and produced a summary",
	"The conversation history before this point was compacted into the following summary", "[Digest of messages", "[Summary of messages",
	"A previous instance of Droid has summarized the conversation", "I spoke to you previously about a number of things.", "Here is a summary of the conversation to date:",
	"You are in the middle of a conversation that has been summarized.", "<system>Previous context has been compacted.", "The previous message contains a summary that was prepared because a context limit was reached",
}

// bracketedSummary is a head in brackets that calls what follows a summary of earlier context, as Hermes writes it
// and programs like it: "[CONTEXT COMPACTION — REFERENCE ONLY]".
var bracketedSummary = lazyregexp.New(`^\[(?:PRIOR CONTEXT|(?i:(?:(?:prior|previous|earlier) )?(?:context|conversation|history|session) (?:compaction|compression|summary|summari[sz]ed)))\b[^\]\n]{0,300}\](?:[^(]|$)`)

// localCommands are the slash commands that agents' programs carry out themselves.
var localCommands = map[string]bool{
	"/exit": true, "/quit": true, "/clear": true, "/login": true, "/logout": true, "/model": true, "/mode": true, "/config": true, "/status": true, "/help": true,
	"/context": true, "/cost": true, "/usage": true, "/resume": true, "/compact": true, "/mcp": true, "/permissions": true, "/theme": true, "/doctor": true,
	// of aider, by their short names, too
	"/add": true, "/drop": true, "/read-only": true, "/diff": true, "/ls": true, "/tokens": true, "/tok": true, "/map": true, "/map-refresh": true, "/reset": true,
	"/ex": true, "/settings": true, "/models": true, "/run": true, "/git": true, "/lint": true, "/voice": true, "/paste": true, "/chat-mode": true, "/multiline-mode": true,
}

// IsLocalCommand reports whether the user's words are commands to the agent's program, one on each
// line, which ask the model for nothing.
func IsLocalCommand(words string) bool {
	n := 0
	for line := range strings.Lines(words) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		name, rest, _ := strings.Cut(line, " ")
		if !localCommands[name] || len(rest) >= 200 {
			return false
		}
		n++
	}
	return n > 0
}

// UserSpans returns where the words of a person stand in a text that wraps them, see
// [UserWords]: spans of bytes in order. It is the whole text where nothing wraps them.
func UserSpans(text string) [][2]int {
	from := lead(text)
	from += len(text[from:]) - len(strings.TrimLeft(text[from:], " \n\t\r\v\f"))
	body := text[from:]
	if FromEditor(body) {
		if n := strings.Index(body, requestHeading); n >= 0 {
			return [][2]int{{from + n + len(requestHeading), len(text)}}
		}
	}
	for _, head := range userHeads {
		after, ok := strings.CutPrefix(body, head)
		if !ok {
			continue
		}
		words := [2]int{from + len(head), len(text)}
		closing := "</" + head[1:]
		n := strings.Index(after, closing)
		if n < 0 {
			return [][2]int{words}
		}
		words[1] = words[0] + n
		rest := words[1] + len(closing)
		rest += len(text[rest:]) - len(strings.TrimLeft(text[rest:], " \n\t\r\v\f"))
		return [][2]int{words, {min(rest+End(text[rest:]), len(text)), len(text)}}
	}
	if strings.HasPrefix(body, "<command-") && inner(body, "command-name") != "" {
		var out [][2]int
		for _, name := range []string{"command-name", "command-args"} {
			if a, b, ok := within(body, name); ok {
				out = append(out, [2]int{from + a, from + b})
			}
		}
		slices.SortFunc(out, func(a, b [2]int) int { return a[0] - b[0] })
		return append(out, [2]int{len(text) - len(afterLast(text, "</command-")), len(text)})
	}
	return [][2]int{{from, len(text)}}
}

// within returns where the first element of a name holds its text.
func within(text, name string) (from, to int, ok bool) {
	open := "<" + name + ">"
	from = strings.Index(text, open)
	if from < 0 {
		return 0, 0, false
	}
	from += len(open)
	n := strings.Index(text[from:], "</"+name+">")
	return from, from + n, n >= 0
}
