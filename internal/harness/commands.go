package harness

import (
	"strings"

	"github.com/precis-dev/precis/internal/lazyregexp"
)

var commandBlock = lazyregexp.New(`(?s)<command[^>]*>.*?</command>`)

// Commands returns the <command …>…</command> blocks of a text, in order and word for word, tags
// included. In a conversation's first message they are the directives of a slash command and are
// kept through every condensation. Any tag that begins with "<command" opens a block, the next
// "</command>" closes it, and blocks do not nest. It is nil without blocks. The rule is Roo Code
// 3.52.1's, except that content of a mentioned file, folder or page is not a command.
func Commands(text string) (out []string) {
	var rest strings.Builder
	at := 0
	for _, quoted := range merged(elementsIn(text)) {
		rest.WriteString(text[at:quoted[0]])
		at = quoted[1]
	}
	rest.WriteString(text[at:])
	own := rest.String()
	for _, block := range commandBlock.FindAllStringIndex(own, -1) {
		out = append(out, own[block[0]:block[1]])
	}
	return out
}
