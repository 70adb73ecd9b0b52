package condense

import (
	"strings"

	"precis"
)

// CommandBlocks returns the <command …>…</command> blocks of a message's text,
// in order and word for word, tags included. Those of a conversation's first
// message are the directives that a slash command put there; they are kept
// through every condensation. Any tag that begins with "<command" opens a
// block, the next "</command>" closes it, and blocks do not nest. It is nil
// when there are none. The rule is that of Roo Code 3.52.1.
func CommandBlocks(m precis.Message) []string {
	const open, end = "<command", "</command>"
	var out []string
	rest := m.PlainText()
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
