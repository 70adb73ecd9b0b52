package hook

import (
	"slices"

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
				b.Text = harness.WithoutOurs(b.Text)
				content[k] = b
			case precis.ToolResult:
				inner := slices.Clone(b.Content)
				for n, part := range inner {
					if t, ok := part.(precis.Text); ok {
						t.Text = harness.WithoutOurs(t.Text)
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
