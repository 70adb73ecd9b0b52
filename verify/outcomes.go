package verify

import (
	"slices"
	"strconv"
	"strings"

	"github.com/precis-dev/precis/internal/lazyregexp"
	"github.com/precis-dev/precis/internal/preview"
	"github.com/precis-dev/precis/internal/toolcall"
)

// CheckKind is a kind of checks, such as tests: its names, and the command lines that run it.
type CheckKind struct{ says, runs phrase }

// CheckKinds are tests, builds, linters and type checkers.
var CheckKinds = []CheckKind{
	{"names tests", "runs tests"}, {"names builds", "runs builds"}, {"names linters", "runs linters"},
	{"names type checks", "runs type checks"},
}

// IsNamed reports whether a sentence is about checks of the kind.
func (k CheckKind) IsNamed(sentence string) bool { return says(k.says, sentence) }

// IsRun reports whether a command line runs checks of the kind. Parts of the line that install a
// program or name a file after it do not count.
func (k CheckKind) IsRun(line string) bool {
	return says(k.runs, line) && says(k.runs, without("runs nothing", line))
}

// IsCheck reports whether a command line runs tests, a build, a linter or another check.
func IsCheck(line string) bool {
	isKind := func(k CheckKind) bool { return k.IsRun(line) }
	return slices.ContainsFunc(CheckKinds, isKind) || IsCheckPurpose(toolcall.PurposeOf(line))
}

// IsCheckPurpose reports whether a command with a purpose is a check.
func IsCheckPurpose(p toolcall.Purpose) bool {
	other := CheckKind{runs: "runs other checks"}
	return other.IsRun(p.Kind) || other.IsRun(p.Key)
}

// claim is a clause about a check, a command or a test, and the newest run of it.
type claim struct {
	clause string
	run    string // how reasons name the run
	call   int
	end    toolcall.End
	turned bool // an earlier run may have had the other outcome
}

// outcome doubts a statement on the outcome of checks, commands and tests if their newest run shows
// otherwise. A statement on the past is doubted if no run ended so.
func (d *claimChecker) outcome(s Statement) bool {
	fails := says("ends ill", s.Text)
	for _, c := range slices.Concat(d.ofTests(s), d.ofCommands(s), d.ofChecks(s)) {
		good := says("ends well", c.clause)
		bad := says("ends ill", c.clause) || !c.turned && says("failed", c.clause)
		isPast := says("past", c.clause) || bad && says("explained", c.clause)
		switch {
		case good == bad || good && (fails || says("denied", c.clause)) || c.turned && isPast:
		case good && c.end == toolcall.Rejected:
			return d.contradict(s, DoubtOutcome, c.run+": "+refused(d.Outcomes[c.call]), c.call)
		case good && c.end == toolcall.Failed:
			return d.contradict(s, DoubtOutcome, c.run+", failed"+codeOf(d.Outcomes[c.call]), c.call)
		case bad && c.end == toolcall.OK:
			return d.contradict(s, DoubtOutcome, c.run+", did not fail", c.call)
		}
	}
	return false
}

// clauseOf returns the clause with a byte of a statement, or a last clause about all outcomes.
func clauseOf(text string, at int) string {
	if last := clauseAround(text, len(text)); says("all ended", last) {
		return last
	}
	return clauseAround(text, at)
}

// testNamed matches the name of a test in a sentence.
var testNamed = lazyregexp.New("\\b(?:Test[A-Z]\\w+(?:/\\w+)?|test_\\w+)\\b")

func (d *claimChecker) ofTests(s Statement) (out []claim) {
	for _, at := range testNamed.FindAllStringIndex(s.Text, mostNames) {
		name := s.Text[at[0]:at[1]]
		test, ok := d.testEnds()[name]
		if !ok {
			continue
		}
		end := toolcall.Failed
		if test.passed {
			end = toolcall.OK
		}
		run := "the newest run of " + preview.Quote(name, 80)
		out = append(out, claim{clauseOf(s.Text, at[0]), run, test.call, end, true})
	}
	return out
}

var inBackticks = lazyregexp.New("`[^`\n]+`")

