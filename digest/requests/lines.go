package requests

import (
	"fmt"
	"slices"
	"strings"

	"github.com/precis-dev/precis/internal/plain"
	"github.com/precis-dev/precis/internal/preview"
	"github.com/precis-dev/precis/internal/prose"
	"github.com/precis-dev/precis/retain"
)

// unquotedRoom tokens are reserved for the line that names unquoted requests; up to mostUnquoted of
// them are named one by one.
const (
	unquotedRoom = 16
	mostUnquoted = 4
)

// Writer writes requests under a budget. Both fields must be set.
type Writer struct {
	Count  func(string) int         // the size of a text in tokens
	Handle func(message int) string // how the text names a message
}

// Lines returns what persons said, newest first, in at most budget tokens: all of it if it fits,
// with pasted text shortened. Otherwise the newest request comes first, whole, then the answers
// given since, the first request, and units of the others.
func (w Writer) Lines(all []Request, budget int) (out []string) {
	if len(all) == 0 {
		return nil
	}
	q := quoter{count: w.Count, tokensLeft: budget}
	for i := range all[:max(len(all)-Fresh, 0)] {
		all[i].old = true
	}
	current, size := NewestTurn(all), 0
	for i := range all {
		most := budget / 4 // bytes: a sixteenth of the room
		if i == current {
			most = budget // a quarter
		}
		text := retain.FoldPasted(all[i].Text, most)
		q.texts = append(q.texts, quotable{text: text, frame: w.Count(w.Line(all[i], ""))})
		size += q.cost(i, prose.Unit{End: len(text)})
	}
	if size <= budget {
		for i := range all {
			q.whole(i, budget)
		}
	} else {
		q.tokensLeft -= min(unquotedRoom, budget/10)
		q.whole(current, q.tokensLeft*3/4)
		for i := len(all) - 1; i > current; i-- {
			q.whole(i, q.tokensLeft/3)
		}
		own := current // the newest that is not in a result
		for own > 0 && all[own].inResult {
			own--
		}
		if own < current {
			q.whole(own, q.tokensLeft*3/4)
		}
		if own > 0 {
			q.whole(0, q.tokensLeft/3)
		}
		q.keepUnits()
	}
	var missing []string
	for i, s := range slices.Backward(all) {
		if t := &q.texts[i]; len(t.kept) > 0 {
			out = append(out, w.Line(s, t.joined()))
		} else {
			missing = append(missing, w.Handle(s.At))
		}
	}
	switch n := len(missing); {
	case n > mostUnquoted:
		out = append(out, fmt.Sprintf("- not quoted for want of room: %d from %s to %s", n, missing[n-1],
			missing[0]))
	case n > 0:
		out = append(out, "- not quoted for want of room: "+strings.Join(missing, ", "))
	}
	return out
}

// Fresh is the number of newest requests that are quoted with their full question.
const Fresh = 3

// Line writes text, which quotes a request, with its handle and the question that it answers.
func (w Writer) Line(s Request, text string) string {
	const long, short = 300, 100
	line := "- " + w.Handle(s.At) + ": " + plain.Indent(text)
	if s.times > 1 {
		line += fmt.Sprintf("\n  (said %d times, first at %s)", s.times, w.Handle(s.first))
	}
	if s.Question != "" {
		most := long
		if s.old {
			most = short
		}
		line += "\n  (said after: " + retain.LastPart(s.Question, most) + ")"
	}
	if s.Refused != "" {
		line += "\n  (in place of allowing a call of " + preview.Quote(s.Refused, 60) + ")"
	}
	return line
}
