package digest

import (
	"github.com/precis-dev/precis/internal/lazyregexp"
	"github.com/precis-dev/precis/internal/toolcall"
	"github.com/precis-dev/precis/verify"
	"strings"
)

// testLine matches the line with which a test runner reports the end of one test: Go, pytest,
// unittest, cargo, Jest, Vitest, mocha and TAP. Its groups are names or results, see testNames.
var testLine = lazyregexp.New(`(?m)^\s*(?:--- (PASS|FAIL|SKIP): ([\w/]+)|` +
	`(?:\S+::)?(test\w+)(?:\[[^\]\n]*\])? (PASSED|FAILED|ERROR)\b|(PASSED|FAILED|ERROR) \S+::(\w+)|` +
	`(?:test )?([\w:]+)(?: \([^)\n]*\))? \.\.\. (ok|FAILED|FAIL|ERROR)\b|` +
	`([✓✔√✅✗✘✕×❌]) ([\w.-]+)|(ok|not ok) \d+ -? ?([\w.-]+))`)

// testNames says which groups of testLine are names.
var testNames = [...]bool{false, true, true, false, false, true, true, false, false, true, false, true}

// testEnds maps the names of tests to the outcome of their newest run.
func (w *work) testEnds() map[string]verify.TestResult {
	const (
		most     = 4000      // tests of a run
		mostRead = 128 << 10 // bytes of the output of a run
	)
	tests := map[string]verify.TestResult{}
	for i := range w.calls {
		c := &w.calls[i]
		if c.Kind != toolcall.Command || w.ends[i].End == toolcall.Rejected || toolcall.Prints(c.Line) {
			continue
		}
		out := c.Output()
		out = out[:min(len(out), mostRead)]
		for _, line := range testLine.FindAllStringIndex(out, most) {
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
			passed := end == "PASS" || end == "PASSED" || end == "ok" || strings.Contains("✓✔√✅", end)
			if old, seen := tests[name]; seen && old.Call == i {
				passed = passed && old.Passed // two tests share the name
			}
			tests[name] = verify.TestResult{Passed: passed, Call: i}
		}
	}
	return tests
}
