package preview

import "strings"

// mark is a form of line that development tools write.
type mark uint8

const (
	markNone    mark = iota
	markStart        // a test begins
	markPass         // a test passed
	markFail         // a test failed
	markSummary      // the total outcome
	markChatter      // a successful step
	markFinding      // an assertion, or a place of an error
)

// markOf recognizes the marks of go test, pytest, unittest, jest, vitest, mocha, cargo, npm, pip,
// Maven, Gradle, make, docker and git. t is trimmed.
func markOf(t string) mark {
	switch t[0] {
	case '=', '-':
		return dashMark(t)
	case 'P', 'F', 'o', 'O':
		if m := verdictMark(t); m != markNone {
			return m
		}
	case 'E':
		if hasPrefix(t, "E   ", "E  ") {
			return markFinding
		}
	case '[':
		return bracketMark(t)
	case '#':
		return dockerMark(t)
	}
	if t[0] >= 0x80 {
		return signMark(t)
	}
	if m := endMark(t); m != markNone {
		return m
	}
	return wordMark(t)
}

func dashMark(t string) mark {
	switch {
	case hasPrefix(t, "=== RUN", "=== PAUSE", "=== CONT", "=== NAME"):
		return markStart
	case hasPrefix(t, "--- PASS", "--- SKIP"):
		return markPass
	case hasPrefix(t, "--- FAIL"):
		return markFail
	case hasPrefix(t, "--> "):
		return markFinding
	case hasPrefix(t, "---> "):
		return markChatter
	case t[0] == '=' && t[len(t)-1] == '=' &&
		(strings.Contains(t, " passed") || strings.Contains(t, " failed") || strings.Contains(t, " error")):
		return markSummary
	case t[0] == '=' && t[len(t)-1] == '=' && hasPrefix(strings.TrimLeft(t, "= "), "FAILURES", "ERRORS",
		"short test summary"):
		return markFinding
	}
	return markNone
}

func verdictMark(t string) mark {
	switch {
	case t == "FAIL", t == "PASS", t == "OK", t == "FAILED", hasPrefix(t, "FAIL\t", "FAILED (", "OK ("):
		return markSummary
	case hasPrefix(t, "ok  \t", "ok ", "PASS ", "PASSED "):
		return markPass
	case hasPrefix(t, "FAIL ", "FAILED "):
		return markFail
	}
	return markNone
}

// bracketMark reads the lines of Maven and of tools with the same log format.
func bracketMark(t string) mark {
	_, rest, ok := strings.Cut(t, "] ")
	if !ok {
		return markNone
	}
	switch {
	case hasPrefix(rest, "BUILD ", "Tests run:"):
		return markSummary
	case strings.HasPrefix(t, "[INFO]") &&
		(hasPrefix(rest, "Download", "---", "Scanning", "Building", "Total time") || separator(rest)):
		return markChatter
	}
	return markNone
}

// dockerMark reads "#12 …".
func dockerMark(t string) mark {
	i := 1
	for i < len(t) && isDigit(t[i]) {
		i++
	}
	if i == 1 || i >= len(t) || t[i] != ' ' {
		return markNone
	}
	if hasPrefix(t[i+1:], "DONE", "CACHED", "sha256:", "extracting", "transferring", "resolve ", "[internal]",
		"exporting", "writing") {
		return markChatter
	}
	if hasPrefix(t[i+1:], "naming to ") { // the image that was built
		return markSummary
	}
	return markNone
}

// signMark reads the signs that the runners of the web world use.
func signMark(t string) mark {
	switch {
	case hasPrefix(t, "✓", "✔", "√"):
		return markPass
	case hasPrefix(t, "✕", "✗", "×", "❌", "✘"):
		return markFail
	case hasPrefix(t, "✖"):
		return markSummary
	case hasPrefix(t, "●", "❯"):
		return markFinding
	case hasPrefix(t, "⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏", "█", "━"):
		return markChatter
	}
	return markNone
}

// endMark reads verdicts at the end of a line.
func endMark(t string) mark {
	if t[len(t)-1] == ']' { // pytest -v writes its progress
		if i := strings.LastIndexByte(t, '['); i > 0 && strings.HasSuffix(t, "%]") {
			t = trimRight(t[:i])
			if strings.Trim(t[strings.LastIndexByte(t, ' ')+1:], ".s") == "" {
				return markPass
			}
		}
	}
	switch {
	case strings.HasSuffix(t, " PASSED"), strings.HasSuffix(t, "... ok"), strings.HasSuffix(t, "... ignored"),
		strings.HasSuffix(t, " SKIPPED"):
		return markPass
	case strings.HasSuffix(t, " FAILED"), strings.HasSuffix(t, "... FAIL"), strings.HasSuffix(t, "... ERROR"):
		if strings.HasPrefix(t, "BUILD") {
			return markSummary
		}
		return markFail
	}
	return markNone
}

