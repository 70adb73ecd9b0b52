package gateway

import (
	"context"

	"precis"
	"precis/condense"
)

// Loss says what the view of a conversation keeps of what is expected to be
// needed again.
type Loss struct {
	Conversation string           `json:"conversation"`
	Messages     int              `json:"messages"` // of the transcript
	Hidden       int              `json:"hidden"`   // of these, not in the view
	Shortened    int              `json:"shortened"`
	Retention    precis.Retention `json:"retention"`
}

// Loss reports what the view as it is now keeps and has lost, by the measure of
// the gate of [condense.Gate].
func (g *Gateway) Loss(ctx context.Context, owner, id string) (Loss, error) {
	s, err := g.open(ctx, owner, id)
	if err != nil {
		return Loss{}, err
	}
	s.close() // the subject has a state of its own
	t, edits := s.conv.Transcript, s.conv.Edits
	sight := newSight(t, edits)
	out := Loss{Conversation: s.rec.ID, Messages: t.Len()}
	for i := range t.Len() {
		switch state, _ := sight.of(i); state {
		case ShownNot:
			out.Hidden++
		case ShownChanged:
			out.Shortened++
		}
	}
	situation := precis.Situation{Conversation: s.conv, Transcript: t, Edits: edits, Units: sight.units}
	out.Retention = condense.Gate{}.Audit(&situation, edits)
	return out, nil
}
