package harness

import (
	"regexp"
	"strings"

	"github.com/precis-dev/precis/internal/lazyregexp"
)

// OwnMark occurs near the start of every text that precis gives an agent through its hooks.
const OwnMark = ", by precis from the recording of this session. "

// hookOpen and hookClose enclose texts of hooks for an agent.
const hookOpen, hookClose = "<hook_context>", "</hook_context>"

// ourBeginnings match the beginnings of texts that precis puts in the place of messages.
var ourBeginnings = lazyregexp.New(`^\[(?:Digest of (?:no )?messages|Summary of (?:no )?messages|Summary of the conversation up to here\.|Summary of what came before\.|Added from the conversation itself,|` +
	`Hidden to save room: [mbc][\w.:-]*\.\]|\d+ earlier messages? hidden here to save room; |m\d+(?:-m\d+)?: see the (?:digest|summary) above\.\]|` +
	`Also in force, said by the program, and too long|Still holds, from what is hidden here\.\]|m\d+\.b\d+: hidden to save room, but for what follows\]|No result was recorded for this tool call\.\]|The recorded conversation begins with the assistant\.\]|End of the summary\])`)

// IsOurs reports whether precis wrote a text into a view or gave it to an agent: a digest, a summary
// in its frame, a marker, a hook's text. Such a text is not a request, and no digest quotes it,
// because the messages themselves contain its content.
func IsOurs(text string) bool {
	const intro = 400 // bytes to search for the mark of a hook's text
	text = ReminderContent(strings.TrimSpace(text))
	text = strings.TrimSpace(strings.TrimPrefix(text, hookOpen))
	return ourBeginnings.MatchString(text) || strings.Contains(text[:min(len(text), intro)], OwnMark)
}

// ofHooks matches a text that precis gave an agent through its hooks, up to the closing tag.
var ofHooks = lazyregexp.New(`\n*` + hookOpen + `[^<]*` + regexp.QuoteMeta(OwnMark) +
	`(?s:.*?)(?:` + hookClose + `|\z)`)

// WithoutOurs returns a text without the texts that precis gave an agent through its hooks.
func WithoutOurs(text string) string {
	if !strings.Contains(text, OwnMark) { // most texts, at a fraction of the cost
		return text
	}
	return ofHooks.ReplaceAllString(text, "")
}
