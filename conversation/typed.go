package conversation

import (
	"context"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/retain"
)

// FindTyped returns where a person typed some words; of several places the newest. White space is
// ignored. The error is [precis.CodeNotFound] if no person did: words of the agent, of a tool or of
// a program do not count.
func FindTyped(ctx context.Context, h Home, id, quote string) (precis.Handle, error) {
	const op, least = "find typed words", 4 // bytes
	words := retain.Folded(quote)
	if len(words) < least {
		return precis.Handle{}, precis.Errorf(precis.CodeInvalid, op,
			"the quote has %d bytes, want %d or more", len(words), least)
	}
	return look(ctx, h, id, func(s *Subject) (precis.Handle, error) {
		speech := precis.SpeechOf(retain.WithoutRewound(s.Conversation.Transcript, s.Conversation.Edits))
		for i := speech.Len() - 1; i >= 0; i-- {
			for _, p := range speech.Passages(i) {
				if strings.Contains(retain.Folded(p.Text), words) {
					return p.Handle, nil
				}
			}
		}
		return precis.Handle{}, precis.Errorf(precis.CodeNotFound, op, "no person typed %.80q", words)
	})
}

// SuggestPins returns the sentences typed by persons that may bind, see [retain.Constraints], in order
// and without pinned ones.
func SuggestPins(ctx context.Context, h Home, id string) ([]retain.Rule, error) {
	return look(ctx, h, id, func(s *Subject) ([]retain.Rule, error) {
		pinned := precis.Pinned(s.Conversation.Edits)
		out := []retain.Rule{}
		for _, r := range retain.RulesOf(retain.WithoutRewound(s.Conversation.Transcript,
			s.Conversation.Edits)) {
			if !isPinned(pinned, r.Handle) {
				out = append(out, r)
			}
		}
		return out, nil
	})
}

func isPinned(pinned []precis.Handle, h precis.Handle) bool {
	for _, p := range pinned {
		if p.From <= h.From && h.From < p.To && (p.Block < 0 || p.Block == h.Block) {
			return true
		}
	}
	return false
}
