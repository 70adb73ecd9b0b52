package dashboard

import (
	"strings"

	"github.com/precis-dev/precis/internal/texts"
)

// chosen returns the language of a reader: the requested one, the one chosen before, or the
// browser's accepted ones, in this order.
func chosen(asked, before, accepted string) string {
	wishes := []string{asked, before}
	for part := range strings.SplitSeq(accepted, ",") {
		tag, _, _ := strings.Cut(part, ";")
		wishes = append(wishes, tag)
	}
	return texts.Choose(wishes...)
}

// text returns a text in the language of the reader.
func (c *call) text(key string, args ...any) string { return c.texts.Text(c.prefs.Lang, key, args...) }
