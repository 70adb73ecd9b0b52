package overflow

import (
	"regexp"
	"strings"
)

// folds bring texts to one form: lower case without quotes and markup, names
// such as max_model_len and ContextWindowExceeded as words, numbers without
// separators. They are applied in order.
var folds = []struct {
	what *regexp.Regexp
	by   string
}{
	{regexp.MustCompile(`</?[A-Za-z!][^<>]*>`), " "},
	{regexp.MustCompile(`https?://\S+`), " "},
	{regexp.MustCompile(`(?i)\(?\b(?:request|trace|log)[ _-]?id\b[ "':=]*[\w-]+\)?`), " "},
	{regexp.MustCompile(`([a-z])([A-Z])`), "$1 $2"},
	{regexp.MustCompile(`([A-Za-z])[_-]+([A-Za-z])`), "$1 $2"},
	{regexp.MustCompile(`([A-Za-z])[_-]+([A-Za-z])`), "$1 $2"}, // matches do not overlap
	{regexp.MustCompile(`(\d)[,_](\d{3})\b`), "$1$2"},
	{regexp.MustCompile(`(\d)[,_](\d{3})\b`), "$1$2"},
	{regexp.MustCompile(`(?i)(\d)(tokens?)\b`), "$1 $2"},
	{regexp.MustCompile(`(?i)\b(\d+)k( tokens?| context| window| limit)`), "${1}000$2"},
	{regexp.MustCompile(`\b[A-Za-z]+(?:\w*[-./@])*\w*\d[\w./@-]*[\w]|\b[A-Za-z]+\d\b`), "name"}, // of a model
	{regexp.MustCompile(`\s+`), " "},
}

var marks = strings.NewReplacer(
	"'", "", "\"", "", "`", "", "*", "", "’", "", "‘", "", "“", "", "”", "", "\\", "",
	"，", ", ", "。", ". ", "（", " (", "）", ") ", "：", ": ", "；", "; ", "！", "! ", "≤", "<=", "≥", ">=", "【", "[", "】", "]",
)

// fold returns a text in the form that the rules are written for.
func fold(t string) string {
	t = marks.Replace(t)
	for _, f := range folds {
		t = f.what.ReplaceAllString(t, f.by)
	}
	return strings.ToLower(strings.TrimSpace(t))
}
