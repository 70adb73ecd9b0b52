package reports

import (
	"slices"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/cmd/internal/console"
	"github.com/precis-dev/precis/cmd/internal/term"
	"github.com/precis-dev/precis/policy"
)

// mostLost limits the listed losses.
const mostLost = 10

// keptText summarizes in one line what a view keeps; "" if unknown.
func keptText(w *console.Words, r policy.Report) string {
	if r.Retention == nil {
		return ""
	}
	return retainedText(w, *r.Retention, replacementName(r))
}

// retainedText summarizes what a view keeps; through is the replacement of hidden messages, "" if
// unknown.
func retainedText(w *console.Words, k policy.Retention, through string) string {
	var parts []string
	if k.Typed > 0 {
		parts = append(parts, w.Say("kept.typed", w.Number(k.TypedKept), w.Number(k.Typed)))
	}
	if k.Anchors > 0 {
		s := w.Say("kept.facts", w.Number(k.Kept), w.Count(k.Anchors, "fact"))
		if k.Repaired > 0 && through != "" {
			s += w.Say("kept.through", w.Number(k.Repaired), w.Say("through."+through))
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, w.Say("semicolon"))
}

// replacementName names the replacement of hidden messages: "digest", "summary" or "marker".
func replacementName(r policy.Report) string {
	has := func(f func(policy.EditSummary) bool) bool { return slices.ContainsFunc(r.Edits, f) }
	switch {
	case has(func(e policy.EditSummary) bool { return e.Rung == "digest" }):
		return "digest"
	case has(func(e policy.EditSummary) bool { return e.Kind == precis.KindCondensation }) ||
		r.Status.Condensations > 0:
		return "summary"
	}
	return "marker"
}

// printLosses lists the losses of a view, the user's rules first.
func (p *Printer) printLosses(k *policy.Retention) {
	if k == nil || len(k.RulesLost)+len(k.Lost) == 0 {
		return
	}
	lost := slices.Concat(k.RulesLost, k.Lost)
	var rows [][]string
	for _, l := range lost[:min(len(lost), mostLost)] {
		rows = append(rows, []string{l.Handle.String(), p.Words.Text(l.Kind),
			term.Cut(oneLine(term.Plain(l.Text), 200), p.Text.Width()-30)})
	}
	if n := k.Loses() - mostLost; n > 0 {
		rows = append(rows, []string{"…", "", p.Words.Text("and %s more", p.Words.Number(n))})
	}
	p.Text.Printf("\n")
	p.Text.Table(p.Words.Heads("lost", "kind", "what"), nil, rows)
}
