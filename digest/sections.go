package digest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/digest/effects"
	"github.com/precis-dev/precis/internal/harness"
	"github.com/precis-dev/precis/internal/lazyregexp"
	"github.com/precis-dev/precis/internal/plain"
	"github.com/precis-dev/precis/internal/preview"
	"github.com/precis-dev/precis/internal/toolcall"
	"github.com/precis-dev/precis/retain"
	"github.com/precis-dev/precis/verify"
)

// Shares of a digest, in percent.
const (
	shareRequests = 35 // for the words of persons
	leastAccount  = 12 // the least that requests leave to the agent's own words
	shareBehind   = 35 // for the sections after the agent's words
	shareResults  = 20 // for results of commands, failures first
)

const requestsTitle = "## The user's requests, newest first, word for word"

// sections writes everything except the lines of the agent and its tools.
func (in *input) sections(d *draft, files []effects.File) {
	share := func(percent int) int { return in.tokens * percent / 100 }
	d.add(digestHead + in.span() +
		", written from the conversation without a model. A record of what was said and done, not new instructions.]\n")
	if dir := in.workingDirectory(); dir != "" {
		d.add("Current working directory: " + dir + "\n")
	}
	older := in.previousSection()
	d.tokensLeft -= d.count(older)
	in.workflows(d)
	words, asked := min(share(leastAccount), d.tokensLeft/3), share(shareRequests)
	own := in.dropShort(in.ownWords())
	if !in.hasCalls() { // the requests get the share of the agent's words
		words = in.accountSize(own, min(words,
			share(layoutFor(in.tokens, in.hasLaterMessages()).ownTextShare)))
		asked = in.tokens - words
	}
	d.tokensLeft -= words // reserved for the agent's account
	room := min(max(asked, in.userTokens), d.tokensLeft-d.count(requestsTitle)-1)
	d.section(requestsTitle, in.requestWriter().Lines(in.requested(), room), d.tokensLeft)
	d.section("## Refused by the user", in.refusals(), share(12))
	d.section("## Standing instructions", in.instructionLines(share(12)), share(14))
	d.section(skillsTitle, in.skillLines(in.skills(), share(10)), share(12))
	d.section("## Waiting", in.openCalls(), share(6))
	// The sections after the account are written first: the account gets the room that they leave.
	planned := in.planRoom()
	behind := &draft{count: d.count, tokensLeft: min(d.tokensLeft, share(shareBehind)+planned)}
	d.tokensLeft += words
	in.callSections(behind, files, planned)
	in.cover.AddText(d.String())
	in.cover.AddText(behind.String())
	d.tokensLeft -= d.count(behind.String())
	in.writeAccount(d, own, share(layoutFor(in.tokens, in.hasLaterMessages()).ownTextShare))
	d.WriteString(behind.String())
	d.tokensLeft += d.count(older)
	d.add(older)
}

// callSections writes the sections about calls, which follow the account: results, files, jobs, the plan
// and the state of git.
func (in *input) callSections(d *draft, files []effects.File, planned int) {
	share := func(percent int) int { return in.tokens * percent / 100 }
	d.section(returnedTitle, in.returned(min(share(returnedShare), d.tokensLeft/3)), d.tokensLeft/3)
	commands := withoutQueries(in.work().NewestRuns(in.covered))
	d.section("## Last results of commands, failures first, newest first",
		in.commandLines(commands, files, 12), min(share(shareResults), d.tokensLeft))
	fileList{in, in.listedFiles(files)}.section(d)
	if !in.brief {
		d.section(othersTitle, in.otherCalls(), share(othersShare))
	}
	d.section(jobsTitle, in.jobs(in.workState().Jobs), share(8))
	d.section("## Plan", in.plan(planned-d.count("## Plan")-1), planned)
	if in.tokens >= leastForGit {
		d.section(gitTitle, in.gitLines(), d.tokensLeft)
	}
}

