package harness

import (
	_ "embed"
	"strings"

	"github.com/precis-dev/precis/internal/table"
)

//go:embed summaries.txt
var summariesText string

// summaryEnds are the sentences that programs write after a summary.
var summaryEnds = table.Lazy("summaries.txt", summariesText, "sentence", "program")

// SummaryWords returns the model's words in a summary, see [IsSummary]: without the program's
// introduction, reminders, the tags around it and the program's text after it. A text without any
// of these is only trimmed.
func SummaryWords(text string) string {
	text = strings.TrimSpace(text)
	if IsSummary(text) && text[0] != '<' {
		if _, rest, ok := strings.Cut(text, "\n"); ok {
			text = strings.TrimSpace(rest)
		}
	}
	for strings.HasPrefix(text, ReminderOpen) {
		_, rest, ok := strings.Cut(text, ReminderClose)
		if !ok {
			break
		}
		text = strings.TrimSpace(rest)
	}
	for _, row := range summaryEnds().Rows {
		if at := strings.LastIndex("\n"+text, "\n"+row.Get("sentence")); at >= 0 {
			text = text[:max(at-1, 0)]
		}
	}
	text = strings.TrimSpace(text)
	for _, tag := range []string{"summary", "state_snapshot"} {
		if words, ok := strings.CutPrefix(text, "<"+tag+">"); ok {
			text = strings.TrimSpace(strings.TrimSuffix(words, "</"+tag+">"))
		}
	}
	return text
}
