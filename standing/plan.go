package standing

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"precis"
	"precis/internal/harness"
	"precis/internal/jsonspan"
	"precis/internal/lazyregexp"
	"precis/internal/toolcall"
	"precis/retain"
)

// plans are the lists of steps that were written down, by what the tools that write them
// are about: TaskCreate and TaskUpdate write one list.
type plans struct {
	lists    map[string]*planned
	files    map[string]filed // checklists in files, by path
	proposal *planned         // what the assistant has proposed last and nobody has answered yet
	lengths  map[int]bool     // that lists had, in steps
}

func newPlans() plans {
	return plans{lists: map[string]*planned{}, files: map[string]filed{}, lengths: map[int]bool{}}
}

// planned is one list.
type planned struct {
	key   string
	steps []plannedStep
	whole bool          // it was written whole, not step by step
	file  bool          // it stands in a file
	at    precis.Handle // of the newest change
	prose string        // its text when it was written in words, without states
}

type plannedStep struct {
	step
	since, at precis.Handle
	given     []string // words of the result that answered its writing: an ID among them
}

// said is the list of what was proposed in words and approved.
const said = "said"

// listens reports whether what a person says may change a plan.
func (p *plans) listens() bool {
	if p.proposal != nil {
		return true
	}
	for _, l := range p.lists {
		if l.open() {
			return true
		}
	}
	return false
}

func (l *planned) open() bool {
	return slices.ContainsFunc(l.steps, func(s plannedStep) bool { return !s.state.Ended() })
}

// call takes in what an answered call writes down, and reports whether it is about a plan.
func (p *plans) call(c *toolcall.Call, args []arg) bool {
	if delegates(c, args) {
		return false // a list that is handed on is the other agent's
	}
	p.file(c)
	if p.proposal != nil && harness.Approves(c.Name, c.Text) {
		p.adopt(p.proposal)
		p.proposal = nil
	}
	lists := listsIn(c, args)
	about := aboutPlans(c.Name)
	if len(lists) == 0 && !about {
		return false
	}
	if end := c.Outcome().End; end == toolcall.Rejected || end == toolcall.Failed && c.Kind == toolcall.Other {
		return true
	}
	if about && !slices.ContainsFunc(lists, func(w written) bool { return w.stated }) {
		if w, ok := approved(c); ok {
			lists = []written{w}
		}
	}
	for _, w := range lists {
		key := subject(w.tool)
		if !aboutPlans(w.tool) { // a list that goes along with calls of any kind
			key = folded(w.field)
		}
		p.write(key, w, c.Use)
	}
	if len(lists) == 0 {
		p.one(c, args)
	}
	for _, l := range p.lists {
		p.lengths[len(l.steps)] = true
	}
	return true
}

// write takes in a list as it was written down.
func (p *plans) write(key string, w written, at precis.Handle) {
	l := p.lists[key]
	known := l != nil && !slices.ContainsFunc(w.steps, func(s step) bool { return s.id == "" || l.find(s.id) < 0 })
	blank := slices.ContainsFunc(w.steps, func(s step) bool { return s.text == "" })
	switch {
	case len(w.steps) == 0 && l == nil:
		return
	case l != nil && (w.merge || known && (blank || len(w.steps) < len(l.steps)/2)):
		for _, s := range w.steps {
			l.set(s, at)
		}
		l.at = at
		return
	case blank:
		return
	}
	l = &planned{key: key, whole: true, prose: w.prose, at: at}
	for _, s := range w.steps {
		if s.state == "" {
			s.state = Open
		}
		l.steps = append(l.steps, plannedStep{step: s, since: at, at: at})
	}
	p.adopt(l)
	p.proposal = nil
}

// adopt puts a list that was written whole in the place of every other that was: it says
// anew what they said.
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

