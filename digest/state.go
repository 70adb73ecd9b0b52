package digest

import (
	"fmt"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/harness"
	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/internal/preview"
	"github.com/precis-dev/precis/internal/toolcall"
	"github.com/precis-dev/precis/internal/visible"
	"github.com/precis-dev/precis/retain"
	"github.com/precis-dev/precis/workstate"
)

// State is the state of the work in a conversation, read from its calls and their results:
// requests, the fate of files and commands, calls without a result. A digest is the text form of
// it. Handles count the messages of the transcript. Lists are in the order of the conversation and
// never nil.
type State struct {
	Requests []Request `json:"requests"`
	// words of persons in the results of calls: answers, words with refusals
	Answers  []Request      `json:"answers"`
	Files    []FileState    `json:"files"`
	Commands []CommandState `json:"commands"`
	Waiting  []OpenCall     `json:"waiting"`
	Rules    []RuleState    `json:"rules"` // each once; at most [retain.MaxRules]
	// always empty; earlier versions listed values that were given anew
	Values []struct{} `json:"values"`
	// the steps of the current lists: those with an open step, and the newest
	Plan     []PlanStep    `json:"plan"`
	Jobs     []JobState    `json:"jobs"` // other agents and work in the background
	Skills   []SkillState  `json:"skills"`
	Standing []Instruction `json:"standing"` // instructions of the program that are in force
	Git      *GitState     `json:"git,omitempty"`
}

// Request is one message of a person.
type Request struct {
	Handle precis.Handle `json:"handle"`
	Text   string        `json:"text"` // long ones are shortened to 2,000 bytes
	// Question is the end of the assistant's last words, set only for a reply of a few words.
	Question string `json:"question,omitempty"`
	Refused  string `json:"refused,omitempty"` // the tool of the call that these words refused; "": none
	Current  bool   `json:"current,omitempty"` // no later request exists
}

// FileFate is the outcome of the calls that changed a file.
type FileFate string

// The fates of files.
const (
	FileCreated  FileFate = "created"
	FileWritten  FileFate = "written"
	FileDeleted  FileFate = "deleted"
	FileReverted FileFate = "reverted" // as before the edits: git restored it
	FileRejected FileFate = "rejected" // the user refused a change; other changes may have succeeded
	FileFailed   FileFate = "failed"   // no change of it succeeded
	FileRead     FileFate = "read"
	FileUnknown  FileFate = "unknown" // the result of the newest change is missing or unclear
)

// FileState is the state of a file, or a change of it that the user refused.
type FileState struct {
	Handle precis.Handle `json:"handle"` // of the newest call that determined it
	Path   string        `json:"path"`
	State  FileFate      `json:"state"`
	Said   string        `json:"said,omitempty"` // the user's words with a refusal
	By     string        `json:"by,omitempty"`   // the command of git that caused this state: "git checkout"
	// Set if the file was moved. Its calls and edits before the move count for the new path.
	// its former path, or the pattern of files moved into this folder
	MovedFrom string `json:"moved_from,omitempty"`
	MovedTo   string `json:"moved_to,omitempty"` // its new path; the former path has the fate "deleted"
}

// CommandState is the newest run of a command, or a call that the user refused.
type CommandState struct {
	Handle precis.Handle `json:"handle"`
	Tool   string        `json:"tool,omitempty"` // of a refused call that is not a command
	// without a leading change of directory; of other tools the arguments
	Command string `json:"command"`
	// "ok", "failed" (also if refused by the result alone), "rejected", "interrupted" or "unknown"
	Outcome  string `json:"outcome"`
	ExitCode *int   `json:"exit_code,omitempty"`
	// the output line that best describes a failure, and the cause of a failed test
	Says     string `json:"says,omitempty"`
	Said     string `json:"said,omitempty"`      // the user's words with a refusal
	UndoneBy string `json:"undone_by,omitempty"` // the command of git that undid this commit
}

// OpenCall is a call without a result yet.
type OpenCall struct {
	Handle precis.Handle `json:"handle"`
	What   string        `json:"what"`
}

// RuleState is a sentence or a list that a person typed, with a word that gives it weight,
// see [retain.Constraints].
type RuleState struct {
	Handle precis.Handle `json:"handle"`
	Text   string        `json:"text"`
}

