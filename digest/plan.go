package digest

import (
	"encoding/json"
	"slices"
	"strings"

	"precis"
	"precis/internal/jsonspan"
	"precis/internal/toolcall"
	"precis/retain"
)

// PlanStep is a step of a plan.
type PlanStep struct {
	Handle precis.Handle `json:"handle"` // of the call that wrote the plan down
	Text   string        `json:"text"`   // long ones are shortened to 160 bytes
	State  StepState     `json:"state"`
}

// StepState is how far a step of a plan is.
type StepState string

// The states of steps.
const (
	StepDone   StepState = "done"
	StepActive StepState = "active"
	StepOpen   StepState = "open"
)

// line returns the step as digests and people write it.
func (s PlanStep) line() string {
	mark := " "
	switch s.State {
	case StepDone:
		mark = "x"
	case StepActive:
		mark = ">"
	}
	return "- [" + mark + "] " + s.Text
}

// PlanOf returns the newest plan that the agent has written down with a tool for it,
// one step a line: "- [x] done", "- [>] under way", "- [ ] to do". Nil when there is
// none. What the user took back by a rewind is not in it.
func PlanOf(conv *precis.Conversation) []string {
	msgs := retain.Alive(conv.Transcript, conv.Edits)
	return planLines(newestPlan(toolcall.Find(msgs), msgs, func(int) bool { return true }))
}

func planLines(steps []PlanStep) []string {
	var out []string
	for _, s := range steps {
		out = append(out, s.line())
	}
	return out
}

// newestPlan returns the steps of the newest plan that was written down in a covered message.
func newestPlan(calls []toolcall.Call, msgs []precis.Message, covered func(message int) bool) []PlanStep {
	for i := range slices.Backward(calls) {
		c := &calls[i]
		if len(c.Results) == 0 || !isPlan(c.Name) || !covered(c.Use.From) {
			continue
		}
		if steps := planSteps(toolInput(msgs, c.Use)); len(steps) > 0 {
			for k := range steps {
				steps[k].Handle = c.Use
			}
			return steps
		}
	}
	return nil
}

// isPlan recognizes the tools by which agents write down their plan.
func isPlan(tool string) bool {
	name := strings.ToLower(tool)
	return strings.Contains(name, "todo") || name == "update_plan"
}

// planSteps reads a list of steps with their states, whatever the names of the fields.
func planSteps(raw json.RawMessage) []PlanStep {
	var steps []PlanStep
	text, state := "", ""
	flush := func() {
		if text != "" {
			steps = append(steps, PlanStep{Text: quoted(text, mostStep), State: stateOf(state)})
		}
		text, state = "", ""
	}
	for name, v := range jsonspan.Strings(raw) {
		switch name {
		case "content", "step", "text", "title", "task", "subject":
			if text != "" {
				flush()
			}
			text = v
		case "status", "state":
			if state != "" {
				flush()
			}
			state = v
		case "todos":
			steps = append(steps, checklist(v)...)
		}
	}
	flush()
	return steps
}

// mostStep bounds the text of a step, in bytes.
const mostStep = 160

// checklist reads the steps of a text: "[x] done", "[-] under way", "[ ] to do".
func checklist(text string) []PlanStep {
	var steps []PlanStep
	for l := range strings.Lines(text) {
		l, boxed := strings.CutPrefix(strings.TrimPrefix(strings.TrimSpace(l), "- "), "[")
		box, words, closed := strings.Cut(l, "]")
		if boxed && closed {
			steps = append(steps, PlanStep{Text: quoted(words, mostStep), State: stateOf(strings.TrimSpace(box))})
		}
	}
	return steps
}

// stateOf reads the state of a step: a word, or the sign in a box.
func stateOf(state string) StepState {
	switch strings.ToLower(state) {
	case "completed", "done", "complete", "x":
		return StepDone
	case "in_progress", "active", "-", ">", "~":
		return StepActive
	}
	return StepOpen
}
