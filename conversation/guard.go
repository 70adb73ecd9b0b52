package conversation

import (
	"fmt"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/preview"
	"github.com/precis-dev/precis/measure"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/retain"
)

// LossError is the cause of an error of code [precis.CodeWouldLose]: without force, a verb refuses
// to remove pinned content or the last user turn from the view altogether, or to hide more than
// nine tenths of the view without a summary or digest. Rules of the user that would be lost as well
// are listed.
type LossError struct {
	policy.Loss
}

// Error names the losses without quoting the conversation, because errors are logged.
func (l *LossError) Error() string { return l.text(nil) }

// mostListedRules is the maximum number of lost rules that [LossError.Quoted] quotes.
const mostListedRules = 5

// Quoted is Error plus quotations of the first rules, for users who may read the conversation.
func (l *LossError) Quoted() string {
	var list []string
	for _, r := range l.Rules[:min(len(l.Rules), mostListedRules)] {
		list = append(list, fmt.Sprintf("%q (%s)", preview.Line(r.Text, 80), r.Handle))
	}
	return l.text(list)
}

// text names the losses. The given rules are listed as they are; with nil it gives the handle of
// the first lost rule.
func (l *LossError) text(rules []string) string {
	var parts []string
	if n := len(l.Pins); n > 0 {
		parts = append(parts, fmt.Sprintf("pinned messages would be in no form in the view: %d, first %s", n,
			l.Pins[0]))
	}
	if l.LastTurn != nil {
		parts = append(parts, fmt.Sprintf("the last user turn (%s) would be in no form in the view",
			*l.LastTurn))
	}
	if l.Hidden > 0 {
		const text = "%.0f %% of the view would be hidden with neither a summary nor a digest in its place"
		parts = append(parts, fmt.Sprintf(text, 100*l.Hidden))
	}
	if n := len(l.Rules); n > 0 {
		text := fmt.Sprintf("rules of the user would be lost: %d of %d, first ", n, l.AllRules)
		if rules == nil {
			text += l.Rules[0].Handle.String()
		} else if text += strings.Join(rules, ", "); n > len(rules) {
			text += fmt.Sprintf(" and %d more", n-len(rules))
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}

// errLoss returns the error that refuses a loss; nil: g is acceptable.
func errLoss(op string, g policy.Loss) error {
	if !g.Refuses() {
		return nil
	}
	return &precis.Error{Code: precis.CodeWouldLose, Op: op,
		Hint: "choose a larger window or target, pin what is to stay, or force it", Err: &LossError{g}}
}

// Guard checks edits that are not in force yet. It returns an error of code [precis.CodeWouldLose]
// with cause [LossError] if they would lose too much, else nil.
//
// Every run that a user asks for and every verb that hides content calls it, with two exceptions.
// [Rewind] names the position after which everything is removed, rules included. [Undo] restores a
// view that the conversation had before.
func Guard(op string, conv *precis.Conversation, made []precis.Edit, meter *measure.Meter) error {
	return errLoss(op, contentRemoved(conv, made, meter))
}

// contentRemoved returns the content that new edits would remove from the view of a conversation.
func contentRemoved(conv *precis.Conversation, made []precis.Edit, meter *measure.Meter) policy.Loss {
	if len(made) == 0 {
		return policy.Loss{}
	}
	after := append(conv.Edits[:len(conv.Edits):len(conv.Edits)], made...)
	return retain.Loss(conv, conv.Edits, after, meter)
}
