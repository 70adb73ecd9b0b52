package precis

import (
	"context"
	"slices"
)

// Strategy is one rung of the ladder: it proposes an edit that makes the view
// smaller. An edit without replacements means that it finds nothing to do.
// Strategies are stateless and safe for concurrent use; they do not record
// anything.
type Strategy interface {
	// Name is the rung's name in settings and reports, e.g. "truncate".
	Name() string
	// Propose returns an edit for the situation. The ladder sets its identity and
	// report; the strategy sets Kind, Replace and the report's Reason and Notes.
	Propose(ctx context.Context, s *Situation) (Edit, error)
}

// LastResort marks a strategy whose edits may touch what is kept. The ladder
// climbs to it only when the view does not fit otherwise.
type LastResort interface{ LastResort() }

func isLastResort(s Strategy) bool {
	_, last := s.(LastResort)
	return last
}

// Fills marks a last resort that comes down to what fits, not to the target. It is
// climbed again, in place of the edit that it made, when a rung after it leaves room and
// the target is out of reach.
type Fills interface{ Fills() }

// Lossless marks a strategy whose edits leave out nothing: what was said can be read from what they show. They
// may change kept messages; pinned blocks stay.
type Lossless interface{ Lossless() }

// Bare marks a strategy whose edits another program carries out that can only be told which messages it is not
// to send. So nothing is said in their place: no gate adds to them, nothing is carried behind them. And that
// program mends what it sends: calls may be parted from their results, as [Repair] mends it in the view.
type Bare interface{ Bare() }

// Joins marks a strategy whose edits another program carries out that shows one message in the place of what they
// hide, and none beside it.
type Joins interface {
	// Join returns what is to stand for one span, the text for it and what [Situation.Carry] puts around that, as one
	// message; false where several can be shown. What system messages say it gets in the user's role. With holds at
	// least two messages.
	Join(with []Message) (Message, bool)
}

// joined returns an edit whose spans show one message each, where the rung of the edit wants that.
func joined(rung Strategy, e Edit) Edit {
	j, ok := rung.(Joins)
	if !ok {
		return e
	}
	e.Replace = slices.Clone(e.Replace)
	for i, r := range e.Replace {
		if r.Block == nil && !r.Restore && len(r.With) > 1 {
			with := slices.Clone(r.With)
			for k, m := range with {
				if m.Role == RoleSystem {
					with[k] = NewText(RoleUser, reminderOf(m))
				}
			}
			if one, ok := j.Join(with); ok {
				e.Replace[i].With = []Message{one}
			}
		}
	}
	return e
}

func isBare(s Strategy) bool {
	_, bare := s.(Bare)
	return bare
}

// UsesModel marks a strategy that calls a model. The ladder leaves it out for
// windows under [Settings.MinModel] and when the [Cap] is reached.
type UsesModel interface{ UsesModel() }
