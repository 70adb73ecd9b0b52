package digest

import (
	"fmt"
	"slices"
	"strings"

	"precis/internal/plain"
	"precis/internal/rules"
	"precis/retain"
)

// requests returns what the user said, newest first: the request that is worked on, then those before it. The newest may take budget
// tokens; with it the others take no more than together, which is less. Room goes to the last request first, then to what was
// answered since, then to the newest message of the user's own, the first request, and the newest. A message that does not fit is cut;
// its rules stay.
func (in *input) requests(all []saying, count func(string) int, budget, together int) []string {
	if all = in.withoutEnded(all); len(all) == 0 {
		return nil
	}
	current := newestTurn(all)
	order := []int{current}
	for i := len(all) - 1; i > current; i-- {
		order = append(order, i)
	}
	whole := -1 // the newest message of the user's own, when what came since was said in results
	for i := current; i >= 0 && all[current].inResult; i-- {
		if !all[i].inResult {
			whole = i
			order = append(order, i)
			break
		}
	}
	if current > 0 && whole != 0 {
		order = append(order, 0)
	}
	for i := current - 1; i > 0; i-- {
		if i != whole {
			order = append(order, i)
		}
	}
	for i := range all[:max(len(all)-fresh, 0)] {
		all[i].old = true
	}
	for i := range all {
		most := budget / 4 // bytes: a sixteenth of the room
		if i == current || i == whole || i == current-1 {
			most = budget // a quarter
		}
		all[i].text = retain.FoldPasted(all[i].text, most)
	}
	total := 0
	for i := 0; i < len(all) && total <= budget; i++ {
		total += count(in.request(all[i], all[i].text)) + 1
	}
	var telling []int
	if total > budget {
		order, telling = tellingFirst(all, order, in.chat)
	}
	lines := make([]string, len(all))
	left := budget
	if total > budget && budget > 10*unquotedRoom {
		left -= unquotedRoom
	}
	take := func(n, i int, line string) {
		lines[i] = line
		if left -= count(line) + 1; n == 0 {
			left = max(left-budget+together, 0)
		}
	}
	for n, i := range order {
		line := in.request(all[i], all[i].text)
		if c := count(line) + 1; total <= budget || c <= left && (n < 1 || i == whole || c <= max(left/3, 60)) {
			take(n, i, line)
			continue
		}
		most := max(left/4, min(left, 40))
		if n == 0 || i == whole {
			most = left * 3 / 4
		}
		if most < 20 || n > 0 && len(all[i].text) <= shortest {
			continue // half of a sentence says nothing
		}
		if text := fitted(all[i].text, most-count(in.request(all[i], ""))-1, count); text != "" {
			take(n, i, in.request(all[i], text))
		}
	}
	var out, missing []string
	for i, l := range slices.Backward(lines) {
		if l != "" {
			out = append(out, l)
		} else {
			missing = append(missing, in.handle(all[i].at))
		}
	}
	in.unquoted, in.untold = len(missing), 0
	for _, i := range telling {
		if lines[i] == "" {
			in.untold++
		}
	}
	switch n := len(missing); {
	case n > mostUnquoted:
		out = append(out, fmt.Sprintf("- not quoted for want of room: %d from %s to %s", n, missing[n-1], missing[0]))
	case n > 0:
		out = append(out, "- not quoted for want of room: "+strings.Join(missing, ", "))
	}
	return out
}

// mostUnquoted is the number of messages without a quote up to which each is named, and unquotedRoom how many tokens that takes.
const (
	mostUnquoted = 4
	unquotedRoom = 16
)

// tellingFirst orders what was said for the room there is: the newest, then what states a rule or a value, then the
// rest. The newer stand before the older. What was said more than once and states nothing is left out where the others
// say more. In a chat, in which nothing is done, goals, wishes and names go before small talk, too. telling are those that
// state something.
func tellingFirst(all []saying, order []int, chat bool) (ordered, telling []int) {
	const last, mostRule = 5, 300
	class := make(map[int]int, len(order))
	for n, i := range order {
		switch s := &all[i]; {
		case n == 0:
		case s.times > 1 && !rules.States(s.text) && !(chat && rules.Aims(s.text)):
			class[i] = last
		case n < fresh && (!chat || rules.States(s.text) || rules.Aims(s.text)):
			class[i] = 1
		case len(s.text) <= mostRule && len(rules.Texts(s.text)) > 0:
			class[i] = 1
			telling = append(telling, i)
		case rules.States(s.text):
			class[i] = 2
			telling = append(telling, i)
		case chat && (rules.Aims(s.text) || s.times == 1 && rules.Changes(s.text)):
			class[i] = 3
			telling = append(telling, i)
		default:
			class[i] = last - 1
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return class[a] - class[b] })
	if len(telling)*2 >= len(order) {
		order = slices.DeleteFunc(order, func(i int) bool { return class[i] == last })
	}
	return order, telling
}

