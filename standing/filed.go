package standing

import (
	"path"
	"slices"
	"strings"

	"precis"
	"precis/internal/lazyregexp"
	"precis/internal/toolcall"
)

// filed is the checklist of a file of prose. It is a plan of the agent once the agent ticks boxes in it, or writes it into
// a file that is called a plan.
type filed struct {
	*planned
	kept bool // it is a plan of the agent
}

// wordFiles are the ends of the names of files that hold words.
var wordFiles = []string{".md", ".markdown", ".mdx", ".mdc", ".txt", ".text", ".rst", ".org", ".adoc"}

// lineNumber is what tools print before the lines of a file.
var lineNumber = lazyregexp.New(`(?m)^\s*\d+(?:→|\t|\s*\| ?|: )`)

// file takes in what an answered call shows of a checklist in a file, or writes into one.
func (p *plans) file(c *toolcall.Call) {
	name := c.Path
	if name == "" && len(c.Reads) == 1 && len(c.Effects) == 0 {
		name = c.Reads[0]
	}
	if !slices.Contains(wordFiles, strings.ToLower(path.Ext(name))) {
		return
	}
	if end := c.Outcome().End; end == toolcall.Rejected || end == toolcall.Failed {
		return
	}
	l, known := p.files[name]
	switch {
	case c.Kind != toolcall.Write:
		steps, _ := checklist(lineNumber.ReplaceAllString(c.Text, ""))
		if known && len(steps) < len(l.steps) {
			l.tick(steps, c.Use) // a part of it was shown
		} else if len(steps) > 1 {
			l.planned = newFiled(name, steps, c.Use, l.planned)
		}
	default:
		added, removed := c.Edited(name)
		if added == "" && removed == "" {
			steps, _ := checklist(c.Written())
			l = filed{newFiled(name, steps, c.Use, l.planned), l.kept || slices.ContainsFunc(words(path.Base(name)), isPlanWord)}
			break
		}
		was, _ := checklist(removed)
		now, _ := checklist(added)
		if len(was)+len(now) == 0 {
			return
		}
		if !known {
			l.planned = newFiled(name, was, c.Use, nil)
		}
		l.kept = l.replace(was, now, c.Use) || l.kept
	}
	if l.planned == nil {
		return
	}
	p.files[name] = l
	delete(p.lists, name)
	if l.kept && len(l.steps) > 0 {
		p.lists[name] = l.told()
	}
}

func isPlanWord(w string) bool { return slices.Contains(planWords, w) }

// newFiled returns the list of a file with these steps; those that were known keep the places where they were first
// written and newly changed.
func newFiled(name string, steps []step, at precis.Handle, old *planned) *planned {
	l := &planned{key: name, at: at}
	times := map[string]int{}
	for _, s := range steps {
		times[s.text]++
	}
	next := 0 // of the old steps, which come in the same order
	for _, s := range steps {
		s.twice = times[s.text] > 1
		one := plannedStep{s, at, at}
		if old != nil {
			if i := old.says(s, next); i >= 0 {
				next = i + 1
				if was := old.steps[i]; was.twice == s.twice { // else it is called otherwise from here on
					one.since = was.since
					if was.state == s.state {
						one.at = was.at
					}
				}
			}
		}
		l.steps = append(l.steps, one)
	}
	return l
}

// says returns the first step from one on that has the words of another, under the same heading where both are known; -1:
// none.
func (l *planned) says(s step, from int) int {
	for i := from; i < len(l.steps); i++ {
		if o := l.steps[i]; o.text == s.text && (o.under == s.under || o.under == "" || s.under == "") {
			return i
		}
	}
	return -1
}

// run returns where steps stand in the list, one behind the other: best in the same states; -1: nowhere.
func (l *planned) run(steps []step) int {
	at := -1
	for i := 0; i+len(steps) <= len(l.steps); i++ {
		texts, states := true, true
		for k, s := range steps {
			texts = texts && l.steps[i+k].text == s.text
			states = states && l.steps[i+k].state == s.state
		}
		if texts && states {
			return i
		}
		if texts && at < 0 {
			at = i
		}
	}
	return at
}

// tick takes over the states of steps that are in the list, in its order.
func (l *planned) tick(steps []step, at precis.Handle) {
	next := 0
	for _, s := range steps {
		i := l.says(s, next)
		if i < 0 {
			continue
		}
		if next = i + 1; l.steps[i].state != s.state {
			l.steps[i].state, l.steps[i].at, l.at = s.state, at, at
		}
	}
}

// replace puts the steps of the new side of an edit in the place of those of its old side. It reports whether one of
// them has another state now.
func (l *planned) replace(was, now []step, at precis.Handle) (ticked bool) {
	from, old := len(l.steps), []plannedStep(nil)
	if i := l.run(was); i >= 0 && len(was) > 0 {
		from, old = i, slices.Clone(l.steps[i:i+len(was)])
	}
	var in []plannedStep
	for _, s := range now {
		one := plannedStep{s, at, at}
		if i := slices.IndexFunc(old, func(o plannedStep) bool { return o.text == s.text }); i >= 0 {
			one.since, one.under, one.twice = old[i].since, old[i].under, old[i].twice
			if old[i].state == s.state {
				one.at = old[i].at
			} else {
				ticked = true
			}
			old = slices.Delete(old, i, i+1)
		} else {
			one.twice = l.says(s, 0) >= 0
		}
		in = append(in, one)
	}
	if len(l.steps)-len(was)+len(in) <= mostSteps {
		to := min(from+len(was), len(l.steps))
		l.steps, l.at = slices.Replace(l.steps, from, to, in...), at
	}
	return ticked
}

// told returns the list as it is told: steps that share their words with others by their headings.
func (l *planned) told() *planned {
	out := *l
	out.steps = slices.Clone(l.steps)
	for i := range out.steps {
		if s := &out.steps[i]; s.twice && s.under != "" {
			s.text += " (" + s.under + ")"
		}
	}
	return &out
}
