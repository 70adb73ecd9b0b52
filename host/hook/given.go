package hook

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/harness"
	"github.com/precis-dev/precis/internal/table"
)

//go:embed again.txt
var againText string

// again lists the texts that each program gives its model again after a compaction.
var again = table.Lazy("again.txt", againText, "host", "acts")

// resendsText reports whether a program gives its model a text again after a compaction. Loaded
// skills and rules of a folder return only when needed, and results of jobs never.
func resendsText(host string, act precis.Act, text string) bool {
	row, ok := again().Find(host)
	if !ok || !slices.Contains(row.Words("acts"), string(act)) {
		return false
	}
	list, known := harness.StandingList(text)
	return !known || list.Rank == harness.Instructions
}

// withoutGiven returns messages without the texts that the model gets anyway: earlier texts of
// precis, which the recording contains, and texts that the program gives again. Given are the words
// left out; of precis's own texts it has only the introduction.
func withoutGiven(host string, msgs []precis.Message) (out []precis.Message, given string) {
	out = slices.Clone(msgs)
	speech := precis.SpeechOf(msgs)
	var left strings.Builder
	for i, m := range out {
		content := slices.Clone(m.Content)
		for _, s := range speech.Spans(i) {
			if t, ok := content[s.Block].(precis.Text); ok && s.From == 0 && s.To == len(t.Text) {
				program := s.Attribution.Author == precis.AuthorProgram ||
					s.Attribution.Author == precis.AuthorOperator
				if program && (harness.IsOurs(t.Text) || resendsText(host, s.Attribution.Act, t.Text)) {
					left.WriteString(source(t.Text) + "\n")
					content[s.Block] = precis.Text{Attribution: t.Attribution}
				}
			}
		}
		for k, b := range content {
			switch b := b.(type) {
			case precis.Text:
				b.Text = harness.WithoutOurs(b.Text)
				content[k] = b
			case precis.ToolResult:
				b.Content = slices.Clone(b.Content)
				for n, part := range b.Content {
					if t, ok := part.(precis.Text); ok {
						t.Text = harness.WithoutOurs(t.Text)
						b.Content[n] = t
					}
				}
				content[k] = b
			}
		}
		out[i].Content = content
	}
	return out, left.String()
}

// source returns the part of a program's text that may support statements of a summary. Of a text
// by precis this is only the introduction, since the rest quotes the conversation.
func source(text string) string {
	if !harness.IsOurs(text) {
		return text
	}
	text = strings.TrimSpace(harness.ReminderContent(strings.TrimSpace(text)))
	first, _, _ := strings.Cut(text, "\n")
	return first
}
