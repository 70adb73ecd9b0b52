package workstate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/internal/lazyregexp"
	"github.com/precis-dev/precis/internal/toolcall"
	"github.com/precis-dev/precis/retain"
)

// plans are the lists of steps that were written down, by the subject of the tools that write them:
// TaskCreate and TaskUpdate write one list.
type plans struct {
	lists    map[string]*planned
	files    map[string]filed // checklists in files, by path
	proposal *planned         // the newest checklist in the agent's own words that is not a plan yet
}

func newPlans() plans {
	return plans{lists: map[string]*planned{}, files: map[string]filed{}}
}

// planned is one list.
type planned struct {
	key   string
	steps []plannedStep
	whole bool          // it was written as a whole, not step by step
	file  bool          // it is in a file
	at    precis.Handle // of the newest change
	prose string        // its text if it was written in words, without states
}

type plannedStep struct {
	step
	since, at precis.Handle
	given     []string // words of the result of its writing: an ID among them
}

// said is the key of a plan in the agent's own words.
const said = "said"

func (l *planned) open() bool {
	return slices.ContainsFunc(l.steps, func(s plannedStep) bool { return !s.state.Ended() })
}

// call applies an answered call that writes a plan, and reports whether it is about a plan.
func (p *plans) call(c *toolcall.Call, args []arg) bool {
	if delegates(c, args) {
		return false // a list that is handed on is the other agent's
	}
	p.file(c)
	lists, about := listsIn(c, args), plays(c.Name, "plan")
	if len(lists) == 0 && !about {
		return false
	}
	if end := c.Outcome().End; end == toolcall.Rejected ||
		end == toolcall.Failed && c.Kind == toolcall.Other {
		return true
	}
	if about && !slices.ContainsFunc(lists, func(w written) bool { return w.stated }) {
		if repeated := approved(c); len(repeated) > 0 {
			lists = repeated
		}
	}
	for _, w := range lists {
		key := subject(w.tool)
		if !plays(w.tool, "plan") { // a list in a call of another kind
			key = w.field
		}
		p.write(key, w, c.Use)
	}
	if len(lists) == 0 {
		p.one(c, args)
	}
	return true
}

// write stores a list as it was written down.
func (p *plans) write(key string, w written, at precis.Handle) {
	l := p.lists[key]
	known := l != nil && !slices.ContainsFunc(w.steps,
		func(s step) bool { return s.id == "" || l.find(s.id) < 0 })
	blank := slices.ContainsFunc(w.steps, func(s step) bool { return s.text == "" })
	switch {
	case len(w.steps) == 0 && l == nil:
		return
	case l != nil && (w.merge || known && (blank || len(w.steps) < len(l.steps)/2)):
		for _, s := range w.steps {
			l.set(s, at)
		}
		return
	case blank:
		return
	}
	p.adopt(newPlanned(key, w, at))
	p.proposal = nil
}

// newPlanned returns a list that was written whole.
func newPlanned(key string, w written, at precis.Handle) *planned {
	l := &planned{key: key, whole: true, prose: w.prose, at: at}
	for _, s := range w.steps {
		s.state = cmp.Or(s.state, Open)
		l.steps = append(l.steps, plannedStep{step: s, since: at, at: at})
	}
	return l
}

// adopt replaces all other lists that were written as a whole: the new list restates them.
func (p *plans) adopt(l *planned) {
	for k, other := range p.lists {
		if other.whole {
			delete(p.lists, k)
		}
	}
	p.lists[l.key] = l
}

// mostRules is how many rules of a plan in words are kept.
const mostRules = 8

func rulesOf(prose string) []string {
	rules := retain.Constraints(prose)
	return rules[:min(len(rules), mostRules)]
}

// find returns the step with an ID: first a step written with it, else the step with the ID nearest
// to the beginning of its result; -1 for none.
func (l *planned) find(id string) int {
	found, first := -1, 0
	for i := range l.steps {
		if id != "" && l.steps[i].id == id {
			return i
		}
		if at := slices.Index(l.steps[i].given, id); at >= 0 && (found < 0 || at < first) {
			found, first = i, at
		}
	}
	return found
}

// givenIn returns the words of a result that may be IDs: all but the step's own text.
func givenIn(result, text string) []string {
	const most = 400 // bytes
	result = strings.Replace(result[:min(len(result), most)], text, "", 1)
	words := strings.FieldsFunc(result, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '_' && r != '.'
	})
	for i := range words {
		words[i] = strings.Trim(words[i], ".")
	}
	return words
}

// set changes the step with that ID, or adds it.
func (l *planned) set(s step, at precis.Handle) {
	l.at = at
	i := l.find(s.id)
	if i < 0 {
		if s.text != "" && len(l.steps) < mostSteps {
			s.state = cmp.Or(s.state, Open)
			l.steps = append(l.steps, plannedStep{step: s, since: at, at: at})
		}
		return
	}
	old := &l.steps[i]
	old.text, old.state, old.at = cmp.Or(s.text, old.text), cmp.Or(s.state, old.state), at
}

// planHead matches the heading above a repeated, approved plan in a result.
var planHead = lazyregexp.New(`(?im)^#*\s*[\w ]{0,20}\bplan\b[^\n]{0,40}:\s*$`)

// approved returns the plan that the result of a call repeats; nil for none.
func approved(c *toolcall.Call) []written {
	at := planHead.FindStringIndex(c.Text)
	if at == nil {
		return nil
	}
	f := finder{tool: c.Name}
	f.text(arg{name: "plan", text: c.Text[at[1]:] + "\n"}, 0)
	return f.found
}

