package verify

import (
	"slices"
	"strconv"
	"strings"

	"precis/internal/lazyregexp"
	"precis/internal/toolcall"
	"precis/retain"
)

// CheckKind is a kind of checks, such as tests: how sentences name it, and the command lines that run it.
type CheckKind struct{ says, runs phrase }

// CheckKinds are tests, builds, linters and type checkers.
var CheckKinds = []CheckKind{
	{"names tests", "runs tests"}, {"names builds", "runs builds"}, {"names linters", "runs linters"},
	{"names type checks", "runs type checks"},
}

// IsNamed reports whether a sentence is about checks of the kind.
func (k CheckKind) IsNamed(sentence string) bool { return says(k.says, sentence) }

// IsRun reports whether a command line runs checks of the kind.
func (k CheckKind) IsRun(line string) bool { return runs(k.runs, line) }

// runs reports whether a command line runs something; the parts of it that install it or name a file after it do not.
func runs(what phrase, line string) bool {
	return says(what, line) && says(what, without("runs nothing", line))
}

// IsCheck reports whether a command line runs tests, a build, a linter or another check.
func IsCheck(line string) bool {
	isKind := func(k CheckKind) bool { return k.IsRun(line) }
	return slices.ContainsFunc(CheckKinds, isKind) || Checks(toolcall.PurposeOf(line))
}

// Checks reports whether a command of a purpose checks something.
func Checks(p toolcall.Purpose) bool {
	return runs("runs other checks", p.Kind) || runs("runs other checks", p.Key)
}

var parentheses = lazyregexp.New(`\s*\([^()]*\)`)

// check doubts what a statement says of the outcome of a kind of checks, where their newest run shows otherwise.
func (d *doubter) check(s Statement) bool {
	if says("some tests", s.Text) {
		return false
	}
	for _, k := range CheckKinds {
		clause, named := k.clauseOf(s.Text)
		good := says("holds well", clause) && !says("denied", clause)
		bad := says("holds ill", clause) || says("failed", clause)
		if !named || good == bad {
			continue
		}
		i, passed, failed := d.newestCheck(k)
		if i < 0 {
			continue
		}
		if good && says("any failure", strings.Replace(s.Text, clause, "", 1)) {
			continue // it says that something failed, too
		}
		run := "the newest run, " + d.quoted(d.Index.Calls[i].Line)
		ofNow := !says("unsure", clause) && (says("passes with issues", clause) || !d.failsLater(s, k))
		ofAll := !says("past", s.Text) && (says("holds ill", clause) || says("all", s.Text))
		switch end := d.endOf(i); {
		case good && end == toolcall.Failed && !d.passedSince(i) && (!passed || ofNow):
			return d.contradict(s, Outcome, run+", failed"+codeOf(d.Ends[i]), i)
		case bad && end == toolcall.OK && !d.failsStill(k, i) && (!failed || ofAll):
			return d.contradict(s, Outcome, run+", did not fail", i)
		}
	}
	return false
}

// clauseOf returns the clause of a sentence that says how such checks ended: the first that names them and says
// it, with or without what is in parentheses, or the last when it says it of all. named is false when none names
// them.
func (k CheckKind) clauseOf(text string) (clause string, named bool) {
	const most = 4 // that name them
	for _, text := range []string{text, parentheses.ReplaceAllString(text, "")} {
		for _, at := range phrases()[k.says].FindAllStringIndex(text, most) {
			one := clauseAround(text, at[0])
			if says("holds well", one) || says("holds ill", one) {
				return one, true
			}
			if !named {
				clause, named = one, true
			}
		}
	}
	if last := clauseAround(text, len(text)); named && says("all ended", last) {
		return last, true
	}
	return clause, named
}

// newestCheck returns the newest run of a kind of checks, -1 when there is none, and whether one of them may have
// passed or failed.
func (d *doubter) newestCheck(k CheckKind) (newest int, passed, failed bool) {
	newest = -1
	for i := range d.Index.Calls {
		c, end := &d.Index.Calls[i], d.Ends[i].End
		isRun := c.Kind == toolcall.Command && end != toolcall.Rejected && !d.Waiting(i) && !toolcall.Prints(c.Line)
		if !isRun || !k.IsRun(c.Line) {
			continue
		}
		newest = i
		passed = passed || end != toolcall.Failed
		failed = failed || end != toolcall.OK
	}
	return newest, passed, failed
}

// endOf returns how a run of checks ended; where a pipe hides it, as its output says.
func (d *doubter) endOf(i int) toolcall.End {
	end := d.Ends[i].End
	if end != toolcall.Unknown {
		return end
	}
	out := without("output none failed", d.Index.Calls[i].Output())
	switch passed := says("output passed", out); {
	case passed && !says("may fail", out):
		return toolcall.OK
	case !passed && says("output failed", out):
		return toolcall.Failed
	}
	return end
}

