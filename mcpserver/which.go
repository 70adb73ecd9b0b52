package mcpserver

import (
	"context"
	"fmt"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/digest"
)

// last is an ID for the newest conversation, like an empty one.
const last = "@last"

// chosenConversation is the conversation of a call.
type chosenConversation struct {
	id   string
	note string // reports that it was chosen among several; "" if it was named, or is the only one
}

// chosenConversation finds the conversation with an ID. It does not check whether a named one exists.
func (c *call) which(ctx context.Context, id string) (chosenConversation, error) {
	if id != "" && id != last {
		return chosenConversation{id: id}, nil
	}
	page, err := conversation.List(ctx, c.home, conversation.ListQuery{Limit: 2})
	if err != nil {
		return chosenConversation{}, err
	}
	switch len(page.Items) {
	case 0:
		return chosenConversation{}, &precis.Error{Code: precis.CodeNotFound, Op: "choose session",
			Hint: "there is none here yet, or none that this client may see"}
	case 1:
		return chosenConversation{id: page.Items[0].ID}, nil
	}
	w := chosenConversation{id: page.Items[0].ID}
	if id == "" {
		w.note = "the newest of several sessions: " + w.id
	}
	return w, nil
}

// ancestor finds an earlier conversation that another one continues, directly or not, by the
// beginning of its ID, which is the prefix of handles in a client's own summary.
func (c *call) ancestor(ctx context.Context, id, begins string) (string, error) {
	const most = 64 // generations
	for range most {
		if begins != "" && strings.HasPrefix(id, begins) {
			return id, nil
		}
		family, err := conversation.FamilyOf(ctx, c.home, id)
		if err != nil {
			return "", err
		}
		if family.Parent == nil {
			break
		}
		id = family.Parent.ID
	}
	return "", &precis.Error{Code: precis.CodeNotFound, Op: "read handle",
		Hint: fmt.Sprintf("no conversation before this one begins with %.40q", begins)}
}

// rest returns the tokens that the note leaves, but at least least.
func (w chosenConversation) rest(tokens, least int) int {
	return max(tokens-digest.EstimateTokens(w.line()), least)
}

// line returns the note as a separate line; "" without one.
func (w chosenConversation) line() string {
	if w.note == "" {
		return ""
	}
	return "[" + w.note + "]\n"
}
