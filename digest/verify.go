package digest

import (
	"strings"
	"sync"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/toolcall"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/verify"
)

// Verify compares r.Previous with the messages that it replaces; see [verify.Past.Check].
func Verify(r policy.SummaryRequest, beside string, shown func(int) bool) verify.Report {
	return inputOf(r, nil, nil).verifyPast().Check(r.Previous, beside, shown)
}

// verifyPast returns the events of the conversation in the form of package verify.
func (in *input) verifyPast() *verify.History {
	if in.compared != nil {
		return in.compared
	}
	w := in.work()
	p := &verify.History{
		Index: in.x, Messages: in.messages, Offset: in.offset, Beside: in.sources, Holds: in.workState(),
		Outcomes: w.ends, Waiting: w.isWaiting, BareCommand: bareCommand, Tests: sync.OnceValue(w.testEnds),
		File: func(path string) *verify.File { return w.files.fileNamed(path).asVerified() },
	}
	speech := precis.SpeechOf(in.messages)
	for _, s := range mergeRepeated(in.record().said) {
		text := strings.TrimSuffix(s.text, shownIn(in.messages[s.at], speech.Authors(s.at)))
		p.UserTexts = append(p.UserTexts, verify.UserText{Message: s.at, Text: text})
	}
	for _, r := range w.newestCommandRuns(in.covered) {
		if r.end.End == toolcall.Failed && !r.running {
			p.Failures = append(p.Failures,
				verify.Failure{Message: r.at, Shown: r.line, Line: r.given, End: r.end})
		}
	}
	files := in.files()
	root, isScratch := rootOf(files), scratchTest(files)
	for _, f := range files {
		if f.lastWrite >= 0 && (f.exists() || f.state == FileDeleted && !f.isMoved() && !isScratch(f.path)) {
			changed := *f.asVerified()
			changed.Path = relative(f.path, root)
			p.Changed = append(p.Changed, changed)
		}
	}
	in.compared = p
	return p
}

// asVerified converts a file to the form of package verify; nil for none.
func (f *file) asVerified() *verify.File {
	if f == nil {
		return nil
	}
	out := &verify.File{
		Path: f.path, State: string(f.state), At: f.at, By: f.gitCommand, Edits: f.writingCalls(),
		Tried: f.lastWrite >= 0, Removed: f.removed > 0,
		Restored: f.has(func(e *edit) bool { return !e.inEffect() }),
	}
	if f.isMoved() {
		out.MovedTo = f.currentPath()
	}
	if f.refused != nil {
		out.Refused = &f.refused.at
	}
	return out
}
