package mcpserver

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/internal/preview"
)

type sessionsIn struct {
	Text   string `json:"text,omitempty" jsonschema:"in title, model, client or id"`
	Since  string `json:"since,omitempty" jsonschema:"date, time or age: 2026-01-31, 12h, 7d"`
	Limit  int    `json:"limit,omitempty"`
	Cursor string `json:"cursor,omitempty"`
}

type sessionsOut struct {
	Sessions []session `json:"sessions"`
	Next     string    `json:"next_cursor,omitempty"`
}

// session is a conversation in a list.
type session struct {
	ID       string    `json:"id"`
	Title    string    `json:"title,omitempty"`
	Folder   string    `json:"folder,omitempty"`
	Client   string    `json:"client,omitempty"`
	Model    string    `json:"model,omitempty"`
	Messages int       `json:"messages"`
	Tokens   int       `json:"tokens"`
	Percent  float64   `json:"percent"` // of the window
	Updated  time.Time `json:"updated,omitzero"`
	Open     bool      `json:"open"` // an agent uses it or recently did
}

var sessions = tool[sessionsIn, sessionsOut]{
	name: "sessions", description: "List sessions of agents, the newest first.",
	run: func(ctx context.Context, c *call, in sessionsIn) (out sessionsOut, text string, err error) {
		since, err := sinceOf(in.Since, time.Now())
		if err != nil {
			return out, "", err
		}
		page, err := conversation.List(ctx, c.home,
			conversation.ListQuery{Text: in.Text, Since: since, Limit: cmp.Or(in.Limit, 20),
				Cursor: in.Cursor})
		if err != nil {
			return out, "", err
		}
		out = sessionsOut{Sessions: make([]session, len(page.Items)), Next: page.Next}
		placed, _ := c.home.(conversation.Placed)
		for i, l := range page.Items {
			s := session{ID: l.ID, Title: l.Title, Client: l.Client, Model: l.Model, Messages: l.Messages,
				Tokens: l.Tokens, Percent: l.Percent, Updated: l.Updated, Open: l.InMemory}
			if placed != nil {
				if s.Folder, err = placed.Folder(ctx, l.ID); err != nil {
					return out, "", err
				}
			}
			out.Sessions[i] = s
		}
		if len(out.Sessions) == 0 {
			return out, "no session found", nil
		}
		return out, lines(out.Sessions, session.String) + more(out.Next), nil
	},
}

// String returns the session on one line.
func (s session) String() string {
	parts := []string{s.ID, preview.Line(s.Title, 80), s.Client, s.Model,
		fmt.Sprintf("%d messages", s.Messages)}
	if s.Percent > 0 {
		parts = append(parts, fmt.Sprintf("%.0f %% of its window", s.Percent))
	}
	if !s.Updated.IsZero() {
		parts = append(parts, s.Updated.UTC().Format("2006-01-02 15:04"))
	}
	var said []string
	for _, p := range parts {
		if p != "" {
			said = append(said, p)
		}
	}
	return strings.Join(said, " · ")
}

// sinceOf parses a time, a date, or a duration before now.
func sinceOf(s string, now time.Time) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(layout, s); err == nil {
			return t, nil
		}
	}
	if days, ok := strings.CutSuffix(s, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 && n < 100_000 {
			return now.AddDate(0, 0, -n), nil
		}
	}
	if d, err := time.ParseDuration(s); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	return time.Time{}, &precis.Error{Code: precis.CodeInvalid, Op: "read since",
		Err: fmt.Errorf("%.40q is no time", s), Hint: "use 2026-01-31, 2026-01-31T12:00:00Z, 12h or 7d"}
}
