package gateway

import (
	"context"

	"precis"
)

// Details is a conversation with what there is to know of it.
type Details struct {
	Listed
	Window precis.Window  `json:"context_window"`
	Status precis.Status  `json:"status"`
	Edits  EditCounts     `json:"edits"`
	Last   *precis.Report `json:"last_report,omitempty"` // of the newest request; nil when it is not in memory
	Notes  []string       `json:"notes,omitempty"`       // what the numbers leave out
}

// EditCounts says how many edits a conversation has.
type EditCounts struct {
	Total   int                     `json:"total"`
	InForce int                     `json:"in_force"`
	Kinds   map[precis.EditKind]int `json:"kinds"` // of those in force
	Saved   int                     `json:"tokens_saved"`
	CostUSD float64                 `json:"cost_usd"` // of all edits, those taken back too
}

const noteOverhead = "the system prompt and the tools are not stored: they are not among the tokens"

// Conversation returns one conversation.
func (g *Gateway) Conversation(ctx context.Context, owner, id string) (Details, error) {
	s, err := g.open(ctx, owner, id)
	if err != nil {
		return Details{}, err
	}
	defer s.close()
	st, err := s.status(ctx)
	if err != nil {
		return Details{}, err
	}
	d := Details{Listed: listed(s.owner, s.rec, s.held != nil), Window: s.window(ctx), Status: st, Edits: countEdits(s.conv.Edits), Notes: s.notes()}
	if s.held != nil && s.held.status.Counter != "" {
		last := s.held.status
		last.Retention = nil // see Loss
		d.Last = &last
	}
	return d, nil
}

// status returns the conversation at a glance.
func (s *subject) status(ctx context.Context) (precis.Status, error) {
	return s.mgr.Status(s.request(ctx))
}

func (s *subject) notes() []string {
	var notes []string
	if s.held == nil {
		notes = append(notes, noteOverhead)
	}
	if s.stale != nil {
		notes = append(notes, "edits are in memory that the store does not have yet")
	}
	return notes
}

func countEdits(edits []precis.Edit) EditCounts {
	c := EditCounts{Total: len(edits), Kinds: map[precis.EditKind]int{}}
	for _, e := range precis.Active(edits) {
		c.InForce++
		c.Kinds[e.Kind]++
		c.Saved += e.Report.Saved()
	}
	for _, e := range edits {
		c.CostUSD += e.Report.CostUSD
	}
	return c
}
