package effects

import (
	"sort"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/preview"
	"github.com/precis-dev/precis/internal/toolcall"
)

// FileFate is the outcome of the calls that changed a file.
type FileFate string

// The fates of files.
const (
	FileCreated  FileFate = "created"
	FileWritten  FileFate = "written"
	FileDeleted  FileFate = "deleted"
	FileReverted FileFate = "reverted" // as before the edits: git restored it
	FileRejected FileFate = "rejected" // the user refused a change; other changes may have succeeded
	FileFailed   FileFate = "failed"   // no change of it succeeded
	FileRead     FileFate = "read"
	FileUnknown  FileFate = "unknown" // the result of the newest change is missing or unclear
)

// FileState is the state of a file, or a change of it that the user refused.
type FileState struct {
	Handle precis.Handle `json:"handle"` // of the newest call that determined it
	Path   string        `json:"path"`
	State  FileFate      `json:"state"`
	Said   string        `json:"said,omitempty"` // the user's words with a refusal
	By     string        `json:"by,omitempty"`   // the command of git that caused this state: "git checkout"
	// Set if the file was moved. Its calls and edits before the move count for the new path.
	// its former path, or the pattern of files moved into this folder
	MovedFrom string `json:"moved_from,omitempty"`
	MovedTo   string `json:"moved_to,omitempty"` // its new path; the former path has the fate "deleted"
}

// CommandState is the newest run of a command, or a call that the user refused.
type CommandState struct {
	Handle precis.Handle `json:"handle"`
	Tool   string        `json:"tool,omitempty"` // of a refused call that is not a command
	// without a leading change of directory; of other tools the arguments
	Command string `json:"command"`
	// "ok", "failed" (also if refused by the result alone), "rejected", "interrupted" or "unknown"
	Outcome  string `json:"outcome"`
	ExitCode *int   `json:"exit_code,omitempty"`
	// the output line that best describes a failure, and the cause of a failed test
	Says     string `json:"says,omitempty"`
	Said     string `json:"said,omitempty"`      // the user's words with a refusal
	UndoneBy string `json:"undone_by,omitempty"` // the command of git that undid this commit
}

// FileStates returns the fates of the files, and the refused changes still in effect, in the order
// of the calls that determined them.
func (w *Reading) FileStates() []FileState {
	var out []FileState
	for _, f := range w.files.all {
		if f.State != "" {
			out = append(out, FileState{Handle: f.At, Path: f.Path, State: f.State, By: f.GitCommand,
				MovedFrom: f.MovedFrom, MovedTo: f.CurrentPath()})
		}
		if r := f.Refused; r != nil && !w.IsAllowed(r.Call) {
			out = append(out, FileState{Handle: r.At, Path: f.Path, State: FileRejected,
				Said: preview.Quote(r.personWords, 500)})
		}
	}
	sort.SliceStable(out, func(a, b int) bool {
		x, y := out[a].Handle, out[b].Handle
		return x.From < y.From || x.From == y.From && x.Block < y.Block
	})
	return out
}

// CommandStates returns the newest run of each command, and the refused calls that
// write no file and were not carried out later, in the order of the conversation.
func (w *Reading) CommandStates() []CommandState {
	newest := map[int]bool{}
	var runs byPlace[int]
	for i := range w.Calls {
		if c := &w.Calls[i]; c.Kind == toolcall.Command && !w.IsWaiting(i) {
			e, ran := runs.at(splitFolder(c.Line))
			if ran {
				delete(newest, e.is)
			}
			e.is, newest[i] = i, true
		}
	}
	var out []CommandState
	for i := range w.Calls {
		c, o := &w.Calls[i], w.Ends[i]
		if w.IsAllowed(i) {
			continue
		}
		s := CommandState{Handle: c.Use, Outcome: string(o.End), ExitCode: o.Code, Says: failureQuote(o),
			Said: preview.Quote(o.Said, 500), UndoneBy: w.CommitUndoneBy(i)}
		if o.Claimed {
			s.Outcome = string(toolcall.Failed)
		}
		switch line := CommandLine(c.Line); {
		case c.Kind == toolcall.Command && (newest[i] || o.End == toolcall.Rejected):
			s.Command = preview.Quote(line, 300)
		case o.End == toolcall.Rejected && c.Kind != toolcall.Write:
			s.Tool, s.Command = c.Name, preview.Quote(c.Given(), 300)
		default:
			continue
		}
		out = append(out, s)
	}
	return out
}

// failureQuote quotes the output's description of a failure.
func failureQuote(o toolcall.Outcome) string {
	line := preview.Quote(o.Line, 200)
	if o.Why != "" {
		line += "; " + preview.Quote(o.Why, 200)
	}
	return line
}
