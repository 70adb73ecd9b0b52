package statusline

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"

	"precis/conversation"
	"precis/gateway/control"
)

// gateway adds what a gateway knows of the conversation: the one that has the client's
// name for it, or without a client the newest.
func (from Sources) gateway(ctx context.Context, s *Status, growth *int) {
	if from.Gateway == "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var list conversation.Page[conversation.Listed]
	if !from.get(ctx, "/conversations?limit=50", &list) {
		return
	}
	i := slices.IndexFunc(list.Items, func(l conversation.Listed) bool { return from.names(l) })
	if i < 0 {
		return
	}
	l := list.Items[i]
	var d struct {
		Edits struct {
			InForce int     `json:"in_force"`
			Saved   int     `json:"tokens_saved"`
			CostUSD float64 `json:"cost_usd"`
		} `json:"edits"`
	}
	from.get(ctx, "/conversations/"+url.PathEscape(l.ID), &d)
	s.Gateway, s.ID, s.Condensed, s.Saved = true, l.ID, d.Edits.InForce, d.Edits.Saved
	s.CostUSD += d.Edits.CostUSD
	if s.Model == "" {
		s.Model = l.Model
	}
	if l.Tokens > 0 { // what is sent, not what the client believes
		s.Tokens, s.Window = l.Tokens, l.Window
	}
	if *growth == 0 && l.Requests > 0 {
		*growth = (l.Tokens + d.Edits.Saved) / l.Requests
	}
}

// names reports whether a conversation is the client's.
func (from Sources) names(l conversation.Listed) bool {
	if from.Client.Session == "" {
		return from.Transcript == ""
	}
	if l.Hints["X-Claude-Code-Agent-Id"] != "" { // a sub-agent's
		return false
	}
	for _, hint := range l.Hints {
		if hint == from.Client.Session {
			return true
		}
	}
	return false
}

func (from Sources) get(ctx context.Context, path string, to any) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+from.Gateway+control.Prefix+path, nil)
	if err != nil {
		return false
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	return resp.StatusCode == http.StatusOK && json.NewDecoder(resp.Body).Decode(to) == nil
}
