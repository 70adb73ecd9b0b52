package registry

import (
	"container/list"
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/store"
)

// saver writes conversations and calibrations to the store in the background. A conversation is
// waiting from the time it is queued until all of it is stored. Only one goroutine at a time writes
// data of a conversation.
type saver struct {
	reg    *Registry
	ctx    context.Context // of the background work
	cancel context.CancelFunc
	wake   chan struct{}
	stop   chan struct{}
	work   sync.WaitGroup
	once   sync.Once

	mu      sync.Mutex
	queue   list.List // of *Conversation, the oldest first
	waiting map[*Conversation]*wait
	jobs    map[*Conversation]*job
	models  map[calibrated]*policy.Manager
	evicted int // bytes of waiting conversations that were evicted from memory
	dropped int // number of conversations given up for lack of memory

	evictedCount atomic.Int64  // copy of evicted that can be read without mu
	loads        chan struct{} // limits the conversations with much data that are written at once
}

// wait is a conversation that waits to be stored.
type wait struct {
	queued *list.Element // nil: it is being saved
	bytes  int           // its size, if memory has no room for it
	cancel func()        // stops its saving; nil: it is not being saved
}

const (
	// between writes, so that turns of busy conversations are written together
	gather  = 250 * time.Millisecond
	pause   = time.Second      // after a failure
	maxWait = 30 * time.Second // for the store, with one conversation
	// conversations written at once in the background: they share the waits for the disk
	workers = 64
	heavy   = 128 << 10       // bytes of messages that cost more to encode than to write
	look    = 5 * time.Second // between checks of an idle store
)

func newSaver(r *Registry) *saver {
	s := &saver{
		reg: r, wake: make(chan struct{}, 1), stop: make(chan struct{}),
		waiting: map[*Conversation]*wait{}, jobs: map[*Conversation]*job{},
		models: map[calibrated]*policy.Manager{}, loads: make(chan struct{}, 2),
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	if r.o.Store != nil {
		s.work.Go(s.run)
	}
	return s
}

// Save queues the conversation to be stored.
func (c *Conversation) Save() { c.reg.saver.enqueue(c) }

// calibrated is an owner and a model with a changed calibration.
type calibrated struct{ owner, model string }

// Learned queues the calibration of an owner's model. M belongs to the owner, see
// [policy.Manager.ForOwner].
func (r *Registry) Learned(owner, model string, m *policy.Manager) {
	if r.o.Store == nil {
		return
	}
	s := r.saver
	s.mu.Lock()
	s.models[calibrated{owner, model}] = m
	s.mu.Unlock()
	signal(s.wake)
}

// enqueue queues a conversation.
func (s *saver) enqueue(c *Conversation) {
	if s.reg.o.Store == nil || c.id == "" || c.purged.Load() || c.refused.Load() || c.isDoubted() {
		return
	}
	s.mu.Lock()
	w := s.waiting[c]
	if w == nil {
		w = &wait{}
		s.waiting[c] = w
		c.unsaved.Store(true)
	}
	if w.queued == nil {
		w.queued = s.queue.PushBack(c)
	}
	s.mu.Unlock()
	signal(s.wake)
}

func signal(wake chan struct{}) {
	select {
	case wake <- struct{}{}:
	default:
	}
}

// next takes the oldest conversation out of the queue; nil when it is empty.
func (s *saver) next() *Conversation {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := s.queue.Front()
	if first == nil {
		return nil
	}
	c := first.Value.(*Conversation)
	s.dequeue(s.waiting[c])
	return c
}

// dequeue removes a waiting conversation from the queue. The saver is locked.
func (s *saver) dequeue(w *wait) {
	if w.queued != nil {
		s.queue.Remove(w.queued)
		w.queued = nil
	}
}

// forget gives up storing a conversation.
func (s *saver) forget(c *Conversation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cancelSave(c)
}

// cancelSave removes a waiting conversation, and stops its saving if that is in progress. The saver is
// locked.
func (s *saver) cancelSave(c *Conversation) {
	w := s.waiting[c]
	if w == nil {
		return
	}
	if w.cancel != nil {
		w.cancel()
	}
	if j := s.jobs[c]; j != nil {
		j.cancel()
	}
	s.remove(c, w)
}

// remove removes a waiting conversation. The saver is locked.
func (s *saver) remove(c *Conversation, w *wait) {
	s.dequeue(w)
	s.evicted -= w.bytes
	s.evictedCount.Store(int64(s.evicted))
	delete(s.waiting, c)
	c.unsaved.Store(false)
}

// evict is called for a conversation that memory has no room for. If it is waiting, it is kept
// until it is stored, while all such conversations use at most a quarter of the memory. Otherwise
// it is given up: its client sends it again.
func (s *saver) evict(c *Conversation, bytes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.waiting[c]
	if w == nil {
		return
	}
	if s.evicted+bytes > s.reg.o.Bytes/4 {
		s.cancelSave(c)
		s.dropped++
		return
	}
	w.bytes = bytes
	s.evicted += bytes
	s.evictedCount.Store(int64(s.evicted))
}

// run writes queued conversations until the saver is stopped.
func (s *saver) run() {
	tick := time.NewTicker(look)
	defer tick.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-tick.C:
			s.reg.check(s.ctx)
			continue
		case <-s.wake:
		}
		wait := gather
		ok := s.flush(s.ctx)
		if !ok {
			wait = pause
		}
		select {
		case <-s.stop:
			return
		case <-time.After(wait):
		}
		if !ok {
			signal(s.wake) // retries the failed ones
		}
	}
}

