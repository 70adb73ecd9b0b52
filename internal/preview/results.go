package preview

import (
	"strconv"
	"strings"
)

// results counts failed and passed tests.
type results struct {
	fails, countedPasses int // tests counted line by line
	signs                int // signs of success, not only of tests
	packages             int // of Go, that passed
	failedPackages       int // failed Go packages
	failed, passed       int // from a summary line; it has precedence
	counted              bool
	testsRun             int // of "Ran 12 tests", which does not count failures
}

// countLine records the test counts that a line states, and reports whether it is a summary of tests.
func (r *results) countLine(t string, m remarks) bool {
	failed := max(m.failed, 0) + max(m.errors, 0)
	switch {
	case hasPrefix(t, "Test Suites:", "Test Files", "Snapshots:"):
		return true
	case strings.HasPrefix(t, "test result:"): // one for each binary
		r.passed += max(m.passed, 0)
		r.failed += failed
		r.counted = true
		return true
	case strings.Contains(t, "Tests run:"):
		n := numberAfter(t, strings.Index(t, "Tests run:")+len("Tests run"))
		r.passed, r.failed, r.counted = max(n-failed, 0), failed, n >= 0
		return true
	case strings.HasPrefix(t, "Ran ") && len(t) > 4 && isDigit(t[4]):
		r.testsRun, _ = readNumber(t, 4)
		r.passed, r.failed, r.counted = r.testsRun, 0, true
		return true
	case strings.HasPrefix(t, "FAIL\t"):
		r.failedPackages++
		return true
	case hasPrefix(t, "FAILED (", "OK (") || t == "OK":
		if r.testsRun > 0 {
			r.failed, r.passed = failed, max(r.testsRun-failed, 0)
		}
		return true
	}
	return r.readCounts(t, m)
}

// readCounts reads "3 failed, 120 passed".
func (r *results) readCounts(t string, m remarks) bool {
	if m.passed < 0 && m.failed < 0 ||
		!strings.ContainsAny(t[:1], "=0123456789") && !strings.HasPrefix(t, "Tests") {
		return false
	}
	if m.passed >= 0 {
		r.passed = m.passed
	}
	if m.failed >= 0 {
		r.failed = m.failed
	}
	if m.passed >= 0 && m.failed < 0 && t[0] == '=' {
		r.failed = max(m.errors, 0)
	}
	r.counted = true
	return true
}

// countSuccess counts a line that reports a success: a test, a package of tests, or any line with a sign of
// success.
func (r *results) countSuccess(t string) {
	switch {
	case strings.HasPrefix(t, "ok"):
		r.packages++
	case t[0] >= 0x80:
		r.signs++
	default:
		r.countedPasses++
	}
}

const fewSigns = 3 // not enough for tests

// head writes the outcome; "" when no tests ran.
func (r *results) head() string {
	failed, passed := r.failed, r.passed
	if !r.counted {
		failed, passed = r.fails, r.countedPasses
		if failed+passed > 0 || r.signs >= fewSigns {
			passed += r.signs
		}
	}
	var parts []string
	if failed > 0 {
		parts = append(parts, strconv.Itoa(failed)+" failed")
	}
	if passed > 0 || r.counted {
		parts = append(parts, strconv.Itoa(passed)+" passed")
	}
	out := strings.Join(parts, ", ")
	if r.packages+r.failedPackages > 0 {
		if out != "" {
			out += "; "
		}
		out += count(r.packages, "package") + " ok"
		if r.failedPackages > 0 {
			out += ", " + strconv.Itoa(r.failedPackages) + " failed"
		}
	}
	if out == "" {
		return ""
	}
	return "test output: " + out
}
