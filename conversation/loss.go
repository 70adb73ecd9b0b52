package conversation

import (
	"context"

	"precis"
	"precis/digest"
)

// Lost says what the view of a conversation keeps of what is expected to be
// needed again.
type Lost struct {
	Conversation string           `json:"conversation"`
	Messages     int              `json:"messages"` // of the transcript
	Hidden       int              `json:"hidden"`   // of these, not in the view
	Shortened    int              `json:"shortened"`
	Retention    precis.Retention `json:"retention"`
}

// Loss reports what the view as it is now keeps and has lost, as the gate
// measures it.
func Loss(ctx context.Context, h Home, id string) (Lost, error) {
	return look(ctx, h, id, func(s *Subject) (Lost, error) { return s.loss(), nil })
}

func (s *Subject) loss() Lost {
	t, edits := s.Conversation.Transcript, s.Conversation.Edits
	shown := precis.ShownBy(t, edits)
	out := Lost{Conversation: s.Record.ID, Messages: t.Len()}
	for i := range t.Len() {
		switch stateOf(shown.Message(i)) {
		case Hidden:
			out.Hidden++
		case Shortened:
			out.Shortened++
		}
	}
	situation := precis.Situation{Conversation: s.Conversation, Transcript: t, Edits: edits, Units: shown.Units}
	out.Retention = digest.Gate{}.Audit(&situation, edits)
	return out
}
