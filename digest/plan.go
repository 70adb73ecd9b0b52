package digest

import (
	"precis"
	"precis/internal/toolcall"
	"precis/retain"
)

// PlanOf returns the newest plan that the agent has written down with a tool for it,
// one step a line: "- [x] done", "- [>] under way", "- [ ] to do". Nil when there is
// none. What the user took back by a rewind is not in it.
func PlanOf(conv *precis.Conversation) []string {
	msgs := retain.Alive(conv.Transcript, conv.Edits)
	calls := toolcall.Find(msgs)
	for i := len(calls) - 1; i >= 0; i-- {
		c := &calls[i]
		if len(c.Results) == 0 || !isPlan(c.Name) {
			continue
		}
		if items := planItems(toolInput(msgs, c.Use)); len(items) > 0 {
			return items
		}
	}
	return nil
}
