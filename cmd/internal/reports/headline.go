package reports

import (
	"fmt"
	"slices"
	"strings"

	"precis"
	"precis/cmd/internal/jobs"
	"precis/cmd/internal/term"
)

// outcome is what a run came to, for people.
type outcome struct {
	report precis.Report
	cut    precis.Handle // the user's last message, where the run cut it
	isCut  bool
}

// outcomeOf reads a result; edits are those in force after it.
func outcomeOf(j *jobs.Job, res precis.Result, edits []precis.Edit) outcome {
	o := outcome{report: res.Report}
	t := j.Conversation.Transcript
	for i, m := range slices.Backward(t.Messages()) {
		if !slices.ContainsFunc(m.Content, func(b precis.Block) bool { _, ok := b.(precis.Text); return ok && m.Role == precis.RoleUser }) {
			continue
		}
		look := precis.ShownBy(t, edits).Message(i)
		o.cut, o.isCut = precis.MessageHandle(i), look.Hidden || look.Changed
		break
	}
	return o
}

// after returns the edits of a conversation once a run is recorded, whether it is or
// not.
func after(conv *precis.Conversation, res precis.Result) []precis.Edit {
	edits := slices.Clone(conv.Edits)
	for _, e := range res.Edits {
		if !slices.ContainsFunc(edits, func(had precis.Edit) bool { return had.ID == e.ID }) {
			edits = append(edits, e)
		}
	}
	return edits
}

// headline says the outcome in one sentence, with the color that it deserves.
func (o outcome) headline() (style, text string) {
	r := o.report
	if len(r.Edits) == 0 {
		return "title", r.Outcome
	}
	text = fmt.Sprintf("reduced from %s to %s tokens, %s of the window of %s, by %s",
		term.Number(r.Before.Tokens), term.Number(r.After.Tokens), percent(r.After.Tokens, r.Decision.Window.Tokens), term.Number(r.Decision.Window.Tokens), meansText(r.Edits))
	style = "title"
	var bad []string
	if k := r.Retention; k != nil && len(k.RulesLost) > 0 {
		style = "bad"
		bad = append(bad, fmt.Sprintf("%d of %s of the user lost", len(k.RulesLost), term.Count(k.Rules, "rule")))
	}
	if o.isCut {
		style = "bad"
		bad = append(bad, fmt.Sprintf("the user's last message (%s) is cut", o.cut))
	}
	if d := r.Decision; d.Target > 0 && r.After.Tokens > d.Target {
		if style == "title" {
			style = "warn"
		}
		bad = append(bad, fmt.Sprintf("the target of %s was missed", term.Number(d.Target)))
	}
	if len(bad) > 0 {
		text += "; warning: " + strings.Join(bad, ", ")
	}
	return style, text
}

// means names what edits do, by kind.
var means = map[precis.EditKind]string{
	precis.KindCondensation: "a summary", precis.KindTruncation: "hiding the oldest turns", precis.KindPruning: "previews of old results",
	precis.KindDedupe: "pointers to copies", precis.KindMedia: "notes for images", precis.KindClip: "cutting long blocks",
	precis.KindThinking: "leaving out reasoning", precis.KindRestore: "showing pins",
}

// meansText lists what a run did: "a digest and pointers to copies".
func meansText(edits []precis.EditSummary) string {
	var out []string
	for _, e := range slices.Backward(edits) {
		what := means[e.Kind]
		switch {
		case what == "":
			what = string(e.Kind)
		case e.Kind == precis.KindCondensation && e.Rung == "digest":
			what = "a digest"
		case e.Kind == precis.KindCondensation && e.Call == nil:
			what = "a note in the place of messages"
		}
		if !slices.Contains(out, what) {
			out = append(out, what)
		}
	}
	if n := len(out) - 1; n > 0 {
		return strings.Join(out[:n], ", ") + " and " + out[n]
	}
	return strings.Join(out, "")
}

// lossText says in one line what a view has lost; "" for nothing.
func (o outcome) lossText() string {
	k := o.report.Retention
	if k == nil {
		return ""
	}
	var parts []string
	if n := k.Anchors - k.Kept; n > 0 {
		parts = append(parts, term.Count(n, "fact"))
	}
	if n := len(k.RulesLost); n > 0 {
		first := k.RulesLost[0]
		parts = append(parts, fmt.Sprintf("%s of the user, %s: %s", term.Count(n, "rule"), first.Handle, oneLine(term.Plain(first.Text), 60)))
	}
	return strings.Join(parts, "; ")
}
