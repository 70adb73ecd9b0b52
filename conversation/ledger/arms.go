package ledger

import (
	"context"
	"time"

	"github.com/precis-dev/precis/conversation"
)

// ArmConversation is a conversation in an arm of an experiment, with its usage and savings.
type ArmConversation struct {
	Arm      string // as "EXPERIMENT/ARM"
	ID       string
	Owner    string
	Requests int  // answered so far, booked or not
	Booked   bool // the store keeps a ledger; without one Sums are zero
	Sums
}

// Arms returns the conversations in arms of experiments, the last updated first. It leaves out
// deleted conversations.
func Arms(ctx context.Context, h conversation.Home) ([]ArmConversation, error) {
	var out []ArmConversation
	var since time.Time // earliest beginning of these conversations
	for q := (conversation.ListQuery{Limit: conversation.MaxListed}); ; {
		page, err := h.List(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, l := range page.Items {
			if l.Arm != "" {
				if since.IsZero() || l.Created.Before(since) {
					since = l.Created
				}
				out = append(out, ArmConversation{Arm: l.Arm, ID: l.ID, Owner: l.Owner, Requests: l.Requests})
			}
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			break
		}
	}
	if len(out) == 0 {
		return nil, nil
	}
	ledger, err := Since(ctx, h, "", since)
	if err != nil || !ledger.Booked {
		return out, err
	}
	accounts := map[[2]string]Sums{}
	for _, a := range ledger.Conversations {
		accounts[[2]string{a.Owner, a.Conversation}] = a.Sums
	}
	for i := range out {
		out[i].Booked, out[i].Sums = true, accounts[[2]string{out[i].Owner, out[i].ID}]
	}
	return out, nil
}
