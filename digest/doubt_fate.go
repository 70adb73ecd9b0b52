package digest

import (
	"strings"

	"precis"
	"precis/internal/lazyregexp"
	"precis/retain"
)

var (
	// removedIt and changedIt say of the file that is named behind or before the words what was done to it.
	removedIt = lazyregexp.New("(?i)(?:^\\W*|\\b(?:i|we|agent|then|and|also|was|were|been) )(?:deleted|removed)\\s+(?:the\\s+)?(?:old\\s+|new\\s+)?(?:file\\s+)?[`*\"]*$")
	wasGone   = lazyregexp.New("(?i)^[`*\"]*\\s+(?:(?:was|were|has been|is|got)\\s+(?:then\\s+|later\\s+)?(?:deleted|removed)\\b|[-–—:(]+ ?(?:deleted|removed)(?:$|[,.;)]))")
	renamedIt = lazyregexp.New("(?i)\\b(?:renamed|moved)\\s+(?:the\\s+)?(?:file\\s+)?[`*\"]*$")
	changedIt = lazyregexp.New("(?i)(?:^\\W*|\\b(?:i|we|agent|then|and|also) )(?:created|wrote|modified|updated|edited|changed|rewrote|added|extended|reworked|patched|adjusted|expanded)\\s+(?:the\\s+)?(?:new\\s+)?(?:file\\s+)?[`*\"]*$")
	wasMade   = lazyregexp.New("(?i)^[`*\"]*\\s+(?:\\((?:edited|modified|changed|updated|created|rewritten)\\b|(?:was|were|has been)\\s+(?:then\\s+|newly\\s+)?(?:created|written|modified|updated|edited|changed|rewritten)\\b)")
)

// fate doubts that a file was removed, renamed or changed, when the calls show another fate of it.
func (d *doubter) fate(s statement) bool {
	if s.ahead || s.quotes {
		return false
	}
	if d.leftAlone(s) {
		return true
	}
	if removed.MatchString(s.text) && made.MatchString(s.text) {
		return false
	}
	for _, name := range pathsIn(s.text) {
		at := strings.Index(s.text, name)
		f := d.in.work().files.named(name)
		if at < 0 || f == nil {
			continue
		}
		before, after := s.text[:at], s.text[at+len(name):]
		switch {
		case removedIt.MatchString(before), wasGone.MatchString(after):
			if f.removed == 0 && f.exists() && f.by == "" && f.lost == nil {
				return d.fateIs(s, name+" was written, and nothing removed it", f.at)
			}
			if f.removed == 0 && f.state == FileRead && !d.sweptSince(f) {
				return d.fateIs(s, name+" was read, and nothing removed it", f.at)
			}
		case renamedIt.MatchString(before) && strings.Contains(after, " to "):
			if f.removed == 0 && (f.exists() || f.state == FileRead) && !d.sweptSince(f) {
				return d.fateIs(s, "nothing moved "+name, f.at)
			}
		case changedIt.MatchString(before), wasMade.MatchString(after):
			if f.state == FileRead && f.lastWrite < 0 && !d.mayWrite(name) {
				return d.fateIs(s, name+" was only read", f.at)
			}
		}
	}
	return false
}

var (
	// leftIt, in pieces, says of the file that is named behind or before the words that nothing changed it.
	leftIt   = lazyregexp.New("(?i)\\b(?:(?:left|kept|leaves|keeps)|(?:did not|didn't|without) (?:chang|modify|touch|edit)(?:e|ing)?|no (?:changes?|edits?)(?: (?:were|was) (?:made|needed|necessary))? (?:to|in|of))\\s+(?:the\\s+)?(?:file\\s+)?[`*\"]*$")
	asItIs   = lazyregexp.New("(?i)^[`*\"()]*\\s+(?:completely |entirely )?(?:untouched|unchanged|unmodified|as (?:it|is|they)\\b|alone\\b)")
	wasLeft  = lazyregexp.New("(?i)^[`*\"()]*(?:,? (?:which|but it|and it|it))?\\s+(?:(?:is|was|were|are|remains?|remained|stays?|stayed)\\s+(?:left |kept )?(?:completely |entirely )?(?:untouched|unchanged|unmodified|as (?:it|is)\\b|alone\\b|not (?:changed|modified|touched|edited)\\b)|(?:has|have) not been (?:changed|modified|touched|edited)\\b|needed no changes?\\b)")
	notAgain = lazyregexp.New(`(?i)\b(?:again|since|further|any ?more|yet|after|afterwards|then|later|by (?:the|this|that)|public|signature|behaviou?r|interface|API)\b`)
)

