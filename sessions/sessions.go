// Package sessions answers: which conversations have agent programs recorded on this machine? It
// finds them, lists them, and makes each available to the verbs of package conversation. [Open] a
// [Library] over some [Places]; [Library.Refresh] reads new and changed files; [Library.List],
// [Library.Find] and [Library.Search] answer from an index.
//
// The index in the cache folder only caches recordings by path, size and time. It is rebuilt if it
// is missing, damaged, or of another version. Only [Repair] writes to recordings, on request.
// Symbolic links inside a place are followed within the user's home. [Library.Unread] lists files
// that could not be read.
package sessions

import (
	"time"

	"github.com/precis-dev/precis/archive"
)

// Session is one recorded conversation in a list.
type Session struct {
	ID      string `json:"id"`    // by its program, else the name of the file
	Agent   string `json:"agent"` // the program: "claude-code"
	Format  string `json:"format"`
	Path    string `json:"path"` // the argument of recording.Open
	Project string `json:"project,omitempty"`
	Title   string `json:"title,omitempty"`
	Model   string `json:"model,omitempty"`
	Parent  string `json:"parent,omitempty"` // ID of the session that began it
	State   State  `json:"state"`
	Problem string `json:"problem,omitempty"` // the reason why it is [Unreadable], or a defect

	Size     int64     `json:"size"` // bytes
	Modified time.Time `json:"modified"`
	Begun    time.Time `json:"begun,omitzero"`
	Last     time.Time `json:"last"` // the newest message, else the file's time

	Messages int `json:"messages"`
	// messages hidden by condensations of its own program
	Hidden        int            `json:"hidden"`
	Turns         int            `json:"turns"`            // user turns
	Tokens        int            `json:"tokens"`           // of all messages, counted as in View
	View          int            `json:"view"`             // tokens that its program would send now
	Window        int            `json:"window,omitempty"` // tokens, as recorded; 0: not recorded
	Condensations int            `json:"condensations"`
	Lost          int            `json:"lost"` // tokens that its condensations hide
	Inside        []Inside       `json:"inside,omitempty"`
	Tools         map[string]int `json:"tools,omitempty"` // calls by tool
	Failures      int            `json:"failures"`        // results marked as errors
	Skipped       int            `json:"skipped"`         // malformed lines

	Spent []archive.ModelUsage `json:"spent,omitempty"`
	Cost  float64              `json:"cost_usd"`
	// Estimated says that at least a part of Cost was computed from the catalog's prices.
	Estimated bool `json:"cost_estimated,omitempty"`

	row      int64             // of its file in the index; it changes when the file is read again
	requests []archive.Request // only while it is read; the index stores them separately
}

// Inside is a further conversation in a recording: of a sub-agent, or an abandoned path.
type Inside struct {
	ID       string `json:"id"`
	Messages int    `json:"messages"`
}

// State is the state of a session.
type State string

const (
	Answered    State = "answered"    // the last message is the model's
	Interrupted State = "interrupted" // a tool use has no result, or a user message no answer
	Completed   State = "completed"   // marked so by the program
	Unreadable  State = "unreadable"  // see Session.Problem
)

// used returns the time of a session's last use.
func (s *Session) used() time.Time {
	if s.Last.IsZero() {
		return s.Modified
	}
	return s.Last
}
