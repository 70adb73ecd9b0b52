package harness

import "strings"

// UserWords strips the tags in which agent programs wrap what users say.
func UserWords(text string) string {
	text = strings.TrimSpace(text)
	for _, tag := range []string{"task", "feedback", "user_message", "user_query"} {
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