// find returns the step with an ID: one that was written with it, else the one with the ID nearest to the beginning of
// the result that gave it; -1 for none.
func (l *planned) find(id string) int {
	if id == "" {
		return -1
	}
	found, first := -1, 0
	for i := range l.steps {
		if l.steps[i].id == id {
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
	i := l.find(s.id)
	if i < 0 {
		if s.text == "" || len(l.steps) >= mostSteps {
			return
		}
		if s.state == "" {
			s.state = Open
		}
		l.steps = append(l.steps, plannedStep{step: s, since: at, at: at})
		return
	}
	old := &l.steps[i]
	if s.text != "" {
		old.text = s.text
	}
	if s.state != "" {
		old.state = s.state
	}
	old.at = at
}

// words returns the words of a tool's name in lower case: TaskCreate is task, create.
func words(tool string) []string {
	if at := strings.LastIndex(tool, "__"); at >= 0 { // mcp__server__tool
		tool = tool[at+2:]
	}
	var out []string
	from, runes := 0, []rune(tool)
	flush := func(to int) {
		if to > from {
			out = append(out, strings.ToLower(string(runes[from:to])))
		}
	}
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r):
			flush(i)
			from = i + 1
		case unicode.IsUpper(r) && i > from && unicode.IsLower(runes[i-1]):
			flush(i)
			from = i
		}
	}
	flush(len(runes))
	return out
}

// verbs say what a tool does with a list; what is left of its name says which.
var verbs = []string{"create", "add", "new", "update", "set", "edit", "get", "read", "write", "complete", "finish", "start", "delete", "remove", "cancel", "clear", "modify", "insert", "manage", "exit", "enter", "mode", "list", "view", "show", "tracker", "make", "mark", "done", "respond", "save", "replace", "append"}

// planWords are what tools are about that write plans.
var planWords = []string{"plan", "plans", "planning", "todo", "todos", "task", "tasks", "goal", "goals", "step", "steps", "checklist", "milestone", "milestones", "progress"}

// subject returns which list a tool writes: its name without verbs, in the singular.
func subject(tool string) string {
	var out []string
	for _, w := range words(tool) {
		if slices.Contains(verbs, w) {
			continue
		}
		for _, end := range []string{"write", "read"} { // todowrite
			if rest, ok := strings.CutSuffix(w, end); ok && rest != "" {
				w = rest
			}
		}
		out = append(out, strings.TrimSuffix(w, "s"))
	}
	return strings.Join(out, " ")
}

func aboutPlans(tool string) bool {
	return slices.ContainsFunc(words(tool), func(w string) bool {
		return slices.Contains(planWords, strings.TrimSuffix(strings.TrimSuffix(w, "write"), "read"))
	})
}

var (
	// planHead is the heading under which a result repeats the plan that was approved.
	planHead = lazyregexp.New(`(?im)^#*\s*[\w ]{0,20}\bplan\b[^\n]{0,40}:\s*$`)
	// listedTask is a line of a result that lists tasks: "#1 [pending] Fix it".
	listedTask = lazyregexp.New(`(?m)^\s*(?:[-*]\s+)?#?(\w[\w-]{0,40})[.:)]?\s+[\[(]([\w -]{1,20})[\])]\s+(\S.*?)(?:\s+\[blocked by[^\]]*\])?\s*$`)
)

// approved returns the plan that the result of a call repeats.
func approved(c *toolcall.Call) (written, bool) {
	at := planHead.FindStringIndex(c.Text)
	if at == nil {
		return written{}, false
	}
	prose := c.Text[at[1]:]
	if steps, _ := checklist(prose); len(steps) > 1 {
		return written{tool: c.Name, steps: steps, stated: true}, true
	}
	steps := numbered(prose)
	return written{tool: c.Name, steps: steps, prose: prose}, len(steps) > 0
}

// one takes in a call that writes, changes or lists single steps.
func (p *plans) one(c *toolcall.Call, args []arg) {
	key, at := subject(c.Name), c.Use
	l := p.lists[key]
	s, named, best := oneStep(args, l)
	if s.state == "" {
		s.state = stateOfVerb(words(c.Name))
	}
	one := slices.ContainsFunc(words(c.Name), func(w string) bool { return w == "goal" })
	switch {
	case len(named) > 0:
		if best < len(textFields) && textFields[best] == "description" || len(named) > 1 {
			s.text = "" // it explains the step, and is not how it is called
		}
		for _, s.id = range named {
			l.set(s, at)
		}
		l.at = at
	case s.id == "" && s.text == "" && l != nil && s.state != "" && (len(l.steps) == 1 || s.state == Dropped):
		for i := range l.steps {
			if !l.steps[i].state.Ended() {
				l.steps[i].state, l.steps[i].at = s.state, at
			}
		}
		l.at = at
	case s.text != "":
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
			s.id, given = fmt.Sprint(at), givenIn(c.Text, s.text)
		}
		if s.state == "" {
			s.state = Open
		}
		n := len(l.steps)
		if l.set(s, at); len(l.steps) > n {
			l.steps[n].given = given
		}
		l.at = at
	case s.id == "":
		p.listed(key, c)
	}
}

