// Package workstate answers: what still holds in a conversation? These are the plan and the state
// of its steps, background work, loaded skills, and the standing instructions of the program around
// the model.
//
// [Read] folds messages and calls, oldest first; each item has a key, and the newest event of a key
// counts. Items are known by their shape, not by the names of tools. The effect of a message
// depends only on it and the messages before it: reading a conversation in two parts gives the same
// result as reading it at once.
package workstate

import (
	"slices"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/toolcall"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/retain"
)

// Kind is a kind of item.
type Kind string

// The kinds.
const (
	Step        Kind = "step"        // of a plan
	Job         Kind = "job"         // a command in the background, or another agent
	Skill       Kind = "skill"       // that was loaded
	Instruction Kind = "instruction" // of the program, in force until replaced
)

// State is how far an item is.
type State string

// The states. A skill and an instruction have none.
const (
	Open    State = "open"    // a step to do
	Active  State = "active"  // a step under way
	Running State = "running" // a job
	Done    State = "done"    // a step or a job
	Failed  State = "failed"  // a job
	Stopped State = "stopped" // a job, stopped by a person or program
	Dropped State = "dropped" // a step that was given up
)

// Ended reports whether an item in that state is final.
func (s State) Ended() bool { return s == Done || s == Failed || s == Stopped || s == Dropped }

// Item is a step, a job, a skill or an instruction.
type Item struct {
	Kind Kind
	// equal for items that replace each other: the list and the step, the ID of a job, the name of a skill
	Key string
	// of a step, on one line; the task of a job; the name of a skill; an instruction word for word
	Text  string
	State State

	Since precis.Handle // the call or text that began it, or last restated it as a whole
	At    precis.Handle // of the newest event

	List   string   // of a step: which list it is of
	InFile bool     // of a step: its list is in the file that List names
	ID     string   // of a job; "" if its program gave none
	Tool   string   // that a job was started with
	Result string   // of an ended job: the first lines of its result
	Where  string   // of a skill: where it can be read again; "" if unknown
	Orders []string // of a skill: its orders and prohibitions, word for word
	Rules  []string // of the first step of an approved plan: the rules in the plan
}

// Reading is the work state after the messages that were read. It is safe for concurrent use.
type Reading struct {
	Steps        []Item // lists by their newest change; the steps of a list in its order
	Jobs         []Item // in the order of their beginning
	Skills       []Item // in the order of loading
	Instructions []Item // in the order of the messages

	Calls map[precis.Handle]bool // those about plans, jobs and skills
}

// Of returns the work state of a conversation. It includes hidden messages, but not messages undone
// by a rewind.
func Of(conv *precis.Conversation) *Reading {
	msgs := retain.WithoutRewound(conv.Transcript, conv.Edits)
	return Read(msgs, toolcall.Find(msgs))
}

// Read returns the work state after msgs. The calls are the result of [toolcall.Find].
func Read(msgs []precis.Message, calls []toolcall.Call) *Reading {
	f := newFold()
	f.read(msgs, calls, 0, len(msgs))
	r := f.reading()
	r.Instructions = instructions(msgs)
	return r
}

type readingKey struct{}

// In returns the work state of a situation's conversation. It is read once for each run of the
// ladder.
func In(s *policy.Situation) *Reading {
	return s.Once(readingKey{}, func() any {
		x, _, _ := retain.Of(s)
		return Read(retain.WithoutRewound(s.Transcript, s.Edits), x.Calls)
	}).(*Reading)
}

// OpenSteps returns the steps that are open or active.
func (r *Reading) OpenSteps() []Item { return goingOn(r.Steps) }

// RunningJobs returns the jobs without a known end.
func (r *Reading) RunningJobs() []Item { return goingOn(r.Jobs) }

func goingOn(items []Item) []Item {
	return slices.DeleteFunc(slices.Clone(items), func(i Item) bool { return i.State.Ended() })
}

// List is a list of steps.
type List struct {
	Name  string        // see [Item.List]
	At    precis.Handle // of the newest change
	Steps []Item
}

// ListsOf groups steps by their lists. The steps of a list must be adjacent.
func ListsOf(steps []Item) (out []List) {
	for i, step := range steps {
		if i == 0 || step.List != steps[i-1].List {
			out = append(out, List{Name: step.List, At: step.At})
		}
		l := &out[len(out)-1]
		l.Steps = append(l.Steps, step)
		if compare(step.At, l.At) > 0 {
			l.At = step.At
		}
	}
	return out
}

// fold is the state of a reading.
type fold struct {
	plans  plans
	jobs   jobs
	skills skills
	calls  map[precis.Handle]bool
}

func newFold() *fold {
	return &fold{plans: newPlans(), jobs: jobs{newKeyed()}, skills: skills{newKeyed()},
		calls: map[precis.Handle]bool{}}
}

// keyed are items of one kind, in the order of their beginning.
type keyed struct {
	all   []Item
	byKey map[string]int // the newest of each key
}

func newKeyed() keyed { return keyed{all: []Item{}, byKey: map[string]int{}} }

// add adds an item, and returns where it is.
func (k *keyed) add(it Item) int {
	k.byKey[it.Key] = len(k.all)
	k.all = append(k.all, it)
	return len(k.all) - 1
}

// read applies the messages [from,to).
func (f *fold) read(msgs []precis.Message, calls []toolcall.Call, from, to int) {
	speech := precis.SpeechOf(msgs)
	next := map[int][]int{} // by the message of their results
	for i := range calls {
		if n := len(calls[i].Results); n > 0 {
			if at := calls[i].Results[n-1].From; at >= from && at < to {
				next[at] = append(next[at], i)
			}
		}
	}
	for i := from; i < to; i++ {
		for _, c := range next[i] {
			f.call(&calls[c])
		}
		f.message(msgs, i, speech)
	}
}

// call applies a call that was answered.
func (f *fold) call(c *toolcall.Call) {
	args := arguments(c)
	for _, is := range []bool{f.jobs.call(c, args), f.plans.call(c, args), f.skills.call(c, args)} {
		if is {
			f.calls[c.Use] = true
		}
	}
}

func (f *fold) message(msgs []precis.Message, i int, speech *precis.Speech) {
	m := msgs[i]
	if m.Role == precis.RoleAssistant {
		f.plans.message(i, m)
		return
	}
	authors := speech.Authors(i)
	for b, block := range m.Content {
		switch block := block.(type) {
		case precis.Text:
			program := authors[b] == precis.AuthorProgram || authors[b] == precis.AuthorOperator
			f.jobs.text(precis.BlockHandle(i, b), block.Text, program)
			if program {
				f.skills.text(precis.BlockHandle(i, b), block.Text)
			}
		case precis.ToolResult:
			f.jobs.text(precis.BlockHandle(i, b), block.Text(), false)
		}
	}
}

func (f *fold) reading() *Reading {
	return &Reading{Steps: f.plans.items(), Jobs: f.jobs.all, Skills: f.skills.all, Calls: f.calls}
}
