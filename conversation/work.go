package conversation

import (
	"context"

	"precis/digest"
)

// WorkState is where the work of a conversation stands.
type WorkState struct {
	Conversation string       `json:"conversation"`
	State        digest.State `json:"state"`
}

// Work reads where the work of a conversation stands, as its calls and their results
// show. What the user took back by a rewind is left out; what the view hides is not.
func Work(ctx context.Context, h Home, id string) (WorkState, error) {
	return look(ctx, h, id, func(s *Subject) (WorkState, error) {
		return WorkState{Conversation: s.Record.ID, State: digest.StateOf(s.Conversation)}, nil
	})
}
