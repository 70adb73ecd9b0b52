package content

import (
	"precis"
	"precis/internal/harness"
	"precis/internal/preview"
)

// longestTitle is how many bytes of a title are shown in lists.
const longestTitle = 160

// Title returns what a conversation is called, in one line: its title, else the
// beginning of what the user said first, other than a command to the program itself; ""
// when there is neither.
func Title(c *precis.Conversation) string {
	if line := preview.Line(c.Title, longestTitle); line != "" {
		return line
	}
	for _, m := range c.Transcript.Messages() {
		for _, i := range m.UserBlocks() {
			b, ok := m.Content[i].(precis.Text)
			if !ok {
				continue
			}
			words := harness.UserWords(b.Text)
			if line := preview.Line(words, longestTitle); line != "" && !harness.IsLocalCommand(words) && !harness.IsSummary(b.Text) {
				return line
			}
		}
	}
	return ""
}
