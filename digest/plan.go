package digest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/digest/requests"
	"github.com/precis-dev/precis/internal/plain"
	"github.com/precis-dev/precis/retain"
	"github.com/precis-dev/precis/workstate"
)

// PlanStep is a step of a plan.
type PlanStep struct {
	Handle precis.Handle `json:"handle"` // of the call that wrote the plan
	Text   string        `json:"text"`   // long ones are shortened to 160 bytes
	State  StepState     `json:"state"`
	List   string        `json:"list,omitempty"` // distinguishes several lists, by the tools that write them
	At     precis.Handle `json:"at"`             // of the newest change
}

// StepState is how far a step of a plan is.
type StepState string

// The states of steps.
const (
	StepDone    StepState = "done"
	StepActive  StepState = "active"
	StepOpen    StepState = "open"
	StepDropped StepState = "dropped" // it was given up
)

func stepsOf(items []workstate.Item) []PlanStep {
	out := []PlanStep{}
	for _, i := range items {
		out = append(out, PlanStep{Handle: i.Since, Text: i.Text, State: StepState(i.State), List: i.List,
			At: i.At})
	}
	return out
}

// PlanOf returns the plan that the agent has written down, one step a line: "- [x] done", "- [>]
// under way", "- [ ] to do", "- [-] given up". Nil without a plan. It omits steps that the user
// removed by a rewind.
func PlanOf(conv *precis.Conversation) []string {
	var out []string
	for _, i := range workstate.Of(conv).Steps {
		out = append(out, i.Line(precis.Handle.String))
	}
	return out
}

// mostAhead is the number of open steps of a plan in a file that a digest lists, the next ones.
const mostAhead = 12

// mostDone is the number of completed steps that a digest lists, the newest; moreDone is the tokens
// of the line that counts the others.
const (
	mostDone = 8
	moreDone = 10
)

// plan returns the covered steps of the plan within room tokens. If not all fit, completed steps
// are dropped first, oldest first, and then the prose of a written plan around its steps.
func (in *input) plan(room int) []string {
	lists := workstate.ListsOf(in.coveredItems(in.workState().Steps))
	var lines []planLine
	for _, l := range lists {
		lines = append(lines, in.planLines(l)...)
	}
	for _, l := range lists {
		for _, r := range l.Steps[0].Rules {
			lines = append(lines, planLine{text: "- " + in.handleText(l.Steps[0].Since) +
				", the plan says: " + r, besides: true})
		}
	}
	size, done, left := moreDone, 0, 0
	for _, l := range lines {
		size += in.count(l.text) + 1
		if l.ended {
			done++
		}
	}
	var out []string
	for _, l := range lines {
		switch {
		case l.ended && (size > room || done-left > mostDone):
			left++
		case !l.besides || size <= room:
			out = append(out, l.text)
			continue
		}
		size -= in.count(l.text) + 1
	}
	if left > 0 {
		out = append(out, fmt.Sprintf("- and %d more that are done", left))
	}
	return out
}

// planLines returns the lines of one list, headed by its last change: the user may have ended it
// since.
func (in *input) planLines(l workstate.List) []planLine {
	lines := []planLine{{text: "As of " + in.handleText(l.At) + ":"}}
	ahead := 0 // open steps of a list in a file
	for _, s := range l.Steps {
		if s.InFile && !s.State.Ended() {
			ahead++
		}
		if s.State.Ended() || ahead <= mostAhead {
			lines = append(lines, planLine{text: s.Line(in.handleText), ended: s.State.Ended()})
		}
	}
	if ahead > mostAhead {
		text := fmt.Sprintf("- and %d more to do in %s", ahead-mostAhead, plain.Text(l.Name))
		lines = append(lines, planLine{text: text, besides: true})
	}
	return lines
}

// planLine is a line of the section on the plan.
type planLine struct {
	text    string
	ended   bool // a step that is done or given up
	besides bool // not a step
}

// planRoom returns the tokens for the plan: a tenth of the digest, more for the open steps.
func (in *input) planRoom() int {
	need := in.count("## Plan") + 1 + moreDone
	for _, l := range workstate.ListsOf(in.coveredItems(in.workState().OpenSteps())) {
		for _, line := range in.planLines(l) {
			need += in.count(line.text) + 1
		}
	}
	return max(in.tokens/10, min(need, in.tokens/4))
}

