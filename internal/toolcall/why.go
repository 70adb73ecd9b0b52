package toolcall

import (
	"cmp"
	"slices"
	"strings"

	"github.com/precis-dev/precis/internal/lazyregexp"
)

// withPlace returns the failure line and the cause, extended by the place of the failure: where git
// stopped, the file with the conflict.
func withPlace(text, line, why string) (string, string) {
	if isOfKind("conflicts", line) {
		if l := lineOf("conflict", text); l != "" {
			return l[:min(len(l), 400)], why
		}
	}
	at := strings.Index(text, line)
	if at >= 0 && strings.HasPrefix(line, "Traceback (most") {
		line = cmp.Or(tracebackPlace(text[at:]), line)
	}
	if at >= 0 && isOfKind("row", line) {
		const above = 8 << 10
		line = withFile(strings.Split(text[max(0, at-above):at], "\n"), line)
	}
	if at >= 0 && why == "" && !isBare(line) && !isOfKind("verdict", line) {
		why = nearestAbove(strings.Split(text[max(0, at-400):at], "\n"), "test", 5)
	}
	return line, why
}

// frame is a line of a traceback of Python that names a place.
var frame = lazyregexp.New(`^\s*File "([^"<>]+)", line (\d+)(?:, in (\S+))?`)

// tracebackPlace returns the innermost place in a traceback of Python outside installed packages, else
// the innermost place; "" for none.
func tracebackPlace(text string) (place string) {
	const longest = 16 << 10
	own := false
	for l := range strings.Lines(text[:min(len(text), longest)]) {
		m := frame.FindStringSubmatch(l)
		if m == nil {
			continue
		}
		if installed := strings.Contains(m[1], "site-packages") ||
			strings.Contains(m[1], "/lib/python"); !installed || !own {
			own = own || !installed
			place = m[1] + ":" + m[2]
			if m[3] != "" {
				place += " in " + m[3]
			}
		}
	}
	return place
}

// nearestAbove returns the last line of a kind among the nearest most lines; "" for none.
func nearestAbove(lines []string, kind string, most int) string {
	for _, l := range slices.Backward(lines[max(0, len(lines)-most):]) {
		if isOfKind(kind, strings.TrimSpace(l)) {
			return strings.TrimSpace(l)
		}
	}
	return ""
}

// reason returns the cause of a failure for a line that only names a test. It looks in the test's
// report, which follows the line, or precedes it if the output is shown as it comes, and takes the
// first line that reports a failure, else the last, where a test that gives up ends. For a line
// that only says that a step failed it looks at all lines before it, then after it. It is "" if the
// line itself states the cause, or no line near it does.
func reason(text, line string) string {
	const before, after = 16 << 10, 8 << 10 // bytes to search
	names, ends := isOfKind("verdict", line), isBare(line)
	if !names && !ends || strings.HasPrefix(line, "FAILED ") && strings.Contains(line, " - ") {
		return ""
	}
	at := strings.Index(text, line)
	if at < 0 {
		return ""
	}
	rest := text[at+len(line):]
	behind := strings.Split(rest[:min(len(rest), after)], "\n")[1:]
	lines := strings.Split(text[max(at-before, 0):at], "\n")
	lines = lines[:len(lines)-1]
	if names {
		if why := causeLine(ofReport(behind)); why != "" {
			return why
		}
		from := len(lines)
		for from > 0 && !isOfKind("report", lines[from-1]) {
			from--
		}
		if why := causeLine(lines[from:]); why != "" {
			return why
		}
	}
	if !ends {
		return ""
	}
	return cmp.Or(causeLine(lines), causeLine(behind))
}

// isBare reports whether a line states that a step failed, or how many things did, without a cause.
func isBare(line string) bool {
	counts := isOfKind("failures", line) || isOfKind("errors", line)
	return isOfKind("step", line) || counts ||
		isOfKind("broken", line) && !strings.Contains(line, "✘ [ERROR] ")
}

// ofReport returns the lines before the report of the next test.
func ofReport(lines []string) []string {
	if n := slices.IndexFunc(lines, func(l string) bool { return isOfKind("report", l) }); n >= 0 {
		return lines[:n]
	}
	return lines
}

// causeLine returns the line with the cause; "" for none.
func causeLine(lines []string) string {
	why := ""
	for i, l := range lines {
		l = l[:min(len(l), 400)]
		t := strings.TrimSpace(l)
		switch {
		case isOfKind("heralds", t):
			if next := nextWords(lines[i+1:]); next != "" {
				return strings.ToValidUTF8(next, "")
			}
			continue
		case isOfKind("row", t):
			return strings.ToValidUTF8(withFile(lines[:i], t), "")
		case !isOfKind("because", l) && !isOfKind("placed", t):
			continue
		}
		why = t
		if strings.HasSuffix(why, ":") && i+1 < len(lines) { // a panic of Rust: its words are below
			i++
			why += " " + strings.TrimSpace(lines[i])
		}
		if !isOfKind("compared", why) {
			why += values(lines[i+1:])
		}
		if isOfKind("blames", why) {
			break
		}
	}
	return strings.ToValidUTF8(why, "")
}

// nextWords returns the text after a line that announces it: one line, and the next if that one
// only names a step.
func nextWords(lines []string) (out string) {
	for _, l := range lines[:min(len(lines), 4)] {
		l = strings.TrimSpace(l)
		out = strings.TrimSpace(out + " " + l[:min(len(l), 300)])
		if l != "" && !strings.HasPrefix(l, "Execution failed for task") {
			break
		}
	}
	return out
}

// withFile returns a row of a checker's table with the file from the line above the rows.
func withFile(lines []string, row string) string {
	if file := nearestAbove(lines, "rows", 200); file != "" {
		return file + ":" + row
	}
	return row
}

// values returns the two compared values from the lines after a failed comparison, as Jest and Rust
// write them; "" for none.
func values(lines []string) (out string) {
	const near, most, longest = 6, 2, 120
	for _, l := range lines[:min(len(lines), near)] {
		if l = l[:min(len(l), longest)]; isOfKind("compared", l) && strings.Count(out, "\n") < most {
			out += "\n" + strings.TrimSpace(l)
		}
	}
	return strings.ReplaceAll(out, "\n", " ")
}
