package digest

import (
	"strings"

	"precis/internal/lazyregexp"
	"precis/internal/preview"
	"precis/internal/toolcall"
)

// testLine is how programs that run tests say how one ended: those of Go, pytest, unittest, cargo, Jest, Vitest, mocha and TAP.
// Its groups are names and ends by turns, see testNames.
var testLine = lazyregexp.New(`(?m)^\s*(?:--- (PASS|FAIL|SKIP): ([\w/]+)|` +
	`(?:\S+::)?(test\w+)(?:\[[^\]\n]*\])? (PASSED|FAILED|ERROR)\b|(PASSED|FAILED|ERROR) \S+::(\w+)|` +
	`(?:test )?([\w:]+)(?: \([^)\n]*\))? \.\.\. (ok|FAILED|FAIL|ERROR)\b|` +
	`([✓✔√✅✗✘✕×❌]) ([\w.-]+)|(ok|not ok) \d+ -? ?([\w.-]+))`)

// testNames tells which groups of testLine are names.
var testNames = [...]bool{false, true, true, false, false, true, true, false, false, true, false, true}

// testState is how the newest run of a test that was named ended.
type testState struct {
	ok   bool
	call int
}

// testStates returns, by the names of tests, how their newest runs ended.
func (d *doubter) testStates() map[string]testState {
	if d.ended != nil {
		return d.ended
	}
	d.ended = map[string]testState{}
	w := d.in.work()
	for i := range w.calls {
		c := &w.calls[i]
		if c.Kind != toolcall.Command || w.ends[i].End == toolcall.Rejected || toolcall.Prints(c.Line) {
			continue
		}
		out := c.Output()
		out = out[:min(len(out), mostChecked)]
		for _, line := range testLine.FindAllStringIndex(out, mostTests) {
			name, end := "", ""
			for k, part := range testLine.FindStringSubmatch(out[line[0]:line[1]])[1:] {
				if testNames[k] {
					name += part
				} else {
					end += part
				}
			}
			if end == "SKIP" {
				continue
			}
			name = name[strings.LastIndexByte(name, ':')+1:]
			ok := end == "PASS" || end == "PASSED" || end == "ok" || strings.Contains("✓✔√✅", end)
			if old, seen := d.ended[name]; seen && old.call == i {
				ok = ok && old.ok // one name of two tests
			}
			d.ended[name] = testState{ok, i}
		}
	}
	return d.ended
}

// mostTests is how many tests of a run are looked at.
const mostTests = 4000

// testNamed is how a sentence names a test.
var testNamed = lazyregexp.New("\\b(?:Test[A-Z]\\w+(?:/\\w+)?|test_\\w+)\\b")

// namedTests doubts what a statement says of tests that it names, where their newest runs ended otherwise.
func (d *doubter) namedTests(s statement) bool {
	if s.ahead || s.quotes || past.MatchString(s.text) || strings.HasPrefix(s.title, alsoMentioned) { // there, names stand beside each other by accident
		return false
	}
	good, bad := holdsWell.MatchString(s.text) && !denies.MatchString(s.text), holdsIll.MatchString(s.text)
	if good == bad {
		return false
	}
	all := d.testStates()
	for _, at := range testNamed.FindAllStringIndex(s.text, mostCommands) {
		name := s.text[at[0]:at[1]]
		end, ok := all[name]
		if !ok || end.ok == good || d.passedSince(d.in.work().calls[end.call].Use.From) {
			continue
		}
		how := "failed"
		if end.ok {
			how = "passed"
		}
		d.contradict(s.text, doubtOutcome, preview.Line(name, 80)+" "+how+" in its newest run", d.in.work().calls[end.call].Use)
		return true
	}
	return false
}
