package policy

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/number"
)

// errRange returns the error for messages that cannot be condensed by themselves.
func (p *pass) errRange(hint, format string, args ...any) error {
	return &precis.Error{Code: precis.CodeInvalid,
		Op: "condense " + precis.SpanHandle(p.r.From, p.r.To).String(), Err: fmt.Errorf(format, args...),
		Hint: hint}
}

// checkRange returns an error when the requested messages cannot be condensed exactly: all of them
// and no others.
func (p *pass) checkRange() error {
	from, to := p.r.From, p.r.To
	if from < 0 || from >= to || to > p.s.Transcript.Len() {
		return p.errRange("", "the conversation has %d messages", p.s.Transcript.Len())
	}
	bare := slices.ContainsFunc(p.m.o.Strategies, omitsOnly) // the other program mends what it sends
	if a, b := precis.WholeRange(p.s.Transcript, from, to); !bare && (a != from || b != to) {
		return p.errRange("condense "+precis.SpanHandle(a, b).String(),
			"the range parts calls from their results")
	}
	kept := pinsOf(p.s.Transcript, p.s.Edits)
	kept.pinCompactions(p.s.Transcript.Messages())
	shown := false
	for _, u := range p.s.Units {
		switch {
		case u.To <= from || u.From >= to:
			continue
		case u.From < from || u.To > to:
			return p.errRange("take all of it, or undo that edit", "%s is hidden as a whole",
				precis.SpanHandle(u.From, u.To))
		}
		shown = shown || len(u.Messages) > 0
	}
	if !shown {
		return p.errRange("", "nothing of it is shown")
	}
	for i := from; i < to; i++ {
		if kept.Pinned(i) {
			return p.errRange("unpin it, or condense what is before and behind it", "%s is pinned",
				precis.MessageHandle(i))
		}
	}
	return nil
}

// keptOfRange returns the messages that a run over a range may not touch: all outside the range.
func (p *pass) keptOfRange(s *Situation) *Kept {
	k := pinsOf(s.Transcript, s.Edits)
	k.keepOutside(p.r.From, p.r.To)
	return k
}

// reduceRange replaces the messages of the request by one text.
func (p *pass) reduceRange(start Situation, err error) error {
	switch {
	case err != nil:
		return err
	case len(p.edits) == 0:
		why := errors.New("no rung can say it in fewer tokens than it takes")
		for _, s := range slices.Backward(p.steps) {
			if s.Reason != "" {
				why = errors.New(s.Reason)
				break
			}
		}
		return p.errRange("", "%w", why)
	}
	p.gone = p.goneSince(start)
	p.view, p.repairs = p.s.Repair(p.s.Transcript.Render(p.s.Units))
	after := p.size(p.s.Used, p.view)
	p.end(EndedReduced, "%s is condensed: from %s to %s tokens", precis.SpanHandle(p.r.From, p.r.To),
		number.Thousands(p.before.Tokens), number.Thousands(after.Tokens))
	if float64(after.Tokens) > p.decision.Allowed {
		p.outcome += fmt.Sprintf("; this is more than the %s that are allowed",
			number.Thousands(int(math.Floor(max(p.decision.Allowed, 0)))))
	}
	return nil
}
