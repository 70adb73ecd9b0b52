package verify

import (
	"strings"

	"github.com/precis-dev/precis/internal/lazyregexp"
	"github.com/precis-dev/precis/internal/toolcall"
)

// testLine matches the line with which a test runner reports the end of one test: Go, pytest,
// unittest, cargo, Jest, Vitest, mocha and TAP. Its groups are names or results, see testNames.
var testLine = lazyregexp.New(`(?m)^\s*(?:--- (PASS|FAIL|SKIP): ([\w/]+)|` +
	`(?:\S+::)?(test\w+)(?:\[[^\]\n]*\])? (PASSED|FAILED|ERROR)\b|(PASSED|FAILED|ERROR) \S+::(\w+)|` +
	`(?:test )?([\w:]+)(?: \([^)\n]*\))? \.\.\. (ok|FAILED|FAIL|ERROR)\b|` +
	`([✓✔√✅✗✘✕×❌]) ([\w.-]+)|(ok|not ok) \d+ -? ?([\w.-]+))`)

// testNames says which groups of testLine are names.
var testNames = [...]bool{false, true, true, false, false, true, true, false, false, true, false, true}

// testEnd is how the newest run of a test ended.
type testEnd struct {
	passed bool
	call   int
}

// testEnds maps the names of tests to the outcome of their newest run.
func (p *History) testEnds() map[string]testEnd {
	if p.tests != nil {
		return p.tests
	}
	const (
		most     = 4000      // tests of a run
		mostRead = 128 << 10 // bytes of the output of a run
	)
	p.tests = map[string]testEnd{}
	for i := range p.Index.Calls {
		c := &p.Index.Calls[i]
		if c.Kind != toolcall.Command || p.Outcomes[i].End == toolcall.Rejected || toolcall.Prints(c.Line) {
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
			if old, seen := p.tests[name]; seen && old.call == i {
				passed = passed && old.passed // two tests share the name
			}
			p.tests[name] = testEnd{passed, i}
		}
	}
	return p.tests
}
