package content

import (
	"precis"
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
	return FirstWords(c.Transcript.Speech())
}

// FirstWords returns the beginning of what a person said first, in one line, other than a
// command to the program itself; "" when nobody said anything.
func FirstWords(s *precis.Speech) string {
	for i := range s.Len() {
		if line := preview.Line(s.Words(i), longestTitle); line != "" {
			return line
		}
	}
	return ""
}
