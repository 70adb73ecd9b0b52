package gateway

import (
	"context"
	"errors"
	"sync"
	"time"

	"precis"
)

// saver puts what was seen into the store, behind the requests: a client sends
// everything again with its next request, so nothing is lost with what was not
// written yet. Edits are not its business; they are in the store before a view
// with them is sent.
type saver struct {
	g    *Gateway
	wake chan struct{}
	stop chan struct{}
	done chan struct{}

	once    sync.Once
	writing sync.Mutex // held by whoever writes

	mu      sync.Mutex
	lines   []*held
	queued  map[*held]bool
	entries []entry
	models  map[string]*precis.Manager // whose calibration has changed
}

// entry is a line of an owner's ledger.
type entry struct {
	owner string
	line  precis.LedgerEntry
}

// maxEntries is how many ledger lines wait at most; more are dropped, and said.
const maxEntries = 10_000

func newSaver(g *Gateway) *saver {
	s := &saver{
		g: g, wake: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{}),
		queued: map[*held]bool{}, models: map[string]*precis.Manager{},
	}
	go s.run()
	return s
}

// answered queues the conversation of a request and what the request cost.
func (s *saver) answered(t *turn) {
	if s.g.o.Store == nil || t.held.purged.Load() {
		return
	}
	s.mu.Lock()
	if !s.queued[t.held] {
		s.queued[t.held] = true
		s.lines = append(s.lines, t.held)
	}
	if t.answer.Input > 0 {
		s.models[t.found.Prompt.Model] = t.mgr
		if len(s.entries) < maxEntries {
			s.entries = append(s.entries, entry{t.owner, precis.LedgerEntry{
				Time: s.g.o.Now(), Conversation: t.found.Line.ID, Model: t.found.Prompt.Model, Kind: "request",
				Before: t.before, After: t.report.After.Tokens, Usage: t.answer.Usage,
				CostUSD: s.g.o.Cost(t.dialect.Name(), t.found.Prompt.Model, t.answer.Usage),
			}})
		}
	}
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// gather is how long the saver lets turns gather before it writes again, so that
// busy conversations are written once for several; pause is how long it waits
// after something failed.
const (
	gather = 250 * time.Millisecond
	pause  = time.Second
)

func (s *saver) run() {
	defer close(s.done)
	for {
		select {
		case <-s.stop:
			return
		case <-s.wake:
		}
		wait := gather
		ok := s.flush(s.g.ctx)
		if !ok {
			wait = pause
		}
		select {
		case <-s.stop:
			return
		case <-time.After(wait):
		}
		if !ok { // what failed is tried again
			select {
			case s.wake <- struct{}{}:
			default:
			}
		}
	}
}

// flush writes everything queued. What fails stays queued.
func (s *saver) flush(ctx context.Context) bool {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.mu.Lock()
	lines, entries, models := s.lines, s.entries, s.models
	s.lines, s.entries, s.queued, s.models = nil, nil, map[*held]bool{}, map[string]*precis.Manager{}
	s.mu.Unlock()
	ok := true
	for _, h := range lines {
		if err := s.save(ctx, h); err != nil {
			ok = false
			s.again(h, err)
		}
	}
	for i, e := range entries {
		l, can := s.g.store(e.owner).(precis.Ledger)
		if !can {
			continue
		}
		if err := l.Book(ctx, e.line); err != nil {
			ok = false
			s.g.o.Logger.WarnContext(ctx, "a request is not in the ledger yet", "error", err)
			s.mu.Lock()
			s.entries = append(entries[i:len(entries):len(entries)], s.entries...)
			s.mu.Unlock()
			break
		}
	}
	for model, mgr := range models {
		if err := mgr.With(s.g.o.Store).SaveCalibration(ctx, model); err != nil {
			s.g.o.Logger.WarnContext(ctx, "calibration is not stored", "model", model, "error", err)
		}
	}
	return ok
}

// again queues a conversation whose saving failed.
func (s *saver) again(h *held, err error) {
	h.fails++
	if h.fails == 1 || h.fails%60 == 0 {
		s.g.o.Logger.WarnContext(s.g.ctx, "a conversation is not stored yet", "conversation", h.line.ID, "error", err)
	}
	if s.g.table.Line(h.owner, h.line.ID) != h.line {
		s.g.o.Logger.WarnContext(s.g.ctx, "a conversation that could not be stored is dropped for want of memory", "conversation", h.line.ID)
		return // its client sends it again
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.queued[h] {
		s.queued[h] = true
		s.lines = append(s.lines, h)
	}
}

// save stores the messages of a conversation that are new, and its record.
func (s *saver) save(ctx context.Context, h *held) error {
	st := s.g.store(h.owner)
	if st == nil || h.purged.Load() {
		return nil
	}
	t := h.line.Transcript
	msgs := t.Messages()
	if h.saved < len(msgs) {
		_, err := st.Append(ctx, t.Fingerprint(h.saved), msgs[h.saved:]...)
		if precis.CodeOf(err) == precis.CodeNotFound && h.saved > 0 { // purged meanwhile
			_, err = st.Append(ctx, precis.Fingerprint{}, msgs...)
		}
		if err != nil && precis.CodeOf(err) != precis.CodeInvalid { // what cannot be stored never can
			return err
		}
		h.saved = len(msgs)
	}
	h.fails = 0
	c, ok := st.(precis.Catalog)
	if now := s.g.table.Line(h.owner, h.line.ID); !ok || now != nil && now != h.line {
		return nil // its client has rewritten it since; the newer form has the record
	}
	return c.PutConversation(ctx, h.recordNow())
}

// close ends the saver and writes what is left.
func (s *saver) close(ctx context.Context) error {
	s.once.Do(func() { close(s.stop) })
	select {
	case <-s.done:
	case <-ctx.Done():
		s.g.cancel() // a store that does not answer is not waited for any longer
		<-s.done
	}
	if s.g.o.Store != nil && !s.flush(ctx) {
		return precis.Errorf(precis.CodeInternal, "close gateway", "not everything could be stored: %w", errors.New("see the log"))
	}
	return nil
}
