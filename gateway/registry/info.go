package registry

import (
	"sync/atomic"

	"github.com/precis-dev/precis/store"
)

// catalogRecord is the catalog record of a conversation.
type catalogRecord struct{ info atomic.Pointer[store.Record] }

// Info returns the catalog record of the conversation. It does not wait for the lock.
func (c *catalogRecord) Info() store.Record { return *c.info.Load() }

// SetInfo changes the catalog record. F may be called more than once and must depend only on the
// given record.
func (c *catalogRecord) SetInfo(f func(*store.Record)) {
	for {
		old := c.info.Load()
		rec := *old
		f(&rec)
		if c.info.CompareAndSwap(old, &rec) {
			return
		}
	}
}
