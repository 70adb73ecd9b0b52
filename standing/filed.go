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
	*planned      // nil: what stands in the file is not known
	kept     bool // it is a plan of the agent
}

// wordFiles are the ends of the names of files that hold words.
var wordFiles = []string{".md", ".markdown", ".mdx", ".mdc", ".txt", ".text", ".rst", ".org", ".adoc"}

// lineNumber is what tools print before the lines of a file.
var lineNumber = lazyregexp.New(`(?m)^[ \t]*\d+(?:→|\t|[ \t]*\| ?|: )`)

func holdsWords(name string) bool { return slices.Contains(wordFiles, strings.ToLower(path.Ext(name))) }

// isPlanFile reports whether a file is called a plan: "PLAN.md", "todo.txt".
func isPlanFile(name string) bool {
	return slices.ContainsFunc(words(path.Base(name)), func(w string) bool { return slices.Contains(planWords, w) })
}

// file takes in what an answered call shows of checklists in files, or does to them.
func (p *plans) file(c *toolcall.Call) {
	var names []string
	add := func(name string) {
		if holdsWords(name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	add(c.Path)
	for _, e := range c.Effects {
		add(e.Path)
	}
	if len(c.Reads) == 1 {
		add(c.Reads[0])
	}
	if len(names) == 0 {
		return
	}
	if end := c.Outcome().End; end == toolcall.Rejected || end == toolcall.Failed {
		return
	}
	for _, e := range c.Effects {
		p.moved(e)
	}
	for _, name := range names {
		changes := slices.ContainsFunc(c.Effects, func(e toolcall.Effect) bool { return e.Path == name && e.MovedFrom == "" })
		removed := slices.ContainsFunc(c.Effects, func(e toolcall.Effect) bool { return e.Path == name && e.Removed })
		key := p.fileKey(name)
		l := p.files[key]
		switch {
		case removed:
			delete(p.files, key)
			delete(p.lists, key)
			continue
		case c.Kind == toolcall.Write:
			l = l.written(key, c, name)
		case changes: // by a command: what stands there now is seen when it is read
			l = filed{nil, l.kept || isPlanFile(name)}
		case len(names) == 1:
			l.shown(key, c)
		}
		delete(p.lists, key)
		if l.kept || l.planned != nil {
			p.files[key] = l
		}
		if l.kept && l.planned != nil && len(l.steps) > 0 {
			p.lists[key] = l.planned
		}
	}
}

// fileKey returns the path that a file is known by: one that ends like the given one is of the same file.
func (p *plans) fileKey(name string) string {
	best := ""
	for key := range p.files {
		if key == name {
			return key
		}
		if (strings.HasSuffix(key, "/"+name) || strings.HasSuffix(name, "/"+key)) && (len(key) > len(best) || len(key) == len(best) && key < best) {
			best = key
		}
	}
	if best != "" {
		return best
	}
	return name
}

// moved takes the list of a file along that is moved.
func (p *plans) moved(e toolcall.Effect) {
	if e.MovedFrom == "" || e.MovedFrom == e.Path {
		return
	}
	from := p.fileKey(e.MovedFrom)
	l, known := p.files[from]
	if !known {
		return
	}
	delete(p.files, from)
	delete(p.lists, from)
	if l.planned != nil {
		l.key = e.Path
	}
	p.files[e.Path] = l
}

// shown takes in what a call shows of the file: all of its list, or a part of it.
func (l *filed) shown(key string, c *toolcall.Call) {
	if !strings.ContainsAny(c.Text, boxSigns) {
		return
	}
	steps, _ := checklist(lineNumber.ReplaceAllString(c.Text, ""))
	if l.planned != nil && len(steps) < len(l.steps) {
		l.tick(steps, c.Use)
	} else if len(steps) > 1 {
		l.planned = newFiled(key, steps, c.Use, l.planned)
	}
}

// written returns the list after a call has written the file, or edited it.
func (l filed) written(key string, c *toolcall.Call, name string) filed {
	added, removed := c.Edited(name)
	if added == "" && removed == "" {
		steps, _ := checklist(c.Written())
		return filed{newFiled(key, steps, c.Use, l.planned), l.kept || isPlanFile(name)}
	}
	was, _ := checklist(removed)
	now, _ := checklist(added)
	if len(was)+len(now) == 0 {
		return l
	}
	if l.planned == nil {
		l.planned = newFiled(key, was, c.Use, nil)
	}
	l.kept = l.replace(was, now, c.Use) || l.kept || isPlanFile(name)
	return l
}

// newFiled returns the list of a file with these steps; those that were known keep the places where they were first
// written and newly changed.
func newFiled(name string, steps []step, at precis.Handle, old *planned) *planned {
	l := &planned{key: name, at: at, file: true}
	times := map[string]int{}
	for _, s := range steps {
		times[s.text]++
	}
	next := 0 // of the old steps, which come in the same order
	for _, s := range steps {
		s.twice = times[s.text] > 1
		one := plannedStep{step: s, since: at, at: at}
		if old != nil {
			if i := old.says(s, next); i >= 0 {
				next, one.state = i+1, old.steps[i].becomes(s.state)
				if was := old.steps[i]; was.twice == s.twice { // else it is called otherwise from here on
					one.since = was.since
					if was.state == one.state {
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
		next = i + 1
		if state := l.steps[i].becomes(s.state); state != l.steps[i].state {
			l.steps[i].state, l.steps[i].at, l.at = state, at, at
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
		one := plannedStep{step: s, since: at, at: at}
		if i := slices.IndexFunc(old, func(o plannedStep) bool { return o.text == s.text }); i >= 0 {
			one.since, one.under, one.twice = old[i].since, old[i].under, old[i].twice
			if one.state = old[i].becomes(s.state); one.state == old[i].state {
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

// becomes returns the state of a step that a file gives another one: what the user has given up stays so until it is begun.
func (s plannedStep) becomes(state State) State {
	if s.state == Dropped && state == Open {
		return Dropped
	}
	return state
}

// told returns the words of a step: with its heading where others have the same.
func (s plannedStep) told() string {
	if s.twice && s.under != "" {
		return s.text + " (" + s.under + ")"
	}
	return s.text
}
