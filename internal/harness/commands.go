package harness

import "strings"

// Commands returns the <command …>…</command> blocks of a text, in order and word for word, tags included. Those of a conversation's first
// message are the directives that a slash command put there; they are kept
// through every condensation. Any tag that begins with "<command" opens a
// block, the next "</command>" closes it, and blocks do not nest. It is nil
// when there are none. The rule is that of Roo Code 3.52.1, except that what a
// mentioned file, folder or page holds is no command.
func Commands(text string) []string {
	const open, end = "<command", "</command>"
	rest := withoutMentions(text)
	var out []string
	for {
		from := strings.Index(rest, open)
		if from < 0 {
			return out
		}
		rest = rest[from:]
		tag := strings.IndexByte(rest, '>')
		if tag < 0 {
			return out
		}
		n := strings.Index(rest[tag+1:], end)
		if n < 0 {
			return out // no later tag can be closed either
		}
		to := tag + 1 + n + len(end)
		out = append(out, rest[:to])
		rest = rest[to:]
	}
}

// withoutMentions removes from a text what is quoted in it: each element from where
// it is first opened to where it is last closed.
func withoutMentions(text string) string {
	for _, row := range elements().Rows {
		name := row.Get("element")
		if row.Get("holds") != "mention" {
			continue
		}
		closing := "</" + name + ">"
		from := strings.Index(text, "<"+name)
		if from < 0 {
			continue
		}
		if to := strings.LastIndex(text[from:], closing); to >= 0 {
			text = text[:from] + text[from+to+len(closing):]
		}
	}
	return text
}
