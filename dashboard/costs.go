package dashboard

import (
	"time"

	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/conversation/ledger"
)

// costDays is how many days the page of costs covers.
const costDays = 30

// mostAccounts is how many conversations the page of costs lists.
const mostAccounts = 25

// costsPage shows usage, savings and the cost of condensing.
type costsPage struct {
	ledger.Summary
	Days  int
	Named []namedAccount // the conversations of the summary
}

// namedAccount is the usage of a conversation, with its title; "": unknown.
type namedAccount struct {
	ledger.ConversationTotal
	Title string
}

// books reports whether the caller's conversations have a ledger.
func (c *call) books() bool {
	_, ok := c.home.(conversation.Stored)
	return ok
}

func (c *call) costs() error {
	sums, err := ledger.Of(c.ctx(), c.home,
		ledger.Query{Since: c.o.Now().Add(-costDays * 24 * time.Hour), Limit: mostAccounts})
	if err != nil {
		return err
	}
	p := costsPage{Summary: sums, Days: costDays}
	for _, a := range sums.Conversations {
		r, _ := conversation.RecordOf(c.ctx(), c.home, a.Owner, a.Conversation) // empty if it was purged
		p.Named = append(p.Named, namedAccount{a, r.Title})
	}
	return c.show("costs", page{Title: c.text("costs.title"), Tab: "costs", Data: p})
}
