// Package feed publishes events to listeners and buffers the newest ones for listeners that
// reconnect. Start with [New].
package feed

import (
	"slices"
	"sync"

	"github.com/precis-dev/precis/internal/fair"
)

// Limits of a feed.
const (
	backlog   = 256 // most pending events of a listener
	listeners = 256 // most listeners; [fair.Most] of them for one owner
	kept      = 512 // events buffered for listeners that reconnect
)

// Numbered is an event with its number, from 1.
type Numbered[E any] struct {
	N     uint64
	Event E
	owner string
}

// Feed publishes events to its listeners. It is safe for concurrent use. Listeners that are too
// slow are dropped.
type Feed[E any] struct {
	mu     sync.Mutex
	seq    uint64
	closed bool
	recent []Numbered[E] // oldest first, at most kept
	all    map[*Listener[E]]bool
}

// Listener receives events until it is dropped.
type Listener[E any] struct {
	C     <-chan Numbered[E] // closed when the feed ends or the listener is too slow
	ch    chan Numbered[E]
	wants func(E) bool
	owner string
	of    *Feed[E]
}

// New returns a feed.
func New[E any]() *Feed[E] { return &Feed[E]{all: map[*Listener[E]]bool{}} }

// Publish sends an event of an owner to the listeners that want it. It does not block. If the
// buffer is full, it drops an event of the owner with the most events.
func (f *Feed[E]) Publish(owner string, e E) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return
	}
	f.seq++
	n := Numbered[E]{f.seq, e, owner}
	if len(f.recent) == kept {
		i := fair.Oldest(f.recent, func(n Numbered[E]) string { return n.owner })
		f.recent = slices.Delete(f.recent, i, i+1)
	}
	f.recent = append(f.recent, n)
	for l := range f.all {
		if !l.wants(e) {
			continue
		}
		select {
		case l.ch <- n:
		default:
			f.drop(l)
		}
	}
}

// Listen adds a listener of an owner for the events that it wants: buffered ones after the number,
// then new ones. After 0 means only new ones; so does a number that the feed has not reached, from
// an earlier feed. It returns nil when there are too many listeners, of the owner or in all, or the
// feed is closed.
func (f *Feed[E]) Listen(owner string, after uint64, wants func(E) bool) *Listener[E] {
	f.mu.Lock()
	defer f.mu.Unlock()
	own := 0
	for l := range f.all {
		if l.owner == owner {
			own++
		}
	}
	if f.closed || len(f.all) >= listeners || own >= fair.Most(listeners) {
		return nil
	}
	ch := make(chan Numbered[E], backlog)
	l := &Listener[E]{C: ch, ch: ch, wants: wants, owner: owner, of: f}
	f.all[l] = true
	if after == 0 || after > f.seq {
		return l
	}
	missed := make([]Numbered[E], 0, backlog)
	for _, n := range f.recent {
		if n.N > after && wants(n.Event) {
			missed = append(missed, n)
		}
	}
	for _, n := range missed[max(len(missed)-backlog, 0):] {
		ch <- n
	}
	return l
}

// Close ends all listeners. Later events are not published.
func (f *Feed[E]) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	for l := range f.all {
		f.drop(l)
	}
}

// Leave ends the listener.
func (l *Listener[E]) Leave() {
	l.of.mu.Lock()
	defer l.of.mu.Unlock()
	if l.of.all[l] {
		l.of.drop(l)
	}
}

// drop ends a listener. The feed is locked.
func (f *Feed[E]) drop(l *Listener[E]) {
	delete(f.all, l)
	close(l.ch)
}
