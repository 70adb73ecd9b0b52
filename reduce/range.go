package reduce

import (
	"context"
	"fmt"
	"slices"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/policy"
)

// Range hides one run of the oldest messages, without a marker. It replaces [Truncate] for a
// program that can only omit a range of messages, such as Cline.
//
// It hides as few messages as bring the view to its target. The run ends before the first kept
// message.
type Range struct {
	From int   // the first hidden message
	Ends []int // the messages before which the run may end, ascending
}

// Name returns "truncate".
func (Range) Name() string { return "truncate" }

// Traits returns what the ladder has to know of the rung.
func (Range) Traits() policy.Traits {
	return policy.Traits{HidesMessages: true, TakesRange: true, OmitOnly: true}
}

// Propose hides the oldest messages.
func (r Range) Propose(_ context.Context, s *policy.Situation) (precis.Edit, error) {
	e := precis.Edit{Kind: precis.KindTruncation}
	e.Report.Reason = "nothing is old enough to hide"
	if s.To > 0 {
		if s.From != r.From || !slices.Contains(r.Ends, s.To) {
			e.Report.Reason = fmt.Sprintf("the task can only say that a range is hidden which begins at m%d and ends before a message of the user", r.From)
			if near := r.near(s.To); near > r.From {
				e.Report.Reason = fmt.Sprintf("the task can only say that a range is hidden which begins at m%d and ends before a message of the user, such as %s", r.From, precis.SpanHandle(r.From, near))
			}
			return e, nil
		}
		r.Ends = []int{s.To}
	}
	to, hidden := r.choose(s)
	if hidden > 0 {
		e.Replace = []precis.Replacement{{From: r.From, To: to}}
		e.Report.Reason = fmt.Sprintf("the oldest %s hidden", plural(hidden, "message"))
	}
	return e, nil
}

// near returns the valid end nearest to the end of a requested range, preferably not before it; 0
// for none.
func (r Range) near(to int) int {
	i, _ := slices.BinarySearch(r.Ends, to)
	if i == len(r.Ends) {
		i--
	}
	if i < 0 {
		return 0
	}
	return r.Ends[i]
}

// choose returns where the run ends, and how many messages of the view it hides.
func (r Range) choose(s *policy.Situation) (to, hidden int) {
	i, reach, saved, seen := 0, 0, 0, 0
	for _, end := range r.Ends {
		for ; i < len(s.Units) && s.Units[i].From < end; i++ {
			u := s.Units[i]
			reach = max(reach, u.To)
			if u.From < r.From || len(u.Messages) == 0 {
				continue
			}
			for m := u.From; m < u.To; m++ {
				if s.Kept.Message(m) || s.Kept.Pinned(m) {
					return to, hidden
				}
			}
			saved += s.Meter.View(u.Messages)
			seen += len(u.Messages)
		}
		if reach > end { // a longer run would split the span of one edit
			continue
		}
		to, hidden = end, seen
		if hidden > 0 && saved >= s.Excess() && hidden >= s.ExcessMessages() {
			break
		}
	}
	return to, hidden
}
