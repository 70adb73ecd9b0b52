package toolcall

import (
	"slices"
	"strings"

	"precis/internal/lazyregexp"
)

var (
	// verdict is a line that names what failed, and not why.
	verdict = lazyregexp.New(`^(?:--- FAIL|FAIL\b|FAILED\b|not ok\b|[●✗✘×] |npm ERR!|make: \*\*\*|error: test failed|Traceback \(most)`)
	// report is a line between the reports of two tests.
	report = lazyregexp.New(`^(?:=== RUN|--- |FAIL\b|FAILED\b|PASS\b|ok\s|not ok\b|test \S+ \.\.\. |=+ [^=]+ =+$)`)
	// because is a line of a test's report that says why: a place in a file and what is wrong
	// there, what pytest marks, an assertion, an exception.
	because = lazyregexp.New(`^\s*[\w./\\-]+\.\w{1,8}:\d+(?::\d+)?: \S|^E\s+\S|\bpanicked at\b|^\s*(?:\w+\.)*\w*(?:Error|Exception|Failure): \S|^\s*(?:expect\(|[Ee]xpected\b|[Aa]ssertion\b)`)
	// blames is what tells the failure among the lines of a report, where notes look like it.
	blames = lazyregexp.New(`(?i)\b(?:got|want|wanted|expect(?:ed|s)?|unexpected|actual|fail(?:ed|s|ure)?|error|exception|panic(?:ked)?|assert\w*|should|must|mismatch|differs?|not|no|nil|undefined|undeclared|unknown|invalid|cannot|missing)\b|[!=]=`)
)

// reason returns the line that says why a test failed, for the line of a result that only
// names the test: of its report, which follows the line, or, where the output is shown as it
// comes, stands before it, the first line that speaks of a failure, else the last, where a
// test that gives up ends. It is "" where the line says it itself, and where no
// line near it does.
func reason(text, line string) string {
	const before, after = 16 << 10, 8 << 10 // bytes that are looked at
	if !verdict.MatchString(line) || strings.HasPrefix(line, "FAILED ") && strings.Contains(line, " - ") {
		return ""
	}
	at := strings.Index(text, line)
	if at < 0 {
		return ""
	}
	rest := text[at+len(line):]
	if why := whyIn(ofReport(strings.Split(rest[:min(len(rest), after)], "\n")[1:])); why != "" {
		return why
	}
	lines := strings.Split(text[max(at-before, 0):at], "\n")
	lines = lines[:len(lines)-1]
	slices.Reverse(lines)
	lines = ofReport(lines)
	slices.Reverse(lines)
	return whyIn(lines)
}

// ofReport returns the lines before the report of the next test.
func ofReport(lines []string) []string {
	if n := slices.IndexFunc(lines, func(l string) bool { return report.MatchString(l) }); n >= 0 {
		return lines[:n]
	}
	return lines
}

// whyIn returns the line that says why; "" when none does.
func whyIn(lines []string) string {
	why := ""
	for i, l := range lines {
		if l = l[:min(len(l), 400)]; !because.MatchString(l) {
			continue
		}
		why = strings.TrimSpace(l)
		if strings.HasSuffix(why, ":") && i+1 < len(lines) { // a panic of Rust: its words stand below
			why += " " + strings.TrimSpace(lines[i+1])
		}
		if blames.MatchString(why) {
			break
		}
	}
	return strings.ToValidUTF8(why, "")
}
