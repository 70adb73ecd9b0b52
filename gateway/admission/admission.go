// Package admission bounds the load of a gateway: the number of requests in progress, in all and
// per owner; the bytes of their bodies; how long a body may take to arrive; and how long a client
// may leave an answer unread. Make a [Limiter] with [New].
package admission

import (
	"sync"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/fair"
)

// Limits are the limits of a gate. All must be positive.
type Limits struct {
	Requests int   // answered at a time, and as many passed through
	Body     int64 // bytes of one body, uncompressed
	Memory   int64 // roughly, the bytes that all requests in progress may use
}

// Limiter counts the requests in progress. It is safe for concurrent use.
type Limiter struct {
	limits Limits
	memory memory
	kinds  [kinds]pool
}

// Kind is a kind of request with a limit of its own, so that one kind cannot use up the room of
// another.
type Kind int

// Kinds of requests.
const (
	Turns   Kind = iota // they are answered
	Passing             // they are passed through
	Bodies              // their bodies are being read: four times as many, because that costs little
	kinds   = 3
)

// Share is the part of the places of a kind that one owner may use.
const Share = fair.Share

// New returns a gate.
func New(l Limits) *Limiter {
	g := &Limiter{limits: l, memory: memory{limit: l.Memory}}
	for k := range g.kinds {
		n := l.Requests
		if Kind(k) == Bodies {
			n *= 4
		}
		g.kinds[k] = pool{all: n, each: n - int(float64(n)*(1-Share)), of: map[string]int{}}
	}
	return g
}

var errBusy = precis.Errorf(precis.CodeUpstream, "accept request", "too many requests are under way")

// BusyError is the error for a request without room. The client should retry a little later. It is
// [precis.CodeUpstream].
type BusyError struct{ error }

// Unwrap returns the reason.
func (b BusyError) Unwrap() error { return b.error }

// Enter takes a place for a request of an owner; leave releases it and may be called more than
// once. The error is [BusyError].
func (g *Limiter) Enter(k Kind, owner string) (leave func(), err error) {
	p := &g.kinds[k]
	if !p.enter(owner) {
		return nil, BusyError{errBusy}
	}
	return sync.OnceFunc(func() { p.leave(owner) }), nil
}

// Full reports whether the next request of a new owner would be refused.
func (g *Limiter) Full() bool {
	return g.kinds[Turns].full() || g.kinds[Bodies].full() || g.memory.full()
}

// Active returns the number of requests in progress, of all kinds.
func (g *Limiter) Active() int {
	n := 0
	for k := range g.kinds {
		n += g.kinds[k].used()
	}
	return n
}

// pool is a limited number of places.
type pool struct {
	all, each int // most places, in all and per owner

	mu    sync.Mutex
	taken int
	of    map[string]int // by owner
}

func (p *pool) enter(owner string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.taken >= p.all || p.of[owner] >= p.each {
		return false
	}
	p.taken++
	p.of[owner]++
	return true
}

func (p *pool) leave(owner string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.taken--
	if p.of[owner]--; p.of[owner] == 0 {
		delete(p.of, owner)
	}
}

func (p *pool) full() bool { return p.used() >= p.all }

func (p *pool) used() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.taken
}

// memory tracks the bytes used by requests in progress.
type memory struct {
	limit int64

	mu    sync.Mutex
	taken int64
	freed chan struct{} // closed when memory is released; nil: no request waits
}

// free is what each request may use even when memory is full, so that large requests do not block
// small ones.
const free = 512 << 10

// patience is how long a request waits for room.
const patience = 5 * time.Second

// take reserves n more bytes for a request that has some already. It waits for at most patience.
func (m *memory) take(done <-chan struct{}, has, n int64) bool {
	var timeout <-chan time.Time
	for {
		m.mu.Lock()
		if has+n <= free || m.taken+n <= m.limit {
			m.taken += n
			m.mu.Unlock()
			return true
		}
		if m.freed == nil {
			m.freed = make(chan struct{})
		}
		freed := m.freed
		m.mu.Unlock()
		if timeout == nil {
			timeout = time.After(patience)
		}
		select {
		case <-freed:
		case <-done:
			return false
		case <-timeout:
			return false
		}
	}
}

func (m *memory) give(n int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.taken -= n
	if m.freed != nil {
		close(m.freed)
		m.freed = nil
	}
}

func (m *memory) full() bool { return m.used() >= m.limit }

func (m *memory) used() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.taken
}
