package hook

import (
	"slices"
	"strings"

	"precis"
	"precis/internal/harness"
)

// withoutOwn returns messages without what precis has given before: Gemini CLI records that
// as a part of the results and prompts that it stood behind. What it quotes is in the
// recording itself.
func withoutOwn(msgs []precis.Message) []precis.Message {
	out := slices.Clone(msgs)
	for i, m := range out {
		content := slices.Clone(m.Content)
		for k, b := range content {
			switch b := b.(type) {
			case precis.Text:
				b.Text = cutOwn(b.Text)
				content[k] = b
			case precis.ToolResult:
				inner := slices.Clone(b.Content)
				for n, part := range inner {
					if t, ok := part.(precis.Text); ok {
						t.Text = cutOwn(t.Text)
						inner[n] = t
					}
				}
				b.Content = inner
				content[k] = b
			}
		}
		out[i].Content = content
	}
	return out
}

// cutOwn cuts what precis has given out of a text, up to the tag that closes it.
func cutOwn(text string) string {
	const opening, closing = "<hook_context>", "</hook_context>"
	for {
		at := strings.Index(text, harness.OwnMark)
		if at < 0 {
			return text
		}
		from := strings.LastIndex(text[:at], opening)
		if from < 0 {
			return text // words about it
		}
		end := len(text)
		if n := strings.Index(text[at:], closing); n >= 0 {
			end = at + n + len(closing)
		}
		text = strings.TrimRight(text[:from], "\n") + text[end:]
	}
}
