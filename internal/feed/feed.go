// Package feed hands events to listeners and keeps the newest ones, so that a
// listener that was away gets what it missed. Start with [New].
package feed

import (
	"slices"
	"sync"

	"precis/internal/fair"
)

// Limits of a feed.
const (
	backlog   = 256 // events that wait for a listener at most
	listeners = 256 // that there are at most; of one owner [fair.Most] of them
	kept      = 512 // events for listeners that come back
)

// Numbered is an event with its number, from 1.
type Numbered[E any] struct {
	N     uint64
	Event E
	owner string
}

// Feed hands events to its listeners. It is safe for concurrent use. Listeners that
// do not keep up are dropped.
type Feed[E any] struct {
	mu     sync.Mutex
	seq    uint64
	closed bool
	recent []Numbered[E] // oldest first, at most kept
	all    map[*Listener[E]]bool
}

// Listener gets events until it is dropped.
type Listener[E any] struct {
	C     <-chan Numbered[E] // closed when the feed ends or the listener does not keep up
	ch    chan Numbered[E]
	wants func(E) bool
	owner string
	of    *Feed[E]
}

// New returns a feed.
func New[E any]() *Feed[E] { return &Feed[E]{all: map[*Listener[E]]bool{}} }

// Publish hands an event of an owner to the listeners that want it. It never waits. Of
// what is kept it displaces an event of the owner that has most.
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

// Listen adds a listener of an owner for the events that it wants: those after the number, as
// far as they are kept, and all that follow. After 0 it gets only what follows. It
// returns nil when there are too many listeners, of the owner or of all, or the feed is
// closed. A number that
// the feed has not reached, of a feed before it, counts as 0.
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

// Close ends all listeners. What happens later is not published.
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
