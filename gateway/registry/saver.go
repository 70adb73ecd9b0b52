package registry

import (
	"container/list"
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"precis"
	"precis/store"
)

// saver writes conversations and calibrations to the store in the background. A
// conversation is waiting from the time it is queued until all of it is stored. One
// goroutine at a time writes what belongs to a conversation, whoever asked for it.
type saver struct {
	reg    *Registry
	ctx    context.Context // of the background work
	cancel context.CancelFunc
	wake   chan struct{}
	stop   chan struct{}
	work   sync.WaitGroup
	once   sync.Once

	mu      sync.Mutex
	queue   list.List // of *Conversation, the one that waits longest first
	waiting map[*Conversation]*wait
	jobs    map[*Conversation]*job
	models  map[calibrated]*precis.Manager
	evicted int // bytes of conversations that wait and that memory has no room for
	dropped int // conversations that were given up for want of memory

	outside atomic.Int64  // evicted, for those who must not wait for mu
	loads   chan struct{} // of as many places as conversations with much to write are written at once
}

// wait is a conversation that waits to be stored.
type wait struct {
	queued *list.Element // nil: it is being saved
	bytes  int           // when memory has no room for it: what it uses
	cancel func()        // ends its saving; nil: it is not being saved
}

const (
	gather  = 250 * time.Millisecond // between writes, so that turns of busy conversations are written together
	pause   = time.Second            // after something failed
	maxWait = 30 * time.Second       // for the store, with one conversation
	workers = 64                     // conversations that are written at the same time in the background: they wait for the disk together
	heavy   = 128 << 10              // bytes of messages of which encoding costs more than the disk does
	look    = 5 * time.Second        // between looks at a store that is idle
)

func newSaver(r *Registry) *saver {
	s := &saver{
		reg: r, wake: make(chan struct{}, 1), stop: make(chan struct{}),
		waiting: map[*Conversation]*wait{}, jobs: map[*Conversation]*job{}, models: map[calibrated]*precis.Manager{}, loads: make(chan struct{}, 2),
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	if r.o.Store != nil {
		s.work.Go(s.run)
	}
	return s
}

// Save queues the conversation to be stored.
func (c *Conversation) Save() { c.reg.saver.soon(c) }

// calibrated is an owner and a model whose calibration has changed.
type calibrated struct{ owner, model string }

// Learned queues the calibration of an owner's model to be stored. M is of the owner,
// see [precis.Manager.ForOwner].
func (r *Registry) Learned(owner, model string, m *precis.Manager) {
	if r.o.Store == nil {
		return
	}
	s := r.saver
	s.mu.Lock()
	s.models[calibrated{owner, model}] = m
	s.mu.Unlock()
	signal(s.wake)
}

// soon queues a conversation.
func (s *saver) soon(c *Conversation) {
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

// next takes the conversation that waits longest out of the queue; nil when there is
// none.
func (s *saver) next() *Conversation {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := s.queue.Front()
	if first == nil {
		return nil
	}
	c := first.Value.(*Conversation)
	s.take(s.waiting[c])
	return c
}

// take takes what waits out of the queue. The saver is locked.
func (s *saver) take(w *wait) {
	if w.queued != nil {
		s.queue.Remove(w.queued)
		w.queued = nil
	}
}

// forget gives up a conversation.
func (s *saver) forget(c *Conversation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.giveUp(c)
}

// giveUp ends the waiting of a conversation, and its saving if it is under way. The
// saver is locked.
func (s *saver) giveUp(c *Conversation) {
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

// remove ends the waiting of a conversation. The saver is locked.
func (s *saver) remove(c *Conversation, w *wait) {
	s.take(w)
	s.evicted -= w.bytes
	s.outside.Store(int64(s.evicted))
	delete(s.waiting, c)
	c.unsaved.Store(false)
}

// evict is called for a conversation that memory has no room for. One that waits is
// kept until it is stored, as long as those kept so take no more than a quarter of
// the memory; else it is given up: its client sends it again.
func (s *saver) evict(c *Conversation, bytes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.waiting[c]
	if w == nil {
		return
	}
	if s.evicted+bytes > s.reg.o.Bytes/4 {
		s.giveUp(c)
		s.dropped++
		return
	}
	w.bytes = bytes
	s.evicted += bytes
	s.outside.Store(int64(s.evicted))
}

// run writes what is queued until the saver is stopped.
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
			signal(s.wake) // what failed is tried again
		}
	}
}

// flush writes what is queued when it is called. What fails is queued again; then it
// returns false.
func (s *saver) flush(ctx context.Context) bool {
	s.mu.Lock()
	n, models := s.queue.Len(), s.models
	s.models = map[calibrated]*precis.Manager{}
	s.mu.Unlock()
	var left atomic.Int64
	left.Store(int64(n))
	var failed atomic.Bool
	var work sync.WaitGroup
	for range min(workers, n) {
		work.Go(func() {
			for left.Add(-1) >= 0 && !failed.Load() { // the others would fail, too, each after its time
				c := s.next()
				if c == nil {
					return
				}
				if err := s.save(ctx, c); err != nil && s.again(c, err) {
					failed.Store(true)
				}
			}
		})
	}
	work.Wait()
	ok := s.calibrate(ctx, models) && !failed.Load()
	if ok {
		s.reg.outage.works(ctx, conversations)
		s.reg.check(ctx) // a file that was deleted takes everything
	}
	return ok
}

