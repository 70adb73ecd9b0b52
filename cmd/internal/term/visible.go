package term

import (
	"fmt"
	"strings"
	"unicode/utf16"

	"precis/internal/visible"
)

// Visible returns s with everything written out that a terminal would obey or not
// show, see [visible.Text].
func Visible(s string) string { return visible.Text(s) }

// escaped returns JSON with what Visible would write out as \u escapes: the same
// JSON.
func escaped(s string) string {
	var out strings.Builder
	for _, r := range s {
		switch {
		case visible.Shown(r):
			out.WriteRune(r)
		case r == '\r': // between values, where any space will do
			out.WriteByte(' ')
		case r <= 0xffff:
			fmt.Fprintf(&out, `\u%04x`, r)
		default:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&out, `\u%04x\u%04x`, high, low)
		}
	}
	return out.String()
}
