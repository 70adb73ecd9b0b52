package gateway

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"precis/internal/window"
	"precis/store"
)

// syncEvery is how often a replica looks what others have stored, and how long what is
// not urgent waits to be stored.
const syncEvery = 30 * time.Second

// keptWindows is what is known of windows as the store has it. Memory is first: what
// cannot be read or written now is read or written later.
type keptWindows struct {
	store    store.Windows // nil: what is known ends with the process
	shared   bool          // other replicas write there, too
	patience time.Duration // how long somebody waits for the store
	log      *slog.Logger

	syncing sync.Mutex   // held while the store is read and written
	read    atomic.Bool  // the store was read
	next    atomic.Int64 // when to look there again, in Unix nanoseconds

	// The books, guarded by windows.mu.
	dirty  map[string]bool   // rows that the store does not have as they are
	rows   map[string]string // states in the store, by key, as far as known
	busy   bool              // somebody is on the way to the store
	urgent bool              // and is to go once more
	failed bool              // the store did not take the last states
}

// Keys of rows begin with what they are about.
const (
	shownRow  = "shown"
	servedRow = "served"
)

func (k windowKey) row() string { return rowKey(shownRow, k.upstream, k.model, k.owner, k.betas) }
func (k servedKey) row() string { return rowKey(servedRow, k.upstream, k.model) }

func rowKey(parts ...string) string {
	key, _ := json.Marshal(parts) // strings have a JSON form
	return string(key)
}

// note takes down that a row has changed.
func (k *keptWindows) note(row string) {
	if k.store == nil {
		return
	}
	if k.dirty == nil {
		k.dirty = map[string]bool{}
	}
	k.dirty[row] = true
}

// changed has a row stored: at once when that is to be soon, else with what comes
// later. The lock must be held.
func (w *windows) changed(row string, soon bool) {
	w.kept.note(row)
	if soon || w.now().UnixNano() >= w.kept.next.Load() {
		w.start()
	}
}

// readDue has the store read when that is due.
func (w *windows) readDue() {
	k := &w.kept
	if k.store == nil || !k.shared && k.read.Load() || w.now().UnixNano() < k.next.Load() {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.start()
}

// start has somebody go to the store. The lock must be held.
func (w *windows) start() {
	k := &w.kept
	if k.store == nil {
		return
	}
	if k.busy {
		k.urgent = true
		return
	}
	k.busy = w.background(func(ctx context.Context) {
		for again := true; again; {
			_ = w.sync(ctx) // it is logged, and comes again
			w.mu.Lock()
			again = k.urgent
			k.urgent, k.busy = false, again
			w.mu.Unlock()
		}
	})
}

// sync reads what others have stored, where that is due, and stores what is new here.
func (w *windows) sync(ctx context.Context) error {
	k := &w.kept
	if k.store == nil {
		return nil
	}
	k.syncing.Lock()
	defer k.syncing.Unlock()
	k.next.Store(w.now().Add(syncEvery).UnixNano())
	ctx, cancel := context.WithTimeout(ctx, k.patience)
	defer cancel()
	err := w.exchange(ctx)
	w.mu.Lock()
	begins := err != nil && !k.failed
	k.failed = err != nil
	w.mu.Unlock()
	if begins {
		k.log.WarnContext(ctx, "the store does not keep what is known of windows; it stays in memory", "error", err)
	}
	return err
}

// exchange does what sync says, and may be called by one at a time.
func (w *windows) exchange(ctx context.Context) error {
	k := &w.kept
	if k.shared || !k.read.Load() {
		rows, err := k.store.LoadWindows(ctx)
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
	err := k.store.SaveWindows(ctx, states)
	w.mu.Lock()
	defer w.mu.Unlock()
	for row, state := range states {
		switch {
		case err != nil:
			k.note(row)
		case state == nil:
			delete(k.rows, row)
		default:
			k.rows[row] = string(state)
		}
	}
	return err
}

// unsaved returns the rows that are to be stored, nil for those that are to be removed,
// and takes them out of the books.
func (w *windows) unsaved() map[string][]byte {
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

// state returns the state of a row as memory has it, nil for none.
func (w *windows) state(row string) []byte {
	var state []byte
	switch key := parseRow(row).(type) {
	case windowKey:
		if e, ok := w.shown[key]; ok {
			state, _ = json.Marshal(e) // numbers and times
		}
	case servedKey:
		if s, ok := w.served[key]; ok {
			state, _ = json.Marshal(s)
		}
	}
	return state
}

// parseRow returns the [windowKey] or [servedKey] of a row; nil when it is none of this
// version of precis.
func parseRow(row string) any {
	var parts []string
	if json.Unmarshal([]byte(row), &parts) != nil {
		return nil
	}
	switch {
	case len(parts) == 5 && parts[0] == shownRow:
		return windowKey{parts[1], parts[2], parts[3], parts[4]}
	case len(parts) == 3 && parts[0] == servedRow:
		return servedKey{parts[1], parts[2]}
	}
	return nil
}

// merge takes over what is stored. What this replica had stored and is not there any
// more, another one has forgotten.
func (w *windows) merge(rows map[string][]byte) {
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
		case windowKey:
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

// adopt adds a stored state to what is known. What is of another version of precis is
// left as it is.
func (w *windows) adopt(row string, state []byte) {
	switch key := parseRow(row).(type) {
	case windowKey:
		var e window.Evidence
		if json.Unmarshal(state, &e) != nil {
			return
		}
		was, known := w.shown[key]
		e = was.Merge(e)
		if e.Idle(w.now()) {
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
		w.kept.note(row)
	}
}

func put[K comparable, V any](m *map[K]V, key K, v V) {
	if *m == nil {
		*m = map[K]V{}
	}
	(*m)[key] = v
}
