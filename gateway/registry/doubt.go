package registry

import (
	"context"
	"sync"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/store"
)

// doubtedWrites holds back the storing of a conversation until its newest request has proven that it
// belongs to its owner.
type doubtedWrites struct {
	doubting sync.Mutex
	doubted  bool
	lines    []precis.LedgerEntry // of edits made meanwhile
}

// mostHeld bounds the ledger lines that a doubted conversation holds back.
const mostHeld = 1000

// Doubt stops the storing of the conversation until [Conversation.Confirm]. Meanwhile changes are in
// force in memory.
func (c *Conversation) Doubt() {
	c.doubting.Lock()
	defer c.doubting.Unlock()
	c.doubted = true
}

func (d *doubtedWrites) isDoubted() bool {
	d.doubting.Lock()
	defer d.doubting.Unlock()
	return d.doubted
}

// holdBack holds a ledger line of a doubted conversation back; false: it is not doubted.
func (d *doubtedWrites) holdBack(e precis.LedgerEntry) bool {
	d.doubting.Lock()
	defer d.doubting.Unlock()
	if d.doubted && len(d.lines) < mostHeld {
		d.lines = append(d.lines, e)
	}
	return d.doubted
}

// Confirm ends a doubt and stores the changes made meanwhile.
func (c *Conversation) Confirm() {
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

// Discard forgets an open conversation that was never stored. Requests in progress may still use
// it.
func (r *Registry) Discard(c *Conversation) {
	c.refused.Store(true)
	r.saver.forget(c)
	if c.line != nil {
		r.table.Drop(c.line)
	}
}
