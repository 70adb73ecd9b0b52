// Package sessions finds the conversations that agent programs have recorded on this
// machine, lists them, and hands each to the verbs of package conversation. [Open] a
// [Library] over some [Places]; [Library.Refresh] reads what is new or was changed,
// [Library.List], [Library.Find] and [Library.Search] answer from an index.
//
// The recordings are the truth; the index in the cache folder only remembers what was
// read of each, by path, size and time, and is made anew when it is missing, damaged,
// or of another version. Nothing here writes to a recording but [Repair], when asked.
// Symbolic links inside a place are followed within the user's home; [Library.Unread] lists
// what could not be read.
package sessions

import (
	"time"

	"precis/archive"
)

// Session is one recorded conversation, as it is listed.
type Session struct {
	ID      string `json:"id"`    // as its program names it; that of the file where it does not
	Agent   string `json:"agent"` // the program: "claude-code"
	Format  string `json:"format"`
	Path    string `json:"path"` // to give to recording.Open
	Project string `json:"project,omitempty"`
	Title   string `json:"title,omitempty"`
	Model   string `json:"model,omitempty"`
	Parent  string `json:"parent,omitempty"` // ID of the session that began it
	State   State  `json:"state"`
	Problem string `json:"problem,omitempty"` // why it is [Unreadable], or what is wrong with it

	Size     int64     `json:"size"` // bytes
	Modified time.Time `json:"modified"`
	Begun    time.Time `json:"begun,omitzero"`
	Last     time.Time `json:"last"` // the newest message, else the file's time

	Messages      int            `json:"messages"`
	Hidden        int            `json:"hidden"`           // of these, by condensations of its own program
	Turns         int            `json:"turns"`            // of the user
	Tokens        int            `json:"tokens"`           // of all messages, by the measure of View
	View          int            `json:"view"`             // tokens of what its program would send now
	Window        int            `json:"window,omitempty"` // tokens, as its program recorded it; 0: it did not
	Condensations int            `json:"condensations"`
	Lost          int            `json:"lost"` // tokens that its condensations hide
	Inside        []Inside       `json:"inside,omitempty"`
	Tools         map[string]int `json:"tools,omitempty"` // calls by tool
	Failures      int            `json:"failures"`        // results marked as errors
	Skipped       int            `json:"skipped"`         // malformed lines

	Spent []archive.Spend `json:"spent,omitempty"`
	Cost  float64         `json:"cost_usd"`
	// Estimated says that Cost, or part of it, was worked out from the catalog's prices.
	Estimated bool `json:"cost_estimated,omitempty"`

	row      int64             // of its file in the index, which changes when the file is read again
	requests []archive.Request // while it is read; the index keeps them apart
}

// Inside is a conversation that a recording holds besides its own: a sub-agent's, or a
// path that was left.
type Inside struct {
	ID       string `json:"id"`
	Messages int    `json:"messages"`
}

// State says how a session stands.
type State string

const (
	Answered    State = "answered"    // the model had the last word
	Interrupted State = "interrupted" // a tool use has no result, or the user no answer
	Completed   State = "completed"   // the program says so
	Unreadable  State = "unreadable"  // see Session.Problem
)

// used returns when a session was used last.
func (s *Session) used() time.Time {
	if s.Last.IsZero() {
		return s.Modified
	}
	return s.Last
}
