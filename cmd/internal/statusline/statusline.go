// Package statusline reports within milliseconds how full the window of a running conversation
// is. It uses the client's report, the end of the transcript, and a running gateway. Start with
// [Read].
package statusline

import (
	"context"
	"strings"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive/opencode/database"
	"github.com/precis-dev/precis/cmd/internal/console"
	"github.com/precis-dev/precis/cmd/internal/running"
)

// Status is the state of a conversation for a status line.
type Status struct {
	Model     string  `json:"model,omitempty"`
	Tokens    int     `json:"tokens"` // of the newest request
	Window    int     `json:"window"`
	Percent   float64 `json:"percent"`
	TurnsLeft int     `json:"turns_left"` // requests until precis acts, or the agent compacts; -1: unknown
	CostUSD   float64 `json:"cost_usd,omitempty"`

	// From the gateway that forwards the conversation.
	Gateway   bool   `json:"gateway"`
	ID        string `json:"id,omitempty"` // there
	Condensed int    `json:"edits,omitempty"`
	Saved     int    `json:"tokens_saved,omitempty"`

	// From the hooks in an agent: compactions by precis, or after which it restored lost content.
	Compactions int `json:"compactions,omitempty"`

	Err error `json:"-"` // why the gateway did not answer; nil if it did, or if there is no gateway
}

// Sources are the possible sources of a status.
type Sources struct {
	Client     Client            // reported by the client; zero if there is no report
	Transcript string            // path of a recording of Claude Code or pi; "" if unknown
	Database   database.Spending // usage of an opencode session; zero if unknown
	Gateway    *running.Client   // nil if there is no gateway
	Threshold  float64
	Window     func(model string) precis.Window
}

// Known reports whether the status has any usage.
func (s Status) Known() bool { return s.Tokens > 0 }

// Read assembles a status. Sources that do not answer in time are left out.
func Read(ctx context.Context, from Sources) Status {
	s := Status{Model: from.Client.Model.ID, CostUSD: from.Client.Cost.USD, Window: from.Client.Context.Size,
		TurnsLeft: -1}
	s.Tokens = from.Client.tokens()
	growth, compacts := 0, 0
	var used []request
	if from.Transcript != "" {
		used, compacts = lastRequests(from.Transcript)
	}
	if len(from.Database.Answers) > 0 {
		used, s.CostUSD = answeredRequests(from.Database), from.Database.CostUSD
	}
	if len(used) > 0 {
		last := used[len(used)-1]
		s.Tokens, growth = last.tokens, growthOf(used)
		if s.Model == "" {
			s.Model = last.model
		}
	}
	if from.addGateway(ctx, &s) {
		return s
	}
	if s.Window <= 0 && s.Tokens > 0 {
		s.Window = from.Window(s.Model).Tokens
	}
	if s.Window <= 0 {
		return s
	}
	s.Percent = precis.Window{Tokens: s.Window}.Percent(s.Tokens)
	if s.Gateway { // precis acts before the program does
		compacts = int(float64(s.Window) * from.Threshold / 100)
	}
	if growth > 0 && compacts > 0 {
		s.TurnsLeft = max((compacts-s.Tokens)/growth, 0)
	}
	return s
}

// timeout is the timeout of the gateway if the client or a recording has most of the status.
const timeout = 100 * time.Millisecond

// farAway is how many turns are not estimated any more.
const farAway = 100

// Line is a status in words: "62 % of 200,000, about 9 turns left, $0.43, 2 edits of
// precis saved 41,000".
func (s Status) Line(w *console.Words) string {
	if !s.Known() {
		return w.Text("precis: no request yet")
	}
	parts := []string{w.Text("%s of %s", w.Percent(s.Percent), w.Number(s.Window))}
	switch {
	case s.TurnsLeft > farAway:
		parts = append(parts, w.Text("more than %s left", w.Count(farAway, "turn")))
	case s.TurnsLeft >= 0:
		parts = append(parts, w.Text("about %s left", w.Count(s.TurnsLeft, "turn")))
	}
	if s.CostUSD > 0 {
		parts = append(parts, w.Dollars(s.CostUSD))
	}
	if s.Condensed > 0 {
		parts = append(parts, w.Text("%s of precis saved %s", w.Count(s.Condensed, "edit"),
			w.Number(s.Saved)))
	}
	if s.Compactions > 0 {
		parts = append(parts, w.Text("%s with precis", w.Count(s.Compactions, "compaction")))
	}
	return strings.Join(parts, w.Say("comma"))
}

// Bar returns a short bar of the window.
func (s Status) Bar() string {
	const columns = 10
	n := min(int(s.Percent/100*columns+0.5), columns)
	return strings.Repeat("█", n) + strings.Repeat("░", columns-n)
}