func (d *claimChecker) ofCommands(s Statement) (out []claim) {
	for _, at := range inBackticks.FindAllStringIndex(s.Text, mostNames) {
		line := d.BareCommand(strings.Trim(s.Text[at[0]:at[1]], "`"))
		around := s.Text[:at[0]] + strings.Repeat(" ", at[1]-at[0]) + s.Text[at[1]:]
		isIt := func(i int) bool { return d.BareCommand(d.Index.Calls[i].Line) == line }
		if run := d.newestRun(isIt); run >= 0 && strings.Contains(line, " ") {
			out = append(out, d.claimOf(clauseOf(around, at[0]), run, isIt))
		}
	}
	return out
}

// ofChecks returns a statement's claims on kinds of checks, unless it is about some checks only.
func (d *claimChecker) ofChecks(s Statement) (out []claim) {
	const most = 4 // clauses that name a kind
	if says("some tests", s.Text) {
		return nil
	}
	for _, k := range CheckKinds {
		isIt := func(i int) bool {
			return d.Outcomes[i].End != toolcall.Rejected &&
				k.IsRun(d.Index.Calls[i].Line)
		}
		for _, at := range phrases()[k.says].FindAllStringIndex(s.Text, most) {
			run := d.newestRun(isIt)
			if run < 0 {
				break
			}
			if c := d.claimOf(clauseOf(s.Text, at[0]), run, isIt); !d.isUndecided(k, c, s) {
				out = append(out, c)
			}
		}
	}
	return out
}

// isUndecided reports whether the newest run cannot decide a claim on a kind of checks: it passed
// and another run of the kind failed before it, or the following text says that they fail again.
func (d *claimChecker) isUndecided(k CheckKind, c claim, s Statement) bool {
	failed := func(f Failure) bool { return k.IsRun(f.Line) }
	if c.end == toolcall.OK {
		return !says("runs all", d.BareCommand(d.Index.Calls[c.call].Line)) && slices.ContainsFunc(d.Failures,
			failed)
	}
	fails := func(o Statement) bool { return o.At > s.At && k.IsNamed(o.Text) && says("ends ill", o.Text) }
	return c.turned && slices.ContainsFunc(d.all, fails)
}

// claimOf returns a claim on the newest run of a command; isIt selects its runs.
func (d *claimChecker) claimOf(clause string, run int, isIt func(call int) bool) claim {
	end := d.endOf(run)
	turned := d.newestRun(func(i int) bool { return isIt(i) && d.Outcomes[i].End != end }) >= 0
	return claim{clause, "the newest run, " + d.quoted(d.Index.Calls[run].Line), run, end, turned}
}

// newestRun returns the newest call of a command that ended and for which is holds; -1 for none.
func (d *claimChecker) newestRun(is func(call int) bool) int {
	for i := len(d.Index.Calls) - 1; i >= 0; i-- {
		c := &d.Index.Calls[i]
		if c.Kind == toolcall.Command && !d.Waiting(i) && !toolcall.Prints(c.Line) && is(i) {
			return i
		}
	}
	return -1
}

// endOf returns the outcome of a run of checks, from its output if a pipe hides it. It is unknown
// for a line that runs checks of several kinds if some passed before the line failed.
func (d *claimChecker) endOf(i int) toolcall.End {
	end, out := d.Outcomes[i].End, d.Index.Calls[i].Output()
	passed, failed := says("output passed", out), says("output failed", out)
	switch {
	case end == toolcall.Failed && passed && kindsOf(d.Index.Calls[i].Line) > 1:
		return toolcall.Unknown
	case end != toolcall.Unknown:
		return end
	case passed && !failed:
		return toolcall.OK
	case failed && !passed:
		return toolcall.Failed
	}
	return end
}

// kindsOf returns how many kinds of checks a command line runs.
func kindsOf(line string) (n int) {
	for _, k := range CheckKinds {
		if k.IsRun(line) {
			n++
		}
	}
	return n
}

// quoted returns a command in the form used in reasons.
func (p *History) quoted(line string) string {
	return "`" + preview.Quote(p.BareCommand(line), 80) + "`"
}

func refused(o toolcall.Outcome) string {
	if o.Claimed {
		return "its result says that it was refused"
	}
	return "the user refused it"
}

func codeOf(o toolcall.Outcome) string {
	if o.Code != nil && *o.Code != 0 {
		return ", exit code " + strconv.Itoa(*o.Code)
	}
	if o.Line != "" {
		return ": " + preview.Quote(o.Line, 100)
	}
	return ""
}