// calibrate stores calibrations. Those that fail are queued again, unless newer ones
// are; then it returns false.
func (s *saver) calibrate(ctx context.Context, models map[calibrated]*precis.Manager) bool {
	ok := true
	for c, m := range models {
		err := m.With(s.reg.o.Store).SaveCalibration(ctx, c.model)
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

// again queues a conversation whose saving failed. It reports whether others would
// fail as well.
func (s *saver) again(c *Conversation, err error) bool {
	switch precis.CodeOf(err) {
	case precis.CodeInvalid: // what the store cannot take now it never can
		c.refused.Store(true)
		s.forget(c)
		s.reg.o.Logger.WarnContext(s.ctx, "a conversation cannot be stored", "conversation", c.id, "error", err)
		return false
	case precis.CodeConflict, precis.CodeNotFound: // others are at it
		s.soon(c)
		return false
	}
	s.mu.Lock()
	waits := s.waiting[c] != nil
	s.mu.Unlock()
	if !waits { // it was given up
		return false
	}
	s.reg.outage.fail(s.ctx, conversations, err)
	s.soon(c)
	return true
}

// save stores what is new of a conversation: messages, edits that could not be
// stored at once, and the catalog record.
func (s *saver) save(ctx context.Context, c *Conversation) error {
	st := s.reg.Store(c.owner)
	if st == nil || c.purged.Load() || c.isDoubted() { // what is doubted is queued again when it is proven
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
	err := c.alone(ctx, func() error {
		// The record is taken before the messages: a turn may come meanwhile, and the record must not name a message
		// that the store has not.
		info := c.Info()
		snap, t := c.Snapshot(), said(c)
		got, err := c.sync(ctx, st, t, snap.Conversation.Edits, snap.Stored)
		s.adopt(ctx, c, snap, got)
		if err != nil {
			return err
		}
		cat, ok := st.(store.Lister)
		if now := s.reg.table.Line(c.owner, c.id); !ok || now != nil && now != c.line {
			return nil // its client has rewritten it since; the newer form has the record
		}
		if s.reg.o.Shared && isOutdone(ctx, cat, info) {
			return nil
		}
		return cat.PutConversation(ctx, info)
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	if w := s.waiting[c]; w != nil {
		w.cancel = nil
		if err == nil && w.queued == nil {
			s.remove(c, w) // a turn may be storing its edits by now: that goes on
		}
	}
	return err
}

// begin notes how the saving of a conversation is ended.
func (s *saver) begin(c *Conversation, cancel func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w := s.waiting[c]; w != nil {
		w.cancel = cancel
	} else {
		cancel() // it was given up
	}
}

// adopt gives a conversation what storing a snapshot of it has led to. Nothing is
// adopted while a turn is under way, nor when its edits have changed since: what the
// store is not known to have by then is queued again by [Conversation.Unlock].
func (s *saver) adopt(ctx context.Context, c *Conversation, snap *Snapshot, got synced) {
	was := snap.Conversation.Edits
	same := sameEdits(got.edits, was)
	if got.stored == snap.Stored && same || !c.tryLock(ctx) {
		return
	}
	defer c.Unlock()
	switch {
	case !begins(c.conv.Edits, was):
	case same:
		c.stored = max(c.stored, got.stored) // edits made since are still to come
	case len(c.conv.Edits) == len(was):
		c.take(got.edits, got.stored)
	}
}

// job is the storing of edits that somebody waits for, or has waited for.
type job struct {
	synced
	err    error
	done   chan struct{} // closed when the others are set
	cancel context.CancelFunc
}

// hurry stores messages and edits of a conversation while somebody waits. Who waits
// may give up: the work goes on, and the saver finds it done.
func (s *saver) hurry(st precis.Store, c *Conversation, t *precis.Transcript, edits []precis.Edit, stored int) *job {
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
		j.err = c.alone(ctx, func() (err error) {
			j.synced, err = c.sync(ctx, st, t, edits, stored)
			return err
		})
	})
	return j
}

// settle waits until conversations that wait now are stored, and those alone.
func (s *saver) settle(ctx context.Context, which func(*Conversation) bool) {
	s.mu.Lock()
	var asked []*Conversation
	for c, w := range s.waiting {
		if which(c) {
			s.take(w) // what is being written already is waited for
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
			s.soon(c)
		}
		if ctx.Err() == nil {
			s.again(c, err)
		}
		return
	}
}

// close ends the background work and writes what is left.
func (s *saver) close(ctx context.Context) error {
	s.once.Do(func() { close(s.stop) })
	done := make(chan struct{})
	go func() { s.work.Wait(); close(done) }()
	select {
	case <-done:
	case <-ctx.Done():
		s.cancel() // a store that does not answer is not waited for any longer
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
