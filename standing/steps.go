package standing

import (
	"encoding/json"
	"slices"
	"strings"

	"precis/internal/jsonspan"
	"precis/internal/lazyregexp"
	"precis/internal/toolcall"
)

// step is a step of a plan as it was written down.
type step struct {
	id    string // "" when it was given none
	text  string // "" in a change of the step with that ID
	state State  // "" when it was given none
	under string // the heading above it; "" for none
	twice bool   // of a list in a file: another one had the same words when it was written
}

// written is a list of steps as it was written down.
type written struct {
	tool   string // that wrote it
	field  string // of the argument that holds it
	steps  []step
	stated bool   // the steps have states
	merge  bool   // it changes steps of an earlier list, and says nothing of the others
	prose  string // the text of a plan without states
}

// Bounds of what is read.
const (
	mostDepth = 8       // of lists within a call
	mostBytes = 1 << 18 // of one argument
	mostSteps = 500     // of one list
	mostText  = 160     // bytes of a step
	mostUnder = 60      // bytes of the heading above steps
)

// arg is an argument of a call.
type arg struct {
	name string
	raw  json.RawMessage // nil when the call was written as text
	text string          // of a string
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

// arguments returns the arguments of a call that may say what is planned or begun: all but
// what is written into files. Checklists in files are read by [plans.file].
func arguments(c *toolcall.Call) (out []arg) {
	for a := range c.Arguments() {
		if len(a.Raw)+len(a.Text) > mostBytes || c.Kind == toolcall.Write && (toolcall.IsContentArgument(a.Name) || toolcall.IsReplacedArgument(a.Name) || edits(a.Raw)) {
			continue
		}
		if a.Raw == nil {
			out = append(out, arg{a.Name, nil, a.Text})
			continue
		}
		text, _ := jsonspan.String(a.Raw)
		out = append(out, arg{a.Name, a.Raw, text})
	}
	return out
}

// listsIn finds the lists of steps in the arguments of a call.
func listsIn(c *toolcall.Call, args []arg) []written {
	f := finder{tool: c.Name}
	for _, a := range args {
		f.arg(a, 0)
	}
	if f.merge {
		for i := range f.found {
			f.found[i].merge = true
		}
	}
	return f.found
}

type finder struct {
	tool  string
	found []written
	merge bool
}

func (f *finder) arg(a arg, depth int) {
	if a.raw == nil {
		f.text(a.name, a.text, depth)
		return
	}
	f.value(a.name, a.raw, depth)
}

func (f *finder) value(name string, raw []byte, depth int) {
	if depth > mostDepth || len(f.found) > 10 {
		return
	}
	switch jsonspan.Kind(raw) {
	case 't':
		f.merge = f.merge || strings.EqualFold(name, "merge")
	case '"':
		if s, ok := jsonspan.String(raw); ok {
			f.text(name, s, depth)
		}
	case '[':
		if steps, stated, ok := listOf(name, raw, depth); ok {
			f.found = append(f.found, written{tool: f.tool, field: name, steps: steps, stated: stated})
			return
		}
		for e, err := range jsonspan.Array(raw) {
			if err != nil {
				return
			}
			if k := jsonspan.Kind(e.Raw); k == '{' || k == '[' {
				f.value("", e.Raw, depth+1)
			}
		}
	case '{':
		f.object(raw, depth)
	}
}

// object looks into an object. One with a name and arguments is a call within a call.
func (f *finder) object(raw []byte, depth int) {
	members, err := jsonspan.Fields(raw)
	if err != nil {
		return
	}
	for _, inside := range []string{"arguments", "input", "args", "parameters"} {
		for _, name := range []string{"name", "tool", "tool_name"} {
			if tool, ok := jsonspan.String(members[name]); ok && members[inside] != nil {
				outer := f.tool
				f.tool = tool
				f.value(inside, members[inside], depth+1)
				f.tool = outer
				return
			}
		}
	}
	for m, err := range jsonspan.Object(raw) {
		if err != nil {
			return
		}
		f.value(m.Name, m.Raw, depth+1)
	}
}

// text looks into a string: JSON, a checklist, or a plan in words.
func (f *finder) text(name, s string, depth int) {
	s = strings.TrimSpace(s)
	if len(s) < 3 {
		return
	}
	if k := s[0]; (k == '{' || k == '[') && jsonspan.Valid([]byte(s)) == nil {
		f.value(name, []byte(s), depth+1)
		return
	}
	steps, whole := checklist(s)
	switch plan := isPlanField(name); {
	case len(steps) > 0 && (whole || plan):
		f.found = append(f.found, written{tool: f.tool, field: name, steps: steps, stated: true})
	case slices.Contains(stateless, folded(name)) && strings.Contains(s, "\n"):
		if steps := numbered(s); len(steps) > 0 {
			f.found = append(f.found, written{tool: f.tool, field: name, steps: steps, prose: s})
		}
	}
}

// Names of members, in lower case and without "_" and "-".
var (
	textFields  = []string{"content", "step", "text", "title", "subject", "task", "todo", "description", "objective", "goal", "label", "name", "item"}
	stateFields = []string{"status", "state"}
	doneFields  = []string{"done", "completed", "complete", "checked", "finished", "isdone", "iscompleted", "iscomplete"}
	idFields    = []string{"id", "taskid", "todoid", "stepid", "itemid", "goalid", "planid", "number", "index", "stepnumber", "stepindex", "taskindex"}
	listFields  = []string{"subtasks", "substeps", "children", "steps", "tasks", "items", "todos"}
	planFields  = []string{"plan", "todos", "todo", "todolist", "tasklist", "tasks", "steps", "items", "checklist", "taskprogress", "progress", "plansteps", "planitems", "newtodos", "entries"}
	// stateless are the fields whose lists are plans without a state, too.
	stateless = []string{"plan", "todos", "todo", "todolist", "tasklist", "checklist", "plansteps", "planitems"}
)

// folded returns a name in lower case, without "_" and "-".
func folded(name string) string {
	if !strings.ContainsAny(name, "_-") {
		return strings.ToLower(name)
	}
	return strings.ToLower(strings.ReplaceAll(strings.ReplaceAll(name, "_", ""), "-", ""))
}

func isPlanField(name string) bool { return slices.Contains(planFields, folded(name)) }

// listOf reads a list of steps: each has a text, and a state or a name of the list that is
// a plan's.
func listOf(name string, raw []byte, depth int) (steps []step, stated, ok bool) {
	states := 0
	plan := isPlanField(name)
	for e, err := range jsonspan.Array(raw) {
		if err != nil || len(steps) == mostSteps {
			return nil, false, false
		}
		switch jsonspan.Kind(e.Raw) {
		case '"':
			s, _ := jsonspan.String(e.Raw)
			boxed, _ := checklist(s)
			switch {
			case len(boxed) == 1:
				steps, states = append(steps, boxed[0]), states+1
			case slices.Contains(stateless, folded(name)) && strings.TrimSpace(s) != "":
				steps = append(steps, step{text: line(s, mostText)})
			default:
				return nil, false, false
			}
		case '{':
			s, below := stepOf(e.Raw, depth)
			if s.text == "" && (s.id == "" || s.state == "") {
				return nil, false, false
			}
			if s.state != "" {
				states++
			}
			steps = append(steps, s)
			steps, states = append(steps, below...), states+len(below)
		default:
			return nil, false, false
		}
	}
	switch {
	case len(steps) == 0:
		return nil, true, plan
	case states == len(steps), states > 0 && plan, slices.Contains(stateless, folded(name)):
		return steps, states > 0, true
	}
	return nil, false, false
}

// stepOf reads one step, and the steps below it.
func stepOf(raw []byte, depth int) (s step, below []step) {
	best := len(textFields)
	for m, err := range jsonspan.Object(raw) {
		if err != nil {
			break
		}
		name := folded(m.Name)
		k := jsonspan.Kind(m.Raw)
		if at := slices.Index(textFields, name); at >= 0 && at < best && k == '"' {
			if text, _ := jsonspan.String(m.Raw); strings.TrimSpace(text) != "" {
				s.text, best = line(text, mostText), at
			}
		}
		switch {
		case slices.Contains(stateFields, name):
			s.state = stateIn(m.Raw)
		case slices.Contains(doneFields, name) && (k == 't' || k == 'f') && s.state == "":
			s.state = Open
			if k == 't' {
				s.state = Done
			}
		case slices.Contains(idFields, name):
			s.id = scalar(m.Raw)
		case slices.Contains(listFields, name) && k == '[' && depth < mostDepth:
			if steps, stated, ok := listOf(m.Name, m.Raw, depth+1); ok && stated {
				below = steps
			}
		}
	}
	return s, below
}

// scalar returns a string or a number as text.
func scalar(raw []byte) string {
	switch jsonspan.Kind(raw) {
	case '"':
		s, _ := jsonspan.String(raw)
		return strings.TrimPrefix(strings.TrimSpace(s), "#")
	case '0':
		return strings.TrimSpace(string(raw))
	}
	return ""
}

// stateIn reads a state; "" when it is none of a step.
func stateIn(raw []byte) State {
	switch jsonspan.Kind(raw) {
	case 't':
		return Done
	case 'f':
		return Open
	case '"':
		s, _ := jsonspan.String(raw)
		return stateOf(s)
	}
	return ""
}

// stateOf reads the state of a step, a word or the sign in a box; "" when it is none.
func stateOf(word string) State {
	switch strings.ReplaceAll(strings.ReplaceAll(folded(word), " ", ""), "'", "") {
	case "completed", "complete", "done", "finished", "x", "✓", "✔", "✅", "☑", "closed", "resolved", "checked", "success", "passed":
		return Done
	case "inprogress", "active", "doing", "started", "working", "current", "running", "ongoing", "underway", ">", "~", "/", "*", "→", "…", "🔄":
		return Active
	case "cancelled", "canceled", "dropped", "skipped", "abandoned", "deleted", "removed", "wontdo", "wontfix", "obsolete", "discarded", "rejected":
		return Dropped
	case "pending", "open", "todo", "notstarted", "queued", "waiting", "blocked", "paused", "new", "planned", "backlog", "ready", "failed", "next", "☐":
		return Open
	case "":
		if strings.Contains(word, "-") {
			return Active // "[-]"
		}
		return Open
	}
	return ""
}

// boxSigns are the signs of which one stands in each line of a checklist.
const boxSigns = "[☐☑✅✔"

// boxes are lines of checklists: "- [ ] to do", "1. [x] done", "☐ to do".
var boxes = lazyregexp.New(`^\s*(?:[-*+•]\s+|\d+[.)]\s+)?(?:\[\s*([xX ✓✔✅>~/*…→-]?)\s*\]|([☐☑✅✔]))\s+(\S.*)$`)

// mayBox reports whether a line may be one of a checklist. It is far cheaper than the pattern.
func mayBox(line string) bool {
	line = strings.TrimLeft(line, " \t-*+•.)0123456789")
	return line != "" && (line[0] == '[' || line[0] >= 0x80)
}

// checklist reads the steps of a text; whole says that the text holds little else.
func checklist(text string) (steps []step, whole bool) {
	if !strings.ContainsAny(text, boxSigns) {
		return nil, false
	}
	other, under := 0, ""
	for l := range strings.Lines(text) {
		l = strings.TrimRight(l, "\r\n")
		if head := strings.TrimLeft(l, "#"); strings.HasPrefix(l, "#") && strings.HasPrefix(head, " ") {
			under = line(strings.TrimSpace(head), mostUnder)
		}
		var m []string
		if mayBox(l) {
			m = boxes.FindStringSubmatch(l)
		}
		switch {
		case m == nil && strings.TrimSpace(l) != "" && !strings.HasPrefix(strings.TrimSpace(l), "#"):
			other++
		case m != nil && len(steps) < mostSteps:
			state := stateOf(m[1] + m[2])
			if state == "" {
				state = Open
			}
			steps = append(steps, step{text: line(m[3], mostText), state: state, under: under})
		}
	}
	return steps, len(steps) > 0 && other <= len(steps)/4
}

var (
	numbers = lazyregexp.New(`^\s{0,3}(?:#{1,6}\s*)?(?:\*\*)?(?:(?:Step|Phase|Task|Schritt|Étape|Paso|步骤|ステップ)\s*)?\d{1,2}(?:[.):]|\s*[-–—:])\s*(\S.*)$`)
	bullets = lazyregexp.New(`^[-*+•]\s+(\S.*)$`)
)

// mostProse is the number of steps that are read from a plan in words.
const mostProse = 30

// numbered returns the steps of a plan in words: what is numbered in it, or else the points
// of its lists.
func numbered(text string) []step {
	var counted, listed []step
	fenced := false
	for l := range strings.Lines(text) {
		l = strings.TrimRight(l, " \r\n")
		if strings.HasPrefix(strings.TrimSpace(l), "```") {
			fenced = !fenced
			continue
		}
		if fenced {
			continue
		}
		if asked := strings.TrimRight(l, "*_ "); strings.HasSuffix(asked, "?") || strings.HasSuffix(asked, "？") {
			continue // what is asked is no step
		}
		if m := numbers.FindStringSubmatch(l); m != nil && len(counted) < mostProse {
			counted = append(counted, step{text: line(strings.TrimRight(m[1], "*: "), mostText)})
		} else if m := bullets.FindStringSubmatch(l); m != nil && len(listed) < mostProse {
			listed = append(listed, step{text: line(m[1], mostText)})
		}
	}
	if len(counted) > 0 {
		return counted
	}
	return listed
}