// leftAlone doubts that a file was left as it was when a call changed it and nothing took that back.
func (d *doubter) leftAlone(s statement) bool {
	if notAgain.MatchString(s.text) {
		return false
	}
	for _, name := range pathsIn(s.text) {
		at := strings.Index(s.text, name)
		f := d.in.work().files.named(name)
		if at < 0 || f == nil || len(f.edits) == 0 || f.state != FileWritten || f.by != "" || f.lost != nil {
			continue
		}
		before, after := s.text[:at], s.text[at+len(name):]
		if leave := leftIt.MatchString(before); leave && asItIs.MatchString(after) || leave && !leavesOf.MatchString(before) || wasLeft.MatchString(after) {
			return d.fateIs(s, name+" was changed", d.in.work().calls[f.edits[len(f.edits)-1]].Use)
		}
	}
	return false
}

// leavesOf are the verbs of leftIt that say by themselves nothing of how a file was left.
var leavesOf = lazyregexp.New("(?i)\\b(?:left|kept|leaves|keeps)\\s+(?:the\\s+)?(?:file\\s+)?[`*\"]*$")

func (d *doubter) fateIs(s statement, why string, at precis.Handle) bool {
	d.contradict(s.text, doubtFile, why, at)
	return true
}

// sweptSince reports whether a command behind the newest one that told of a file may have removed or moved it.
func (d *doubter) sweptSince(f *file) bool {
	w := d.in.work()
	for i := range w.calls {
		c := &w.calls[i]
		if c.Use.From > f.at.From && (len(c.Swept) > 0 || sweeps.MatchString(c.Line)) {
			return true
		}
	}
	return false
}

var sweeps = lazyregexp.New(`\b(?:rm|mv|unlink|rename|git (?:rm|mv|clean|checkout|reset|stash|restore)|find\b.*-delete|rmtree|filter-repo)\b`)

// mayWrite reports whether a call or another agent may have written a file without that being seen: it names it.
func (d *doubter) mayWrite(name string) bool {
	base := baseOf(name)
	w := d.in.work()
	for i := range w.calls {
		c := &w.calls[i]
		if c.Path == "" && len(c.Reads) == 0 && (strings.Contains(c.Line, base) || c.Line == "" && strings.Contains(c.Text, base)) && !onlyLooks.MatchString(c.Line) {
			return true
		}
	}
	for _, h := range d.in.persons() {
		if strings.Contains(h.text, base) {
			return true
		}
	}
	return false
}

var onlyLooks = lazyregexp.New(`^\s*(?:cd [^&|;]*&&\s*)?(?:ls|cat|head|tail|grep|rg|find|wc|git (?:diff|log|show|status|blame)|go (?:test|vet|build)|nl)\b[^>]*$`)

// pathsIn returns the names of files in a text.
func pathsIn(text string) (out []string) {
	end := 0
	retain.Scan(text, func(a retain.Anchor) {
		if a.Kind != retain.Path || a.Start < end {
			return
		}
		end = a.End
		if name := strings.TrimRight(text[a.Start:a.End], ".,;:"); strings.ContainsAny(name, "./") {
			out = append(out, strings.ReplaceAll(name, `\`, "/"))
		}
	})
	return out
}
