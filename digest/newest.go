package digest

import (
	"strings"

	"precis/internal/toolcall"
)

// newestRuns is the heading under which the gate tells the failures that still stand and that a summary is silent on.
const newestRuns = "## Newest runs that failed"

// standingFailures returns the newest run of each command that failed and that no later run has made good, newest first.
func (in *input) standingFailures() (out []command) {
	for _, r := range in.work().results(in.covered) {
		if r.end.End == toolcall.Failed && !r.running {
			out = append(out, r)
		}
	}
	return out
}

// tellsFailure reports whether a text says that a run failed: in a sentence that says so of its command, of its kind, or with
// the words of its failure.
func (in *input) tellsFailure(all []statement, r command) bool {
	purpose := toolcall.PurposeOf(r.given).Kind
	line := bareCommand(r.given)
	words := termsOf(r.end.Line + " " + r.end.Why)
	w := in.witness()
	for _, s := range all {
		if !tellsOfFailure.MatchString(s.text) {
			continue
		}
		if strings.Contains(s.text, line) || strings.Contains(purpose, " ") && strings.Contains(s.text, purpose) {
			return true
		}
		if senseIn(words) > 1 && w.share(words, termsOf(s.text)) > toldFailure {
			return true
		}
		for _, k := range checkKinds {
			if k.runs.MatchString(r.given) && k.says.MatchString(s.text) && !past.MatchString(s.text) {
				return true
			}
		}
	}
	return false
}

// tellings returns the sentences of a text, and the lines of a digest in it that tell a failure.
func tellings(text string) []statement {
	text = text[:min(len(text), mostChecked)]
	all := statementsOf(text)
	for line := range strings.Lines(text) {
		if cites.MatchString(line) && strings.Contains(line, "FAILED") {
			all = append(all, statement{text: line + " failed"})
		}
	}
	return all
}

// toldFailure is the least share of the words of a failure that a sentence which tells it holds.
const toldFailure = 0.4

// missingRuns adds the newest runs that failed and that a text is silent on.
func (in *input) missingRuns(d *draft, text string) int {
	const most = 6
	st := &story{}
	all := tellings(text)
	for _, r := range in.standingFailures() {
		if len(st.commands) < most && !in.tellsFailure(all, r) {
			st.commands = append(st.commands, r)
		}
	}
	return d.section(newestRuns, in.commandLines(st, most), d.left/4)
}
