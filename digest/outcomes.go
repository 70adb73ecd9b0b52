package digest

import (
	"strconv"
	"strings"

	"precis"
	"precis/internal/lazyregexp"
	"precis/internal/preview"
	"precis/internal/toolcall"
	"precis/retain"
)

var (
	// testRuns are command lines that run tests.
	testRuns = runPattern{lazyregexp.New(`\b(?:go test|gotestsum|pytest|py\.test|unittest|tox|` + packageScript + ` test|deno test|cargo (?:nextest|test)|jest|vitest|mocha|rspec|phpunit|ctest|(?:mvn|gradle|gradlew|make|just|task|mise run) (?:\S+ )?test)\b`)}
	// passing say that tests pass, failing that something does not.
	passing = lazyregexp.New(`(?i)(?:^|[.:;,(—–-]\s*|\band\s+|\b(?:all|the|full|whole|entire|complete)\s+)(?:\d+\s+)?(?:unit |integration |end-to-end |e2e |regression )?tests?(?: suite)?\s+(?:(?:are|is|now|all|still|currently|both)\s+)*(?:pass(?:es|ed|ing)?|green|succeed(?:s|ed)?)\b`)
	failing = lazyregexp.New(`(?i)\b(?:fail\w*|broken?|red|error\w*|not pass\w*|n't pass\w*)\b`)
	// unsure say that something is not told as it is now.
	unsure = lazyregexp.New(`(?i)\b(?:should|must|will|would|ensure|make sure|until|once|if|when|unless|need\w*|want\w*|not|never|no|cannot|verify|before|earlier|previous\w*|initially|at first|then|later|was|were|had|first|once|after|while|during|expected|todo|next)\b|n't\b`)
	// works and breaks tell how a command ends.
	works = lazyregexp.New(`(?i)\b(?:pass(?:es|ed|ing)?|succeed(?:s|ed)?|success\w*|works|clean(?:ly)?|green|builds)\b`)
	// carriedIt says that a command did what it was to do.
	carriedIt = lazyregexp.New(`(?i)\b(?:enabled|installed|applied|activated|executed)\b`)
	breaks    = lazyregexp.New(`(?i)\b(?:fails|failing|is broken|still fail\w*|does not (?:build|pass|compile|work)|doesn't (?:build|pass|compile|work))\b`)

	made    = lazyregexp.New(`(?i)\b(?:creat(?:ed|es)|add(?:ed|s)|wrote|written|new file|modif(?:ied|ies)|updated|edit(?:ed|s)|chang(?:ed|es)|implement(?:ed|s))\b`)
	removed = lazyregexp.New(`(?i)\b(?:delet\w+|remov\w+|gone|dropped|renam\w+|moved|refus\w+|reject\w+|declin\w+|den(?:ied|ies)|revert\w*|undone|fail\w*|temporary|scratch|clean\w* up)\b`)

	// deeds are what an agent does to the outside, with the commands that do it.
	deeds = [4]struct{ says, does *lazyregexp.Regexp }{
		{lazyregexp.New(`(?i)\b(?:has been |have |been |is |are |was |were )?(?:pushed)\b`), lazyregexp.New(`\bgit\b[^|;&]*\bpush\b`)},
		{lazyregexp.New(`(?i)\b(?:committed)\b`), lazyregexp.New(`\bgit\b[^|;&]*\bcommit\b`)},
		{lazyregexp.New(`(?i)\b(?:published)\b`), lazyregexp.New(`\b(?:npm|yarn|pnpm|cargo|twine|gh release)\b[^|;&]*\b(?:publish|upload|create)\b`)},
		{lazyregexp.New(`(?i)\b(?:deployed)\b`), lazyregexp.New(`\bdeploy\b`)},
	}
	// negated say that something was not done, or not yet.
	negated = lazyregexp.New(`(?i)\b(?:not|nothing|none|nobody|never|no|without|refus\w+|reject\w+|declin\w+|denied|fail\w*|before|cannot|un(?:pushed|committed)|to be|yet|if|when|should|will|already)\b|n't\b`)
)

