package conversation

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

// Status returns one conversation at a glance.
func Status(ctx context.Context, h Home, id string) (Details, error) {
	return look(ctx, h, id, (*Subject).details)
}

func (s *Subject) details() (Details, error) {
	st, err := s.status()
	if err != nil {
		return Details{}, err
	}
	d := Details{Listed: listed(s.Owner, s.Record, s.Open), Window: s.Ask.Window, Status: st, Edits: countEdits(s.Conversation.Edits), Notes: s.notes()}
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
	}
	for _, e := range edits {
		c.CostUSD += e.Report.CostUSD
	}
	return c
}
