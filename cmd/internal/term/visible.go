package term

import (
	"fmt"
	"strings"
	"unicode/utf16"

	"github.com/precis-dev/precis/internal/visible"
)

// Visible returns s with the characters escaped that a terminal would interpret or not show, see
// [visible.Text].
func Visible(s string) string { return visible.Text(s) }

// escaped returns equivalent JSON, with the characters that Visible would escape as \u escapes.
func escaped(s string) string {
	var out strings.Builder
	for _, r := range s {
		switch {
		case visible.Shown(r):
			out.WriteRune(r)
		case r == '\r': // only between values, where any white space is valid
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
