package toolcall

import (
	"slices"
	"strings"
)

// endsByException reports whether the last line of an output reports an exception.
func endsByException(text string) bool {
	text = strings.TrimSpace(text)
	return isOfKind("exception", text[strings.LastIndexByte(text, '\n')+1:])
}

// ownFailureLine returns the line near the end of an output where one of the programs of a command
// reports its own failure under its name, as programs of Unix do: "tar: …", "rsync error: …"; ""
// for none. Programs that print existing data are excluded unless they fetch it.
func ownFailureLine(programs []string, text string) string {
	for l := range strings.Lines(text[max(0, len(text)-lastBytes):]) {
		name, rest, ok := strings.Cut(strings.TrimSpace(overwritten(l)), ": ")
		if !ok || len(name) > 40 || strings.Contains(rest, "warning") {
			continue
		}
		word, _, _ := strings.Cut(name, " ")
		if word != name && name != word+" error" || !slices.Contains(programs, word) ||
			prints(word) && !is("fetches", word) || is("finds", word) {
			continue
		}
		if name != word || isOfKind("complaint", rest) {
			return strings.TrimSpace(overwritten(l))
		}
	}
	return ""
}

// lastBytes is how much of the end of an output is searched for a verdict.
const lastBytes = 4000

// verdictOf returns the line of a command's output that counts failed tests or checks, or reports a
// failed build; "" for none. Such lines are at the end.
func verdictOf(command, text string) string {
	const longest = 200
	suites := "" // failed ones; the number of failed tests comes below
	for l := range strings.Lines(text[max(0, len(text)-lastBytes):]) {
		l = strings.TrimSpace(overwritten(l))
		switch {
		case len(l) > longest || !isOfKind("part", l):
		case isOfKind("broken", l), isOfKind("failures", l) && isOfKind("tests", l) && !isOfKind("again", l),
			isOfKind("errors", l) && runsA("checker", command):
			if !strings.HasPrefix(l, "Test Suites:") && !strings.HasPrefix(l, "Test Files ") {
				return l
			}
			suites = l
		}
	}
	return suites
}
