// Package precistest makes conversations, edits and views for the tests of precis and precis/policy.
//
//precis:testonly
package precistest

import (
	"fmt"

	"pgregory.net/rapid"

	"github.com/precis-dev/precis"
)

// Conversation draws a valid conversation: user turns, assistant turns, tool
// uses with their results, thinking, images.
func Conversation(t *rapid.T) []precis.Message {
	var msgs []precis.Message
	calls := 0
	for range rapid.IntRange(1, 12).Draw(t, "turns") {
		msgs = append(msgs, precis.NewText(precis.RoleUser, words(t, 60)))
		for range rapid.IntRange(0, 3).Draw(t, "steps") {
			use, result := Step(t, calls)
			calls += 2
			msgs = append(msgs, use, result)
		}
		if rapid.Bool().Draw(t, "answers") {
			msgs = append(msgs, precis.NewText(precis.RoleAssistant, words(t, 40)))
		}
	}
	return msgs
}

// Step draws an answer with one or two calls, and their results; n makes the IDs unique.
func Step(t *rapid.T, n int) (use, result precis.Message) {
	use = precis.Message{Role: precis.RoleAssistant}
	result = precis.Message{Role: precis.RoleUser}
	if rapid.Bool().Draw(t, "thinks") {
		use.Content = append(use.Content, precis.Thinking{Text: words(t, 10), Signature: "s"})
	}
	for k := range rapid.IntRange(1, 2).Draw(t, "calls") {
		id := fmt.Sprintf("call%d", n+k)
		input := fmt.Sprintf(`{"path":"f%d.go","content":%q}`, rapid.IntRange(0, 3).Draw(t, "file"),
			words(t, 30))
		use.Content = append(use.Content,
			precis.ToolUse{ID: id, Name: rapid.SampledFrom([]string{"read_file", "write_file",
				"bash"}).Draw(t, "tool"), Input: []byte(input)})
		content := []precis.Block{precis.Text{Text: words(t, 200)}}
		if rapid.IntRange(0, 5).Draw(t, "image") == 0 {
			content = append(content, precis.Image{MediaType: "image/png", Data: "AAAA", Width: 800,
				Height: 600})
		}
		result.Content = append(result.Content,
			precis.ToolResult{ToolUseID: id, Content: content,
				IsError: rapid.IntRange(0, 9).Draw(t, "error") == 0})
	}
	return use, result
}

func words(t *rapid.T, most int) string {
	n := rapid.IntRange(1, most).Draw(t, "words")
	seed := rapid.IntRange(0, 4).Draw(t, "seed")
	out := ""
	for i := range n {
		out += fmt.Sprintf("w%d ", (i*7+seed*13)%101)
	}
	return out
}

// Span returns an edit that shows a text in the place of messages [from,to).
func Span(id string, from, to int, text string) precis.Edit {
	return precis.Edit{ID: id, Kind: precis.KindTruncation, Seen: to, Replace: []precis.Replacement{
		{From: from, To: to, With: []precis.Message{precis.NewText(precis.RoleUser, text)}},
	}}
}

// Texts returns the text of each message of a view.
func Texts(view []precis.Message) []string {
	var out []string
	for _, m := range view {
		out = append(out, m.PlainText())
	}
	return out
}

// Numbered returns a transcript of n messages whose texts are their numbers, the first one by the user.
func Numbered(n int) *precis.Transcript {
	t := &precis.Transcript{}
	for i := range n {
		role := precis.RoleUser
		if i%2 == 1 {
			role = precis.RoleAssistant
		}
		t.Append(precis.NewText(role, fmt.Sprint(i)))
	}
	return t
}
