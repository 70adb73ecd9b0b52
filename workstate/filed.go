package workstate

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/toolcall"
	"github.com/precis-dev/precis/retain"
)

// filed is the checklist of a prose file. It is a plan of the agent once the agent ticks boxes in
// it, or writes it into a file that is named like a plan.
type filed struct {
	*planned      // nil: the content of the file is unknown
	kept     bool // it is a plan of the agent
}

// wordFiles are the suffixes of prose files.
var wordFiles = []string{".md", ".markdown", ".mdx", ".mdc", ".txt", ".text", ".rst", ".org", ".adoc"}

func holdsWords(name string) bool { return slices.Contains(wordFiles, strings.ToLower(path.Ext(name))) }

// isPlanFile reports whether a file is named like a plan: "PLAN.md", "todo.txt".
func isPlanFile(name string) bool {
	return plays(path.Base(name), "plan")
}

// file applies an answered call that shows or changes checklists in files.
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
		changes, removed := false, false
		for _, e := range c.Effects {
			changes = changes || e.Path == name && e.MovedFrom == ""
			removed = removed || e.Path == name && e.Removed
		}
		key := p.fileKey(name)
		l := p.files[key]
		switch {
		case removed:
			delete(p.files, key)
			continue
		case c.Kind == toolcall.Write:
			l = l.written(key, c, name)
		case changes: // by a command: the next read shows the new content
			l = filed{nil, l.kept || isPlanFile(name)}
		case len(names) == 1:
			l.shown(key, c)
		}
		if l.kept || l.planned != nil {
			p.files[key] = l
		}
	}
}

// fileKey returns the path that a file is known by: the longest known path that is a suffix of the
// given one, or that it is a suffix of.
func (p *plans) fileKey(name string) string {
	if _, known := p.files[name]; known {
		return name
	}
	best := ""
	for key := range p.files {
		same := strings.HasSuffix(key, "/"+name) || strings.HasSuffix(name, "/"+key)
		if same && (len(key) > len(best) || len(key) == len(best) && key < best) {
			best = key
		}
	}
	return cmp.Or(best, name)
}

// moved moves the list of a file along with the file.
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
	if l.planned != nil {
		l.key = e.Path
	}
	p.files[e.Path] = l
}

// unnumbered returns a text without the line numbers that tools print before the lines of a file.
func unnumbered(text string) string {
	var out strings.Builder
	for l := range strings.Lines(text) {
		out.WriteString(l[retain.NumberColumn(l):])
	}
	return out.String()
}

// shown applies a call that shows the file: all of its list, or a part of it.
func (l *filed) shown(key string, c *toolcall.Call) {
	if !strings.ContainsAny(c.Text, boxSigns) {
		return
	}
	steps, _ := checklist(unnumbered(c.Text))
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

// newFiled returns the list of a file with these steps.
func newFiled(name string, steps []step, at precis.Handle, old *planned) *planned {
	l := &planned{key: name, at: at, file: true}
	if old == nil {
		old = &planned{}
	}
	l.steps, _ = old.rewritten(steps, at)
	return l
}

// rewritten returns rewritten steps: steps that were in the list before keep the handles of their
// first writing and last change. It reports whether one of them has another state now.
func (l *planned) rewritten(steps []step, at precis.Handle) (out []plannedStep, ticked bool) {
	next := 0 // index in the list; steps mostly keep their order
	for _, s := range steps {
		one := plannedStep{step: s, since: at, at: at}
		i := l.says(s, next)
		if i < 0 {
			i = l.says(s, 0)
		}
		if i >= 0 {
			was := l.steps[i]
			next, one.since, one.under = i+1, was.since, cmp.Or(s.under, was.under)
			if ticked = ticked || was.state != s.state; was.state == s.state {
				one.at = was.at
			}
		}
		out = append(out, one)
	}
	return out, ticked
}

// says returns the first step from index on with the same words, and the same heading if both are
// known; -1: none.
func (l *planned) says(s step, from int) int {
	for i := from; i < len(l.steps); i++ {
		if o := l.steps[i]; o.text == s.text && (o.under == s.under || o.under == "" || s.under == "") {
			return i
		}
	}
	return -1
}

// run returns where steps occur in the list in a row, preferably with the same states; -1: nowhere.
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

// tick copies the states of steps that are in the list, in its order. A part of a file may begin below
// the heading that tells two steps with the same words apart.
func (l *planned) tick(steps []step, at precis.Handle) {
	next := 0
	for _, s := range steps {
		i := l.says(s, next)
		if i < 0 || next == 0 && l.says(s, i+1) >= 0 {
			continue
		}
		next = i + 1
		if s.state != l.steps[i].state {
			l.steps[i].state, l.steps[i].at, l.at = s.state, at, at
		}
	}
}

// replace replaces the steps of an edit's old side by the steps of its new side. It reports whether
// one of them has another state now.
func (l *planned) replace(was, now []step, at precis.Handle) (ticked bool) {
	from, to := len(l.steps), len(l.steps)
	if i := l.run(was); i >= 0 && len(was) > 0 {
		from, to = i, i+len(was)
	}
	old := planned{steps: l.steps[from:to]}
	in, ticked := old.rewritten(now, at)
	if len(l.steps)-(to-from)+len(in) <= mostSteps {
		l.steps, l.at = slices.Replace(l.steps, from, to, in...), at
	}
	return ticked
}

// labelOf returns the words of a step, with its heading if another step has the same words.
func (l *planned) labelOf(i int) string {
	s := l.steps[i]
	same := func(o plannedStep) bool { return o.text == s.text && o.under != s.under }
	if l.file && s.under != "" && slices.ContainsFunc(l.steps, same) {
		return s.text + " (" + s.under + ")"
	}
	return s.text
}
