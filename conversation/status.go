package conversation

import (
	"context"
	"math"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/digest"
	"github.com/precis-dev/precis/measure"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/retain"
)

// Details is a conversation with all that is known about it.
type Details struct {
	ListItem
	Window precis.Window `json:"context_window"`
	Status policy.Status `json:"status"`
	Room   Room          `json:"room"`
	Edits  EditCounts    `json:"edits"`
	// of the newest request; nil when it is not in memory
	Last  *policy.Report `json:"last_report,omitempty"`
	Notes []string       `json:"notes,omitempty"` // content that the numbers leave out

	// CondenseError names the failure of the newest condensation with a model, by
	// condense.ErrorName or a precis.Code. "": it did not fail, or is not in memory.
	CondenseError string `json:"condense_error,omitempty"`
}

// EditCounts are the numbers of edits of a conversation.
type EditCounts struct {
	Total   int                     `json:"total"`
	InForce int                     `json:"in_force"`
	Kinds   map[precis.EditKind]int `json:"kinds"` // of those in force
	Saved   int                     `json:"tokens_saved"`
	// edits in force with unknown savings; Saved leaves them out
	UnknownSavings int     `json:"unknown,omitempty"`
	CostUSD        float64 `json:"cost_usd"` // of all edits, undone ones too
}

// Status returns one conversation at a glance.
func Status(ctx context.Context, h Home, id string) (Details, error) {
	return look(ctx, h, id, (*Subject).details)
}

func (s *Subject) details() (Details, error) {
	st, err := s.status()
	if err != nil {
		return Details{}, err
	}
	d := Details{ListItem: NewListItem(s.Owner, s.Record, s.Open).sized(st), Window: s.Template.Window,
		Status: st,
		Room:   s.room(st.Tokens), Edits: countEdits(s.Conversation.Edits), Notes: s.notes(),
		CondenseError: s.CondenseError}
	if last := s.Last; last.Counter != "" {
		last.Retention = nil // see Loss
		d.Last = &last
	}
	return d, nil
}

func countEdits(edits []precis.Edit) EditCounts {
	c := EditCounts{Total: len(edits), Kinds: map[precis.EditKind]int{}}
	for _, e := range precis.Active(edits) {
		c.InForce++
		c.Kinds[e.Kind]++
		c.Saved += e.Report.Saved()
		if before, _ := e.Report.Sizes(); before != nil && e.Report.KnownSaving() == nil {
			c.UnknownSavings++
		}
	}
	for _, e := range edits {
		c.CostUSD += e.Report.CostUSD
	}
	return c
}

// Room is the distance of the view of a conversation to its next reduction, in tokens and turns.
type Room struct {
	// tokens of the view at which it is reduced; 0: unknown, see [Subject.Recorded]
	Limit  int `json:"limit"`
	Left   int `json:"left"`   // tokens to the limit; 0: reached, or unknown
	Growth int `json:"growth"` // mean tokens added by a recent turn; 0: unknown
	Turns  int `json:"turns"`  // number of turns that Growth averages; 0: no turn yet
	// turns of that size to the limit, rounded down; nil: Growth or Limit is unknown
	TurnsLeft *int `json:"lasts,omitempty"`
}

// turnsMeasured is the most turns that [Room.Growth] averages.
const turnsMeasured = 10

// room measures the room that a view of the given tokens leaves.
func (s *Subject) room(tokens int) Room {
	r := s.request()
	settings := s.Manager.Settings()
	overhead := s.meter().Overhead(s.Conversation).Sum()
	d := policy.Plan(policy.Load{Used: tokens},
		settings.Budget(r.Window, r.MaxOutput, r.OutputLimit, overhead), settings, r.Profile)
	factor := 1.0 // provider's tokens divided by ours
	if counted := overhead + s.meter().View(precis.View(s.Conversation.Transcript,
		s.Conversation.Edits)); counted > 0 {
		factor = float64(tokens) / float64(counted)
	}
	limit := limitOf(d)
	if s.Recorded {
		limit = compactedAt(s.Conversation.Edits)
	}
	return roomOf(s.Conversation, s.meter(), limit, tokens, factor)
}

// limitOf returns the tokens at which a view is reduced or no longer fits.
func limitOf(d policy.Decision) int {
	if d.ReduceAt > 0 {
		return d.ReduceAt
	}
	return int(math.Floor(max(d.Allowed, 0))) + 1
}

// compactedAt returns the largest size, in tokens, at which the program of a recording has
// compacted it; 0: never, or unknown.
func compactedAt(edits []precis.Edit) (at int) {
	for _, e := range edits {
		if isRecorded(e) && e.Kind == precis.KindCondensation {
			at = max(at, e.Report.TokensBefore)
		}
	}
	return at
}

// roomOf measures the room between a view of used tokens and a limit; limit 0: unknown. Factor is
// the ratio of the provider's tokens to the meter's.
func roomOf(conv *precis.Conversation, meter *measure.Meter, limit, used int, factor float64) Room {
	out := Room{Limit: limit, Left: max(limit-used, 0)}
	added, turns := countNewest(conv, meter, turnsMeasured)
	if turns == 0 || added == 0 {
		return out
	}
	out.Turns, out.Growth = turns, max(int(math.Round(factor*float64(added)/float64(turns))), 1)
	if limit > 0 {
		lasts := out.Left / out.Growth
		out.TurnsLeft = &lasts
	}
	return out
}

// Outlook is the fill level of the window and the room that is left.
type Outlook struct {
	Percent float64 // of the window, 0 when that is unknown
	Near    bool    // the warn level of the settings is reached
	Room    Room
}

// OutlookAfter returns the outlook after a pass of a manager with this report, settings and
// profile. Meter has counted the conversation already, so no message is counted twice. The
// conversation must not change during the call.
func OutlookAfter(conv *precis.Conversation, meter *measure.Meter, settings policy.Settings, profile string,
	report policy.Report) Outlook {
	was := report.Decision
	budget := policy.Budget{Window: was.Window, Reserve: was.Reserve, Overhead: report.After.Overhead,
		Buffer: was.Buffer}
	d := policy.Plan(policy.Load{Used: report.After.Tokens}, budget, settings, profile)
	return Outlook{Percent: d.Percent, Near: d.Near,
		Room: roomOf(conv, meter, limitOf(d), d.Used, report.Calibration)}
}

// countNewest counts the tokens of the newest turns, at most most. A turn is the model's message and
// everything before its next one. Messages hidden by a rewind are not counted.
func countNewest(conv *precis.Conversation, meter *measure.Meter, most int) (tokens, turns int) {
	msgs := retain.WithoutRewound(conv.Transcript, conv.Edits)
	pending := 0
	for i := len(msgs) - 1; i >= 0 && turns < most; i-- {
		if len(msgs[i].Content) == 0 {
			continue
		}
		pending += meter.Message(msgs[i])
		begins := i == 0 || msgs[i-1].Role != precis.RoleAssistant
		if msgs[i].Role == precis.RoleAssistant && begins {
			tokens, pending = tokens+pending, 0
			turns++
		}
	}
	return tokens, turns
}

// WorkState is the state of the work of a conversation.
type WorkState struct {
	Conversation string       `json:"conversation"`
	State        digest.State `json:"state"`
}

// Work reads the state of the work from calls and their results. It leaves out messages that a
// rewind took back and includes hidden ones.
func Work(ctx context.Context, h Home, id string) (WorkState, error) {
	return look(ctx, h, id, func(s *Subject) (WorkState, error) {
		return WorkState{Conversation: s.Record.ID, State: digest.StateOf(s.Conversation)}, nil
	})
}
