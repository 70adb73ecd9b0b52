package workstate

import (
	"slices"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/inforce"
	"github.com/precis-dev/precis/policy"
)

// ItemSource keeps the plan, the skills and the jobs of a conversation in its views, see [policy.Law]. The
// zero value is ready.
type ItemSource struct{}

// Tokens up to which an item is kept word for word.
const (
	mostPlan = 2000
	mostDone = 400 // the last state of an ended job: the first lines of its report
	mostJobs = 12  // ended jobs, the newest
	mostOpen = 40  // of plans, running jobs and skills each, the newest: older ones are no longer current
)

// Items returns the newest plan and others with open steps, jobs that run, skills, and then
// the last states of jobs.
func (ItemSource) Items(s *policy.Situation) []inforce.Item {
	return In(s).Held()
}

// Held returns the items in force with their places, most important first: the newest plan and
// others with open steps, running jobs, the newest skills, and the last states of the newest jobs.
func (r *Reading) Held() (out []inforce.Item) {
	for _, list := range slices.Backward(newestOf(ListsOf(r.Steps))) {
		h := inforce.Item{Key: "plan " + list.Name, MaxTokens: mostPlan,
			Name: "Plan as of " + list.At.String()}
		for _, step := range list.Steps {
			if step.State.Ended() {
				continue
			}
			h.Required = append(h.Required, step.Text)
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
		h := inforce.Item{Key: "skill " + skill.Key, At: []precis.Handle{skill.Since},
			Name: "Skill " + skill.Text}
		if h.Required = skill.Orders; skill.Where != "" {
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

// held returns a job as an item in force, with the text that must appear if its blocks are hidden:
// its name, its task, and its state.
func (i Item) held(name string, at ...precis.Handle) inforce.Item {
	h := inforce.Item{Key: "job " + i.Key, At: slices.Compact(at), MaxTokens: mostDone, Name: name}
	text := i.ID
	if i.Text != "" {
		text = strings.TrimSpace(text + " (" + i.Text + ")")
	}
	if text != "" {
		h.Required = []string{text + ": " + string(i.State)}
	}
	return h
}

// newestOf returns the last items, see mostOpen.
func newestOf[T any](items []T) []T { return items[max(len(items)-mostOpen, 0):] }
