package digest

import (
	"fmt"
	"slices"

	"github.com/precis-dev/precis/digest/requests"
	"github.com/precis-dev/precis/internal/preview"
	"github.com/precis-dev/precis/internal/toolcall"
)

// requestWriter writes requests in the notation of the digest.
func (in *input) requestWriter() requests.Writer {
	return requests.Writer{Count: in.count, Handle: in.handle}
}

// requested returns what persons said in the covered messages, each request once.
func (in *input) requested() []requests.Request {
	return requests.Merged(slices.DeleteFunc(slices.Clone(in.record().said),
		func(s requests.Request) bool { return !in.covered(s.At) }))
}

// hasCalls reports whether the covered messages contain a call.
func (in *input) hasCalls() bool {
	return slices.ContainsFunc(in.work().Calls, func(c toolcall.Call) bool { return in.covered(c.Use.From) })
}

// refusals describes the newest of the covered calls that the user refused, newest first.
func (in *input) refusals() (out []string) {
	w := in.work()
	for i := len(w.Calls) - 1; i >= 0 && len(out) < mostRefused; i-- {
		if in.covered(w.Calls[i].Use.From) && w.Ends[i].End == toolcall.Rejected {
			out = append(out, in.refusal(i))
		}
	}
	return out
}

// openCalls describes the covered calls that have no result yet.
func (in *input) openCalls() (out []string) {
	w := in.work()
	for _, i := range w.Waiting {
		if c := &w.Calls[i]; in.covered(c.Use.From) {
			out = append(out, fmt.Sprintf("- %s %s has no result yet", in.handle(c.Use.From), c.Title()))
		}
	}
	return out
}

// refusal describes a call that the user refused.
func (in *input) refusal(call int) string {
	w := in.work()
	c, o := &w.Calls[call], w.Ends[call]
	line := "- " + in.handle(c.Use.From) + " " + c.Title() + ": refused"
	if o.Claimed {
		line += ", as its result says"
	} else {
		line += " by the user"
	}
	later, allowed := w.Allowed[call]
	if !allowed {
		later = w.ChangedSince(call)
	}
	switch {
	case allowed:
		line += ", then allowed (" + in.handle(w.Calls[later].Use.From) + ")"
	case later >= 0:
		line += in.wanted(c) + "; the file was changed otherwise since (" +
			in.handle(w.Calls[later].Use.From) + ")"
	case o.Claimed:
		line += in.wanted(c)
	default:
		line += ", not done" + in.wanted(c)
	}
	if o.Said != "" {
		line += "; reported with it: " + preview.Quote(o.Said, mostSaid)
	}
	return line
}

// mostRefused is the number of refusals that a digest lists, the newest.
const mostRefused = 12

// Limits in bytes of a refusal: the user's words, and the effect of the call.
const (
	mostSaid   = 500
	mostWanted = 160
)

// wanted describes the intended effect of a call that was not carried out, beyond its title; "" if
// the title is complete.
func (in *input) wanted(c *toolcall.Call) string {
	switch {
	case c.Kind == toolcall.Write:
		added, removed := c.Change()
		if line := mostTellingLine(added, removed); line != "" {
			return "; it would have put in: " + preview.Quote(line, mostWanted)
		}
		if line := mostTellingLine(removed, added); line != "" {
			return "; it would have taken out: " + preview.Quote(line, mostWanted)
		}
	case c.Path == "" && c.Line == "":
		if given := c.Given(); given != "" {
			return "; it was given: " + preview.Quote(given, mostWanted)
		}
	}
	return ""
}
