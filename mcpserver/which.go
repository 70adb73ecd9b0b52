package mcpserver

import (
	"context"
	"fmt"
	"strings"

	"precis"
	"precis/conversation"
	"precis/digest"
)

// last is an ID for the newest conversation, like an empty one.
const last = "@last"

// which is the conversation of a call.
type which struct {
	id   string
	note string // reports that it was chosen among several; "" if it was named, or is the only one
}

// which finds the conversation with an ID. It does not check whether a named one exists.
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
	return "", &precis.Error{Code: precis.CodeNotFound, Op: "read handle", Hint: fmt.Sprintf("no conversation before this one begins with %.40q", begins)}
}

// rest returns the tokens that the note leaves, but at least least.
func (w which) rest(tokens, least int) int { return max(tokens-digest.Estimate(w.line()), least) }

// line returns the note as a separate line; "" without one.
func (w which) line() string {
	if w.note == "" {
		return ""
	}
	return "[" + w.note + "]\n"
}
