package workstate

import (
	"encoding/json"
	"strings"

	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/internal/lazyregexp"
	"github.com/precis-dev/precis/internal/preview"
	"github.com/precis-dev/precis/internal/toolcall"
)

// step is a step of a plan as it was written down.
type step struct {
	id    string // "" if missing
	text  string // "" in a change of the step with that ID
	state State  // "" if missing
	under string // the heading above it; "" for none
}

// written is a list of steps as it was written down.
type written struct {
	tool   string // that wrote it
	field  string // the folded name of the argument that holds it
	steps  []step
	stated bool   // the steps have states
	merge  bool   // it changes steps of an earlier list, and leaves the others unchanged
	prose  string // the text of a plan without states
}

// Limits of reading.
const (
	mostDepth = 8       // of lists within a call
	mostLists = 10      // of one call
	mostBytes = 1 << 18 // of one argument
	mostSteps = 500     // of one list
	mostText  = 160     // bytes of a step
	mostUnder = 60      // bytes of the heading above steps
)

// arg is an argument of a call, or a member of an object.
type arg struct {
	name string          // folded
	raw  json.RawMessage // nil when the call was written as text
	text string          // of a string
}

func argOf(name string, raw []byte) arg {
	text, _ := jsonspan.String(raw)
	return arg{folded(name), raw, text}
}

// scalar returns a string or a number as text.
func (a arg) scalar() string {
	text := a.text
	if jsonspan.Kind(a.raw) == '0' {
		text = string(a.raw)
	}
	return strings.TrimPrefix(strings.TrimSpace(text), "#")
}

// isText reports whether the value is a string.
func (a arg) isText() bool { return a.raw == nil || jsonspan.Kind(a.raw) == '"' }

// state parses the state of a step; "" if the value is not a state.
func (a arg) state() State {
	switch {
	case jsonspan.Kind(a.raw) == 't':
		return Done
	case jsonspan.Kind(a.raw) == 'f':
		return Open
	case a.isText():
		return stateOf(a.text)
	}
	return ""
}

// edits reports whether an argument is a list of edits of a file.
func edits(raw []byte) bool {
	if jsonspan.Kind(raw) != '[' {
		return false
	}
	for name := range jsonspan.Strings(raw) {
		if toolcall.IsReplacedArgument(name) {
			return true
		}
	}
	return false
}

// arguments returns the arguments of a call that may contain plans or jobs: all but texts for
// files. For checklists in files see [plans.file].
func arguments(c *toolcall.Call) (out []arg) {
	for a := range c.Arguments() {
		filed := toolcall.IsContentArgument(a.Name) || toolcall.IsReplacedArgument(a.Name) || edits(a.Raw)
		switch {
		case len(a.Raw)+len(a.Text) > mostBytes || c.Kind == toolcall.Write && filed:
		case a.Raw == nil:
			out = append(out, arg{folded(a.Name), nil, a.Text})
		default:
			out = append(out, argOf(a.Name, a.Raw))
		}
	}
	return out
}

// finder finds lists of steps in values and texts.
type finder struct {
	tool  string
	found []written
	merge bool
}

// listsIn finds the lists of steps in the arguments of a call.
func listsIn(c *toolcall.Call, args []arg) []written {
	f := finder{tool: c.Name}
	for _, a := range args {
		f.value(a, 0)
	}
	for i := range f.found {
		f.found[i].merge = f.merge
	}
	return f.found
}

func (f *finder) value(a arg, depth int) {
	if depth > mostDepth || len(f.found) > mostLists {
		return
	}
	switch kind := jsonspan.Kind(a.raw); {
	case a.isText():
		f.text(a, depth)
	case kind == 't':
		f.merge = f.merge || a.name == "merge"
	case kind == '{':
		f.object(a.raw, depth)
	case kind == '[':
		if w, ok := listOf(a, depth); ok {
			w.tool = f.tool
			f.found = append(f.found, w)
			return
		}
		for e, err := range jsonspan.Array(a.raw) {
			if k := jsonspan.Kind(e.Raw); err == nil && (k == '{' || k == '[') {
				f.value(argOf("", e.Raw), depth+1)
			}
		}
	}
}

