package standing

import (
	"slices"
	"strings"

	"precis"
)

// Law holds the plan, the skills and the jobs of a conversation in its views, see
// [precis.Law]. The zero value is ready.
type Law struct{}

// Tokens up to which a thing is kept word for word.
const (
	mostPlan = 2000
	mostDone = 400 // the last state of a job that ended: of its report the first lines are told
	mostJobs = 12  // jobs that ended, the newest
	mostOpen = 40  // of plans, jobs that run and skills each, the newest: more are no state that anybody works from
)

// Holds returns the newest plan and others with open steps, jobs that run, skills, and then
// the last states of jobs.
func (Law) Holds(s *precis.Situation) []precis.Held {
	return In(s).Held()
}

// Held returns where what holds stands, what matters most first: the newest plan and others
// with something to do, jobs that run, the skills that were loaded last, and the last states
// of the newest jobs.
func (r *Reading) Held() (out []precis.Held) {
	for _, list := range slices.Backward(newestOf(r.lists())) {
		h := precis.Held{Key: "plan " + list[0].List, Most: mostPlan, Name: "Plan"}
		newest := list[0].At
		for _, step := range list {
			if compare(step.At, newest) > 0 {
				newest = step.At
			}
		}
		for _, step := range list {
			if step.State.Ended() {
				continue
			}
			h.Must = append(h.Must, step.Text)
			if !slices.Contains(h.At, step.Since) {
				h.At = append(h.At, step.Since)
			}
		}
		if !slices.Contains(h.At, newest) {
			h.At = append(h.At, newest)
		}
		out = append(out, h)
	}
	for _, j := range slices.Backward(newestOf(r.RunningJobs())) {
		out = append(out, precis.Held{Key: "job " + j.Key, At: slices.Compact([]precis.Handle{j.Since, j.At}), Most: mostDone, Name: "Running", Must: j.said()})
	}
	for _, skill := range slices.Backward(newestOf(r.Skills)) {
		name := "Skill " + skill.Text
		if skill.Where != "" {
			name += " (" + skill.Where + ")"
		}
		out = append(out, precis.Held{Key: "skill " + skill.Key, At: []precis.Handle{skill.Since}, Name: name, Must: skill.Orders})
	}
	ended := 0
	for _, j := range slices.Backward(r.Jobs) {
		if ended++; j.State.Ended() && ended <= mostJobs {
			out = append(out, precis.Held{Key: "job " + j.Key, At: []precis.Handle{j.At}, Most: mostDone, Name: "Ended", Must: j.said()})
		}
	}
	return out
}

// newestOf returns the last items, see mostOpen.
func newestOf[T any](items []T) []T { return items[max(len(items)-mostOpen, 0):] }

// lists returns the steps of each list.
func (r *Reading) lists() (out [][]Item) {
	for i, step := range r.Steps {
		if i == 0 || step.List != r.Steps[i-1].List {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], step)
	}
	return out
}

// said returns what has to be said of a job where its blocks are hidden: how it is called,
// what it does, and how far it is, as [Item.Line] writes it.
func (i Item) said() []string {
	text := i.ID
	if i.Text != "" {
		text = strings.TrimSpace(text + " (" + i.Text + ")")
	}
	if text == "" {
		return nil
	}
	return []string{text + ": " + string(i.State)}
}
