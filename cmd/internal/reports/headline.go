package reports

import (
	"slices"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/cmd/internal/console"
	"github.com/precis-dev/precis/cmd/internal/jobs"
	"github.com/precis-dev/precis/cmd/internal/term"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/retain"
)

// outcome is the result of a run as presented to people.
type outcome struct {
	report policy.Report
	cut    precis.Handle // the user's last message, if the run cut it
	isCut  bool
}

// outcomeOf summarizes a result; edits are the edits in force after it.
func outcomeOf(j *jobs.Job, res policy.Result, edits []precis.Edit) outcome {
	o := outcome{report: res.Report}
	t := j.Conversation.Transcript
	shown := precis.ShownBy(t, edits)
	if last := t.Speech().LastTurn(func(i int) bool { return !shown.Rewound(i) }); last >= 0 {
		look := shown.Message(last)
		o.cut, o.isCut = precis.MessageHandle(last), (look.Hidden || look.Changed) &&
			!quoted(t.Speech().AllWords(last), look)
	}
	return o
}

// quoted reports whether the replacement of a message contains all of the user's words in it.
func quoted(words string, look precis.Appearance) bool {
	return look.Hidden && look.Unit.Messages != nil && words != "" && slices.ContainsFunc(look.Unit.Messages,
		func(m precis.Message) bool {
			return strings.Contains(retain.Folded(m.PlainText()), retain.Folded(words))
		})
}

// editsAfter returns the edits of a conversation after a run, whether or not the run is recorded yet.
func editsAfter(conv *precis.Conversation, res policy.Result) []precis.Edit {
	edits := slices.Clone(conv.Edits)
	for _, e := range res.Edits {
		if !slices.ContainsFunc(edits, func(had precis.Edit) bool { return had.ID == e.ID }) {
			edits = append(edits, e)
		}
	}
	return edits
}

// headline returns the outcome as one sentence, with its color.
func (o outcome) headline(w *console.Words) (style, text string) {
	r := o.report
	if len(r.Edits) == 0 {
		return "title", endedText(w, r)
	}
	text = w.Say("ended.reduced",
		w.Number(r.Before.Tokens), w.Number(r.After.Tokens),
		percent(w, r.After.Tokens, r.Decision.Window.Tokens), w.Number(r.Decision.Window.Tokens),
		meansText(w, r.Edits))
	style = "title"
	var bad []string
	if k := r.Retention; k != nil && len(k.RulesLost) > 0 {
		style = "bad"
		bad = append(bad, w.Say("bad.rules", w.Number(len(k.RulesLost)), w.Count(k.Rules, "rule")))
	}
	if o.isCut {
		style = "bad"
		bad = append(bad, w.Say("bad.cut", o.cut))
	}
	if g := r.Loss; g != nil && g.Hidden > 0 {
		style = "bad"
		bad = append(bad, w.Say("bad.hidden", percent(w, int(1000*g.Hidden), 1000)))
	}
	if d := r.Decision; d.Target > 0 && r.After.Tokens > d.Target {
		if style == "title" {
			style = "warn"
		}
		bad = append(bad, w.Say("bad.target", w.Number(d.Target)))
	}
	if len(bad) > 0 {
		text += w.Say("but", strings.Join(bad, w.Say("comma")))
	}
	return style, text
}

// endedText explains how a run without edits ended. The engine's own English text has more
// detail.
func endedText(w *console.Words, r policy.Report) string {
	if w.English() {
		return r.Outcome
	}
	switch r.Ended {
	case policy.EndedNotDue:
		return w.Say("ended.not_due", percent(w, r.Before.Tokens, r.Decision.Window.Tokens))
	case policy.EndedCapped:
		return w.Say("ended.capped")
	case policy.EndedWouldLose:
		return w.Say("ended.spared")
	case policy.EndedNothing:
		return w.Say("ended.nothing_found")
	case policy.EndedWithin:
		return w.Say("ended.within_target", w.Number(r.Before.Tokens), w.Number(r.Decision.Target))
	case policy.EndedWorthless:
		return w.Say("ended.worthless")
	}
	return r.Outcome
}

// means are the kinds of edits with a name in the user's language.
var means = []precis.EditKind{
	precis.KindCondensation, precis.KindTruncation, precis.KindPruning, precis.KindDedupe, precis.KindMedia,
	precis.KindClip, precis.KindThinking, precis.KindRestore,
}

// meansText lists the kinds of edits of a run: "a digest and pointers to copies".
func meansText(w *console.Words, edits []policy.EditSummary) string {
	var out []string
	for _, e := range slices.Backward(edits) {
		what := string(e.Kind)
		switch {
		case !slices.Contains(means, e.Kind):
		case e.Kind == precis.KindCondensation && e.Rung == "digest":
			what = w.Say("means.digest")
		case e.Kind == precis.KindCondensation && e.Call == nil:
			what = w.Say("means.note")
		default:
			what = w.Say("means." + what)
		}
		if !slices.Contains(out, what) {
			out = append(out, what)
		}
	}
	return w.List(out)
}

// lossText summarizes the losses of a view in one line; "" if there are none.
func lossText(w *console.Words, k *policy.Retention) string {
	if k == nil {
		return ""
	}
	var parts []string
	if n := k.FactsLost(); n > 0 {
		parts = append(parts, w.Count(n, "fact"))
	}
	if n := len(k.RulesLost); n > 0 {
		first := k.RulesLost[0]
		parts = append(parts, w.Say("lost.rules", w.Count(n, "rule"), first.Handle,
			oneLine(term.Plain(first.Text), 60)))
	}
	return strings.Join(parts, w.Say("semicolon"))
}
