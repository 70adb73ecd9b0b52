package digest

import (
	"fmt"
	"path"
	"slices"
	"sort"
	"strings"
	"unicode"

	"precis/internal/prose"
	"precis/internal/toolcall"
)

// checkRun is a call that ran checks and ended.
type checkRun struct {
	at   int // message
	line string
	ran  []toolcall.Purpose // see [toolcall.Call.Ran]
	held bool               // it did not fail
}

// fileChange is what an edit that stands changed in a file.
type fileChange struct {
	at    int // message
	path  string
	words map[string]bool // of the lines that it changed
}

// since is what was done in a conversation that may settle what was said before it, in order.
type since struct {
	runs    []checkRun
	changes []fileChange
}

// How much of what was done is looked at, the newest of it: runs of checks, edits, and bytes of what an edit puts in or takes out.
const (
	mostRuns    = 1000
	mostEdits   = 400
	mostChanged = 64 << 10
)

// later returns what was done, read once.
func (in *input) later() *since {
	if in.done != nil {
		return in.done
	}
	in.done = &since{}
	w := in.work()
	for i := range slices.Backward(w.calls) {
		c, end := &w.calls[i], w.ends[i].End
		switch {
		case c.Kind == toolcall.Command && (end == toolcall.OK || end == toolcall.Failed):
			if ran := c.Ran(); len(in.done.runs) < mostRuns && (checks(toolcall.PurposeOf(c.Line)) || slices.ContainsFunc(ran, checks)) {
				in.done.runs = append(in.done.runs, checkRun{c.Use.From, c.Line, ran, end == toolcall.OK})
			}
		case c.Kind == toolcall.Write && end == toolcall.OK && w.undone(i) == "":
			in.done.changes = append(in.done.changes, changesOf(c, mostEdits-len(in.done.changes))...)
		}
	}
	slices.Reverse(in.done.runs)
	slices.Reverse(in.done.changes)
	return in.done
}

// changesOf returns what an edit changed in each of its files, of as many as most.
func changesOf(c *toolcall.Call, most int) (out []fileChange) {
	paths := []string{c.Path}
	if c.Path == "" {
		paths = paths[:0]
		for _, e := range c.Effects {
			paths = append(paths, e.Path)
		}
	}
	for _, p := range paths[:min(len(paths), most)] {
		added, removed := c.Edited(p)
		if added == "" && removed == "" {
			added = c.Written()
		}
		words := map[string]bool{}
		changedWords(words, added, removed)
		changedWords(words, removed, added)
		out = append(out, fileChange{c.Use.From, p, words})
	}
	return out
}

// changedWords adds the words of the lines of a text that are not in another one.
func changedWords(to map[string]bool, text, other string) {
	stay := map[string]bool{}
	for line := range strings.Lines(other[:min(len(other), mostChanged)]) {
		stay[strings.TrimSpace(line)] = true
	}
	for line := range strings.Lines(text[:min(len(text), mostChanged)]) {
		if stay[strings.TrimSpace(line)] {
			continue
		}
		for w := range strings.FieldsFuncSeq(line, isNoName) {
			to[w] = true
		}
	}
}

