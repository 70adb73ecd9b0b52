package digest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"precis"
	"precis/internal/harness"
	"precis/internal/lazyregexp"
	"precis/internal/plain"
	"precis/internal/preview"
	"precis/internal/toolcall"
	"precis/retain"
)

// sections writes everything except the facts. Shares are of the whole digest.
func (in *input) sections(d *draft, st *story) {
	share := func(percent int) int { return in.tokens * percent / 100 }
	d.add("[Digest of " + in.span() + ", written from the conversation without a model. A record of what was said and done, not new instructions.]\n")
	if dir := in.workingDirectory(); dir != "" {
		d.add("Current working directory: " + dir + "\n")
	}
	older := in.previousSection()
	d.left -= d.count(older)
	in.workflows(d)
	files := fileList{in, st.files}
	names := min(d.count(files.title())+d.listed(files.written())+3, d.left/3)
	d.left -= names // reserved for the files
	const requests = "## The user's requests, newest first, word for word"
	d.section(requests, in.requests(st.requests, d.count, min(max(share(40), in.userTokens), d.left-d.count(requests)-1)), d.left)
	d.section("## Refused by the user", newestFirst(st.refused, 12), share(12))
	planned := in.planRoom()
	d.section("## Plan", in.plan(planned-d.count("## Plan")-1), planned)
	d.section("## Waiting", st.open, share(6))
	d.section(jobsTitle, in.jobs(in.standing().Jobs), share(8))
	d.section(skillsTitle, in.skillLines(in.skills(), share(10)), share(12))
	d.section("## Standing instructions", in.instructionLines(share(12)), share(14))
	d.left += names
	const rules = "## Rules the user set"
	written := retain.Folded(d.String())
	room := max(share(12), min(in.ruleTokens(written)+d.count(rules)+1, share(33)))
	d.section(rules, in.missingRules(written, min(room, d.left)-d.count(rules)-1), room)
	files.section(d)
	d.section("## Last results of commands, newest first", in.commandLines(st, 10), share(8))
	in.lastWords(d, st.last, share(10))
	d.left += d.count(older)
	d.add(older)
}

// jobsTitle is the heading over other agents and work in the background.
const jobsTitle = "## Agents and background work"

// workingDirectory returns the directory that the agent's program named last; "" when
// it named none. Agents name it again after hundreds of messages.
func (in *input) workingDirectory() string {
	for i := len(in.x.Texts) - 1; i >= 0; i-- {
		t := &in.x.Texts[i]
		if t.Source != retain.Harness || !in.covered(t.Handle.From) {
			continue
		}
		if dir := harness.WorkingDirectory(t.Body); dir != "" {
			return quoted(dir, 200)
		}
	}
	return ""
}

// workflows copies the directives that a slash command put into the first
// message, unshortened. It returns their number.
func (in *input) workflows(d *draft) int {
	if len(in.messages) == 0 || !in.covered(0) || in.offset > 0 {
		return 0
	}
	blocks := harness.Commands(in.messages[0].PlainText())
	if len(blocks) == 0 || d.section("## Active workflows, to be followed further", []string{strings.Join(blocks, "\n")}, d.left) == 0 {
		return 0
	}
	return len(blocks)
}

// span returns the handle of the messages that the digest replaces.
func (in *input) span() string {
	first, last := -1, -1
	for i := range in.messages {
		if in.covered(i) {
			if first < 0 {
				first = i
			}
			last = i
		}
	}
	if first < 0 {
		return "no messages"
	}
	return "messages " + precis.SpanHandle(first+in.offset, last+in.offset+1).String()
}

// previousSection returns a section with the preceding digest or summary, marked as
// older than all that the digest itself tells; "" when there is none. What it orders is
// left out, and what it calls pending was so then.
func (in *input) previousSection() string {
	if in.previous == "" {
		return ""
	}
	const title = "\n## Older summary, out of date where it differs\n"
	wrong := in.outOfDate()
	text := then.ReplaceAllString(orders.ReplaceAllString(in.previous, ""), "$0 (then)")
	text = fitted(indented(text), in.tokens/3-in.count(title)-in.count(wrong)-3, in.count)
	if text == "" {
		return ""
	}
	return title + wrong + "  " + text + "\n" // indented, so that its headings are none of the digest's
}

// outOfDate lists what the preceding summary says and calls contradict, most of them made after
// it; "" when there is nothing.
func (in *input) outOfDate() string {
	const most = 5
	all := slices.DeleteFunc(in.doubts(in.previous), func(d Doubt) bool { return d.Kind != doubtOutcome && d.Kind != doubtFile })
	lines := in.doubtLines(all[:min(len(all), most)])
	said := retain.Folded(in.previous)
	for _, r := range newest(in.endedRules(), most) {
		if strings.Contains(said, retain.Folded(r.Text)) {
			lines = append(lines, "- "+in.handle(r.Handle.From)+": \""+r.Text+"\" was "+in.endOf(r))
		}
	}
	if len(lines) == 0 {
		return ""
	}
	return "Out of date in:\n" + strings.Join(lines, "\n") + "\n"
}

var (
	// orders are what clients write after a summary for the model to go on.
	orders = lazyregexp.New(`(?im)^[^\n]*please continue the conversation from where we left[^\n]*$|^[^\n]*continue with the last task that you were asked[^\n]*$`)
	// then are headings of what is still to be done.
	then = lazyregexp.New(`(?im)^[ \t#*\d.-]*(?:pending(?: tasks)?|next steps?|optional next step|current (?:work|state|status)|remaining(?: work| tasks)?|to ?do)\b[^\n:]{0,30}`)
)

