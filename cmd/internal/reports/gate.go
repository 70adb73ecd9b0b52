package reports

import (
	"slices"

	"github.com/precis-dev/precis/cmd/internal/term"
	"github.com/precis-dev/precis/digest"
)

// Gate prints on standard error what the gate added and left out.
func (p *Printer) Gate(r digest.Repaired) {
	if p.Quiet {
		return
	}
	w := p.Notes
	say := func(format string, args ...any) {
		w.Labeled("", "precis:", p.Words.Sentence(p.Words.Text(format, args...)))
	}
	for _, line := range r.Added {
		say("%s", line)
	}
	k := r.Retention
	say("names %s of %s likely to be needed again, %s of them added; %s of %s of the user word for word",
		p.Words.Number(k.Kept), p.Words.Count(k.Anchors, "fact"), p.Words.Number(k.Repaired),
		p.Words.Number(k.Rules-len(r.Rules)), p.Words.Count(k.Rules, "rule"))
	lost := slices.Concat(r.Rules, r.Lost)
	for _, l := range lost[:min(len(lost), mostLost)] {
		say("did not fit: %-8s %s %s", l.Handle.String(), p.Words.Text(l.Kind),
			oneLine(term.Plain(l.Text), w.Width()-40))
	}
	if n := len(r.Rules) + k.FactsLost() - mostLost; n > 0 {
		say("… and %s more", p.Words.Number(n))
	}
}
