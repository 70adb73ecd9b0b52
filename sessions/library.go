package sessions

import (
	"context"
	"runtime"
	"sync"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/models"
	"github.com/precis-dev/precis/policy"
)

// Options are the parts of a [Library]. Places and Counter are required.
type Options struct {
	Places []Place
	// Index is the path of the cache of read recordings; "": the index is in memory.
	Index   string
	Manager *policy.Manager // counts the tokens of sessions
	// Prices returns the prices of a model, for sessions with recorded usage but no cost. Nil: such
	// sessions have no cost.
	Prices func(model string) models.Prices
	// Open opens the recording at a path for verbs. Nil: Look returns [precis.CodeInvalid].
	Open func(ctx context.Context, path string) (Home, error)
	// Progress is called while recordings are read, with their number so far and in total, from one
	// goroutine at a time. Nil: no calls.
	Progress func(done, total int)
	// Window returns the context window of a model, for lists of conversations. Recorded is the
	// window in tokens that the recording names; 0: it names none. Nil: always the recorded one.
	Window  func(model string, recorded int) precis.Window
	Workers int // goroutines that read recordings; 0: one per processor, at most 8
}

// Home is the home of one recorded conversation.
type Home interface {
	conversation.Home
	ID() string
}

// Library holds the recorded conversations in some places. It is safe for concurrent use, and
// several processes may share an index.
type Library struct {
	o     Options
	index *index
	read  reader

	refreshing sync.Mutex // held while places are walked
	texting    sync.Mutex // held while words are indexed, which may take minutes

	mu       sync.Mutex // guards the following fields
	open     []opened   // homes, the last used at the end
	resolved []string   // see roots
	unread   []Unread   // from the last refresh, without those in the index
}

// Open opens a library. A damaged index or one of another version is rebuilt. The error is
// [precis.CodeInternal] if the index cannot be written.
func Open(ctx context.Context, o Options) (*Library, error) {
	if o.Workers <= 0 {
		o.Workers = min(runtime.GOMAXPROCS(0), 8)
	}
	made := version // also depends on the token counter
	if o.Manager != nil {
		made += "/" + o.Manager.NewMeter().Name()
	}
	x, err := openIndex(ctx, o.Index, made)
	if err != nil {
		return nil, err
	}
	l := &Library{o: o, index: x, read: reader{manager: o.Manager, prices: o.Prices}}
	l.resolve()
	return l, nil
}

// Close closes the index.
func (l *Library) Close() error { return l.index.close() }

// Refreshed is the result of [Library.Refresh].
type Refreshed struct {
	Sessions int `json:"sessions"` // number of sessions now
	Read     int `json:"read"`     // new and changed files
	Gone     int `json:"gone"`     // sessions with a deleted file
}

// Refresh updates the index from the files of all places. The error is [precis.CodeCanceled] when
// ctx ends, after storing all files read so far, or [precis.CodeInternal] if the index cannot be
// written.
func (l *Library) Refresh(ctx context.Context) (Refreshed, error) {
	l.refreshing.Lock()
	defer l.refreshing.Unlock()
	l.resolve()
	files, unread, err := walk(ctx, l.o.Places)
	if err != nil {
		return Refreshed{}, err
	}
	known, err := l.index.stamps(ctx)
	if err != nil {
		return Refreshed{}, err
	}
	var changed []found
	for _, f := range files {
		if known[f.path] != (stamp{f.size, f.stamp()}) {
			changed = append(changed, f)
		}
		delete(known, f.path)
	}
	gone, err := l.index.forget(ctx, l.within(known))
	if err != nil {
		return Refreshed{}, err
	}
	l.mu.Lock()
	l.unread = unread
	l.mu.Unlock()
	if err := l.readAll(ctx, changed); err != nil {
		return Refreshed{}, err
	}
	n, err := l.index.count(ctx)
	return Refreshed{Sessions: n, Read: len(changed), Gone: gone}, err
}

// within returns the indexed paths that are in a place of this library, because libraries over
// other places may share the index.
func (l *Library) within(known map[string]stamp) []string {
	var out []string
	for path := range known {
		for _, root := range l.roots() {
			if under(path, root) {
				out = append(out, path)
				break
			}
		}
	}
	return out
}

// batch is how many recordings are written to the index at once.
const batch = 64

// readAll reads files and stores them in the index.
func (l *Library) readAll(ctx context.Context, files []found) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	todo, done := make(chan found), make(chan entry)
	var readers sync.WaitGroup
	for range min(l.o.Workers, len(files)) {
		readers.Go(func() {
			for f := range todo {
				s, u := l.read.read(f)
				select {
				case done <- entry{found: f, session: s, unread: u}:
				case <-ctx.Done():
				}
			}
		})
	}
	go func() {
		defer close(done)
		defer readers.Wait()
		defer close(todo)
		for _, f := range files {
			select {
			case todo <- f:
			case <-ctx.Done():
				return
			}
		}
	}()
	return l.keep(ctx, done, len(files))
}

// keep writes entries to the index in batches. It drains the channel even after an error.
func (l *Library) keep(ctx context.Context, done <-chan entry, total int) (err error) {
	var some []entry
	n := 0
	for e := range done {
		if n++; e.unread.Why.isPermanent() {
			some = append(some, e)
		} else {
			l.mu.Lock()
			l.unread = append(l.unread, e.unread)
			l.mu.Unlock()
		}
		if l.o.Progress != nil {
			l.o.Progress(n, total)
		}
		if len(some) >= batch && err == nil {
			err = l.index.put(context.WithoutCancel(ctx), some)
			some = nil
		}
	}
	if len(some) > 0 && err == nil {
		err = l.index.put(context.WithoutCancel(ctx), some)
	}
	if err == nil && n < total {
		return precis.Errorf(precis.CodeCanceled, "find sessions", "%w", context.Cause(ctx))
	}
	return err
}

// Recording reads a session's recording.
func (l *Library) Recording(s *Session) (*archive.Recording, error) { return open(s.Path) }
