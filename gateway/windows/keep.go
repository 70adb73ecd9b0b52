package windows

import (
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"
	"time"

	"github.com/precis-dev/precis/internal/window"
)

// syncEvery is how often a replica reads the others' changes, and how long changes that are not
// urgent wait to be stored.
const syncEvery = 30 * time.Second

// keptWindows synchronizes the known windows with the store. Memory is authoritative: a failed read
// or write is retried later.
type keptWindows struct {
	syncing sync.Mutex   // held while the store is read and written
	read    atomic.Bool  // the store was read
	next    atomic.Int64 // when to sync again, in Unix nanoseconds

	// The following fields are guarded by Book.mu.
	dirty  map[string]bool   // rows that differ from the store
	rows   map[string]string // last known rows of the store, by key
	busy   bool              // a sync is in progress
	urgent bool              // another sync must follow it
	failed bool              // the last write failed
}

// Row keys begin with their kind.
const (
	shownRow  = "shown"
	servedRow = "served"
)

func (k Key) row() string       { return rowKey(shownRow, k.Upstream, k.Model, k.Owner, k.Betas) }
func (k servedKey) row() string { return rowKey(servedRow, k.upstream, k.model) }

func rowKey(parts ...string) string {
	key, _ := json.Marshal(parts) // strings always have a JSON form
	return string(key)
}

// note marks a row as changed. The lock must be held.
func (w *Book) note(row string) {
	if w.o.Store == nil {
		return
	}
	if w.kept.dirty == nil {
		w.kept.dirty = map[string]bool{}
	}
	w.kept.dirty[row] = true
}

// changed marks a row as changed and has it stored: at once if soon, else with later changes. The
// lock must be held.
func (w *Book) changed(row string, soon bool) {
	w.note(row)
	if soon || w.o.Now().UnixNano() >= w.kept.next.Load() {
		w.start()
	}
}

// readDue starts a sync if one is due.
func (w *Book) readDue() {
	k := &w.kept
	if w.o.Store == nil || !w.o.Shared && k.read.Load() || w.o.Now().UnixNano() < k.next.Load() {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.start()
}

// start starts a sync in the background. The lock must be held.
func (w *Book) start() {
	k := &w.kept
	if w.o.Store == nil {
		return
	}
	if k.busy {
		k.urgent = true
		return
	}
	k.busy = w.o.Background(func(ctx context.Context) {
		for again := true; again; {
			_ = w.Sync(ctx) // errors are logged, and the sync is retried
			w.mu.Lock()
			again = k.urgent
			k.urgent, k.busy = false, again
			w.mu.Unlock()
		}
	})
}

// Sync reads the changes of other replicas, if that is due, and stores its own.
func (w *Book) Sync(ctx context.Context) error {
	k := &w.kept
	if w.o.Store == nil {
		return nil
	}
	k.syncing.Lock()
	defer k.syncing.Unlock()
	k.next.Store(w.o.Now().Add(syncEvery).UnixNano())
	ctx, cancel := context.WithTimeout(ctx, w.o.Patience)
	defer cancel()
	err := w.exchange(ctx)
	w.mu.Lock()
	begins := err != nil && !k.failed
	k.failed = err != nil
	w.mu.Unlock()
	if begins {
		w.o.Logger.WarnContext(ctx, "the store does not keep what is known of windows; it stays in memory",
			"error", err)
	}
	return err
}

// exchange does the work of Sync. Only one call may run at a time.
func (w *Book) exchange(ctx context.Context) error {
	k := &w.kept
	if w.o.Shared || !k.read.Load() {
		rows, err := w.o.Store.LoadWindows(ctx)
		if err != nil {
			return err
		}
		w.merge(rows)
		k.read.Store(true)
	}
	states := w.unsaved()
	if len(states) == 0 {
		return nil
	}
	err := w.o.Store.SaveWindows(ctx, states)
	w.mu.Lock()
	defer w.mu.Unlock()
	for row, state := range states {
		switch {
		case err != nil:
			w.note(row)
		case state == nil:
			delete(k.rows, row)
		default:
			k.rows[row] = string(state)
		}
	}
	return err
}

// unsaved returns the rows to store, nil for rows to remove, and clears their dirty marks.
func (w *Book) unsaved() map[string][]byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	k := &w.kept
	states := map[string][]byte{}
	for row := range k.dirty {
		state := w.state(row)
		if _, stored := k.rows[row]; stored || state != nil {
			states[row] = state
		}
	}
	k.dirty = nil
	return states
}

// state returns the state of a row in memory, nil if it has none.
func (w *Book) state(row string) []byte {
	var state []byte
	switch key := parseRow(row).(type) {
	case Key:
		if e, ok := w.shown[key]; ok {
			state, _ = json.Marshal(e) // numbers and times always have a JSON form
		}
	case servedKey:
		if s, ok := w.served[key]; ok {
			state, _ = json.Marshal(s)
		}
	}
	return state
}

// parseRow returns the [Key] or [servedKey] of a row; nil for a row of another precis
// version.
func parseRow(row string) any {
	var parts []string
	if json.Unmarshal([]byte(row), &parts) != nil {
		return nil
	}
	switch {
	case len(parts) == 5 && parts[0] == shownRow:
		return Key{parts[1], parts[2], parts[3], parts[4]}
	case len(parts) == 3 && parts[0] == servedRow:
		return servedKey{parts[1], parts[2]}
	}
	return nil
}

// merge adopts the stored rows. A row that this replica had stored and that has disappeared was
// deleted by another replica, so it is deleted here as well.
func (w *Book) merge(rows map[string][]byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	k := &w.kept
	for row := range k.rows {
		if _, ok := rows[row]; ok {
			continue
		}
		delete(k.rows, row)
		delete(k.dirty, row)
		switch key := parseRow(row).(type) {
		case Key:
			delete(w.shown, key)
		case servedKey:
			delete(w.served, key)
		}
	}
	if k.rows == nil {
		k.rows = map[string]string{}
	}
	for row, state := range rows {
		was, known := k.rows[row]
		k.rows[row] = string(state)
		forgotten := k.dirty[row] && w.state(row) == nil
		if !forgotten && (!known || was != string(state)) {
			w.adopt(row, state)
		}
	}
}

// adopt merges a stored state into memory. It ignores states of other precis versions.
func (w *Book) adopt(row string, state []byte) {
	switch key := parseRow(row).(type) {
	case Key:
		var e window.Evidence
		if json.Unmarshal(state, &e) != nil {
			return
		}
		was, known := w.shown[key]
		e = was.Merge(e)
		if e.Idle(w.o.Now()) {
			delete(w.shown, key)
			break
		}
		if !known {
			w.roomForShown()
		}
		put(&w.shown, key, e)
	case servedKey:
		var s window.Served
		if json.Unmarshal(state, &s) != nil {
			return
		}
		was, known := w.served[key]
		if !known {
			w.roomForServed()
		}
		put(&w.served, key, was.Merge(s))
	default:
		return
	}
	if string(w.state(row)) != string(state) {
		w.note(row)
	}
}

func put[K comparable, V any](m *map[K]V, key K, v V) {
	if *m == nil {
		*m = map[K]V{}
	}
	(*m)[key] = v
}