// packageScript is how a script of a package is run, before its name: "pnpm --filter web", "npm run", "yarn workspace web", "turbo run".
const packageScript = `(?:(?:npm|yarn|pnpm|bun)(?: workspace \S+| -\S+(?: [^-\s|;&]\S*)?){0,4}|turbo|nx|lerna)(?: run)?`

// runPattern recognizes command lines that run something. The parts of a line that only install it, or give its name to a file or to git,
// run nothing: "pip install pytest", "git merge test-fixes", "mkdir build".
type runPattern struct{ says *lazyregexp.Regexp }

func (p runPattern) MatchString(line string) bool {
	return p.says.MatchString(line) && p.says.MatchString(runsNothing.ReplaceAllString(line, ""))
}

var runsNothing = lazyregexp.New(`(?:^|[;&|(]\s*|\bsudo\s+)(?:(?:git|mkdir|rm|cp|mv|ln|touch|chmod|cd)\b|(?:npm|pnpm|yarn|bun|pip3?|pipx|uv|poetry|cargo|gem|brew|apt|apt-get|apk|dnf|conda|python3? -m pip)(?: pip| tool| -\S+)*\s+(?:ci|i|install|add|remove|uninstall|update|upgrade)\b)[^;&|\n]*`)

// Limits of what is read as a statement: the bytes of its line, and the commands that it quotes. Each of
// the commands costs a search of the line.
const (
	mostStatement = 2000
	mostCommands  = 8
)

// outcomes checks what a line says of the work.
func (d *doubter) outcomes(line string) {
	if len(line) > mostStatement {
		return
	}
	w := d.in.work()
	d.tests(w, line)
	d.commands(w, line)
	d.files(w, line)
	d.deeds(w, line)
}

// deedTable holds what the commands of a conversation did that statements are about.
type deedTable struct {
	newest map[string]int  // index of the newest call of a command line
	ill    map[string]bool // command lines of which a call did not end well, as far as one knows
	tests  int             // of the newest run of tests when it failed, and the text does not report it and the user has not seen them pass since; else -1
	undone [4]int          // by deed: of the newest attempt when none went through, else -1
}

// deedsOf reads what the commands did, once.
func (d *doubter) deedsOf(w *work) *deedTable {
	if d.did != nil {
		return d.did
	}
	t := &deedTable{newest: map[string]int{}, ill: map[string]bool{}, tests: -1, undone: [4]int{-1, -1, -1, -1}}
	settled := false // whether tests may have been run in another way since
	var done [4]bool
	for i := len(w.calls) - 1; i >= 0; i-- {
		c, end := &w.calls[i], w.ends[i].End
		if c.Kind != toolcall.Command {
			continue
		}
		if line := bareCommand(c.Line); line != "" {
			if _, ok := t.newest[line]; !ok {
				t.newest[line] = i
			}
			t.ill[line] = t.ill[line] || end != toolcall.OK
		}
		for k, deed := range deeds {
			if done[k] || !deed.does.MatchString(c.Line) {
				continue
			}
			if end == toolcall.OK || end == toolcall.Unknown || end == toolcall.Interrupted {
				t.undone[k], done[k] = -1, true
			} else if t.undone[k] < 0 {
				t.undone[k] = i
			}
		}
		if settled || w.isWaiting(i) || end == toolcall.Rejected || toolcall.Prints(c.Line) {
			continue
		}
		switch {
		case testRuns.MatchString(c.Line):
			settled = true
			if end == toolcall.Failed {
				t.tests = i
			}
		case mayTest.MatchString(c.Line) && end != toolcall.Failed:
			settled = true
		}
	}
	if t.tests >= 0 && (failedTests.MatchString(d.text) || d.passedSince(w.calls[t.tests].Use.From)) {
		t.tests = -1
	}
	d.did = t
	return t
}

// bareCommand returns a command line without the change of directory before it and without what says how much of its output
// is shown.
func bareCommand(line string) string {
	return strings.TrimSpace(ends.ReplaceAllString(commandLine(line), ""))
}