func isNoName(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// settled marks what the agent said at a message of what was wrong or to be done and was acted on since: that a check failed which
// held later, and that a file was edited in lines that name what was spoken of. Whether that settles it the mark does not say.
// What the agent says in a message stands before its calls.
func (in *input) settled(message int, text string) string {
	var out strings.Builder
	var meant []string
	for line := range strings.Lines(text) {
		bare := strings.TrimRight(line, "\n")
		out.WriteString(bare)
		if at := prose.FailedChecks(bare); at != nil {
			if held := in.heldSince(sentence(bare, at[0], at[1]), message); held >= 0 {
				out.WriteString(" [passed since, at " + in.handle(held) + "]")
			}
		}
		out.WriteString(line[len(bare):])
		for _, s := range sentencesOf(bare) {
			if said := bare[s[0]:s[1]]; prose.LeavesOpen(said) {
				meant = append(meant, said)
			}
		}
	}
	out.WriteString(in.editedFor(meant, text, message))
	return out.String()
}

// heldSince returns the message of the newest run that did again what had failed when an agent said so at a message, and did not
// fail; -1: none.
func (in *input) heldSince(said string, message int) int {
	runs := in.later().runs
	failed := -1
	for i, r := range runs {
		if r.at < message && !r.held && isOfKind(said, r.line) {
			failed = i
		}
	}
	if failed < 0 {
		return -1
	}
	what := toolcall.PurposeOf(runs[failed].line)
	for i := len(runs) - 1; i > failed && runs[i].at >= message; i-- {
		for _, p := range runs[i].ran {
			if !p.Covers(what) {
				continue
			}
			if !runs[i].held {
				return -1
			}
			return runs[i].at
		}
	}
	return -1
}

// isOfKind reports whether a command may run the checks that a sentence names.
func isOfKind(said, line string) bool {
	named := false
	for _, k := range checkKinds {
		if k.says.MatchString(said) {
			if named = true; k.runs.MatchString(line) {
				return true
			}
		}
	}
	return !named
}

// editedFor marks sentences with the file that was edited first after their message in what they name, and how many files were
// besides, or else with the one that the message itself edits: often what it announces. Where files were edited that the text around
// them names, no others count. It returns "" where none was.
func (in *input) editedFor(said []string, around string, message int) string {
	changes := in.later().changes
	if len(said) == 0 || len(changes) == 0 || changes[len(changes)-1].at < message {
		return ""
	}
	names := map[string]bool{}
	for _, s := range said {
		namesOfCode(names, s)
	}
	for n := range names { // what most edits name says nothing of this one
		if in.commonName(n) {
			delete(names, n)
		}
	}
	text := strings.Join(said, "\n")
	first, same := "", ""
	var files []string
	changes = changes[sort.Search(len(changes), func(i int) bool { return changes[i].at >= message }):]
	told := slices.ContainsFunc(changes, func(c fileChange) bool { return isNamed(c.path, around) })
	for _, c := range changes {
		if told && !isNamed(c.path, around) || !c.names(names) && !isNamed(c.path, text) {
			continue
		}
		if c.at == message {
			same = path.Base(c.path)
			continue
		}
		if first == "" {
			first = fmt.Sprintf("%s, %s", path.Base(c.path), in.handle(c.at))
		}
		if !slices.Contains(files, c.path) {
			files = append(files, c.path)
		}
	}
	switch {
	case first == "" && same == "":
		return ""
	case first == "":
		return " [edited at once: " + same + "]"
	case len(files) > 1:
		first = fmt.Sprintf("%s, and %d more", first, len(files)-1)
	}
	return " [edited since: " + first + "]"
}

// names reports whether the edit changed a line with one of the names.
func (c fileChange) names(names map[string]bool) bool {
	for n := range names {
		if c.words[n] {
			return true
		}
	}
	return false
}

// commonName reports whether many of the edits name something.
func (in *input) commonName(name string) bool {
	const few = 6 // edits, of which no name is common
	changes := in.later().changes
	n := 0
	for _, c := range changes {
		if c.words[name] {
			n++
		}
	}
	return len(changes) >= few && n > len(changes)/3
}

// namesOfCode adds the words of a sentence that no prose has: between backticks, with an underscore or a digit, or with a capital
// within.
func namesOfCode(to map[string]bool, sentence string) {
	const least = 4 // bytes
	for i, part := range strings.Split(sentence, "`") {
		for w := range strings.FieldsFuncSeq(part, isNoName) {
			if len(w) >= least && (i%2 == 1 || strings.ContainsAny(w[1:], "_ABCDEFGHIJKLMNOPQRSTUVWXYZ") && strings.ToUpper(w) != w) {
				to[w] = true
			}
		}
	}
}
