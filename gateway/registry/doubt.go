package registry

import (
	"context"
	"sync"

	"precis"
	"precis/store"
)

// doubt is whether it is known that the newest request of a conversation may speak for
// its owner.
type doubt struct {
	doubting sync.Mutex
	doubted  bool
	lines    []precis.LedgerEntry // of edits made meanwhile
}

// mostHeld bounds the ledger lines that a doubted conversation holds.
const mostHeld = 1000

// Doubt has nothing of the conversation stored until [Conversation.Prove]. Changes are
// in force in memory meanwhile.
func (c *Conversation) Doubt() {
	c.doubting.Lock()
	defer c.doubting.Unlock()
	c.doubted = true
}

func (d *doubt) isDoubted() bool {
	d.doubting.Lock()
	defer d.doubting.Unlock()
	return d.doubted
}

// hold takes a ledger line of a doubted conversation; false: it is not doubted.
func (d *doubt) hold(e precis.LedgerEntry) bool {
	d.doubting.Lock()
	defer d.doubting.Unlock()
	if d.doubted && len(d.lines) < mostHeld {
		d.lines = append(d.lines, e)
	}
	return d.doubted
}

// Prove ends a doubt. What was not stored meanwhile is stored.
func (c *Conversation) Prove() {
	c.doubting.Lock()
	was, lines := c.doubted, c.lines
	c.doubted, c.lines = false, nil
	c.doubting.Unlock()
	for _, e := range lines {
		c.reg.books.add(context.Background(), store.OwnedEntry{Owner: c.owner, LedgerEntry: e})
	}
	if was && !c.Info().Updated.IsZero() {
		c.Save()
	}
}

// Discard forgets an open conversation of which nothing was stored. Requests under way
// may still use it.
func (r *Registry) Discard(c *Conversation) {
	c.refused.Store(true)
	r.saver.forget(c)
	if c.line != nil {
		r.table.Drop(c.line)
	}
}
