package handoff

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/digest"
	"github.com/precis-dev/precis/digest/effects"
	"github.com/precis-dev/precis/internal/plain"
	"github.com/precis-dev/precis/internal/preview"
	"github.com/precis-dev/precis/retain"
)

// briefPart names a part of a brief.
type briefPart int

// The parts of a brief.
const (
	partRules briefPart = iota
	partRequest
	partEarlier
	partPlan
	partAnswers
	partRefused
	partFiles
	partGit
	partCommands
	partWaiting
	partLast
)

// briefFacts are the lines of each part of a brief, the most important first.
type briefFacts struct {
	conversation string
	goal         string // from the newest request; "" without one
	lines        map[briefPart][]string
}

// factsOf collects the content of a brief about a conversation.
func factsOf(ctx context.Context, s *conversation.Subject, style briefStyle) (briefFacts, error) {
	msgs := retain.WithoutRewound(s.Conversation.Transcript, s.Conversation.Edits)
	state := digest.StateOf(s.Conversation)
	rules, err := rulesOf(ctx, msgs)
	if err != nil {
		return briefFacts{}, err
	}
	f := briefFacts{conversation: s.Record.ID, lines: map[briefPart][]string{}}
	for _, r := range rules {
		f.add(partRules, r.Handle, indent(r.Text))
	}
	f.requests(state.Requests)
	f.lines[partPlan] = digest.PlanOf(s.Conversation)
	f.refusals(state)
	f.words(msgs)
	f.files(state.Files, style)
	f.lines[partGit] = state.Git.Lines(nil)
	f.commands(state.Commands)
	for _, w := range state.Waiting {
		f.add(partWaiting, w.Handle, preview.Quote(w.What, 200))
	}
	return f, nil
}

func (f *briefFacts) add(p briefPart, h precis.Handle, text string) {
	f.lines[p] = append(f.lines[p], fmt.Sprintf("- %s: %s", precis.MessageHandle(h.From), text))
}

// requests adds the user's requests, and short replies with the question before them.
func (f *briefFacts) requests(all []digest.Request) {
	for i := len(all) - 1; i >= 0; i-- {
		r := all[i]
		if r.Question != "" {
			f.add(partAnswers, r.Handle, fmt.Sprintf("the user said %q after: %s", preview.Line(r.Text, 120),
				preview.Quote(r.Question, 240)))
		}
		switch {
		case i == len(all)-1:
			f.add(partRequest, r.Handle, indent(r.Text))
			f.goal = preview.Line(r.Text, 160)
		case r.Question == "":
			f.add(partEarlier, r.Handle, preview.Line(r.Text, 240))
		}
	}
}

// refusals adds changes and commands that the user refused.
func (f *briefFacts) refusals(s digest.State) {
	said := func(words string) string {
		if words == "" {
			return ""
		}
		return "; said with it: " + preview.Quote(words, 200)
	}
	for _, file := range slices.Backward(s.Files) {
		if file.State == effects.FileRejected {
			f.add(partRefused, file.Handle,
				"the user refused a change of "+preview.Quote(file.Path, 120)+said(file.Said))
		}
	}
	for _, c := range slices.Backward(s.Commands) {
		if c.Outcome == "rejected" {
			f.add(partRefused, c.Handle, "the user refused "+
				strings.TrimSpace(preview.Quote(c.Tool, 40)+" "+preview.Quote(c.Command, 120))+said(c.Said))
		}
	}
}

// words adds the agent's last messages, newest first, each by its beginning and its end.
func (f *briefFacts) words(msgs []precis.Message) {
	const most, newest, others = 6, 1200, 300 // texts; bytes
	for i, m := range slices.Backward(msgs) {
		text := strings.TrimSpace(plain.Text(m.PlainText()))
		if m.Role != precis.RoleAssistant || text == "" {
			continue
		}
		size := others
		if len(f.lines[partLast]) == 0 {
			size = newest
		}
		f.add(partLast, precis.MessageHandle(i), indent(retain.BothEnds(text, size)))
		if len(f.lines[partLast]) == most {
			return
		}
	}
}

// files adds the states of files: changed files, newest first, and on one line those that were
// only read. The first few are formatted as references of the agent, which may load them; the
// others are plain paths.
func (f *briefFacts) files(all []effects.FileState, style briefStyle) {
	const mentioned, named = 5, 25
	var read []string
	for _, file := range slices.Backward(all) {
		path := preview.Quote(file.Path, 200)
		switch {
		case file.State == effects.FileRejected, file.MovedTo != "": // listed under refusals or its new path
		case file.State == effects.FileRead:
			read = append(read, precis.MessageHandle(file.Handle.From).String()+" "+path)
		default:
			if len(f.lines[partFiles]) < mentioned && file.State != effects.FileDeleted {
				path = style.mention(path)
			}
			fate := string(file.State)
			if file.By != "" {
				fate += " (" + file.By + ")"
			}
			if file.MovedFrom != "" {
				path += ", moved from " + preview.Quote(file.MovedFrom, 200)
			}
			f.add(partFiles, file.Handle, fate+" "+path)
		}
	}
	if len(read) > named {
		read = append(read[:named], fmt.Sprintf("%d more", len(read)-named))
	}
	if len(read) > 0 {
		f.lines[partFiles] = append(f.lines[partFiles], "- only read: "+strings.Join(read, ", "))
	}
}

// commands adds the results of commands: failures first, newest first in each group.
func (f *briefFacts) commands(all []effects.CommandState) {
	for _, failures := range []bool{true, false} {
		for _, c := range slices.Backward(all) {
			failed := c.Outcome == "failed" || c.Outcome == "interrupted"
			if failed != failures || c.Outcome == "rejected" {
				continue
			}
			text := preview.Quote(c.Command, 160) + ": " + c.Outcome
			if c.UndoneBy != "" {
				text += ", the commit is undone since (" + c.UndoneBy + ")"
			}
			if c.ExitCode != nil && *c.ExitCode != 0 {
				text += fmt.Sprintf(", exit code %d", *c.ExitCode)
			}
			if c.Says != "" && failed {
				text += ", says: " + c.Says
			}
			f.add(partCommands, c.Handle, text)
		}
	}
}

// indent indents the lines of a text so that they cannot be mistaken for lines of the brief.
func indent(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(strings.TrimSpace(s), "\uFFFD"), "\n", "\n  ")
}
