package workstate

import (
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/inforce"
	"github.com/precis-dev/precis/internal/harness"
)

// instructions returns the texts of programs that are in force and are neither a skill nor the end
// of a job.
func instructions(msgs []precis.Message) []Item {
	out := []Item{}
	for _, h := range inforce.Handles(msgs) {
		text := textAt(msgs, h)
		if strings.TrimSpace(text) == "" {
			continue
		}
		if l, ok := harness.StandingList(text); ok && l.Rank == harness.Jobs {
			continue
		}
		if _, ok := skillIn(text); ok {
			continue
		}
		text = strings.TrimSpace(harness.ReminderContent(strings.TrimSpace(text)))
		out = append(out, Item{Kind: Instruction, Key: h.String(), Text: text, Since: h, At: h})
	}
	return out
}

// textAt returns the text of a message of the program, or of one of its blocks.
func textAt(msgs []precis.Message, h precis.Handle) string {
	content := msgs[h.From].Content
	if h.Block >= 0 {
		content = content[h.Block : h.Block+1]
	}
	var out []string
	for _, block := range content {
		switch b := block.(type) {
		case precis.Text:
			out = append(out, b.Text)
		case precis.ToolResult: // of an item that answers no call
			out = append(out, b.Text())
		}
	}
	return strings.Join(out, "\n")
}