// object reads an object. One with a name and arguments is a nested call.
func (f *finder) object(raw []byte, depth int) {
	members := membersOf(raw)
	tool, call := f.tool, false
	for _, m := range members {
		switch m.name {
		case "arguments", "input", "args", "parameters":
			call = true
		case "name", "tool", "toolname":
			tool = m.text
		}
	}
	outer := f.tool
	if call {
		f.tool = tool
	}
	for _, m := range members {
		f.value(m, depth+1)
	}
	f.tool = outer
}

func membersOf(raw []byte) (out []arg) {
	for m, err := range jsonspan.Object(raw) {
		if err != nil {
			break
		}
		out = append(out, argOf(m.Name, m.Raw))
	}
	return out
}

// text reads a string: JSON, a checklist, or a plan in words.
func (f *finder) text(a arg, depth int) {
	s := strings.TrimSpace(a.text)
	if len(s) < 3 {
		return
	}
	if k := s[0]; (k == '{' || k == '[') && jsonspan.Valid([]byte(s)) == nil {
		f.value(arg{name: a.name, raw: json.RawMessage(s)}, depth+1)
		return
	}
	w := written{tool: f.tool, field: a.name, stated: true}
	var whole bool
	w.steps, whole = checklist(s)
	if !whole && !means(a.name, "plan") {
		w.steps = nil
	}
	if len(w.steps) == 0 && means(a.name, "bare") && strings.Contains(s, "\n") {
		w.steps, w.stated, w.prose = numbered(s), false, s
	}
	if len(w.steps) > 0 {
		f.found = append(f.found, w)
	}
}

// listOf parses a list of steps: each has a text, and either a state or a list name that marks a
// plan.
func listOf(a arg, depth int) (w written, ok bool) {
	w = written{field: a.name}
	states := 0
	for e, err := range jsonspan.Array(a.raw) {
		steps := entryOf(argOf(a.name, e.Raw), depth)
		if err != nil || len(steps) == 0 || len(w.steps) >= mostSteps {
			return written{}, false
		}
		for _, s := range steps {
			if s.state != "" {
				states++
			}
		}
		w.steps = append(w.steps, steps...)
	}
	plan := means(a.name, "plan")
	w.stated = states > 0 || len(w.steps) == 0
	if len(w.steps) == 0 {
		return w, plan
	}
	return w, states == len(w.steps) || states > 0 && plan || means(a.name, "bare")
}

// entryOf parses an entry of a list, with the steps below it; nil if it is not a step.
func entryOf(e arg, depth int) []step {
	switch jsonspan.Kind(e.raw) {
	case '"':
		boxed, _ := checklist(e.text)
		if len(boxed) == 0 && means(e.name, "bare") && strings.TrimSpace(e.text) != "" {
			return []step{{text: preview.Quote(e.text, mostText)}}
		}
		return boxed
	case '{':
		r := stepOf(membersOf(e.raw), nil, depth)
		if r.text == "" && (r.id == "" || r.state == "") {
			return nil
		}
		return append([]step{r.step}, r.below...)
	}
	return nil
}

// stepRead is a step from the members of an object or the arguments of a call.
type stepRead struct {
	step
	below    []step
	known    []string // IDs of steps that are known
	explains bool     // the text is an explanation, not a title
}

// stepOf parses a step. A known value is an ID if its field is one for IDs, or it has digits.
func stepOf(members []arg, list *planned, depth int) (r stepRead) {
	best := 0
	known := func(id string) bool { return list != nil && id != "" && list.find(id) >= 0 }
	for _, m := range members {
		value, rank := m.scalar(), textRank(m.name)
		switch {
		case means(m.name, "state"):
			r.state = m.state()
		case means(m.name, "done") && m.raw != nil:
			if r.state == "" {
				r.state = m.state()
			}
		case means(m.name, "id"):
			if r.id = value; known(value) {
				r.known = append(r.known, value)
			}
		case jsonspan.Kind(m.raw) == '[':
			r.list(m, known, depth)
		case rank > 0 && strings.ContainsAny(value, "0123456789") && known(value):
			r.known = append(r.known, value)
		case rank > 0 && (best == 0 || rank < best) && m.isText() && strings.TrimSpace(m.text) != "":
			r.text, best, r.explains = preview.Quote(m.text, mostText), rank, means(m.name, "explains")
		}
	}
	return r
}

