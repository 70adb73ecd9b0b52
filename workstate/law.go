package workstate

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
	for _, list := range slices.Backward(newestOf(ListsOf(r.Steps))) {
		h := precis.Held{Key: "plan " + list.Name, Most: mostPlan, Name: "Plan as of " + list.At.String()}
		for _, step := range list.Steps {
			if step.State.Ended() {
				continue
			}
			h.Must = append(h.Must, step.Text)
			if !slices.Contains(h.At, step.Since) {
				h.At = append(h.At, step.Since)
			}
		}
		if !slices.Contains(h.At, list.At) {
			h.At = append(h.At, list.At)
		}
		out = append(out, h)
	}
	for _, j := range slices.Backward(newestOf(r.RunningJobs())) {
		out = append(out, j.held("Running", j.Since, j.At))
	}
	for _, skill := range slices.Backward(newestOf(r.Skills)) {
		h := precis.Held{Key: "skill " + skill.Key, At: []precis.Handle{skill.Since}, Name: "Skill " + skill.Text}
		if h.Must = skill.Orders; skill.Where != "" {
			h.Name += " (" + skill.Where + ")"
		}
		out = append(out, h)
	}
	for _, j := range slices.Backward(r.Jobs[max(len(r.Jobs)-mostJobs, 0):]) {
		if j.State.Ended() {
			out = append(out, j.held("Ended", j.At))
		}
	}
	return out
}

// held returns a job as it is held, with what has to be said where its blocks are hidden: how it is called, what it
// does, and how far it is.
func (i Item) held(name string, at ...precis.Handle) precis.Held {
	h := precis.Held{Key: "job " + i.Key, At: slices.Compact(at), Most: mostDone, Name: name}
	text := i.ID
	if i.Text != "" {
		text = strings.TrimSpace(text + " (" + i.Text + ")")
	}
	if text != "" {
		h.Must = []string{text + ": " + string(i.State)}
	}
	return h
}

// newestOf returns the last items, see mostOpen.
func newestOf[T any](items []T) []T { return items[max(len(items)-mostOpen, 0):] }
