package digest

import (
	"strings"
	"sync"

	"precis"
	"precis/internal/toolcall"
	"precis/retain"
	"precis/verify"
)

// Verify compares a text that replaces the messages of a request, r.Previous, with them; see [verify.Past.Check].
func Verify(r precis.SummaryRequest, beside string, shown func(int) bool) verify.Report {
	system := ""
	if r.Conversation != nil {
		system = r.Conversation.System.PlainText()
	}
	x := retain.Read(system, r.Messages)
	in := input{
		x: x, worth: x.Worths(), messages: r.Messages, offset: r.From, count: Estimate, sources: system,
		covered: func(int) bool { return true },
	}
	return in.past().Check(r.Previous, beside, shown)
}

// past returns what was said and done, for package verify.
func (in *input) past() *verify.Past {
	if in.compared != nil {
		return in.compared
	}
	w := in.work()
	p := &verify.Past{
		Index: in.x, Messages: in.messages, Offset: in.offset, Beside: in.sources, Holds: in.standing(),
		Ends: w.ends, Waiting: w.isWaiting, Bare: bareCommand, Tests: sync.OnceValue(w.testEnds),
		File: func(path string) *verify.File { return w.files.named(path).compared() },
	}
	speech := precis.SpeechOf(in.messages)
	for _, s := range onceEach(in.record().said) {
		text := strings.TrimSuffix(s.text, shownIn(in.messages[s.at], speech.Authors(s.at)))
		p.Said = append(p.Said, verify.Said{Message: s.at, Text: text})
	}
	for _, r := range w.results(in.covered) {
		if r.end.End == toolcall.Failed && !r.running {
			p.Failures = append(p.Failures, verify.Failure{Message: r.at, Shown: r.line, Line: r.given, End: r.end})
		}
	}
	st := &story{}
	st.readFiles(in, w)
	root, isScratch := rootOf(st.files), scratchOf(st.files)
	for _, f := range st.files {
		if f.lastWrite >= 0 && (f.exists() || f.state == FileDeleted && !f.isMoved() && !isScratch(f.path)) {
			changed := *f.compared()
			changed.Path = relative(f.path, root)
			p.Changed = append(p.Changed, changed)
		}
	}
	in.compared = p
	return p
}

// compared returns a file as package verify reads it; nil for none.
func (f *file) compared() *verify.File {
	if f == nil {
		return nil
	}
	out := &verify.File{
		Path: f.path, State: string(f.state), At: f.at, By: f.by, Edits: f.edits,
		Tried: f.lastWrite >= 0, Removed: f.removed > 0, Restored: f.lost != nil,
	}
	if f.isMoved() {
		out.MovedTo = f.whereTo()
	}
	if f.refused != nil {
		out.Refused = &f.refused.at
	}
	return out
}

// named returns the file that a path names; nil when there is none, or more than one.
func (t *fileTable) named(p string) *file {
	if f := t.byPath[p]; f != nil {
		return f
	}
	var found *file
	for _, f := range t.byName[baseOf(p)] {
		if f.path != p && !strings.HasSuffix(f.path, "/"+p) && !strings.HasSuffix(p, "/"+f.path) {
			continue
		}
		if found != nil {
			return nil
		}
		found = f
	}
	return found
}
