package overflow

import (
	"strings"

	"github.com/precis-dev/precis/internal/lazyregexp"
)

// folds normalize texts: lower case without quotes and markup, names such as
// max_model_len and ContextWindowExceeded as words, numbers without separators.
// They are applied in order.
var folds = []struct {
	what *lazyregexp.Regexp
	by   string
}{
	{lazyregexp.New(`</?[A-Za-z!][^<>]*>`), " "},
	{lazyregexp.New(`https?://\S+`), " "},
	{lazyregexp.New(`(?i)\(?\b(?:request|trace|log)[ _-]?id\b[ "':=]*[\w-]+\)?`), " "},
	{lazyregexp.New(`([a-z])([A-Z])`), "$1 $2"},
	{lazyregexp.New(`([A-Za-z])[_-]+([A-Za-z])`), "$1 $2"},
	{lazyregexp.New(`([A-Za-z])[_-]+([A-Za-z])`), "$1 $2"}, // matches do not overlap
	{lazyregexp.New(`(\d)[,_](\d{3})\b`), "$1$2"},
	{lazyregexp.New(`(\d)[,_](\d{3})\b`), "$1$2"},
	{lazyregexp.New(`(?i)(\d)(tokens?)\b`), "$1 $2"},
	{lazyregexp.New(`(?i)\b(\d+)k( tokens?| context| window| limit)`), "${1}000$2"},
	{lazyregexp.New(`\b[A-Za-z]+(?:\w*[-./@])*\w*\d[\w./@-]*[\w]|\b[A-Za-z]+\d\b`), "name"}, // of a model
	{lazyregexp.New(`\s+`), " "},
}

var marks = strings.NewReplacer(
	"'", "", "\"", "", "`", "", "*", "", "’", "", "‘", "", "“", "", "”", "", "\\", "",
	"，", ", ", "。", ". ", "（", " (", "）", ") ", "：", ": ", "；", "; ", "！", "! ", "≤", "<=", "≥", ">=", "【",
	"[", "】", "]",
)

// fold returns a text in the form that the rules expect.
func fold(t string) string {
	t = marks.Replace(t)
	for _, f := range folds {
		t = f.what.ReplaceAllString(t, f.by)
	}
	return strings.ToLower(strings.TrimSpace(t))
}
