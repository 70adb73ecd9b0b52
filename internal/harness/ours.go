package harness

import (
	"regexp"
	"strings"

	"precis/internal/lazyregexp"
)

// OwnMark stands within the first words of whatever precis gives an agent by its hooks.
const OwnMark = ", by precis from the recording of this session. "

// hookOpen and hookClose stand around what hooks give an agent.
const hookOpen, hookClose = "<hook_context>", "</hook_context>"

// ourBeginnings are how the texts begin that precis puts in the place of messages.
var ourBeginnings = lazyregexp.New(`^\[(?:Digest of (?:no )?messages|Summary of (?:no )?messages|Summary of the conversation up to here\.|Summary of what came before\.|Added from the conversation itself,|` +
	`Hidden to save room: [mbc][\w.:-]*\.\]|\d+ earlier messages? hidden here to save room; |m\d+(?:-m\d+)?: see the (?:digest|summary) above\.\]|` +
	`Also in force, said by the program, and too long|Still holds, from what is hidden here\.\]|m\d+\.b\d+: hidden to save room, but for what follows\]|No result was recorded for this tool call\.\]|The recorded conversation begins with the assistant\.\]|End of the summary\])`)

// Ours reports whether a text is one that precis wrote into a view or gave an agent: a
// digest, a summary in its frame, a marker, a hook's text. Read again it is nobody's
// request, and no digest quotes it: what it says is said in the messages themselves.
func Ours(text string) bool {
	const intro = 400 // bytes within which a hook's text says whose it is
	text = Inside(strings.TrimSpace(text))
	text = strings.TrimSpace(strings.TrimPrefix(text, hookOpen))
	return ourBeginnings.MatchString(text) || strings.Contains(text[:min(len(text), intro)], OwnMark)
}

// ofHooks matches what precis has given an agent by its hooks, up to the tag that closes it.
var ofHooks = lazyregexp.New(`\n*` + hookOpen + `[^<]*` + regexp.QuoteMeta(OwnMark) +
	`(?s:.*?)(?:` + hookClose + `|\z)`)

// WithoutOurs returns a text without what precis has given an agent by its hooks.
func WithoutOurs(text string) string {
	if !strings.Contains(text, OwnMark) { // most texts, at a fraction of the cost
		return text
	}
	return ofHooks.ReplaceAllString(text, "")
}