// handleText returns the handle of a place's message, in the notation of the digest.
func (in *input) handleText(h precis.Handle) string { return in.handle(h.From) }

// coveredItems returns the items with a covered event: their first or their newest.
func (in *input) coveredItems(items []workstate.Item) []workstate.Item {
	return slices.DeleteFunc(slices.Clone(items), func(i workstate.Item) bool {
		return !in.covered(i.Since.From) && !in.covered(i.At.From)
	})
}

// workState returns the work state of the whole conversation.
func (in *input) workState() *workstate.Reading { return in.record().holds() }

// jobs returns the covered jobs: running jobs first, then the newest.
func (in *input) jobs(items []workstate.Item) []string {
	var out []string
	for _, over := range []bool{false, true} {
		for _, j := range slices.Backward(in.coveredItems(items)) {
			if j.State.Ended() == over && !j.Silent() {
				out = append(out, j.Line(in.handleText))
			}
		}
	}
	return out
}

// skillsTitle is the heading over the skills that were loaded.
const skillsTitle = "## Skills that were loaded, to be followed"

// skills returns the covered skills that were loaded since the newest requests and that the view
// does not quote elsewhere.
func (in *input) skills() []workstate.Item {
	said := in.record().said
	said = said[max(len(said)-requests.Fresh, 0):]
	return slices.DeleteFunc(in.coveredItems(in.workState().Skills), func(s workstate.Item) bool {
		return in.isShownOutside(s) || len(said) > 0 && s.At.From < said[0].At
	})
}

// skillLines describes skills, newest first, each with the place where it can be read again and as
// many of its orders as fit into its part of the room; orders that set a rule come first.
func (in *input) skillLines(skills []workstate.Item, room int) []string {
	var out []string
	for n, s := range slices.Backward(skills) {
		head := "- " + in.handleText(s.Since) + ": " + s.Text
		if s.Where != "" {
			head += " (read it again in " + s.Where + ")"
		}
		left := room/(n+1) - in.count(head) - 1
		if left < 0 && len(out) > 0 {
			continue
		}
		var body strings.Builder
		for _, o := range fitting(s.Orders, left, in.count) {
			body.WriteString("\n  - " + plain.Indent(o))
		}
		out = append(out, head+body.String())
		room -= in.count(out[len(out)-1]) + 1
	}
	return out
}

// fitting returns as many of the orders as fit, in order; orders that set rules have precedence.
func fitting(orders []string, room int, count func(string) int) []string {
	take := make([]bool, len(orders))
	for _, rules := range []bool{true, false} {
		for i, o := range orders {
			if rules != (len(retain.Constraints(o)) > 0) {
				continue
			}
			if c := count("  - "+o) + 1; c <= room {
				take[i] = true
				room -= c
			}
		}
	}
	var out []string
	for i, o := range orders {
		if take[i] {
			out = append(out, o)
		}
	}
	return out
}

// instructionLines returns the covered instructions of the program that are in force and that the
// view does not quote elsewhere, newest first, within room tokens.
func (in *input) instructionLines(room int) []string {
	const treeLines = 4 // of a directory listing
	var out []string
	items := slices.DeleteFunc(in.coveredItems(in.workState().Instructions),
		func(s workstate.Item) bool { return in.isShownOutside(s) })
	for n, s := range slices.Backward(items) {
		head := "- " + in.handleText(s.Since) + ": "
		text, most := s.Text, room/min(n+1, 4)-in.count(head)-1
		if in.count(text) > most {
			text = retain.FoldDrawn(text, treeLines)
		}
		text = retain.Fit(plain.Indent(text), most, in.count)
		if text == "" {
			continue
		}
		out = append(out, head+text)
		room -= in.count(out[len(out)-1]) + 1
	}
	return out
}

// isShownOutside reports whether the view shows the words of an item outside the digest: items in force
// follow it.
func (in *input) isShownOutside(i workstate.Item) bool {
	return in.carried != nil && (in.carried(i.Since) || in.carried(i.At))
}