// oneStep reads the arguments of a call as a step. Named are the IDs among them of steps of the list, best is the place
// in textFields of the field of the text.
func oneStep(args []arg, l *planned) (s step, named []string, best int) {
	known := func(id string) bool { return l != nil && l.find(id) >= 0 }
	best = len(textFields)
	for _, a := range args {
		name := folded(a.name)
		value := a.text
		if a.raw != nil && a.text == "" {
			value = scalar(a.raw)
		}
		id := strings.TrimPrefix(strings.TrimSpace(value), "#")
		i := slices.Index(textFields, name)
		switch {
		case slices.Contains(stateFields, name):
			s.state = stateOf(value)
		case slices.Contains(doneFields, name) && a.raw != nil:
			s.state = stateIn(a.raw)
		case slices.Contains(idFields, name):
			if s.id = id; known(id) {
				named = append(named, id)
			}
		case i >= 0 && strings.ContainsAny(id, "0123456789") && known(id):
			named = append(named, id)
		case jsonspan.Kind(a.raw) == '[' && mayHoldIDs(name):
			for _, id := range jsonspan.Strings(a.raw) {
				if id = strings.TrimPrefix(id, "#"); known(id) {
					named = append(named, id)
				}
			}
		case i >= 0 && i < best && strings.TrimSpace(value) != "":
			s.text, best = line(value, mostText), i
		}
	}
	return s, named, best
}

// mayHoldIDs reports whether a list with that name in lower case may be one of IDs.
func mayHoldIDs(name string) bool {
	return slices.Contains(idFields, strings.TrimSuffix(name, "s")) || slices.Contains(listFields, name)
}

// stateOfVerb returns the state that a tool gives a step by its name; "" for none.
func stateOfVerb(words []string) State {
	for _, w := range words {
		switch w {
		case "complete", "finish", "done", "close":
			return Done
		case "delete", "remove", "cancel", "clear", "drop":
			return Dropped
		case "start":
			return Active
		}
	}
	return ""
}

