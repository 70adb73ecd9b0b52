package digest

import (
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/digest/effects"
	"github.com/precis-dev/precis/digest/requests"
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
		Outcomes: w.Ends, Waiting: w.IsWaiting, BareCommand: effects.BareCommand,
		File: func(path string) *verify.File { return asVerified(w.FileNamed(path)) },
	}
	speech := precis.SpeechOf(in.messages)
	for _, s := range requests.Merged(in.record().said) {
		text := strings.TrimSuffix(s.Text, requests.AttachedTo(in.messages[s.At], speech.Authors(s.At)))
		p.UserTexts = append(p.UserTexts, verify.UserText{Message: s.At, Text: text})
	}
	for _, r := range w.NewestRuns(in.covered) {
		if r.End.End == toolcall.Failed && !r.Running {
			p.Failures = append(p.Failures,
				verify.Failure{Message: r.At, Shown: r.Line, Line: r.Given, End: r.End})
		}
	}
	files := in.work().FilesOf(in.covered)
	root, isScratch := effects.RootOf(files), effects.ScratchTest(files)
	for _, f := range files {
		isGone := f.State == effects.FileDeleted && !f.IsMoved() && !isScratch(f.Path)
		if f.LastWrite >= 0 && (f.Exists() || isGone) {
			changed := *asVerified(&f)
			changed.Path = relative(f.Path, root)
			p.Changed = append(p.Changed, changed)
		}
	}
	in.compared = p
	return p
}

// asVerified converts a file to the form of package verify; nil for none.
func asVerified(f *effects.File) *verify.File {
	if f == nil {
		return nil
	}
	out := &verify.File{
		Path: f.Path, State: string(f.State), At: f.At, By: f.GitCommand, Edits: f.WritingCalls(),
		Tried: f.LastWrite >= 0, Removed: f.Removed > 0,
		Restored: f.IsRestored(),
	}
	if f.IsMoved() {
		out.MovedTo = f.CurrentPath()
	}
	if f.Refused != nil {
		out.Refused = &f.Refused.At
	}
	return out
}
