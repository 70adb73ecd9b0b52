package digest

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/precis-dev/precis/internal/plain"
	"github.com/precis-dev/precis/internal/prose"
	"github.com/precis-dev/precis/retain"
)

const requestsTitle = "## The user's requests, newest first, word for word"

// unquotedRoom tokens are reserved for the line that names unquoted requests; up to mostUnquoted of
// them are named one by one.
const (
	unquotedRoom = 16
	mostUnquoted = 4
)

// requests returns what persons said, newest first, in at most budget tokens: all of it if it fits,
// with pasted text shortened. Otherwise the newest request comes first, whole, then the answers
// given since, the first request, and units of the others.
func (in *input) requests(all []personRequest, budget int) (out []string) {
	if len(all) == 0 {
		return nil
	}
	q := quoter{count: in.count, tokensLeft: budget}
	for i := range all[:max(len(all)-fresh, 0)] {
		all[i].old = true
	}
	current, size := newestTurn(all), 0
	for i := range all {
		most := budget / 4 // bytes: a sixteenth of the room
		if i == current {
			most = budget // a quarter
		}
		text := retain.FoldPasted(all[i].text, most)
		q.texts = append(q.texts, quotable{text: text, frame: in.count(in.request(all[i], ""))})
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
			out = append(out, in.request(s, t.joined()))
		} else {
			missing = append(missing, in.handle(s.at))
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

// fresh is the number of newest requests that are quoted with their full question.
const fresh = 3

// request writes what a person said, with the question that it answers.
func (in *input) request(s personRequest, text string) string {
	const long, short = 300, 100
	line := "- " + in.handle(s.at) + ": " + indented(text)
	if s.times > 1 {
		line += fmt.Sprintf("\n  (said %d times, first at %s)", s.times, in.handle(s.first))
	}
	if s.question != "" {
		most := long
		if s.old {
			most = short
		}
		line += "\n  (said after: " + lastPart(s.question, most) + ")"
	}
	if s.refused != "" {
		line += "\n  (in place of allowing a call of " + quoted(s.refused, 60) + ")"
	}
	return line
}

// lastPart returns the end of a text on one line of about most bytes.
func lastPart(text string, most int) string {
	text = plain.Text(retain.Folded(text))
	if len(text) <= most {
		return text
	}
	end := text[len(text)-most:]
	for !utf8.ValidString(end) {
		end = end[1:]
	}
	if i := strings.IndexByte(end, ' '); i >= 0 && i < most/3 {
		end = end[i+1:]
	}
	return "…" + end
}