// leastForGit is the least size in tokens of a digest that describes the state of git.
const leastForGit = 300

// jobsTitle is the heading over other agents and work in the background.
const jobsTitle = "## Agents and background work"

// workingDirectory returns the directory that the agent's program named last; "" when it named
// none. Some agents repeat it only after hundreds of messages.
func (in *input) workingDirectory() string {
	for i := len(in.x.Texts) - 1; i >= 0; i-- {
		t := &in.x.Texts[i]
		if t.Source != retain.SourceHarness || !in.covered(t.Handle.From) {
			continue
		}
		if dir := harness.WorkingDirectory(t.Body); dir != "" {
			return preview.Quote(dir, 200)
		}
	}
	return ""
}

// workflows copies the directives that a slash command put into the first message, unshortened. It
// returns the number of directives.
func (in *input) workflows(d *draft) int {
	if len(in.messages) == 0 || !in.covered(0) || in.offset > 0 {
		return 0
	}
	blocks := harness.Commands(in.messages[0].PlainText())
	if len(blocks) == 0 || d.section("## Active workflows, to be followed further",
		[]string{strings.Join(blocks, "\n")}, d.tokensLeft) == 0 {
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

// previousSection returns a section with the preceding digest or summary, marked as older than the
// rest of the digest; "" without one. Orders to the reader in it are omitted.
func (in *input) previousSection() string {
	if in.previous == "" {
		return ""
	}
	const title = "\n## Older summary, out of date where it differs\n"
	wrong := in.outOfDate()
	text := orders.ReplaceAllString(unwrapped(in.previous), "")
	if in.older >= 0 { // found in a message of unknown origin
		text = plain.Text(text)
	}
	most := max(in.tokens/3, in.tokens-in.sizeWithoutSummary()-leastBeside)
	head := in.count(title) + in.count(wrong) + 3
	if isDigestText(in.previous) {
		text = in.fromTop(plain.Indent(text), most-head)
	} else {
		text = retain.Fit(plain.Indent(text), most-head, in.count)
	}
	if text == "" {
		return ""
	}
	return title + wrong + "  " + text + "\n" // indented, so that its headings do not look like the digest's
}

// leastBeside is the least tokens of a digest without an older one: its head and the account.
const leastBeside = 80

// sizeWithoutSummary estimates the tokens of the covered messages without the older summary.
func (in *input) sizeWithoutSummary() int {
	bytes := 0
	for i := range in.x.Texts {
		if t := &in.x.Texts[i]; in.covered(t.Handle.From) && !in.isPreviousSummary(i) {
			bytes += len(t.Body)
		}
	}
	return bytes / 4
}

// findOlder looks for a summary of earlier messages that the conversation contains as a message,
// and uses the newest as the preceding summary, unless the caller supplied one.
func (in *input) findOlder() {
	in.older = -1
	if in.previous != "" {
		return
	}
	for i := len(in.x.Texts) - 1; i >= 0; i-- {
		t := &in.x.Texts[i]
		if t.Source == retain.SourceAssistant && t.Call < 0 && in.covered(t.Handle.From) &&
			in.messages[t.Handle.From].Role == precis.RoleUser {
			in.older, in.previous = i, t.Body
			return
		}
	}
}

// isPreviousSummary reports whether a text is quoted as the older summary.
func (in *input) isPreviousSummary(text int) bool { return in.older == text && in.previous != "" }

// unwrapped returns an older summary. Of a digest of our own it removes the head, and it puts a yet
// older digest inside it in its place, so that digests do not nest.
func unwrapped(previous string) string {
	text := strings.TrimSpace(previous)
	if !isDigestText(text) {
		return text
	}
	_, text, _ = strings.Cut(text, "\n")
	own, older, _ := strings.Cut(text, "\n## Older summary")
	_, older, _ = strings.Cut(older, "\n")
	return strings.TrimSpace(own + strings.ReplaceAll("\n"+older, "\n  ", "\n"))
}

// isDigestText reports whether precis wrote a text as a digest.
func isDigestText(text string) bool { return strings.HasPrefix(strings.TrimSpace(text), digestHead) }

// fromTop returns as many of the first lines of an older digest as fit in tokens: the most
// important lines come first, beginning with the user's words.
func (in *input) fromTop(text string, tokens int) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		if tokens -= in.count(line); tokens < 0 {
			break
		}
		out.WriteString(line)
	}
	return strings.TrimSpace(out.String())
}

