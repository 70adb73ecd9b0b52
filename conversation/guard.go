package conversation

import (
	"fmt"
	"strings"

	"precis"
	"precis/internal/preview"
	"precis/retain"
)

// LossError is the cause of the error of code [precis.CodeWouldLose] by which a verb refuses to
// hide something without a yes of its own: what is pinned or the last user turn, which
// the view would show in no form at all, or more than nine tenths of the view with neither
// a summary nor a digest in its place. Rules of the user that would be gone, too, are listed.
type LossError struct {
	precis.Gone
}

// Error names what would be lost, without a word of the conversation: errors are logged.
func (l *LossError) Error() string { return l.text(nil) }

// mostListedRules is how many of the rules that would be lost [LossError.Said] names.
const mostListedRules = 5

// Said is Error with the first of the rules word for word, for those whose conversation it
// is.
func (l *LossError) Said() string {
	var list []string
	for _, r := range l.Rules[:min(len(l.Rules), mostListedRules)] {
		list = append(list, fmt.Sprintf("%q (%s)", preview.Line(r.Text, 80), r.Handle))
	}
	return l.text(list)
}

// text names what would be lost; rules are the first rules as they are to be named, nil:
// by the handle of the first.
func (l *LossError) text(rules []string) string {
	var parts []string
	if n := len(l.Pins); n > 0 {
		parts = append(parts, fmt.Sprintf("pinned messages would be in no form in the view: %d, first %s", n, l.Pins[0]))
	}
	if l.LastTurn != nil {
		parts = append(parts, fmt.Sprintf("the last user turn (%s) would be in no form in the view", *l.LastTurn))
	}
	if l.Hidden > 0 {
		const text = "%.0f %% of the view would be hidden with neither a summary nor a digest in its place"
		parts = append(parts, fmt.Sprintf(text, 100*l.Hidden))
	}
	if n := len(l.Rules); n > 0 {
		text := fmt.Sprintf("rules of the user would be lost: %d of %d, first ", n, l.Of)
		if rules == nil {
			text += l.Rules[0].Handle.String()
		} else if text += strings.Join(rules, ", "); n > len(rules) {
			text += fmt.Sprintf(" and %d more", n-len(rules))
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}

// errLoss returns the error that refuses what would be lost; nil where nothing is refused.
func errLoss(op string, g precis.Gone) error {
	if !g.Refuses() {
		return nil
	}
	return &precis.Error{Code: precis.CodeWouldLose, Op: op, Hint: "choose a larger window or target, pin what is to stay, or force it", Err: &LossError{g}}
}

// Guard returns the error that refuses to put edits in force, which are not among those of
// the conversation yet: one of code [precis.CodeWouldLose] with cause [LossError], or nil.
//
// Every run that somebody asks for and every verb that hides asks it, with two exceptions:
// [Rewind] names the very place behind which everything goes, rules said there included, and
// [Undo] leads back to a view that the conversation had.
func Guard(op string, conv *precis.Conversation, made []precis.Edit, meter *precis.Meter) error {
	return errLoss(op, goneBy(conv, made, meter))
}

// goneBy returns what the edits would take from the view of a conversation that they are
// not part of.
func goneBy(conv *precis.Conversation, made []precis.Edit, meter *precis.Meter) precis.Gone {
	if len(made) == 0 {
		return precis.Gone{}
	}
	after := append(conv.Edits[:len(conv.Edits):len(conv.Edits)], made...)
	return retain.Gone(conv, conv.Edits, after, meter)
}