// listed takes in a result that lists all steps.
func (p *plans) listed(key string, c *toolcall.Call) {
	w := written{tool: c.Name, stated: true}
	f := finder{tool: c.Name}
	text := c.Text[:min(len(c.Text), mostBytes)]
	f.text("", text, 0)
	if len(f.found) > 0 && f.found[0].stated {
		w = f.found[0]
	} else if raw := []byte(c.Text); jsonspan.Kind(raw) == '{' && jsonspan.Valid(raw) == nil { // {"goal": {…}}
		for m, err := range jsonspan.Object(raw) {
			if err != nil {
				break
			}
			if s, _ := stepOf(m.Raw, 0); jsonspan.Kind(m.Raw) == '{' && s.text != "" && s.state != "" {
				w.steps = append(w.steps, s)
			}
		}
	} else {
		for _, m := range listedTask.FindAllStringSubmatchIndex(text, mostSteps) {
			if state := stateOf(text[m[4]:m[5]]); state != "" {
				w.steps = append(w.steps, step{id: text[m[2]:m[3]], text: line(text[m[6]:m[7]], mostText), state: state})
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
		l.set(s, c.Use)
	}
	l.at = c.Use
}

// proposed takes in what the assistant says: a checklist is a proposal until a person
// answers, or the newest state of the one that was approved.
func (p *plans) proposed(i int, m precis.Message) {
	for b, block := range m.Content {
		var text string
		inWords := false
		switch block := block.(type) {
		case precis.Text:
			text = block.Text
			if strings.Contains(text, "plan") && strings.Contains(text, "</") {
				for _, x := range toolcall.ParseXML(text) {
					inWords = inWords || harness.Turns(x.Name) && aboutPlans(x.Name)
				}
			}
		case precis.ToolUse:
			if harness.Asks(block.Name) || harness.Turns(block.Name) {
				for _, s := range jsonspan.Strings(block.Input) {
					text += s + "\n"
				}
				inWords = aboutPlans(block.Name)
			}
		}
		steps, _ := checklist(text)
		stated := len(steps) > 1
		if !stated && inWords {
			steps = numbered(text)
		}
		if len(steps) < 2 {
			continue
		}
		at := precis.BlockHandle(i, b)
		w := written{steps: steps, stated: stated}
		if !stated {
			w.prose = text
		}
		if l := p.lists[said]; stated && l != nil && l.shares(steps) {
			p.write(said, w, at)
			continue
		}
		next := newPlans()
		next.write(said, w, at)
		p.proposal = next.lists[said]
	}
}

// shares reports whether half of the steps are in the list.
func (l *planned) shares(steps []step) bool {
	n := 0
	for _, s := range steps {
		if slices.ContainsFunc(l.steps, func(o plannedStep) bool { return o.text == s.text }) {
			n++
		}
	}
	return 2*n >= len(steps)
}

// heard takes in what a person says.
func (p *plans) heard(at precis.Handle, words string) {
	if p.proposal != nil {
		if consents(words) {
			p.adopt(p.proposal)
			p.proposal = nil
			return
		}
		p.proposal = nil
	}
	said := clauses(words)
	if givesUpIn(said) {
		p.drop(at, func(plannedStep) bool { return true })
		return
	}
	p.dropPlaces(at, placesGivenUpIn(said))
	for _, what := range givenUpIn(said) {
		p.drop(at, func(s plannedStep) bool { return names(what, s.text) })
	}
}

func (p *plans) drop(at precis.Handle, is func(plannedStep) bool) {
	for _, l := range p.lists {
		for i := range l.steps {
			if s := &l.steps[i]; !s.state.Ended() && is(*s) {
				s.state, s.at, l.at = Dropped, at, at
			}
		}
	}
}

// names reports whether words name a step: they hold half of its longer words, or the step
// holds all of theirs.
func names(what, step string) bool {
	a, b := longWords(what), longWords(step)
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	n := 0
	for w := range b {
		for v := range a {
			if sameStem(v, w) {
				n++
				break
			}
		}
	}
	return n >= 2 && 2*n >= len(b) || n == len(a) && n > 0
}

// sameStem reports whether two words are forms of one: "migrate" and "migration".
func sameStem(a, b string) bool {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return a == b || n >= 4 && n+2 >= min(len(a), len(b))
}

func longWords(s string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		switch w {
		case "the", "a", "an", "step", "steps", "part", "for", "to", "of", "and", "any", "with", "that", "this", "it", "thing", "now", "please", "anymore", "in", "on", "all",
			"den", "der", "die", "das", "teil", "la", "le", "les", "partie", "el", "los", "las", "parte", "de", "del", "du", "wir", "weg":
			continue
		}
		out[w] = true
	}
	return out
}

// items returns the steps of the lists that stand: those with something to do, and the
// newest one, last.
func (p *plans) items() []Item {
	var lists []*planned
	for _, l := range p.lists {
		if len(l.steps) > 0 {
			lists = append(lists, l)
		}
	}
	slices.SortFunc(lists, func(a, b *planned) int {
		if n := compare(a.at, b.at); n != 0 {
			return n
		}
		return strings.Compare(a.key, b.key)
	})
	out := []Item{}
	for n, l := range lists {
		if n < len(lists)-1 && !l.open() {
			continue
		}
		for i, s := range l.steps {
			it := Item{Kind: Step, Key: fmt.Sprintf("%s %d", l.key, i), List: l.key, InFile: l.file, Text: s.told(), State: s.state, Since: s.since, At: s.at}
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
	if a.From != b.From {
		return a.From - b.From
	}
	return a.Block - b.Block
}