// wordMark recognizes lines by their first words.
func wordMark(t string) mark {
	switch t[0] {
	case 'A', 'B', 'C', 'D', 'E', 'F', 'G', 'I', 'P', 'R', 'S', 'T', 'U', 'W', 'a', 'e', 'f', 'g', 'm', 'n',
		'r', 't':
	default:
		return markNone
	}
	switch {
	case hasPrefix(t, "Compiling ", "Downloading", "Downloaded ", "Collecting ", "Fetching ", "Installing ",
		"Unpacking ", "Extracting ", "Preparing ",
		"Requirement already satisfied", "Using cached", "Resolving ", "Receiving objects",
		"Counting objects", "Compressing objects", "Writing objects",
		"remote: Counting", "remote: Compressing", "remote: Enumerating", "Enumerating objects",
		"Setting up ", "Selecting previously", "Get:", "Hit:", "Ign:", "Reading package",
		"Building dependency",
		"Removing intermediate", "go: downloading", "Fresh ", "Blocking ", "make: Entering", "make: Leaving",
		"npm http", "added file"):
		return markChatter
	case strings.HasPrefix(t, "make[") &&
		(strings.Contains(t, "Entering dir") || strings.Contains(t, "Leaving dir")):
		return markChatter
	case hasPrefix(t, "exit status", "Exit code", "exit code", "BUILD ", "Traceback (", "Test Suites:",
		"Tests:", "Tests run:", "Test Files", "Tests ", "test result:",
		"Ran ", "Successfully ", "Finished ", "Found ", "added ", "Caused by", "Total:", "make: ***",
		"Process finished", "Command failed"):
		return markSummary
	}
	return markNone
}

// isFinding reports the output of an assertion.
func isFinding(t string) bool {
	head, _ := trimLeft(strings.TrimLeft(t, "+-> "))
	switch firstWord(head) {
	case "Expected", "expected", "Received", "received", "Actual", "actual", "got", "Got", "want", "Want",
		"left", "right", "assert", "AssertionError", "Assertion":
		return true
	}
	if i := strings.Index(t, "want"); i >= 0 {
		return strings.Contains(t, "got")
	}
	i := strings.Index(t, "xpected")
	return i >= 0 && (strings.Contains(t[i:], "but") || strings.Contains(t[i:], "got") ||
		strings.Contains(t[i:], "to "))
}

// isPlace reports a line that begins with a file and a line in it.
func isPlace(t string) bool {
	i := 0
	for i < len(t) && (isWord(t[i]) || strings.IndexByte("./-\\@", t[i]) >= 0) {
		i++
	}
	if i < 3 || i+1 >= len(t) || t[i] != ':' && t[i] != '(' || !isDigit(t[i+1]) {
		return false
	}
	return strings.LastIndexByte(t[:i], '.') > 0
}

// isProgress reports bars, percentages of transfers, and dots.
func isProgress(t string) bool {
	if strings.Trim(t, ".") == "" {
		return true
	}
	i := strings.IndexByte(t, '%')
	if i < 1 || !isDigit(t[i-1]) || len(t) > 200 {
		return false
	}
	return strings.Contains(t, "B/s") || strings.Contains(t, "===") || strings.Contains(t, "###") ||
		strings.Contains(t, "██") || strings.Contains(t, "━━") ||
		strings.Contains(t, " objects:") || strings.Contains(t, " deltas:") || strings.Contains(t, "|  ") ||
		strings.Contains(t, " ETA") || strings.Contains(t, " eta")
}

// loggish reports a line that looks like output rather than a file's content.
func loggish(t string, indent int) bool {
	if m := markOf(t); m == markPass || m == markFail || m == markStart || m == markChatter ||
		m == markFinding && t[0] != '-' {
		return true
	}
	if _, ok := stackFrame(t, indent); ok || stamped(t) {
		return true
	}
	if hasPrefix(t, "error:", "Error:", "error[", "warning:", "Warning:", "fatal:", "panic:", "goroutine ",
		"Traceback (", "npm ", "make: ", "make[", "$ ", "exit status", "Exit code",
		"INFO", "WARN", "ERROR", "DEBUG", "FATAL", "[INFO]", "[WARN", "[ERROR", "[DEBUG", "[info]", "[error]",
		"test result:", "collected ", "> ", "On branch ") {
		return true
	}
	r := remarks{}
	if len(t) < 200 && strings.IndexByte(t, ':') > 0 {
		r = readRemarks(t)
	}
	return r.failure && strings.Contains(t, "rror: ") || r.passed > 0 || r.failed > 0 || isPlace(t)
}

// stamped reports a line that begins with a date or a time.
func stamped(t string) bool {
	t = strings.TrimPrefix(t, "[")
	if len(t) < 8 || !isDigit(t[0]) || !isDigit(t[1]) {
		return false
	}
	return t[2] == ':' && isDigit(t[3]) && t[5] == ':' ||
		len(t) > 10 && (t[4] == '-' || t[4] == '/') && isDigit(t[5]) && isDigit(t[8]) && t[4] == t[7]
}
