package condense

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/model"
	"github.com/precis-dev/precis/retain"
)

// wholeResult is the size in characters up to which the summarizer sees tool results whole, if all
// of it fits.
const wholeResult = 40_000

// liveRequest returns the live request with the instruction appended.
func (t *task) liveRequest(p Prompt) model.Request {
	view, _ := precis.Repair(AnswerOpenTools(t.r.View, time.Time{}))
	messages := append(slices.Clone(view), precis.NewText(precis.RoleUser, p.Instruction()))
	return model.Request{Messages: messages, Body: t.r.Live.Body, Header: t.r.Live.Header,
		MaxTokens: t.output}
}

// whyNotLive returns the reason why the summary request cannot be appended to
// the live one; "" when it can.
func (t *task) whyNotLive() string {
	info := t.model.Info()
	l := t.r.Live
	switch {
	case l == nil || len(l.Body) == 0 || len(t.r.View) == 0:
		return "there is no live request"
	case t.c.Compact:
		return "riding is switched off"
	case l.Dialect != info.Dialect:
		return fmt.Sprintf("the live request speaks %s, the summarizer %s", l.Dialect, info.Dialect)
	case l.Model != info.ID:
		return "the summarizer is another model, whose cache is cold"
	}
	return ""
}

// request returns a separate request of messages and an instruction.
func (t *task) request(messages []precis.Message, p Prompt) model.Request {
	messages = append(messages[:len(messages):len(messages)],
		precis.NewText(precis.RoleUser, p.Instruction()))
	return model.Request{System: precis.NewText(precis.RoleSystem, p.Guard()), Messages: messages,
		MaxTokens: t.output}
}

// readableMessages returns the messages as the summarizer reads them: tools as text,
// results shortened to the given number of characters, images as notes, no
// reasoning, each with its handle as a heading.
func (t *task) readableMessages(most int) []precis.Message {
	images := t.c.KeepImages && t.model.Info().Images
	msgs := make([]precis.Message, len(t.r.Messages))
	for i, m := range t.r.Messages {
		var blocks []precis.Block
		if !t.c.Bare {
			blocks = append(blocks, precis.Text{Text: "[" + precis.MessageHandle(t.index(i)).String() + "]"})
		}
		for _, b := range m.Content {
			if b = readable(b, most, images); b != nil {
				blocks = append(blocks, b)
			}
		}
		if len(blocks) == 0 {
			blocks = append(blocks, precis.Text{Text: "(nothing)"}) // APIs refuse an empty message
		}
		role := m.Role
		if role != precis.RoleAssistant {
			role = precis.RoleUser
		}
		msgs[i] = precis.Message{Role: role, Content: blocks}
	}
	msgs = ToolsAsText(AnswerOpenTools(msgs, time.Time{}))
	if msgs[0].Role == precis.RoleAssistant {
		msgs = slices.Insert(msgs, 0,
			precis.NewText(precis.RoleUser, "(The conversation to be summarized begins here.)"))
	}
	return msgs
}

// index returns the position in the transcript of message i of the request.
func (t *task) index(i int) int {
	if i < len(t.r.At) {
		return t.r.At[i]
	}
	return t.r.From + i
}

// readable returns a block as the summarizer reads it; nil when it is left out.
// Results are cut to most characters.
func readable(b precis.Block, most int, images bool) precis.Block {
	switch b := b.(type) {
	case precis.Thinking, precis.RedactedThinking:
		return nil
	case precis.Text:
		if strings.TrimSpace(b.Text) == "" {
			return nil
		}
		return b
	case precis.ToolUse:
		return b
	case precis.ToolResult:
		var content []precis.Block
		if hasContent(b) { // an empty one differs from none
			content = make([]precis.Block, 0, len(b.Content))
		}
		for _, inner := range b.Content {
			if text, ok := inner.(precis.Text); ok {
				inner = precis.Text{Text: retain.Shorten(text.Text, most, "")}
			}
			if inner = readable(inner, most, images); inner != nil {
				content = append(content, inner)
			}
		}
		return precis.ToolResult{ToolUseID: b.ToolUseID, IsError: b.IsError, Content: content}
	case precis.Image:
		if images {
			return b
		}
		return precis.Text{Text: "[Image]"}
	case precis.Document:
		return precis.Text{Text: "[Document]"}
	case precis.Opaque:
		return precis.Text{Text: "[" + b.Type + "]"}
	}
	return nil
}

// unknownWindow is the assumed window, in tokens, if a model states none.
const unknownWindow = 1 << 40

// room returns how many tokens of messages fit in the summarizer's window next to the prompt and
// the answer.
func (t *task) room() int {
	prompt := t.r.Count(t.prompt.Guard()) + t.r.Count(t.prompt.Instruction())
	return (t.window-t.output)*95/100 - prompt
}

// learnWindow records the window from an overflow error, or a smaller one than assumed before.
func (t *task) learnWindow(err error) {
	window := t.window
	if m, ok := asModelError(err); ok && m.Limit > 0 && m.Limit < window {
		t.setWindow(m.Limit)
		return
	}
	if window == unknownWindow {
		window = t.countTokens(t.readableMessages(500)...)
	}
	t.setWindow(window * 3 / 4)
}

// setWindow sets the window; the answer gets at most a quarter of it.
func (t *task) setWindow(window int) {
	t.window = window
	t.output = min(t.output, max(window/4, 1))
	t.max = min(t.max, t.output)
	t.prompt.MaxTokens = t.max * 9 / 10
}

func (t *task) fits(msgs []precis.Message) bool { return t.countTokens(msgs...) <= t.room() }

// countTokens counts the tokens of messages with text blocks; an image counts as 1500.
func (t *task) countTokens(msgs ...precis.Message) int {
	const message, image = 6, 1500
	n := 0
	for _, m := range msgs {
		n += message
		for _, b := range m.Content {
			switch b := b.(type) {
			case precis.Text:
				n += t.r.Count(b.Text)
			default:
				n += image
			}
		}
	}
	return n
}