// list reads a list of IDs, or of steps below the step.
func (r *stepRead) list(m arg, known func(id string) bool, depth int) {
	below := means(m.name, "below")
	if below || means(strings.TrimSuffix(m.name, "s"), "id") {
		for _, id := range jsonspan.Strings(m.raw) {
			if id = strings.TrimPrefix(id, "#"); known(id) {
				r.known = append(r.known, id)
			}
		}
	}
	if below && depth < mostDepth {
		if w, ok := listOf(m, depth+1); ok && w.stated {
			r.below = w.steps
		}
	}
}

// boxSigns are the signs of boxes: each line of a checklist contains one.
const boxSigns = "[☐☑✅✔"

// boxes match checklist lines: "- [ ] to do", "1. [x] done", "☐ to do", "#3 [pending] to do
// [blocked by #1]".
var boxes = lazyregexp.New(`^\s*(?:[-*+•]\s+|\d+[.)]\s+)?(?:#(\w[\w-]{0,40})[.:)]?\s+)?` +
	`(?:\[\s*([xX ✓✔✅>~/*…→-]?|[\w -]{2,20})\s*\]|([☐☑✅✔]))\s+(\S.*?)(?:\s+\[blocked by[^\]]*\])?\s*$`)

// boxOf reads a line of a checklist.
func boxOf(l string) (s step, ok bool) {
	bare := strings.TrimLeft(l, " \t-*+•.)0123456789")
	if !strings.HasPrefix(bare, "#") && strings.IndexAny(bare, boxSigns) != 0 {
		// far cheaper than the pattern
		return step{}, false
	}
	m := boxes.FindStringSubmatch(l)
	if m == nil {
		return step{}, false
	}
	s = step{id: m[1], text: preview.Quote(m[4], mostText), state: stateOf(m[2] + m[3])}
	return s, s.state != ""
}

// checklist parses the steps of a text; whole reports that the text contains little else.
func checklist(text string) (steps []step, whole bool) {
	if !strings.ContainsAny(text, boxSigns) {
		return nil, false
	}
	other, under, fenced := 0, "", false
	for l := range strings.Lines(text) {
		l = strings.TrimRight(l, "\r\n")
		fenced = fenced != strings.HasPrefix(strings.TrimSpace(l), fence)
		if head := strings.TrimLeft(l, "#"); len(head) < len(l) && strings.HasPrefix(head, " ") && !fenced {
			under = preview.Quote(strings.TrimSpace(head), mostUnder)
		}
		s, ok := boxOf(l)
		switch bare := strings.TrimSpace(l); {
		case ok && len(steps) < mostSteps:
			s.under = under
			steps = append(steps, s)
		case !ok && bare != "" && bare[0] != '#':
			other++
		}
	}
	return steps, len(steps) > 0 && other <= len(steps)/4
}

// fence begins the line before and after code in Markdown.
const fence = "```"

// points matches list entries: the indentation, the number, the text.
var points = lazyregexp.New(`^(\s*)(?:#{1,6}\s*)?(?:\*\*)?(?:(?:(?:Step|Phase|Task|Schritt|Étape|Paso|步骤|ステップ)\s*)?` +
	`(\d{1,2})(?:[.):]|\s*[-–—:]\s)\s*|[-*+•]\s+)(\S.*)$`)

// mostProse is the most steps read from a plan in words.
const mostProse = 30

// numbered returns the steps of a plan in words: its numbered entries, or else its list entries.
func numbered(text string) []step {
	var counted, listed []step
	fenced := false
	for l := range strings.Lines(text) {
		l = strings.TrimRight(l, " \r\n")
		fenced = fenced != strings.HasPrefix(strings.TrimSpace(l), fence)
		m := points.FindStringSubmatch(l)
		asked := strings.TrimRight(l, "*_ ") // a question is not a step
		if m == nil || fenced || strings.HasSuffix(asked, "?") || strings.HasSuffix(asked, "？") {
			continue
		}
		switch s := (step{text: preview.Quote(strings.TrimRight(m[3], "*: "), mostText)}); {
		case m[2] != "" && len(m[1]) <= 3:
			counted = append(counted, s)
		case m[2] == "" && m[1] == "":
			listed = append(listed, s)
		}
	}
	if len(counted) > 0 {
		return counted[:min(len(counted), mostProse)]
	}
	return listed[:min(len(listed), mostProse)]
}