// newestOf returns the newest call of a command as a text quotes it, or of one that is run for the same.
func (t *deedTable) newestOf(quote string) (call int, ok bool) {
	quote = bareCommand(quote)
	if call, ok = t.newest[quote]; ok {
		return call, true
	}
	purpose := toolcall.PurposeOf(quote)
	if strings.TrimSpace(purpose.Kind) == quote && !strings.Contains(quote, " ") {
		return -1, false
	}
	call = -1
	for line, i := range t.newest {
		if p := toolcall.PurposeOf(line); i > call && p.Covers(purpose) && purpose.Covers(p) {
			call = i
		}
	}
	return call, call >= 0
}

// tests checks that the tests are said to pass only when their newest run did not fail. What
// is said of some tests is left alone, and all when they may have been run in another way since.
func (d *doubter) tests(w *work, line string) {
	if !passing.MatchString(line) || failing.MatchString(line) || unsure.MatchString(line) || someTests.MatchString(line) {
		return
	}
	if i := d.deedsOf(w).tests; i >= 0 {
		d.contradict(line, doubtOutcome, "the newest run, "+said(w.calls[i].Line)+", failed"+codeOf(w.ends[i]), w.calls[i].Use)
	}
}

var (
	mayTest   = lazyregexp.New(`(?i)test|spec|check|verify|\bmake\b`)
	someTests = lazyregexp.New(`\b(?i:existing|isolation|most|custom|verification|manual\w*|these|those|some|my|new|own|cases?)\b|\btest_\w|\bTest[A-Z]|\w\.(?:test|spec)\b`)
)

// failedTests says that tests fail.
var failedTests = lazyregexp.New(`(?i)\b(?:tests?|suite)\b[^.\n]{0,60}\bfail|\bfail\w*\b[^.\n]{0,60}\btests?\b|\bFAIL\b`)

// passedSince reports whether the user says behind a message that something passes or works.
func (d *doubter) passedSince(message int) bool {
	for i := len(d.in.x.Texts) - 1; i >= 0; i-- {
		t := &d.in.x.Texts[i]
		if t.Handle.From <= message {
			return false
		}
		if t.Source == retain.User && works.MatchString(t.Words()) {
			return true
		}
	}
	return false
}

// commands checks what a line says of the end of a command that it quotes.
func (d *doubter) commands(w *work, line string) {
	for _, m := range inBackticks.FindAllStringIndex(line, mostCommands) {
		quote := strings.Trim(line[m[0]:m[1]], "`")
		rest := line[:m[0]] + line[m[1]:]
		if next := clauseAround(line[m[1]:], 0); works.MatchString(next) != breaks.MatchString(next) {
			rest = next // what stands behind it
		}
		if d.neverFailed(quote, line[:m[0]]+line[m[1]:]) {
			i, _ := d.deedsOf(w).newestOf(quote)
			d.contradict(line, doubtOutcome, "none of its runs failed", w.calls[i].Use)
			continue
		}
		good, bad := works.MatchString(rest) || carriedIt.MatchString(rest), breaks.MatchString(rest)
		if len(strings.Fields(quote)) < 2 || good == bad || unsure.MatchString(rest) || good && failing.MatchString(rest) {
			continue
		}
		i, ok := d.deedsOf(w).newestOf(quote)
		if !ok {
			continue
		}
		switch c, end := &w.calls[i], w.ends[i].End; {
		case good && end == toolcall.Failed:
			d.contradict(line, doubtOutcome, "its newest run failed"+codeOf(w.ends[i]), c.Use)
		case good && end == toolcall.Rejected:
			why := "the user refused it"
			if w.ends[i].Claimed {
				why = "its result says that it was refused"
			}
			d.contradict(line, doubtOutcome, why, c.Use)
		case bad && end == toolcall.OK:
			d.contradict(line, doubtOutcome, "its newest run did not fail", c.Use)
		}
	}
}

// neverFailed reports whether a line says that a command failed at some time, and none of its runs did.
func (d *doubter) neverFailed(quote, rest string) bool {
	t := d.deedsOf(d.in.work())
	line := bareCommand(quote)
	_, ran := t.newest[line]
	return ran && !t.ill[line] && strings.Contains(line, " ") && someFailed.MatchString(rest) && !supposed.MatchString(rest) && !byOthers.MatchString(rest)
}

