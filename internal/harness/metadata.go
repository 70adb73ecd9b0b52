package harness

import "precis/internal/lazyregexp"

// ofMessengers matches what OpenClaw writes before a person's words in a message that came over a messenger: lines about
// something that happened; who sent the message and what it answers, in fences behind a heading; when it was sent.
var ofMessengers = lazyregexp.New(`^(?:\s*(?:System(?: \(untrusted\))?: \[\d{4}-\d\d-\d\d [^\]\n]{0,40}\][^\n]*` +
	`|[^\n]{0,100}\(untrusted(?: metadata|, for context|, nearest first)\):[ \t]*\n` + "```(?s:.*?)\n```))*" +
	`(?:\s*\[(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) \d{4}-\d\d-\d\d \d\d:\d\d[^\]\n]{0,20}\] ?)?`)

// metadata returns how many bytes at the start of a text programs take for what they know of a message; 0 when the text
// begins otherwise. The words of the person follow.
func metadata(text string) int { return ofMessengers.FindStringIndex(text)[1] }
