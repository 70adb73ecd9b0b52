package mcpserver

import (
	"context"
	"fmt"
	"strings"

	"precis"
	"precis/conversation"
	"precis/digest"
)

// last is the ID that means the newest conversation, as an empty one does.
const last = "@last"

// which is the conversation that a call is about.
type which struct {
	id   string
	note string // that it was chosen among several; "" when it was named, or is the only one
}

// which finds the conversation that an ID names. It does not look whether one that is
// named exists.
func (c *call) which(ctx context.Context, id string) (which, error) {
	if id != "" && id != last {
		return which{id: id}, nil
	}
	page, err := conversation.List(ctx, c.home, conversation.Listing{Limit: 2})
	if err != nil {
		return which{}, err
	}
	switch len(page.Items) {
	case 0:
		return which{}, &precis.Error{Code: precis.CodeNotFound, Op: "choose session", Hint: "there is none here yet, or none that this client may see"}
	case 1:
		return which{id: page.Items[0].ID}, nil
	}
	w := which{id: page.Items[0].ID}
	if id == "" {
		w.note = "the newest of several sessions: " + w.id
	}
	return w, nil
}

// ancestor finds the conversation that another one goes on from, near or far, by the
// beginning of its ID, with which the handles begin that a client's own summary was given.
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
	return "", &precis.Error{Code: precis.CodeNotFound, Op: "read handle", Hint: fmt.Sprintf("no conversation before this one begins with %.40q", begins)}
}

// rest returns what the note leaves of a number of tokens: least at least.
func (w which) rest(tokens, least int) int { return max(tokens-digest.Estimate(w.line()), least) }

// line returns the note as a line of its own; "" without one.
func (w which) line() string {
	if w.note == "" {
		return ""
	}
	return "[" + w.note + "]\n"
}
