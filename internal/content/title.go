package content

import (
	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/preview"
)

// longestTitle is how many bytes of a title are shown in lists.
const longestTitle = 160

// Title returns a one-line title of a conversation: its own title, else the beginning of the user's
// first message that is not a command to the program; "" without either.
func Title(c *precis.Conversation) string {
	if line := preview.Line(c.Title, longestTitle); line != "" {
		return line
	}
	return FirstWords(c.Transcript.Speech())
}

// FirstWords returns, in one line, the beginning of a person's first message that is not a command
// to the program; "" without one.
func FirstWords(s *precis.Speech) string {
	for i := range s.Len() {
		if line := preview.Line(s.Words(i), longestTitle); line != "" {
			return line
		}
	}
	return ""
}
