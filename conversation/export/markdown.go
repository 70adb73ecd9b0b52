package export

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/conversation/block"
)

// writeMarkdown writes a heading for each message and fences around tool calls and results.
func writeMarkdown(w io.Writer, c conversation.Exported) error {
	d := c.Conversation
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", heading(titleOf(d)))
	for _, row := range facts(c) {
		fmt.Fprintf(&b, "- %s: %s\n", row[0], row[1])
	}
	for _, m := range c.Messages {
		fmt.Fprintf(&b, "\n## %s · %s%s\n", m.Handle, m.Role, marks(m))
		for i, block := range m.Content {
			writeBlock(&b, block, stateOf(m, i) != conversation.Shown && m.State == conversation.Shortened)
		}
		if _, err := io.WriteString(w, b.String()); err != nil {
			return err
		}
		b.Reset()
	}
	for _, e := range c.Edits {
		if !e.InForce || shownBy(e) == "" {
			continue
		}
		fmt.Fprintf(&b, "\n## edit %s · %s · %s → %s tokens\n\n%s\n", e.ID, e.Kind, count(e.Before()),
			count(e.After()), fenced(shownBy(e), ""))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func titleOf(d conversation.Details) string {
	if d.Title != "" {
		return d.Title
	}
	return d.ID
}

// facts returns the properties listed at the head of a document.
func facts(c conversation.Exported) [][2]string {
	d := c.Conversation
	hidden := 0
	for _, m := range c.Messages {
		if m.State == conversation.Hidden {
			hidden++
		}
	}
	rows := [][2]string{
		{"id", d.ID}, {"agent", d.Client}, {"model", d.Model}, {"last message", when(d.Updated)},
		{"messages", fmt.Sprintf("%d, %d hidden from the model", len(c.Messages), hidden)},
		{"view", fmt.Sprintf("%d of %d tokens", d.Status.Tokens, d.Status.Window)},
	}
	out := rows[:0]
	for _, r := range rows {
		if r[1] != "" {
			out = append(out, [2]string{r[0], heading(r[1])})
		}
	}
	return out
}

// heading joins text into one line.
func heading(s string) string { return strings.Join(strings.Fields(xmlSafe(s)), " ") }

// marks returns the time of a message and how the view shows it.
func marks(m conversation.ExportedMessage) string {
	var parts []string
	if t := when(m.Time); t != "" {
		parts = append(parts, t)
	}
	if m.State != conversation.Shown {
		parts = append(parts, string(m.State)+" by "+string(m.Kind))
	}
	if m.Pinned {
		parts = append(parts, "pinned")
	}
	if len(parts) == 0 {
		return ""
	}
	return " · " + strings.Join(parts, " · ")
}

func writeBlock(b *strings.Builder, c block.Content, shortened bool) {
	note := ""
	if shortened {
		note = " (the model sees a shorter text)"
	}
	switch c.Type {
	case "text":
		fmt.Fprintf(b, "\n%s\n", xmlSafe(c.Text))
	case "thinking":
		fmt.Fprintf(b, "\n> %s\n", strings.ReplaceAll(xmlSafe(strings.TrimSpace(c.Text)), "\n", "\n> "))
	case "tool_use":
		fmt.Fprintf(b, "\n**%s**%s\n\n%s\n", heading(c.Name), note, fenced(text(c), "json"))
	case "tool_result":
		what := "result"
		if c.IsError {
			what = "error"
		}
		fmt.Fprintf(b, "\n**%s**%s\n\n%s\n", what, note, fenced(text(c), ""))
	default:
		fmt.Fprintf(b, "\n*%s*\n", heading(text(c)))
	}
}

// fenced puts text between fences longer than any run of backticks in it.
func fenced(s, language string) string {
	longest, run := 2, 0
	for _, r := range s {
		if r != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1)
	return fence + language + "\n" + strings.TrimRight(xmlSafe(s), "\n") + "\n" + fence
}

// count formats a number that may be unknown.
func count(n *int) string {
	if n == nil {
		return "?"
	}
	return strconv.Itoa(*n)
}