// requests returns what the user said within the given number of tokens, newest
// first: the request that is worked on, then those before it. Room goes to the last request first, then to what was answered since, then to the
// newest message of the user's own, the first request, and the newest. A message that does not fit is cut; its rules stay.
func (in *input) requests(all []saying, count func(string) int, budget int) []string {
	if len(all) == 0 {
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
	total := 0
	for i := 0; i < len(all) && total <= budget; i++ {
		total += count(in.request(all[i], all[i].text)) + 1
	}
	lines := make([]string, len(all))
	left := budget
	for n, i := range order {
		line := in.request(all[i], all[i].text)
		if c := count(line) + 1; total <= budget || c <= left && (n < 1 || i == whole || c <= max(left/3, 60)) {
			lines[i] = line
			left -= c
			continue
		}
		most := max(left/4, min(left, 40))
		if n == 0 {
			most = left * 3 / 4
		}
		if most < 20 {
			continue
		}
		if text := fitted(all[i].text, most-count(in.request(all[i], ""))-1, count); text != "" {
			lines[i] = in.request(all[i], text)
			left -= count(lines[i]) + 1
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
	if len(missing) > 0 {
		out = append(out, "- not quoted for want of room: "+preview.List(missing, ", ", 120))
	}
	return out
}

// fresh is the number of the newest requests whose questions are quoted at length.
const fresh = 3

func (in *input) request(s saying, text string) string {
	const long, short = 300, 100
	line := "- " + in.handle(s.at) + ": " + in.endedMarked(s, strings.TrimSpace(text))
	if s.times > 1 {
		line += fmt.Sprintf("\n  (said %d times, first at %s)", s.times, in.handle(s.first))
	}
	if s.question != "" {
		most := long
		if s.old {
			most = short
		}
		line += "\n  (answers: " + quoted(s.question, most) + ")"
	}
	if s.refused != "" {
		line += "\n  (in place of allowing a call of " + quoted(s.refused, 60) + ")"
	}
	return line
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

// commandLines describes commands: how each ended, exit code first, and why. Runs of tests name the
// files that were edited since, the newest run most of them.
func (in *input) commandLines(st *story, most int) []string {
	var out []string
	room := 100 // for the names of files
	for _, c := range st.commands[:min(len(st.commands), most)] {
		how := string(c.end.End)
		switch {
		case c.running:
			how = "still running in the background"
		case c.end.Code != nil && *c.end.Code != 0:
			how = fmt.Sprintf("FAILED, exit code %d", *c.end.Code)
		case c.end.End == toolcall.Failed:
			how = "FAILED"
		case c.end.End == toolcall.Unknown:
			how = "ended"
		}
		if says := cmp.Or(c.end.Line, c.last); says != "" {
			how += ": " + quoted(says, 110)
		}
		if c.end.Why != "" {
			how += "; " + quoted(c.end.Why, 160)
		}
		if c.undone != "" {
			how += "; the commit is undone since (" + c.undone + ")"
		}
		runs := ""
		if c.runs > 1 {
			runs = fmt.Sprintf(" ×%d", c.runs)
		}
		if testRuns.MatchString(c.line) {
			how += in.editedSince(st.files, c.at, room)
			room = 40
		}
		out = append(out, fmt.Sprintf("- %s `%s`%s → %s", in.handle(c.at), briefly(c.line), runs, how))
	}
	return out
}

// briefly returns a command on one short line: of a script its beginning and its end, where scripts differ.
func briefly(command string) string {
	const most, end = 90, 50
	line := quoted(command, most)
	if len(command) <= most || !strings.Contains(strings.TrimSpace(command), "\n") || !strings.HasSuffix(line, "…") {
		return line
	}
	tail := quoted(command[len(command)-min(len(command)/2, 2*end):], 2*end)
	if len(tail) > end {
		tail = strings.ToValidUTF8(tail[len(tail)-end:], "")
		if i := strings.IndexByte(tail, ' '); i >= 0 && i < end/3 {
			tail = tail[i+1:]
		}
	}
	return plain.Text(quoted(line, most-end) + " " + tail)
}

// editedSince names the files that were edited after a message, in so many bytes; "" for none.
func (in *input) editedSince(files []file, message, room int) string {
	var names []string
	for _, f := range files {
		if f.exists() && f.at.From > message {
			names = append(names, relative(f.path, in.base))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "; edited since: " + preview.List(names, ", ", room)
}

// newestFirst returns the last lines, the last one first.
func newestFirst(lines []string, most int) []string {
	out := slices.Clone(newest(lines, most))
	slices.Reverse(out)
	return out
}

func newest[T any](items []T, most int) []T { return items[max(len(items)-most, 0):] }

// lastWords quotes the agent's last text, which states the progress and the
// next step.
func (in *input) lastWords(d *draft, last []saying, budget int) {
	var lines []string
	left := budget
	for n, s := range last {
		if left < 30 {
			break
		}
		most := left * 4
		if n > 0 {
			most = min(most, 300)
		}
		line := "- " + in.handle(s.at) + ": " + indented(in.refuted(s.at, plain.Text(cutPlain(s.text, most))))
		left -= d.count(line)
		lines = append([]string{line}, lines...)
	}
	d.section("## Where the work stands, in the agent's last words", lines, budget+20)
}

// indented indents the lines after the first, so that only the digest itself
// begins lines with a heading or a handle.
func indented(text string) string {
	return strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n  ")
}

// cutPlain keeps the beginning and the end of a text.
func cutPlain(text string, most int) string {
	if len(text) <= most {
		return text
	}
	head, tail := retain.Ends(text, most*2/5, most*3/5-30)
	return head + " [… ] " + tail
}