// JobState is the state of another agent or of background work.
type JobState struct {
	Handle precis.Handle `json:"handle"` // of the call that started it
	ID     string        `json:"id,omitempty"`
	What   string        `json:"what"`             // the tool and its task
	State  string        `json:"state"`            // "running", "done", "failed" or "stopped"
	At     precis.Handle `json:"at"`               // of the newest message about it
	Result string        `json:"result,omitempty"` // the first lines of the result
}

// SkillState is a skill that was loaded.
type SkillState struct {
	Handle precis.Handle `json:"handle"`
	Name   string        `json:"name"`
	Where  string        `json:"where,omitempty"` // where it can be read again
	Orders []string      `json:"orders"`          // its orders and prohibitions, word for word
}

// Instruction is a text of the program around the model that is in force.
type Instruction struct {
	Handle precis.Handle `json:"handle"`
	Text   string        `json:"text"` // long ones are shortened to 2,000 bytes
}

// StateOf reads the state of a conversation. It includes hidden messages, and excludes messages
// that the user removed by a rewind.
func StateOf(conv *precis.Conversation) State {
	msgs := retain.WithoutRewound(conv.Transcript, conv.Edits)
	calls := toolcall.Find(msgs)
	holds := workstate.Read(msgs, calls)
	w := readWork(calls, msgs, holds.Jobs)
	s := State{Requests: []Request{}, Answers: []Request{}, Files: []FileState{}, Commands: []CommandState{},
		Waiting: []OpenCall{}, Jobs: []JobState{}, Skills: []SkillState{}, Standing: []Instruction{}}
	all := requestsOf(msgs)
	current := newestTurn(all)
	for i, r := range all {
		one := Request{Handle: precis.MessageHandle(r.at), Text: retain.Shorten(r.text, 2000, ""),
			Question: r.question, Refused: r.refused, Current: i >= current}
		if r.answer {
			s.Answers = append(s.Answers, one)
		} else {
			s.Requests = append(s.Requests, one)
		}
	}
	s.Files = append(s.Files, w.fileStates()...)
	s.Commands = append(s.Commands, w.commandStates()...)
	for _, i := range w.waiting {
		s.Waiting = append(s.Waiting, OpenCall{w.calls[i].Use, w.calls[i].Title()})
	}
	s.Rules, s.Values = rulesOf(msgs), []struct{}{}
	s.Git = w.gitState()
	s.addWorkState(holds)
	return s
}

// addWorkState adds the work state: plan, jobs, skills and instructions.
func (s *State) addWorkState(r *workstate.Reading) {
	s.Plan = stepsOf(r.Steps)
	for _, j := range r.Jobs {
		what := j.Tool
		if j.Text != "" {
			what = strings.TrimSpace(what + " " + j.Text)
		}
		s.Jobs = append(s.Jobs, JobState{j.Since, j.ID, what, string(j.State), j.At, j.Result})
	}
	for _, k := range r.Skills {
		s.Skills = append(s.Skills, SkillState{k.Since, k.Text, k.Where, append([]string{}, k.Orders...)})
	}
	for _, i := range r.Instructions {
		s.Standing = append(s.Standing, Instruction{i.Since, retain.Shorten(i.Text, 2000, "")})
	}
}

// rulesOf returns the rules in the words of persons, see [retain.RulesOf].
func rulesOf(msgs []precis.Message) []RuleState {
	out := []RuleState{}
	for _, r := range retain.RulesOf(msgs) {
		out = append(out, RuleState{precis.MessageHandle(r.Handle.From), r.Text})
	}
	return out
}

// newestTurn returns the index of the newest saying that begins a turn; later ones are answers
// given during the turn.
func newestTurn(all []personRequest) int {
	for i := len(all) - 1; i > 0; i-- {
		if !all[i].answer {
			return i
		}
	}
	return 0
}

// requestsOf returns what persons said, oldest first.
func requestsOf(msgs []precis.Message) []personRequest {
	var out []personRequest
	question := ""
	speech := precis.SpeechOf(msgs)
	for i, m := range msgs {
		if m.Role == precis.RoleAssistant {
			if text := asked(m); text != "" {
				question = text
			}
			continue
		}
		for _, a := range speech.Answers(i) {
			s := personRequest{at: i, text: visible.WithoutSequences(a.Text), answer: !a.Turn, inResult: true}
			if a.Asked {
				s.question = questionOf(a.Text, question)
			} else if a.Denied {
				s.refused = a.Tool
			}
			out = append(out, s)
		}
		text := visible.WithoutSequences(speech.Words(i))
		if shown := shownIn(m, speech.Authors(i)); shown != "" {
			text = strings.TrimSpace(text + "\n" + shown)
		}
		if text != "" {
			s := personRequest{at: i, text: text}
			s.question = questionOf(text, question)
			out = append(out, s)
		}
	}
	return out
}