// supposed says of nothing that it was so.
var supposed = lazyregexp.New(`(?i)\b(?:if|when|whether|until|unless|should|would|could|might|may|not|never|without|no|because|since|after|before|earlier|previous\w*|initially|at first)\b|n't\b`)

var inBackticks = lazyregexp.New("`[^`\n]+`")

// files checks what a line says of files that it names.
func (d *doubter) files(w *work, line string) {
	var paths []string
	prose, end := "", 0 // of the line between its paths
	retain.Scan(line, func(a retain.Anchor) {
		if a.Kind != retain.Path || a.Start < end {
			return
		}
		prose += line[end:a.Start]
		end = a.End
		if name := line[a.Start:a.End]; strings.ContainsAny(name, "./") {
			paths = append(paths, name)
		}
	})
	prose += line[end:]
	if !made.MatchString(prose) || removed.MatchString(prose) || unsure.MatchString(prose) || toBeMade.MatchString(prose) {
		return
	}
	for _, name := range paths {
		f := w.files.named(strings.ReplaceAll(name, `\`, "/"))
		switch {
		case f == nil:
		case f.state == FileFailed:
			d.contradict(line, doubtFile, "no change of "+name+" succeeded", f.at)
		case (f.state == "" || f.state == FileRead) && f.refused != nil && f.lastWrite >= 0:
			d.contradict(line, doubtFile, "the user refused the change of "+name, f.refused.at)
		case f.state == FileReverted && strings.Contains(line, f.by): // the line tells it
		case f.state == FileReverted:
			d.contradict(line, doubtFile, name+" has been reverted since ("+f.by+")", f.at)
		case f.isMoved():
			d.contradict(line, doubtFile, name+" has been moved since, to "+quoted(f.whereTo(), 200), f.at)
		case f.state == FileDeleted:
			d.contradict(line, doubtFile, name+" has been removed since", f.at)
		}
	}
}

// toBeMade says what is about to be done.
var toBeMade = lazyregexp.New(`(?i)\b(?:let me|let's|let us|i'll|i will|(?:going|about|plan|plans|planning|intend|intends) to)\b`)

// named returns the file that a path names; nil when there is none, or more than one.
func (t *fileTable) named(p string) *file {
	if f := t.byPath[p]; f != nil {
		return f
	}
	var found *file
	for _, f := range t.byName[p[strings.LastIndexByte(p, '/')+1:]] {
		if f.path != p && !strings.HasSuffix(f.path, "/"+p) && !strings.HasSuffix(p, "/"+f.path) {
			continue
		}
		if found != nil {
			return nil
		}
		found = f
	}
	return found
}

// deeds checks what a line says was done to the outside: no run of such a command
// may have gone through, and the newest was refused or failed.
func (d *doubter) deeds(w *work, line string) {
	if negated.MatchString(line) {
		return
	}
	for k, deed := range deeds {
		if !deed.says.MatchString(line) {
			continue
		}
		i := d.deedsOf(w).undone[k]
		if i < 0 {
			continue
		}
		c, why := &w.calls[i], "failed"+codeOf(w.ends[i])
		if w.ends[i].End == toolcall.Rejected {
			why = "was refused by the user"
			if w.ends[i].Claimed {
				why = "was refused, as its result says"
			}
		}
		d.contradict(line, doubtOutcome, said(c.Line)+" "+why, c.Use)
	}
}

// contradict doubts a line, with what shows otherwise.
func (d *doubter) contradict(line, kind, why string, at precis.Handle) {
	at.From += d.in.offset
	at.To += d.in.offset
	d.doubt(preview.Line(strings.TrimLeft(strings.TrimSpace(line), "-*•# "), 160), kind, why, &at)
}

func said(commandOf string) string { return "`" + quoted(commandLine(commandOf), 80) + "`" }

func codeOf(o toolcall.Outcome) string {
	if o.Code != nil && *o.Code != 0 {
		return ", exit code " + strconv.Itoa(*o.Code)
	}
	if o.Line != "" {
		return ": " + quoted(o.Line, 100)
	}
	return ""
}
