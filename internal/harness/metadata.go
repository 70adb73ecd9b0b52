package harness

import "github.com/precis-dev/precis/internal/lazyregexp"

// ofMessengers matches OpenClaw's metadata before a person's words in a message from a messenger:
// lines about events; the sender and the quoted message, in fences after a heading; the time.
var ofMessengers = lazyregexp.New(`^(?:\s*(?:System(?: \(untrusted\))?: \[\d{4}-\d\d-\d\d [^\]\n]{0,40}\][^\n]*` +
	`|[^\n]{0,100}\(untrusted(?: metadata|, for context|, nearest first)\):[ \t]*\n` + "```(?s:.*?)\n```))*" +
	`(?:\s*\[(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) \d{4}-\d\d-\d\d \d\d:\d\d[^\]\n]{0,20}\] ?)?`)

// metadata returns how many bytes at the start of a text are a program's metadata about the
// message; 0 when the text begins otherwise. The words of the person follow.
func metadata(text string) int { return ofMessengers.FindStringIndex(text)[1] }
