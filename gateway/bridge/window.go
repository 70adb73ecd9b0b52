package bridge

import (
	"strings"

	"github.com/precis-dev/precis"
)

// Codex may begin a new context window instead of asking for a summary (features.token_budget). The
// system prompt then has the IDs of this window and of the previous one.
const (
	currentWindow  = "Current context window id:"
	previousWindow = "Previous context window id:"
)

// NextWindow returns the text that [Table.Find] recognizes the next window by; "" without a window.
func NextWindow(system precis.Message) string {
	var out strings.Builder
	text := system.PlainText()
	_, known, _ := strings.Cut(text, "<context_window>")
	known, _, _ = strings.Cut(known, "</context_window>")
	for line := range strings.Lines(known) {
		if !strings.HasPrefix(line, previousWindow) {
			out.WriteString(strings.Replace(line, currentWindow, previousWindow, 1))
		}
	}
	return out.String()
}

// BeginsWithText reports whether messages begin with a user text, which a digest may follow.
func BeginsWithText(msgs []precis.Message) bool {
	if len(msgs) == 0 || msgs[0].Role != precis.RoleUser || len(msgs[0].Content) == 0 {
		return false
	}
	_, ok := msgs[0].Content[0].(precis.Text)
	return ok
}