// shownIn names the images and documents that a person attached to a message; "" for none.
// Attachments in a message that only a program wrote are the program's.
func shownIn(m precis.Message, authors []precis.Author) string {
	persons, programs := false, false
	pictures, out := 0, []string{}
	for b, block := range m.Content {
		if authors[b] != precis.AuthorPerson {
			programs = true
			continue
		}
		switch block := block.(type) {
		case precis.Text:
			persons = true
		case precis.Image:
			pictures++
		case precis.Document:
			out = append(out, strings.TrimSpace("[a document "+preview.Line(block.Title, 80))+"]")
		}
	}
	switch {
	case programs && !persons:
		return ""
	case pictures == 1:
		out = append(out, "[a picture]")
	case pictures > 1:
		out = append(out, fmt.Sprintf("[%d pictures]", pictures))
	}
	return strings.Join(out, " ")
}

// asked returns the text that a message of the assistant addresses to the user, including the
// arguments of a tool that asks the user.
func asked(m precis.Message) string {
	text := withoutCalls(m.PlainText())
	for _, b := range m.Content {
		u, ok := b.(precis.ToolUse)
		if !ok || !harness.IsTool(u.Name, "answers", "asks") {
			continue
		}
		for _, s := range jsonspan.Strings(u.Input) {
			if s = strings.TrimSpace(s); len(s) > 20 {
				text = s
				break
			}
		}
	}
	return text
}

// questionOf returns the end of the assistant's last words if a reply is too short to be understood
// without it.
func questionOf(reply, said string) string {
	const few, short, least, most = 5, 60, 40, 400 // words; bytes of a reply, and of the assistant's words
	if len(reply) > short || len(strings.Fields(reply)) > few || len(said) < least ||
		strings.HasSuffix(reply, "?") {
		return ""
	}
	return lastPart(said, most)
}

// commandStates returns the newest run of each command, and the refused calls that
// write no file and were not carried out later, in the order of the conversation.
func (w *work) commandStates() []CommandState {
	newest := map[int]bool{}
	var runs byPlace[int]
	for i := range w.calls {
		if c := &w.calls[i]; c.Kind == toolcall.Command && !w.isWaiting(i) {
			e, ran := runs.at(splitFolder(c.Line))
			if ran {
				delete(newest, e.is)
			}
			e.is, newest[i] = i, true
		}
	}
	var out []CommandState
	for i := range w.calls {
		c, o := &w.calls[i], w.ends[i]
		if w.isAllowed(i) {
			continue
		}
		s := CommandState{Handle: c.Use, Outcome: string(o.End), ExitCode: o.Code, Says: failureQuote(o),
			Said: quoted(o.Said, 500), UndoneBy: w.git.undone[i]}
		if o.Claimed {
			s.Outcome = string(toolcall.Failed)
		}
		switch line := commandLine(c.Line); {
		case c.Kind == toolcall.Command && (newest[i] || o.End == toolcall.Rejected):
			s.Command = quoted(line, 300)
		case o.End == toolcall.Rejected && c.Kind != toolcall.Write:
			s.Tool, s.Command = c.Name, quoted(argumentsOf(c), 300)
		default:
			continue
		}
		out = append(out, s)
	}
	return out
}

// failureQuote quotes the output's description of a failure.
func failureQuote(o toolcall.Outcome) string {
	line := quoted(o.Line, 200)
	if o.Why != "" {
		line += "; " + quoted(o.Why, 200)
	}
	return line
}

// argumentsOf returns all string arguments of a call, joined.
func argumentsOf(c *toolcall.Call) string {
	const most = 400
	var out []string
	n := 0
	for _, s := range c.Strings() {
		if n += len(s); n > most && len(out) > 0 {
			break
		}
		out = append(out, preview.Line(s, most))
	}
	if len(out) == 0 {
		return c.Path
	}
	return strings.Join(out, " ")
}