// flush writes the conversations and calibrations that are queued when it is called. It queues
// failed ones again, and then returns false.
func (s *saver) flush(ctx context.Context) bool {
	s.mu.Lock()
	n, models := s.queue.Len(), s.models
	s.models = map[calibrated]*policy.Manager{}
	s.mu.Unlock()
	var left atomic.Int64
	left.Store(int64(n))
	var failed atomic.Bool
	var work sync.WaitGroup
	for range min(workers, n) {
		work.Go(func() {
			for left.Add(-1) >= 0 && !failed.Load() { // the others would time out as well
				c := s.next()
				if c == nil {
					return
				}
				if err := s.save(ctx, c); err != nil && s.requeue(c, err) {
					failed.Store(true)
				}
			}
		})
	}
	work.Wait()
	ok := s.calibrate(ctx, models) && !failed.Load()
	if ok {
		s.reg.outage.recordSuccess(ctx, conversations)
		s.reg.check(ctx) // the file may have been deleted after the writes
	}
	return ok
}

// calibrate stores calibrations. It queues failed ones again, unless newer ones are queued, and
// then returns false.
func (s *saver) calibrate(ctx context.Context, models map[calibrated]*policy.Manager) bool {
	ok := true
	for c, m := range models {
		err := m.WithStore(s.reg.o.Store).SaveCalibration(ctx, c.model)
		if err == nil {
			continue
		}
		ok = false
		s.reg.outage.fail(ctx, conversations, err)
		s.mu.Lock()
		if s.models[c] == nil {
			s.models[c] = m
		}
		s.mu.Unlock()
	}
	return ok
}

// requeue queues a conversation again after its saving failed. It reports whether other conversations
// would fail as well.
func (s *saver) requeue(c *Conversation, err error) bool {
	switch precis.CodeOf(err) {
	case precis.CodeInvalid: // the store can never accept it
		c.refused.Store(true)
		s.forget(c)
		s.reg.o.Logger.WarnContext(s.ctx, "a conversation cannot be stored", "conversation", c.id, "error",
			err)
		return false
	case precis.CodeConflict, precis.CodeNotFound: // others are writing it
		s.enqueue(c)
		return false
	}
	s.mu.Lock()
	waits := s.waiting[c] != nil
	s.mu.Unlock()
	if !waits { // it was given up
		return false
	}
	s.reg.outage.fail(s.ctx, conversations, err)
	s.enqueue(c)
	return true
}

