package policy

import (
	"context"
	"slices"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/harness"
)

// Strategy is one rung of the ladder: it proposes an edit that makes the view smaller. An edit
// without replacements means that it found no reduction. Strategies are stateless and safe for
// concurrent use; they do not record edits.
type Strategy interface {
	// Name is the rung's name in settings and reports, e.g. "truncate".
	Name() string
	// Propose returns an edit for the situation. The ladder sets its identity and
	// report; the strategy sets Kind, Replace and the report's Reason and Notes.
	Propose(ctx context.Context, s *Situation) (precis.Edit, error)
}

// Traits are what the ladder has to know of a strategy beside its edits. A strategy that has some also
// has a method Traits() [Traits]; see [TraitsOf].
type Traits struct {
	// UsesModel: it calls a model. The ladder leaves it out for windows under [Settings.MinModelWindow] and
	// when the [Cap] is reached.
	UsesModel bool
	// HidesMessages: it hides whole messages, and is also tried when only the number of messages is too
	// large.
	HidesMessages bool
	// TakesRange: it can replace exactly the messages that a request names, see [Request.From]: it
	// proposes one edit, which replaces [Situation.From,Situation.To) by one text.
	TakesRange bool
	// Lossless: the original text can be read from what its edits show. They may change kept messages,
	// but not pinned blocks.
	Lossless bool
	// LastResort: its edits may touch what is kept. It is tried only when the view does not fit otherwise.
	LastResort bool
	// StopsAtLimit: it is a last resort that comes down to what fits, not to the target. It is tried
	// again, in place of the edit that it made, when a later rung frees room and the target is out of
	// reach.
	StopsAtLimit bool
	// OmitOnly: another program applies its edits, and can only leave messages out. So no text is put
	// in their place, by the gate or by [Situation.Carry], and that program mends calls that lost their
	// results, as [precis.Repair] does.
	OmitOnly bool
}

// TraitsOf returns the traits of a strategy; none for one without a method Traits.
func TraitsOf(s Strategy) Traits {
	if t, ok := s.(interface{ Traits() Traits }); ok {
		return t.Traits()
	}
	return Traits{}
}

func usesModel(s Strategy) bool    { return TraitsOf(s).UsesModel }
func isLastResort(s Strategy) bool { return TraitsOf(s).LastResort }
func omitsOnly(s Strategy) bool    { return TraitsOf(s).OmitOnly }

// Joiner marks a strategy for a client that can show only a single message in the place of a span.
type Joiner interface {
	// Join merges the messages of one span, its text and the items that [Situation.Carry] adds,
	// into one message; false if several can be shown. Words of system messages come in the user's
	// role. With has at least two messages.
	Join(with []precis.Message) (precis.Message, bool)
}

// oneMessagePerSpan returns an edit with one message for each span, if the rung requires that.
func oneMessagePerSpan(rung Strategy, e precis.Edit) precis.Edit {
	j, ok := rung.(Joiner)
	if !ok {
		return e
	}
	e.Replace = slices.Clone(e.Replace)
	for i, r := range e.Replace {
		if r.Block == nil && !r.Restore && len(r.With) > 1 {
			with := slices.Clone(r.With)
			for k, m := range with {
				if m.Role == precis.RoleSystem {
					with[k] = precis.NewText(precis.RoleUser, harness.Reminder(m.PlainText()))
				}
			}
			if one, ok := j.Join(with); ok {
				e.Replace[i].With = []precis.Message{one}
			}
		}
	}
	return e
}