// digestHead begins every digest.
const digestHead = "[Digest of "

// outOfDate lists the statements of the preceding summary that calls contradict, most of them made
// after it; "" when there are none.
func (in *input) outOfDate() string {
	const most = 5
	all := in.verifyPast().Doubts(in.previous, most, true)
	lines := in.doubtLines(all[:min(len(all), most)])
	for i, l := range lines {
		lines[i] = strings.Replace(l, "\": ", "\" is out of date: ", 1)
	}
	if len(lines) == 0 {
		return ""
	}
	return "Out of date in:\n" + strings.Join(lines, "\n") + "\n"
}

// orders matches the request to continue that clients append to a summary.
var orders = lazyregexp.New(`(?im)^[^\n]*please continue the conversation from where we left[^\n]*$|^[^\n]*continue with the last task that you were asked[^\n]*$`)

// commandLines describes commands: exit code first, then the cause. Test runs name the files edited
// since, the newest run most of them.
func (in *input) commandLines(all []effects.Command, files []effects.File, most int) (out []string) {
	room := 100 // for the names of files
	for _, c := range in.listedCommands(all) {
		if len(out) == most {
			break
		}
		how := string(c.End.End)
		switch {
		case c.Running:
			how = "still running in the background"
		case c.End.End == toolcall.Interrupted:
			how = "interrupted"
			if c.End.Line == "" && c.End.Code != nil {
				how = fmt.Sprintf("interrupted, exit code %d", *c.End.Code)
			}
		case c.End.Code != nil && *c.End.Code != 0:
			how = fmt.Sprintf("FAILED, exit code %d", *c.End.Code)
		case c.End.End == toolcall.Failed:
			how = "FAILED"
		case c.End.End == toolcall.Unknown, toolcall.Unclear(c.Given, c.Last):
			how = "ended"
		}
		runs := ""
		if c.Runs > 1 {
			runs = fmt.Sprintf(" ×%d", c.Runs)
			if c.Failed > 0 && c.Failed < c.Runs {
				how += fmt.Sprintf(" (%d of %d runs failed)", c.Failed, c.Runs)
			}
		}
		if says := cmp.Or(c.End.Line, c.Last); says != "" {
			how += ": " + preview.Quote(says, 110)
		}
		if c.End.Line != "" && c.Last != "" && c.Last != c.End.Line {
			how += "; at its end: " + preview.Quote(c.Last, 110)
		}
		if c.End.Why != "" {
			how += "; " + preview.Quote(c.End.Why, 160)
		}
		if len(c.alike) > 0 {
			how += "; so did " + strings.Join(c.alike, ", ")
		}
		if c.PersonWords != "" {
			how += "; reported with it: " + preview.Quote(c.PersonWords, mostSaid)
		}
		if c.Undone != "" {
			how += "; the commit is undone since (" + c.Undone + ")"
		} else if c.Amended != "" {
			how += "; amended since, to " + c.Amended
		}
		if since := in.editedSince(files, c.At, room); since != "" && verify.IsCheck(c.Given) {
			how += since
			room = 0
		}
		out = append(out, fmt.Sprintf("- %s `%s`%s → %s", in.handle(c.At), briefly(c.Line), runs, how))
	}
	return out
}

// At most mostFine successful commands are listed, the newest, with at least leastChecks checks if
// any; beside a summary one, since others are seldom of use there.
const (
	mostFine    = 5
	leastChecks = 3
)

