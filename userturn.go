package precis

import "precis/internal/harness"

// IsUserTurn reports whether the user says something in the message: it has the
// user role and holds words, a picture or a document that are neither a tool's
// result nor the agent program's own, see [Message.UserBlocks].
func (m Message) IsUserTurn() bool { return len(m.UserBlocks()) > 0 }

// LastUserTurn returns the index of the last message with which the user begins a
// turn, -1 when there is none. Text next to a tool result continues the turn that
// the tool use is part of.
func LastUserTurn(msgs []Message) int {
	for i := len(msgs) - 1; i >= 0; i-- {
		if msgs[i].IsUserTurn() && !msgs[i].HasToolResult() {
			return i
		}
	}
	return -1
}

// UserBlocks returns the indexes of the blocks that the user said: of a user
// message, all text, images and documents but tool results, those written as
// text by agents without native tools ("[read_file for 'x'] Result:" and all that
// follows in the message), and sections the agent's program adds. After the result
// of a tool that asks the user something, the wrapped answer is the user's.
func (m Message) UserBlocks() []int {
	if m.Role != RoleUser {
		return nil
	}
	var out []int
	result, answered := false, false
	for i, b := range m.Content {
		switch b := b.(type) {
		case Text:
			if tool, head := harness.ResultHead(b.Text); head {
				result, answered = true, harness.Answers(tool)
				continue
			}
			said := !result || answered && harness.WrapsUser(b.Text)
			if said && !harness.Wrote(b.Text) && !blank(b.Text) {
				out = append(out, i)
			}
		case Image, Document:
			if !result {
				out = append(out, i)
			}
		}
	}
	return out
}
