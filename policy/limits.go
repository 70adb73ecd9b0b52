package policy

import (
	"fmt"
	"math"

	"github.com/precis-dev/precis/internal/number"
)

// Limits are an API's limits of one request other than tokens; 0: any number.
type Limits struct {
	Images   int  // more images: notes replace the oldest
	AllMedia bool // documents, sound and video count as images
	Messages int  // more messages: the oldest turns are hidden
}

// mediaRung is the name of the strategy that replaces all but Fractions.MediaKeep images.
const mediaRung = "media"

// applyLimits makes a pass due that brings the view within the limits of the request.
func (p *pass) applyLimits() {
	l := p.r.Limits
	if l == (Limits{}) {
		return
	}
	p.decision.Action, p.decision.Trigger = ActionReduce, triggerForced
	if l.Messages > 0 {
		p.s.maxLoad = max(l.Messages-1, 1) // the marker in place of the hidden ones is a message
	}
	if l.Images > 0 {
		p.settings.RungSettings.MediaKeep = l.Images
		p.s.Settings, p.s.Limits = p.settings, l
		p.s.Target = 0 // whatever the tokens
		p.decision.Target = 0
	}
}

// limitedRungs are the rungs that bring a view within the limits.
func (p *pass) limitedRungs() (out []Strategy) {
	for _, s := range p.m.o.Strategies {
		switch {
		case p.r.Limits.Images > 0 && s.Name() == mediaRung:
			out = append(out, s)
		case p.r.Limits.Images == 0 && TraitsOf(s).HidesMessages && !usesModel(s):
			out = append(out, s)
		}
	}
	return out
}

// reduceToLimits ends a pass that brought the view within limits of the API.
func (p *pass) reduceToLimits(err error) error {
	if err != nil {
		return err
	}
	p.view, p.repairs = p.s.Repair(p.s.Transcript.Render(p.s.Units))
	after := p.size(p.s.Used, p.view)
	if len(p.edits) == 0 {
		p.end(EndedNothing, "left alone: no rung found anything to reduce")
		return nil
	}
	p.end(EndedReduced, "reduced for what the API takes at most: from %s to %s tokens by %s",
		number.Thousands(p.before.Tokens), number.Thousands(after.Tokens), edits(len(p.edits)))
	if float64(after.Tokens) > p.decision.Allowed {
		p.outcome += fmt.Sprintf("; this is more than the %s that are allowed",
			number.Thousands(int(math.Floor(max(p.decision.Allowed, 0)))))
	}
	return nil
}
