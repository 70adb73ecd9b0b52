package harness

import (
	"slices"
	"strings"

	"precis/internal/lazyregexp"
)

// metadataMarks end the lines behind which OpenClaw fences what it knows of a message that came
// over a messenger: who sent it, and where; what it answers.
var metadataMarks = []string{"(untrusted metadata):", "(untrusted, for context):", "(untrusted, nearest first):"}

var (
	// eventLine is a line of OpenClaw before a person's words about something that happened.
	eventLine = lazyregexp.New(`^System(?: \(untrusted\))?: \[\d{4}-\d\d-\d\d [^\]\n]{0,40}\]`)
	// sentAt is when a message was sent, before its words.
	sentAt = lazyregexp.New(`^\[(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) \d{4}-\d\d-\d\d \d\d:\d\d[^\]\n]{0,20}\] ?`)
)

// metadata returns how many bytes at the start of a text programs take for what they know of a message: events, blocks
// of metadata, the time; 0 when the text begins otherwise. The words of the person follow.
func metadata(text string) int {
	const longest = 120 // bytes of a heading
	end := 0
	for {
		rest := strings.TrimLeft(text[end:], " \n\t\r")
		at := len(text) - len(rest)
		heading, body, more := strings.Cut(rest, "\n")
		switch bare := strings.TrimSpace(heading); {
		case eventLine.MatchString(heading):
			end = at + len(heading)
		case more && len(heading) <= longest && slices.ContainsFunc(metadataMarks, func(m string) bool { return strings.HasSuffix(bare, m) }) && strings.HasPrefix(body, "```"):
			closing := strings.Index(body, "\n```")
			if closing < 0 {
				return end
			}
			end = at + len(heading) + 1 + closing + len("\n```")
		default:
			if m := sentAt.FindStringIndex(rest); m != nil {
				end = at + m[1]
			}
			return end
		}
	}
}
