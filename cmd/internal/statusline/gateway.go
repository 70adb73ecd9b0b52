package statusline

import (
	"context"
	"net/http"
	"net/url"
	"slices"

	"github.com/precis-dev/precis/conversation"
)

// addGateway adds the gateway's data on the conversation with the client's session ID, or without a
// client on the newest conversation. all reports whether usage and window came from the gateway.
func (from Sources) addGateway(ctx context.Context, s *Status) (all bool) {
	if from.Gateway == nil {
		return false
	}
	if from.Client.Session != "" || from.Transcript != "" { // other sources suffice: do not wait long
		var cancel func()
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	var list conversation.Page[conversation.ListItem]
	if s.Err = from.Gateway.Do(ctx, http.MethodGet, "/conversations?limit=50", nil, &list); s.Err != nil {
		return false
	}
	i := slices.IndexFunc(list.Items, func(l conversation.ListItem) bool { return from.belongsToClient(l) })
	if i < 0 {
		return false
	}
	l := list.Items[i]
	var d struct {
		Status struct {
			Tokens  int     `json:"tokens"`
			Window  int     `json:"window"`
			Percent float64 `json:"percent"`
		} `json:"status"`
		Room  conversation.Room `json:"room"`
		Edits struct {
			InForce int     `json:"in_force"`
			Saved   int     `json:"tokens_saved"`
			CostUSD float64 `json:"cost_usd"`
		} `json:"edits"`
	}
	// If this fails, the list already has the most important values.
	_ = from.Gateway.Do(ctx, http.MethodGet, "/conversations/"+url.PathEscape(l.ID), nil, &d)
	s.Gateway, s.ID, s.Condensed, s.Saved = true, l.ID, d.Edits.InForce, d.Edits.Saved
	s.CostUSD += d.Edits.CostUSD
	if s.Model == "" {
		s.Model = l.Model
	}
	switch { // the actual request, not the client's estimate
	case d.Status.Tokens > 0:
		s.Tokens, s.Window, s.Percent = d.Status.Tokens, d.Status.Window, d.Status.Percent
		if d.Room.TurnsLeft != nil {
			s.TurnsLeft = *d.Room.TurnsLeft
		}
		return true
	case l.Tokens > 0: // the details did not arrive in time
		s.Tokens, s.Window = l.Tokens, l.Window
	}
	return false
}

// belongsToClient reports whether a conversation belongs to the client.
func (from Sources) belongsToClient(l conversation.ListItem) bool {
	if from.Client.Session == "" {
		return from.Transcript == ""
	}
	if l.Hints["X-Claude-Code-Agent-Id"] != "" { // a sub-agent
		return false
	}
	for _, hint := range l.Hints {
		if hint == from.Client.Session {
			return true
		}
	}
	return false
}
