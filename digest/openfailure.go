package digest

import (
	"fmt"
	"path"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"precis/internal/lazyregexp"
	"precis/internal/plain"
	"precis/internal/toolcall"
	"precis/workstate"
)

// tags are what agents' programs put around the text of an error.
var tags = lazyregexp.New(`</?[a-z_]+>`)

// withFailedEdits adds to commands, newest first, the edits that failed and are the newest act on their file: the
// file is not what the agent meant it to be. Old ones are left out, the agent has gone on without them.
func (in *input) withFailedEdits(all []command) []command {
	const most, recent = 3, 60 // edits, messages
	w := in.work()
	if len(w.calls) == 0 {
		return all
	}
	end := w.calls[len(w.calls)-1].Use.From
	acted := map[*file]bool{}
	var failed []command
	for i := range slices.Backward(w.calls) {
		c, o := &w.calls[i], w.ends[i]
		if c.Use.From < end-recent || len(failed) == most {
			break
		}
		open := false
		for _, e := range c.Effects {
			f := w.files.of(e.Path)
			open = open || !acted[f]
			acted[f] = true
		}
		if !open || c.Kind != toolcall.Write || o.End != toolcall.Failed || !in.covered(c.Use.From) {
			continue
		}
		if o.Line = strings.TrimSpace(tags.ReplaceAllString(o.Line, "")); o.Line == "" {
			text := strings.TrimSpace(tags.ReplaceAllString(c.Text[:min(len(c.Text), 2000)], ""))
			o.Line, _, _ = strings.Cut(text, "\n")
		}
		failed = append(failed, command{line: c.Title(), at: c.Use.From, runs: 1, failed: 1, end: o})
	}
	if len(failed) == 0 {
		return all
	}
	all = append(slices.Clone(all), failed...)
	sort.SliceStable(all, func(a, b int) bool { return all[a].at > all[b].at })
	return all
}

// withoutQueries leaves out the commands that only look and never failed: that they ended says nothing. Where there are no
// others they stay.
func withoutQueries(all []command) []command {
	says := func(c command) bool {
		return c.given == "" || c.running || c.failed > 0 || !toolcall.Queries(c.given)
	}
	if !slices.ContainsFunc(all, says) {
		return all
	}
	var out []command
	for _, c := range all {
		if says(c) {
			out = append(out, c)
		}
	}
	return out
}

// editedSinceFailure tells which files were edited after a run that failed, and that it was not run again; "" for none. Of
// commands that check nothing only those files count that the command or its output names.
func (in *input) editedSinceFailure(files []file, c command, room int) string {
	const longest = 64 << 10 // bytes of output that are looked at
	text := c.given
	w := in.work()
	for i := range w.calls {
		if k := &w.calls[i]; k.Use.From == c.at && k.Line == c.given {
			text += "\n" + k.Text[:min(len(k.Text), longest)]
		}
	}
	check := c.checks()
	newest := -1
	var edited []file
	for _, f := range files {
		if !f.exists() || f.at.From <= c.at || !check && !isNamed(f.path, text) {
			continue
		}
		edited, newest = append(edited, f), max(newest, f.at.From)
	}
	names := in.editedSince(edited, c.at, room)
	if names == "" {
		return ""
	}
	names += fmt.Sprintf(" (%s)", in.handle(newest))
	if !w.runAgain(c) {
		names += ", not run again"
	}
	return names
}

// isNamed reports whether a text names a file: by its last element, or as a module. A few letters without a dot may be any
// word, and name none.
func isNamed(p, text string) bool {
	const least = 4 // bytes
	if base := path.Base(p); (len(base) >= least || strings.Contains(base, ".")) && holdsWord(text, base) {
		return true
	}
	module := strings.TrimSuffix(p, path.Ext(p))
	module = module[strings.LastIndexByte(module[:max(strings.LastIndexByte(module, '/'), 0)], '/')+1:] // with its folder
	return strings.Contains(module, "/") && strings.Contains(text, strings.ReplaceAll(module, "/", "."))
}

// holdsWord reports whether a text holds a name that is no part of a longer one.
func holdsWord(text, name string) bool {
	isWord := func(r rune) bool { return r == '_' || r == '-' || isLetterOrDigit(r) }
	for {
		before, after, ok := strings.Cut(text, name)
		if !ok || name == "" {
			return false
		}
		last, _ := utf8.DecodeLastRuneInString(before)
		next, _ := utf8.DecodeRuneInString(after)
		if !isWord(last) && !isWord(next) {
			return true
		}
		text = after
	}
}

// runAgain reports whether what a command does was run later, by another line.
func (w *work) runAgain(c command) bool {
	const most = 64 // later commands that are compared
	purpose := toolcall.PurposeOf(c.given)
	n := 0
	for i := range slices.Backward(w.calls) {
		k := &w.calls[i]
		if k.Use.From <= c.at || n == most {
			return false
		}
		if k.Kind != toolcall.Command || w.ends[i].End == toolcall.Rejected {
			continue
		}
		n++
		for _, p := range k.Ran() {
			if p.Covers(purpose) {
				return true
			}
		}
	}
	return false
}

// listingLine is a line of a listing of files, or the head of one.
var listingLine = lazyregexp.New(`^(?:[dl-][a-z-]{4,5}\s+\d+[/.-]\d+[/.-]\d+\s|[dlbcps-][rwxsStT-]{9}[@+.]?\s|Mode\s+LastWriteTime\b|Directory: |total \d+$)`)

// saysNothing recognizes lines that stand where a command wrote nothing, or only list files.
func saysNothing(line string) bool { return line == "(no output)" || listingLine.MatchString(line) }

// titled returns the words for a command in a list of results.
func titled(c command) string {
	if c.given == "" { // a call of another tool
		return plain.Text(quoted(c.line, 120))
	}
	return "`" + briefly(c.line) + "`"
}

// endedWell is what programs say of a command in the background that ended without a failure, when they say no more.
var endedWell = lazyregexp.New(`(?i)^(?:background )?(?:command|task|process|shell)?(?: "[^\n]*")?(?: \S+)? ?(?:was |has )?(?:completed|finished|exited|done|ended)(?: successfully)?[ ,]*\(?(?:with )?(?:exit code:? 0)?\)?\.?$`)

// withoutSilent leaves out the commands in the background that ended well and of which nothing more is said: what came of them
// stands where their output was read.
func withoutSilent(jobs []workstate.Item) []workstate.Item {
	return slices.DeleteFunc(slices.Clone(jobs), func(j workstate.Item) bool {
		return j.State == workstate.Done && (j.Result == "" || endedWell.MatchString(j.Result))
	})
}