// failsStill reports whether a run of a kind of checks failed that the newest one, which passed, may not include.
func (d *doubter) failsStill(k CheckKind, newest int) bool {
	isKind := func(f Failure) bool { return k.IsRun(f.Line) }
	return !says("runs all", d.Bare(d.Index.Calls[newest].Line)) && slices.ContainsFunc(d.Failures, isKind)
}

// failsLater reports whether the text says after a statement that such checks fail: it tells the story in order.
func (d *doubter) failsLater(s Statement, k CheckKind) bool {
	return slices.ContainsFunc(d.all, func(later Statement) bool {
		fails := says("any failure", later.Text) || says("holds ill", later.Text)
		return fails && later.At > s.At && k.IsNamed(later.Text)
	})
}

// passedSince reports whether the user says after a call that something passes or works.
func (d *doubter) passedSince(call int) bool {
	for i := len(d.Index.Texts) - 1; i >= 0; i-- {
		t := &d.Index.Texts[i]
		if t.Handle.From <= d.Index.Calls[call].Use.From {
			return false
		}
		if t.Source == retain.User && says("works", t.Words()) {
			return true
		}
	}
	return false
}

var inBackticks = lazyregexp.New("`[^`\n]+`")

// command doubts what a statement says of the end of a command that it quotes, where the newest run of it shows
// otherwise.
func (d *doubter) command(s Statement) bool {
	never := says("never run", s.Text) && !says("since then", s.Text)
	for _, m := range inBackticks.FindAllStringIndex(s.Text, mostNames) {
		quote := strings.Trim(s.Text[m[0]:m[1]], "`")
		if i, ok := d.newestRun(quote); ok && never && d.Ends[i].End != toolcall.Rejected {
			return d.contradict(s, Outcome, "it was run", i)
		}
		rest := s.Text[:m[0]] + s.Text[m[1]:]
		if next := clauseAround(s.Text[m[1]:], 0); says("works", next) != says("breaks", next) {
			rest = next // what follows it
		}
		good, bad := says("works", rest), says("breaks", rest)
		if len(strings.Fields(quote)) < 2 || good == bad || says("unsure", rest) || good && says("may fail", rest) {
			continue
		}
		i, ok := d.newestRun(quote)
		if !ok {
			continue
		}
		switch end := d.Ends[i]; {
		case good && end.End == toolcall.Failed:
			return d.contradict(s, Outcome, "its newest run failed"+codeOf(end), i)
		case good && end.End == toolcall.Rejected:
			return d.contradict(s, Outcome, refused(end), i)
		case bad && end.End == toolcall.OK:
			return d.contradict(s, Outcome, "its newest run did not fail", i)
		}
	}
	return false
}

func refused(o toolcall.Outcome) string {
	if o.Claimed {
		return "its result says that it was refused"
	}
	return "the user refused it"
}

// newestRun returns the newest call of a command as a text quotes it, or of one that is run for the same.
func (d *doubter) newestRun(quote string) (call int, ok bool) {
	if d.runs == nil {
		d.runs = map[string]int{}
		for i := range d.Index.Calls {
			if c := &d.Index.Calls[i]; c.Kind == toolcall.Command && d.Bare(c.Line) != "" {
				d.runs[d.Bare(c.Line)] = i
			}
		}
	}
	quote = d.Bare(quote)
	if call, ok = d.runs[quote]; ok {
		return call, true
	}
	purpose := toolcall.PurposeOf(quote)
	if strings.TrimSpace(purpose.Kind) == quote && !strings.Contains(quote, " ") {
		return -1, false
	}
	call = -1
	for line, i := range d.runs {
		if p := toolcall.PurposeOf(line); i > call && p.Covers(purpose) && purpose.Covers(p) {
			call = i
		}
	}
	return call, call >= 0
}

// quoted returns a command as reasons name it.
func (p *Past) quoted(line string) string { return "`" + oneLine(p.Bare(line), 80) + "`" }

func codeOf(o toolcall.Outcome) string {
	if o.Code != nil && *o.Code != 0 {
		return ", exit code " + strconv.Itoa(*o.Code)
	}
	if o.Line != "" {
		return ": " + oneLine(o.Line, 100)
	}
	return ""
}

// testNamed is how a sentence names a test.
var testNamed = lazyregexp.New("\\b(?:Test[A-Z]\\w+(?:/\\w+)?|test_\\w+)\\b")

// namedTest doubts what a statement says of tests that it names, where their newest runs ended otherwise.
func (d *doubter) namedTest(s Statement) bool {
	good, bad := says("holds well", s.Text) && !says("denied", s.Text), says("holds ill", s.Text)
	if good == bad || says("past", s.Text) {
		return false
	}
	all := d.Tests()
	for _, at := range testNamed.FindAllStringIndex(s.Text, mostNames) {
		name := s.Text[at[0]:at[1]]
		end, ok := all[name]
		if !ok || end.Passed == good || d.passedSince(end.Call) {
			continue
		}
		how := "failed"
		if end.Passed {
			how = "passed"
		}
		return d.contradict(s, Outcome, oneLine(name, 80)+" "+how+" in its newest run", end.Call)
	}
	return false
}
