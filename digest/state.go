package digest

import (
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/digest/effects"
	"github.com/precis-dev/precis/digest/requests"
	"github.com/precis-dev/precis/internal/toolcall"
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
	Answers  []Request              `json:"answers"`
	Files    []effects.FileState    `json:"files"`
	Commands []effects.CommandState `json:"commands"`
	Waiting  []OpenCall             `json:"waiting"`
	Rules    []RuleState            `json:"rules"` // each once; at most [retain.MaxRules]
	// always empty; earlier versions listed values that were given anew
	Values []struct{} `json:"values"`
	// the steps of the current lists: those with an open step, and the newest
	Plan     []PlanStep        `json:"plan"`
	Jobs     []JobState        `json:"jobs"` // other agents and work in the background
	Skills   []SkillState      `json:"skills"`
	Standing []Instruction     `json:"standing"` // instructions of the program that are in force
	Git      *effects.GitState `json:"git,omitempty"`
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
	w := effects.Read(calls, msgs, holds.Jobs)
	s := State{Requests: []Request{}, Answers: []Request{}, Files: []effects.FileState{},
		Commands: []effects.CommandState{}, Waiting: []OpenCall{}, Jobs: []JobState{}, Skills: []SkillState{},
		Standing: []Instruction{}}
	all := requests.Of(msgs)
	current := requests.NewestTurn(all)
	for i, r := range all {
		one := Request{Handle: precis.MessageHandle(r.At), Text: retain.Shorten(r.Text, 2000, ""),
			Question: r.Question, Refused: r.Refused, Current: i >= current}
		if r.Answer {
			s.Answers = append(s.Answers, one)
		} else {
			s.Requests = append(s.Requests, one)
		}
	}
	s.Files = append(s.Files, w.FileStates()...)
	s.Commands = append(s.Commands, w.CommandStates()...)
	for _, i := range w.Waiting {
		s.Waiting = append(s.Waiting, OpenCall{w.Calls[i].Use, w.Calls[i].Title()})
	}
	s.Rules, s.Values = rulesOf(msgs), []struct{}{}
	s.Git = w.GitState()
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
