package hook

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"time"

	"precis/internal/atomicfile"
	"precis/internal/filelock"
)

// state is what is remembered of a session between events.
type state struct {
	Compactions int             `json:"compactions"`
	Digest      string          `json:"digest,omitempty"`   // given after the newest compaction
	Summary     string          `json:"summary,omitempty"`  // the program's own
	Pending     string          `json:"pending,omitempty"`  // to be given at the next occasion
	Own         bool            `json:"own,omitempty"`      // the newest compaction was precis's: other hooks are silent
	Due         bool            `json:"due,omitempty"`      // the newest summary is still to be looked at
	Tried       int             `json:"tried,omitempty"`    // how often it was not there yet
	Offset      int64           `json:"offset,omitempty"`   // of the transcript, read so far
	Snapshot    string          `json:"snapshot,omitempty"` // a hash of the newest in it
	Edits       json.RawMessage `json:"edits,omitempty"`
}

// kept is how long a session that nobody goes on with is remembered.
const kept = 30 * 24 * time.Hour

func (c *call) statePath() string {
	return filepath.Join(c.o.State, "sessions", c.Host+"-"+short(c.input.Session)+".json")
}

// state returns what is remembered; the zero value when nothing is, or it is damaged.
func (c *call) state() (s state) {
	data, err := os.ReadFile(c.statePath())
	if err != nil || json.Unmarshal(data, &s) != nil {
		return state{}
	}
	return s
}

// Compactions returns how many compactions of a session the hooks have seen; 0 when they
// know nothing of it.
func Compactions(stateFolder, host, session string) int {
	c := call{Call: Call{Host: host}, o: Options{State: stateFolder}, input: input{Session: session}}
	return c.state().Compactions
}

// loadedFolder holds an empty file for each program that has loaded a module of precis, written anew each time.
const loadedFolder = "loaded"

// Loaded returns when a program last loaded a module by which precis is its compaction; the zero time: never.
func Loaded(stateFolder, host string) time.Time {
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

// update changes what is remembered. Hooks of one event run at the same time.
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
	c.waits(s.Pending != "" || s.Due)
	c.forget()
	return nil
}

// Names in the folder of what is remembered. Waiting is a folder with an empty file for each session
// that has something to be given or to be looked at: the commands of hooks that run at every
// call of a tool start precis only while it is there, which costs no process. Busy is a folder that such a command
// makes and precis removes: while it is there no other one starts.
const (
	waitingFolder = "waiting"
	busyFolder    = "busy"
)

// waits notes whether something waits in the session. What cannot be noted is not given.
func (c *call) waits(is bool) {
	path := filepath.Join(c.o.State, waitingFolder, c.Host+"-"+short(c.input.Session))
	if !is {
		_ = os.Remove(path)               // there was nothing else
		_ = os.Remove(filepath.Dir(path)) // not while others wait
		return
	}
	for range 3 { // another session may remove the empty folder
		if os.MkdirAll(filepath.Dir(path), 0o700) != nil || os.WriteFile(path, nil, 0o600) == nil {
			return
		}
	}
}

// try is update where the answer matters more than what is remembered: the journal says
// that it failed, and no more.
func (c *call) try(ctx context.Context, change func(*state)) {
	if c.update(ctx, change) != nil {
		c.entry.Why = "nothing could be remembered"
	}
}

// forget removes what was remembered of sessions long ago.
func (c *call) forget() {
	dir := filepath.Dir(c.statePath())
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && strings.HasSuffix(e.Name(), ".json") && c.o.Now().Sub(info.ModTime()) > kept {
			_ = os.Remove(filepath.Join(dir, e.Name())) // tried again with the next session
			_ = os.Remove(filepath.Join(c.o.State, waitingFolder, strings.TrimSuffix(e.Name(), ".json")))
		}
	}
}
