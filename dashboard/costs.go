package dashboard

import (
	"time"

	"precis/conversation"
)

// costDays is how many days the page of costs looks back.
const costDays = 30

// mostAccounts is how many conversations the page of costs lists.
const mostAccounts = 25

// costsPage says what was used, saved and paid for condensing.
type costsPage struct {
	conversation.LedgerSummary
	Days  int
	Named []namedAccount // the conversations of the summary
}

// namedAccount is what a conversation used, with its title; "": not known.
type namedAccount struct {
	conversation.Account
	Title string
}

// books reports whether the caller's conversations have a ledger to look at.
func (c *call) books() bool {
	_, ok := c.home.(conversation.Stored)
	return ok
}

func (c *call) costs() error {
	sums, err := conversation.LedgerOf(c.ctx(), c.home, conversation.LedgerQuery{Since: c.o.Now().Add(-costDays * 24 * time.Hour), Most: mostAccounts})
	if err != nil {
		return err
	}
	p := costsPage{LedgerSummary: sums, Days: costDays}
	for _, a := range sums.Conversations {
		r, _ := conversation.RecordOf(c.ctx(), c.home, a.Owner, a.Conversation) // none when it was forgotten
		p.Named = append(p.Named, namedAccount{a, r.Title})
	}
	return c.show("costs", page{Title: c.text("costs.title"), Tab: "costs", Data: p})
}