// causeBytes is the length from which on a line counts as the cause of a failure.
const causeBytes = 30

// took matches the duration of a test: of a repeated failure the newest run is quoted.
var took = lazyregexp.New(`\s*\(\d+\.\d+ ?s\)`)

// listedCommand is a command with the others that failed with the same line, each with its message.
type listedCommand struct {
	effects.Command
	alike []string
}

// listedCommands returns the commands to list, failures first. Failures with the same line are merged
// into the newest, which names the others. A command that ended with code 1 and printed no word is not
// listed unless it is a check: that is how programs report that they found nothing.
func (in *input) listedCommands(all []effects.Command) []listedCommand {
	var failed, fine []listedCommand
	causes := map[string]int{}
	checks := 0
	for _, c := range all {
		cause := took.ReplaceAllString(c.End.Line, "")
		if cause == c.End.Line {
			cause += c.End.Why
		}
		at, known := causes[cause]
		isSilent := (c.End.Code == nil || *c.End.Code == 1) && !strings.ContainsFunc(cause, unicode.IsLetter)
		if c.End.End == toolcall.Failed && isSilent && !verify.IsCheck(c.Given) {
			continue
		} else if c.End.End == toolcall.Failed && known {
			failed[at].alike = append(failed[at].alike,
				fmt.Sprintf("%s `%s`", in.handle(c.At), briefly(c.Line)))
		} else if c.End.End == toolcall.Failed {
			if len(c.End.Line) >= causeBytes {
				causes[cause] = len(failed)
			}
			failed = append(failed, listedCommand{Command: c})
		} else if verify.IsCheck(c.Given) {
			checks++
		}
	}
	most := mostFine
	if in.brief {
		most = 1
	}
	others := most - min(checks, leastChecks)
	for _, c := range all {
		switch {
		case c.End.End == toolcall.Failed || len(fine) == most:
		case verify.IsCheck(c.Given):
			fine = append(fine, listedCommand{Command: c})
		case others > 0:
			others--
			fine = append(fine, listedCommand{Command: c})
		}
	}
	return append(failed, fine...)
}

// briefly returns a command on one short line, of a script the beginning and the end.
func briefly(command string) string {
	const most, end = 90, 50
	line := preview.Quote(command, most)
	if len(command) <= most || !strings.Contains(strings.TrimSpace(command), "\n") ||
		!strings.HasSuffix(line, "…") {
		return line
	}
	tail := preview.Quote(command[len(command)-min(len(command)/2, 2*end):], 2*end)
	if len(tail) > end {
		tail = strings.ToValidUTF8(tail[len(tail)-end:], "")
		if i := strings.IndexByte(tail, ' '); i >= 0 && i < end/3 {
			tail = tail[i+1:]
		}
	}
	return plain.Text(preview.Quote(line, most-end) + " " + tail)
}

// editedSince names the files that were edited after a message, in at most room bytes; "" for none.
func (in *input) editedSince(files []effects.File, message, room int) string {
	var names []string
	for _, f := range files {
		if f.Exists() && f.At.From > message {
			names = append(names, relative(f.Path, in.base))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "; edited since: " + preview.List(names, ", ", room)
}

// gitTitle is the heading over the state of git.
const gitTitle = "## Git"

// gitLines describes the state of git; none when the conversation shows none.
func (in *input) gitLines() []string { return in.work().GitState().Lines(in.handle) }

// withoutQueries drops commands that only read and never failed, because their success carries no
// information. If there are no other commands, it keeps them.
func withoutQueries(all []effects.Command) []effects.Command {
	says := func(c effects.Command) bool {
		return c.Running || c.Failed > 0 || !toolcall.Queries(c.Given)
	}
	if !slices.ContainsFunc(all, says) {
		return all
	}
	return slices.DeleteFunc(all, func(c effects.Command) bool { return !says(c) })
}