// withoutEnded returns what was said without what says nothing but what no longer holds, since another value was given:
// the words that did so tell it. The newest is never left out.
func (in *input) withoutEnded(all []saying) []saying {
	ended := map[int][]retain.Rule{}
	for _, r := range in.endedRules() {
		if len(r.Was) > 0 {
			ended[r.Handle.From] = append(ended[r.Handle.From], r)
		}
	}
	if len(ended) == 0 {
		return all
	}
	current := newestTurn(all)
	out := make([]saying, 0, len(all))
	for i, s := range all {
		rest := s.text
		for _, r := range ended[s.at] {
			rest = strings.Replace(rest, r.Text, "", 1)
			for _, now := range all[i+1:] {
				if rest = strings.TrimSpace(rest); now.at == r.Until.From && strings.Contains(now.text, rest) {
					rest = "" // it is said again there
				}
			}
		}
		if i == current || len(ended[s.at]) == 0 || s.times > 1 || rules.States(rest) || len(strings.TrimSpace(rest)) >= len(s.text)/2 {
			out = append(out, s)
		}
	}
	return out
}

// wasBefore says which values the words of a message took the place of: " (was $500, m4, until m18)"; "" for none.
func (in *input) wasBefore(message int) string {
	var was []string
	for _, r := range in.endedRules() {
		if len(r.Was) > 0 && r.Until.From == message {
			was = append(was, quoted(strings.Join(r.Was, ", "), 80)+", "+in.handle(r.Handle.From))
		}
	}
	if len(was) == 0 {
		return ""
	}
	return " (was " + strings.Join(was, "; ") + ", until " + in.handle(message) + ")"
}

// shortest is the size in bytes up to which what was said is quoted whole or not at all.
const shortest = 160

// fresh is the number of the newest requests whose questions are quoted at length.
const fresh = 3

func (in *input) request(s saying, text string) string {
	const long, short = 300, 100
	line := "- " + in.handle(s.at) + ": " + indented(in.endedMarked(s, text)) + in.wasBefore(s.at)
	if s.times > 1 {
		line += fmt.Sprintf("\n  (said %d times, first at %s)", s.times, in.handle(s.first))
	}
	if s.question != "" {
		most := long
		if s.old {
			most = short
		}
		how := "answers"
		if s.follows {
			how = "said after"
		}
		line += "\n  (" + how + ": " + questionWithin(s.question, most) + ")"
	}
	if s.refused != "" {
		line += "\n  (in place of allowing a call of " + quoted(s.refused, 60) + ")"
	}
	return line
}

// questionWithin returns what a reply answers on one line of about most bytes: of a question its end, where it asks.
func questionWithin(question string, most int) string {
	question = plain.Text(strings.Join(strings.Fields(question), " "))
	if len(question) <= most || !isQuestion.MatchString(question) {
		return quoted(question, most)
	}
	end := strings.ToValidUTF8(question[len(question)-most:], "")
	if i := strings.IndexByte(end, ' '); i >= 0 && i < most/3 {
		end = end[i+1:]
	}
	return "…" + end
}

// endedMarked returns a person's words with a mark behind each rule in them that no longer
// holds.
func (in *input) endedMarked(s saying, text string) string {
	for _, r := range in.endedRules() {
		if at := r.Handle.From; at == s.at || s.times > 1 && at == s.first {
			text = strings.Replace(text, r.Text, r.Text+" ["+in.endOf(r)+"]", 1)
		}
	}
	return text
}

// endOf says how a rule ended, and where: "replaced at m4".
func (in *input) endOf(r retain.Rule) string {
	how := "replaced"
	if r.State == "revoked" {
		how = "taken back"
	}
	return how + " at " + in.handle(r.Until.From)
}

// endedRules returns the rules of the user that were replaced or taken back.
func (in *input) endedRules() []retain.Rule {
	if in.ended == nil {
		in.ended = slices.DeleteFunc(in.x.AllRules(), func(r retain.Rule) bool { return r.State == "" })
		if in.ended == nil {
			in.ended = []retain.Rule{}
		}
	}
	return in.ended
}
