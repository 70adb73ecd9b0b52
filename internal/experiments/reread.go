package experiments

import (
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/toolcall"
)

// callHistory knows the calls of a conversation and their positions.
type callHistory struct {
	t     *precis.Transcript
	edits []precis.Edit
	calls []toolcall.Call
}

func newWitness(conv *precis.Conversation) callHistory {
	return callHistory{conv.Transcript, conv.Edits, toolcall.Find(conv.Transcript.Messages())}
}

// rereads counts the messages after a run up to the given number, and the calls in them that
// request again results it hid, and results it left in the view; see [Outcome.After].
func (w callHistory) rereads(r *condensingRun, until int) (after, hidden, shown int) {
	from := min(max(r.edits[0].Seen, 0), w.t.Len())
	to := min(from+Following, until, w.t.Len())
	if from >= to {
		return 0, 0, 0
	}
	known := w.knownResults(r, from)
	for _, c := range w.calls {
		if c.Use.From < from || c.Use.From >= to {
			continue
		}
		target := targetOf(c)
		if left, ok := known[target]; ok {
			if left {
				shown++
			} else {
				hidden++
			}
			delete(known, target)
		}
		expire(known, c)
	}
	return to - from, hidden, shown
}

// knownResults records each file and command with a result in the view before or after a run: true if the
// result was left in the view, false if the run hid it.
func (w callHistory) knownResults(r *condensingRun, seen int) map[string]bool {
	t := w.t.Prefix(seen)
	before := w.edits[:r.first:r.first]
	was, alone, is := precis.ShownBy(t, before), precis.ShownBy(t,
		append(before, r.edits...)), precis.ShownBy(t, w.edits[:r.last+1])
	known := map[string]bool{}
	for _, c := range w.calls {
		target := targetOf(c)
		if target == "" || len(c.Results) == 0 || c.Results[0].From >= seen {
			continue
		}
		if is.Whole(c.Results) {
			known[target] = true
		} else if !known[target] && was.Whole(c.Results) && !alone.Whole(c.Results) {
			known[target] = false
		}
	}
	return known
}

const (
	soughtFile = "file "
	soughtCall = "call "
)

// targetOf returns the file or command of a call; "" when it neither reads nor runs one.
func targetOf(c toolcall.Call) string {
	switch {
	case c.Kind == toolcall.Read && c.Path != "":
		return soughtFile + c.Path
	case c.Kind == toolcall.Read || c.Kind == toolcall.Command:
		return soughtCall + c.Key()
	}
	return ""
}

// expire removes entries that a call made outdated: the files it writes and, after any file was
// written, all commands.
func expire(known map[string]bool, c toolcall.Call) {
	if c.Kind != toolcall.Write && len(c.Effects) == 0 {
		return
	}
	for _, e := range c.Effects {
		delete(known, soughtFile+e.Path)
	}
	for target := range known {
		if strings.HasPrefix(target, soughtCall) {
			delete(known, target)
		}
	}
}