// save stores the changes of a conversation: messages, edits that could not be stored at once, and
// the catalog record.
func (s *saver) save(ctx context.Context, c *Conversation) error {
	st := s.reg.Store(c.owner)
	if st == nil || c.purged.Load() || c.isDoubted() { // a doubted one is queued again when it is proven
		s.forget(c)
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	s.begin(c, cancel)
	if unsavedBytes(c) > heavy {
		select {
		case s.loads <- struct{}{}:
			defer func() { <-s.loads }()
		case <-ctx.Done():
			return precis.Errorf(precis.CodeInternal, "store conversation", "%w", context.Cause(ctx))
		}
	}
	err := c.serialized(ctx, func() error {
		// Take the record before the messages: a turn may intervene, and the record must not name a
		// message that the store lacks.
		info := c.Info()
		snap, t := c.Snapshot(), clientMessages(c)
		got, err := c.sync(ctx, st, t, snap.Conversation.Edits, snap.Stored)
		s.applyStored(ctx, c, snap, got)
		if err != nil {
			return err
		}
		cat, ok := st.(store.Lister)
		if now := s.reg.table.Line(c.owner, c.id); !ok || now != nil && now != c.line {
			return nil // its client has rewritten it; the newer form has the record
		}
		if s.reg.o.Shared && hasNewerTurn(ctx, cat, info) {
			return nil
		}
		return cat.PutConversation(ctx, info)
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	if w := s.waiting[c]; w != nil {
		w.cancel = nil
		if err == nil && w.queued == nil {
			s.remove(c, w) // a turn may be storing its edits by now: that continues
		}
	}
	return err
}

// begin records how to stop the saving of a conversation.
func (s *saver) begin(c *Conversation, cancel func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w := s.waiting[c]; w != nil {
		w.cancel = cancel
	} else {
		cancel() // it was given up
	}
}

// applyStored applies the result of storing a snapshot to its conversation. It does not do so while a
// turn is in progress, or when the edits have changed since: [Conversation.Unlock] then queues the
// conversation again.
func (s *saver) applyStored(ctx context.Context, c *Conversation, snap *Snapshot, got synced) {
	was := snap.Conversation.Edits
	same := sameEdits(got.edits, was)
	if got.stored == snap.Stored && same || !c.tryLock(ctx) {
		return
	}
	defer c.Unlock()
	switch {
	case !begins(c.conv.Edits, was):
	case same:
		c.stored = max(c.stored, got.stored) // later edits are still to be stored
	case len(c.conv.Edits) == len(was):
		c.setEdits(got.edits, got.stored)
	}
}

// job is a write of edits that a turn waits for, or waited for.
type job struct {
	synced
	err    error
	done   chan struct{} // closed when the results are set
	cancel context.CancelFunc
}

// storeNow starts a job that stores messages and edits of a conversation at once; the caller waits
// for its done channel. The caller may stop waiting: the work continues, and the saver uses its
// result.
func (s *saver) storeNow(st precis.Store, c *Conversation, t *precis.Transcript, edits []precis.Edit,
	stored int) *job {
	ctx, cancel := context.WithTimeout(s.ctx, maxWait)
	j := &job{synced: synced{edits, stored}, done: make(chan struct{}), cancel: cancel}
	s.mu.Lock()
	s.jobs[c] = j
	s.mu.Unlock()
	s.work.Go(func() {
		defer cancel()
		defer close(j.done)
		defer func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			delete(s.jobs, c)
		}()
		j.err = c.serialized(ctx, func() (err error) {
			j.synced, err = c.sync(ctx, st, t, edits, stored)
			return err
		})
	})
	return j
}

// storeWaiting stores the selected conversations that are waiting now, and waits for that.
func (s *saver) storeWaiting(ctx context.Context, which func(*Conversation) bool) {
	s.mu.Lock()
	var asked []*Conversation
	for c, w := range s.waiting {
		if which(c) {
			s.dequeue(w) // save waits for a write in progress
			asked = append(asked, c)
		}
	}
	s.mu.Unlock()
	for i, c := range asked {
		err := ctx.Err()
		if err == nil {
			err = s.save(ctx, c)
		}
		if err == nil {
			continue
		}
		for _, c := range asked[i:] {
			s.enqueue(c)
		}
		if ctx.Err() == nil {
			s.requeue(c, err)
		}
		return
	}
}

// close ends the background work and writes the remaining data.
func (s *saver) close(ctx context.Context) error {
	s.once.Do(func() { close(s.stop) })
	done := make(chan struct{})
	go func() { s.work.Wait(); close(done) }()
	select {
	case <-done:
	case <-ctx.Done():
		s.cancel() // stops waiting for a store that does not answer
		<-done
	}
	defer s.cancel()
	if s.reg.o.Store == nil || s.flush(ctx) {
		return nil
	}
	err := s.reg.outage.last()
	if errors.Is(err, context.Canceled) {
		err = ctx.Err()
	}
	return precis.Errorf(precis.CodeInternal, "close gateway", "not everything could be stored: %w", err)
}
