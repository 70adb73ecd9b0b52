package conversation

import (
	"context"
	"time"
)

// InArm is a conversation that belongs to an arm of an experiment, with what it used
// and saved.
type InArm struct {
	Arm      string // as "EXPERIMENT/ARM"
	ID       string
	Owner    string
	Requests int  // answered so far, whether they are booked or not
	Booked   bool // the store keeps a ledger; without one Sums are zero
	Sums
}

// Arms returns the conversations that belong to arms of experiments, the last updated
// first. Conversations that were forgotten are not among them.
func Arms(ctx context.Context, h Home) ([]InArm, error) {
	var out []InArm
	var since time.Time // they began
	for q := (Listing{Limit: mostListed}); ; {
		page, err := h.List(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, l := range page.Items {
			if l.Arm != "" {
				if since.IsZero() || l.Created.Before(since) {
					since = l.Created
				}
				out = append(out, InArm{Arm: l.Arm, ID: l.ID, Owner: l.Owner, Requests: l.Requests})
			}
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			break
		}
	}
	if len(out) == 0 {
		return nil, nil
	}
	ledger, err := Ledger(ctx, h, "", since)
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
