package reports

import (
	"fmt"
	"slices"

	"precis/cmd/internal/term"
	"precis/digest"
)

// Gate says on standard error what the gate did.
func (p *Printer) Gate(r digest.Repaired) {
	if p.Quiet {
		return
	}
	w := p.Notes
	say := func(format string, args ...any) { w.Labeled("", "precis:", fmt.Sprintf(format, args...)) }
	for _, line := range r.Added {
		say("%s", line)
	}
	k := r.Kept
	say("names %s of %s likely to be needed again, %s of them added; %s of %s of the user word for word",
		term.Number(k.Kept), term.Count(k.Anchors, "fact"), term.Number(k.Repaired), term.Number(k.Rules-len(r.Rules)), term.Count(k.Rules, "rule"))
	lost := slices.Concat(r.Rules, r.Lost)
	for _, l := range lost[:min(len(lost), mostLost)] {
		say("did not fit: %-8s %s %s", l.Handle, l.Kind, oneLine(term.Plain(l.Text), w.Width()-40))
	}
	if n := len(r.Rules) + k.Anchors - k.Kept - mostLost; n > 0 {
		say("… and %s more", term.Number(n))
	}
}
