package hook

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/precis-dev/precis/internal/atomicfile"
	"github.com/precis-dev/precis/internal/filelock"
)

// state is the stored state of a session between events.
type state struct {
	Compactions int    `json:"compactions"`
	Digest      string `json:"digest,omitempty"`  // given after the newest compaction
	Summary     string `json:"summary,omitempty"` // the program's own; for Claude Code its hash
	Pending     string `json:"pending,omitempty"` // to be given at the next occasion
	// precis made the newest compaction: other hooks are silent
	Own      bool            `json:"own,omitempty"`
	Due      bool            `json:"due,omitempty"`      // the newest summary is not checked yet
	Tried    int             `json:"tried,omitempty"`    // number of attempts that did not find it
	Offset   int64           `json:"offset,omitempty"`   // end of the part of the transcript that was read
	Snapshot string          `json:"snapshot,omitempty"` // hash of the newest snapshot in it
	Edits    json.RawMessage `json:"edits,omitempty"`
}

// kept is how long the state of an idle session is stored.
const kept = 30 * 24 * time.Hour

func (c *call) statePath() string {
	return filepath.Join(c.o.State, "sessions", c.Host+"-"+sessionHash(c.input.Session)+".json")
}

// state returns the stored state; the zero value if it is missing or damaged.
func (c *call) state() (s state) {
	data, err := os.ReadFile(c.statePath())
	if err != nil || json.Unmarshal(data, &s) != nil {
		return state{}
	}
	return s
}

// Compactions returns how many compactions of a session the hooks have seen; 0 for an unknown
// session.
func Compactions(stateFolder, host, session string) int {
	c := call{Call: Call{Host: host}, o: Options{State: stateFolder}, input: input{Session: session}}
	return c.state().Compactions
}

// loadedFolder holds an empty file for each program that has loaded a module of precis. Each load
// writes the file anew.
const loadedFolder = "loaded"

// LastLoaded returns when a program last loaded precis's compaction module; the zero time: never.
func LastLoaded(stateFolder, host string) time.Time {
	info, err := os.Stat(filepath.Join(stateFolder, loadedFolder, host))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

func markLoaded(stateFolder, host string) error {
	path := filepath.Join(stateFolder, loadedFolder, host)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, nil, 0o600)
}

// update changes the stored state. Hooks of one event may run concurrently.
func (c *call) update(ctx context.Context, change func(*state)) error {
	if c.input.Session == "" {
		return errNothing("the session has no name")
	}
	path := c.statePath()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return errNothing("its folder cannot be made")
	}
	unlock, err := filelock.Own(ctx, path)
	if err != nil {
		return err
	}
	defer unlock()
	s := c.state()
	change(&s)
	if err := atomicfile.Write(path, line(s)); err != nil {
		return err
	}
	c.recordWaiting(s.Pending != "" || s.Due)
	c.forget()
	return nil
}

// Folders in the state folder. Waiting has an empty file for each session with pending text or an
// unchecked summary. The hook commands that run after every tool call start precis only if this
// folder exists; the check needs no process. Busy is a lock: such a command creates it and precis
// removes it, and while it exists no second command starts precis.
const (
	waitingFolder = "waiting"
	busyFolder    = "busy"
)

// recordWaiting records whether the session has work waiting. On a write error the text is not given.
func (c *call) recordWaiting(is bool) {
	path := filepath.Join(c.o.State, waitingFolder, c.Host+"-"+sessionHash(c.input.Session))
	if !is {
		_ = os.Remove(path)               // fails if no work was recorded
		_ = os.Remove(filepath.Dir(path)) // fails while other sessions wait
		return
	}
	for range 3 { // another session may remove the empty folder
		if os.MkdirAll(filepath.Dir(path), 0o700) != nil || os.WriteFile(path, nil, 0o600) == nil {
			return
		}
	}
}

// tryUpdate is update for calls with an answer that is worth more than the state: it only notes a failure
// in the journal.
func (c *call) tryUpdate(ctx context.Context, change func(*state)) {
	if c.update(ctx, change) != nil {
		c.entry.Why = "nothing could be remembered"
	}
}

// forget removes the state of old sessions.
func (c *call) forget() {
	dir := filepath.Dir(c.statePath())
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && strings.HasSuffix(e.Name(), ".json") && c.o.Now().Sub(info.ModTime()) > kept {
			_ = os.Remove(filepath.Join(dir, e.Name())) // after an error the next session tries again
			_ = os.Remove(filepath.Join(c.o.State, waitingFolder, strings.TrimSuffix(e.Name(), ".json")))
		}
	}
}