// one applies a call that writes, changes or lists single steps.
func (p *plans) one(c *toolcall.Call, args []arg) {
	key, at := subject(c.Name), c.Use
	l := p.lists[key]
	r := stepOf(args, l, 0)
	r.state = cmp.Or(r.state, stateByTool(c.Name))
	switch {
	case len(r.known) > 0:
		if r.explains || len(r.known) > 1 {
			r.text = ""
		}
		for _, r.id = range r.known {
			l.set(r.step, at)
		}
	case r.id == "" && r.text == "" && l != nil && (len(l.steps) == 1 && r.state != "" || r.state == Dropped):
		for i := range l.steps {
			if s := &l.steps[i]; !s.state.Ended() {
				s.state, s.at, l.at = r.state, at, at
			}
		}
	case r.text != "":
		p.add(key, r.step, c)
	case r.id == "":
		p.listed(key, c)
	}
}

// add adds a step that a call writes.
func (p *plans) add(key string, s step, c *toolcall.Call) {
	l, one := p.lists[key], plays(c.Name, "one")
	if l == nil || one {
		l = &planned{key: key}
		for k, other := range p.lists { // the steps of a plan in words are now written one by one
			if other.prose != "" && !one {
				delete(p.lists, k)
			}
		}
		p.lists[key] = l
	}
	var given []string
	if s.id == "" || l.find(s.id) >= 0 {
		s.id, given = fmt.Sprint(c.Use), givenIn(c.Text, s.text)
	}
	n := len(l.steps)
	if l.set(s, c.Use); len(l.steps) > n {
		l.steps[n].given = given
	}
}

// listed applies a result that lists all steps.
func (p *plans) listed(key string, c *toolcall.Call) {
	f := finder{tool: c.Name}
	result := arg{name: "plan", text: c.Text[:min(len(c.Text), mostBytes)]}
	f.text(result, 0)
	w := written{tool: c.Name, stated: true}
	if len(f.found) > 0 && f.found[0].stated {
		w = f.found[0]
	} else if raw := []byte(c.Text); jsonspan.Kind(raw) == '{' && jsonspan.Valid(raw) == nil { // {"goal": {…}}
		for _, m := range membersOf(raw) {
			if s := stepOf(membersOf(m.raw), nil, 0); s.text != "" && s.state != "" {
				w.steps = append(w.steps, s.step)
			}
		}
	}
	if len(w.steps) == 0 || slices.ContainsFunc(w.steps, func(s step) bool { return s.text == "" }) {
		return
	}
	l := p.lists[key]
	if l == nil || l.whole {
		p.write(key, w, c.Use)
		return
	}
	for _, s := range w.steps {
		if i := l.says(s, 0); s.id == "" && i >= 0 {
			s.id = l.steps[i].id
		}
		l.set(s, c.Use)
	}
}

// message reads a message of the agent: a checklist in its own words becomes its plan when the
// agent writes it again with other states.
func (p *plans) message(i int, m precis.Message) {
	for b, block := range m.Content {
		text, _ := block.(precis.Text)
		steps, _ := checklist(text.Text)
		if len(steps) < 2 {
			continue
		}
		w, at := written{steps: steps, stated: true}, precis.BlockHandle(i, b)
		if l := p.lists[said]; l != nil && l.shares(steps) || p.proposal != nil && p.proposal.ticked(steps) {
			p.write(said, w, at)
			continue
		}
		p.proposal = newPlanned(said, w, at)
	}
}

// shares reports whether half of the steps are in the list.
func (l *planned) shares(steps []step) bool {
	n := 0
	for _, s := range steps {
		if l.says(s, 0) >= 0 {
			n++
		}
	}
	return 2*n >= len(steps)
}

// ticked reports whether the steps belong to the list and one has another state.
func (l *planned) ticked(steps []step) bool {
	return l.shares(steps) && slices.ContainsFunc(steps, func(s step) bool {
		i := l.says(s, 0)
		return i >= 0 && l.steps[i].state != s.state
	})
}

// items returns the steps of the current lists: those with open steps, and the newest one, last. An
// agent that keeps its steps with a tool seldom ticks the boxes of a document that it wrote, so these
// count only without such a tool.
func (p *plans) items() []Item {
	lists := slices.Collect(maps.Values(p.lists))
	byTool := slices.ContainsFunc(lists, func(l *planned) bool { return l.key != said && l.prose == "" })
	for _, f := range p.files {
		if f.kept && f.planned != nil && !byTool {
			lists = append(lists, f.planned)
		}
	}
	lists = slices.DeleteFunc(lists, func(l *planned) bool { return len(l.steps) == 0 })
	slices.SortFunc(lists, func(a, b *planned) int {
		return cmp.Or(compare(a.at, b.at),
			strings.Compare(a.key, b.key))
	})
	out := []Item{}
	for n, l := range lists {
		if n < len(lists)-1 && !l.open() {
			continue
		}
		for i, s := range l.steps {
			it := Item{Kind: Step, Text: l.labelOf(i), State: s.state, Since: s.since, At: s.at}
			it.Key, it.List, it.InFile = fmt.Sprintf("%s %d", l.key, i), l.key, l.file
			if s.id != "" {
				it.Key = l.key + " #" + s.id
			}
			if i == 0 {
				it.Rules = rulesOf(l.prose)
			}
			out = append(out, it)
		}
	}
	return out
}

func compare(a, b precis.Handle) int {
	return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.Block, b.Block))
}
