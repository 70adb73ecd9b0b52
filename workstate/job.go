package workstate

import (
	"cmp"
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/precis-dev/precis/internal/harness"
	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/internal/lazyregexp"
	"github.com/precis-dev/precis/internal/preview"
	"github.com/precis-dev/precis/internal/table"
	"github.com/precis-dev/precis/internal/toolcall"
)

// jobs are background commands and other agents, by their IDs.
type jobs struct{ keyed }

// Limits for a job.
const (
	mostJobText   = 100 // bytes of its task
	mostJobResult = 300 // bytes of its result
	jobHead       = 600 // bytes of a result to search for the start of a job
)

//go:embed begun.txt
var begunText string

var beginnings = table.Lazy("begun.txt", begunText, "pattern")

// begun matches a line that reports the start of background work.
var begun = sync.OnceValue(func() *regexp.Regexp {
	var all []string
	for _, row := range beginnings().Rows {
		all = append(all, row.Get("pattern"))
	}
	return regexp.MustCompile(`(?i)^(?:` + strings.Join(all, "|") + `)`)
})

var (
	// jobIDs matches the ID of a job in a program's text.
	jobIDs = lazyregexp.New(`(?i)(?:\bwith\s+ID|\bpid|\bid` +
		`|\b(?:agent|task|shell|session|job|bash|process|thread)[ _-]?id)\b["']?\s*[:=#]?\s*["'(]?\s*([A-Za-z0-9][\w.-]{0,63})`)
	// named matches an element with a job's ID and state in its head: <task id="…" state="…">.
	named = lazyregexp.New(`^\s*<[\w-]+\s[^>\n]*\bid="([^"\n]{1,64})"[^>\n]*\b(?:state|status)="(\w+)"`)
	// statesSaid match the state of a job in a result; the first match counts.
	statesSaid = lazyregexp.All(`<(?:status|state)>\s*([\w -]+?)\s*</`, `\b(?:state|status)="(\w+)"`,
		`"(?:status|state)"\s*:\s*"([\w -]+)"`, `(?im)^\s*(?:status|state):\s*([\w-]+)`)
	// codes matches the exit code of a job in a result.
	codes = lazyregexp.New(`(?i)(?:<exit_?code>\s*|"exit_?code"\s*:\s*|` +
		`\bexit(?:ed)?(?: with)?(?: exit)?[ _-](?:code|status)[:=]?\s*)(-?\d+)`)
	// trailer is the text that Claude Code appends to the report of an agent.
	trailer = lazyregexp.New(`(?s)(?:^|\n)agentId:[^\n]*|<usage>.*?</usage>`)
)

// delegates reports whether a call hands work to another agent.
func delegates(c *toolcall.Call, args []arg) bool {
	given := func(a arg) bool { return means(a.name, "given") && strings.TrimSpace(a.text) != "" }
	if !slices.ContainsFunc(args, given) {
		return false
	}
	name := strings.Join(words(c.Name), " ")
	return name == "task" || name == "new task" || plays(c.Name, "agent") ||
		slices.ContainsFunc(args, func(a arg) bool { return means(a.name, "agent") })
}

// inBackground reports whether a call asks to be run in the background.
func inBackground(args []arg) bool {
	return slices.ContainsFunc(args, func(a arg) bool {
		return strings.Contains(a.name, "background") && (jsonspan.Kind(a.raw) == 't' || a.text == "true")
	})
}

// call applies an answered call, and reports whether it began a job or asked for one.
func (j *jobs) call(c *toolcall.Call, args []arg) bool {
	if i, ok := j.asked(args); ok {
		j.polled(i, c)
		return true
	}
	agent, command := delegates(c, args), c.Kind == toolcall.Command
	if c.Kind == toolcall.Read || c.Kind == toolcall.Write || !agent && !command && !plays(c.Name, "runs") {
		return false
	}
	rejected := c.Outcome().End == toolcall.Rejected
	if agent {
		if !rejected {
			j.agent(c, args)
		}
		return true
	}
	head := headOf(c)
	from, wanted := startOffset(head), inBackground(args)
	// the text may be another program's output
	prints := command && toolcall.Shows(c.Line) && !ofProgram(head)
	if !wanted && (prints || from < 0) {
		return false
	}
	id := idIn(head[max(from, 0):])
	if id == "" && from < 0 || rejected {
		return false
	}
	j.begin(Item{ID: id, Tool: c.Name, Text: taskOf(c, args), State: Running, Since: c.Use, At: c.Use})
	return true
}

func headOf(c *toolcall.Call) string { return c.Text[:min(len(c.Text), jobHead)] }

// startOffset returns the offset in bytes of the first line in the head of a result that reports the
// start of background work; -1: none.
func startOffset(head string) int {
	const lines = 6
	signs := []string{"background", "Background", "etached", "Async agent", "session ID"}
	from := 0
	for l := range strings.Lines(firstLines(head, lines)) {
		if slices.ContainsFunc(signs, func(s string) bool { return strings.Contains(l, s) }) &&
			begun().MatchString(l) {
			return from
		}
		from += len(l)
	}
	return -1
}

// ofProgram reports whether the program wrote the head of a result that reports a running command,
// rather than the command's own output: Codex writes it in lines before the output.
func ofProgram(head string) bool {
	head, _, before := strings.Cut(head, "Output:\n")
	if !before {
		return false
	}
	for l := range strings.Lines(head) {
		if l = strings.TrimSpace(l); l != "" && !harness.IsRemark(l) {
			return false
		}
	}
	return true
}

// agent applies a call of another agent, with its report or without.
func (j *jobs) agent(c *toolcall.Call, args []arg) {
	it := Item{ID: idIn(headOf(c)), Tool: c.Name, Text: taskOf(c, args), Since: c.Use, At: c.Use}
	tail := c.Text[max(0, len(c.Text)-jobHead):]
	reported := strings.LastIndex(tail, "agentId:")
	if reported >= 0 {
		it.ID = idIn(tail[reported:])
	}
	switch m := named.FindStringSubmatch(c.Text); {
	case m != nil:
		it.ID, it.State = m[1], stateOfJob(m[2])
	case startOffset(headOf(c)) >= 0:
		it.State = Running
	case jsonspan.Kind([]byte(c.Text)) == '{' && it.ID != "" && len(c.Text) < jobHead:
		state, _ := outcomeIn(c.Text)
		it.State = cmp.Or(state, Running)
	case stateOfLine(c.Text) == Running:
		it.State, it.ID = Running, cmp.Or(it.ID, nameIn(c.Text, args))
	}
	if it.State == "" {
		it.State = Done
		if c.Outcome().End == toolcall.Failed {
			it.State = Failed
		}
		if reported < 0 {
			it.ID = "" // an ID in a report is of something else
		}
	}
	if it.State.Ended() {
		it.Result = resultIn(c.Text)
	}
	j.begin(it)
}

// stateOfLine returns the state that ends a one-line result: "reviewer started"; else "".
func stateOfLine(text string) State {
	const longest = 100
	text = strings.TrimRight(strings.TrimSpace(text), ".!")
	if len(text) > longest || strings.Contains(text, "\n") {
		return ""
	}
	return stateOfJob(text[strings.LastIndexByte(text, ' ')+1:])
}

// nameIn returns the short argument of a call that its result repeats: later calls may use it as
// the job's name.
func nameIn(text string, args []arg) string {
	const longest = 64
	said := strings.Fields(text)
	for _, a := range args {
		if len(a.text) <= longest && slices.Contains(said, a.text) {
			return a.text
		}
	}
	return ""
}

func (j *jobs) begin(it Item) {
	it.Kind, it.Key = Job, it.ID
	if it.ID == "" {
		it.Key = "call " + fmt.Sprint(it.Since)
	}
	if i, ok := j.byKey[it.Key]; ok && !j.all[i].State.Ended() && j.all[i].Tool == it.Tool {
		j.all[i] = it // it was begun anew under its name
		return
	}
	j.add(it)
}

// asked returns the job that the arguments of a call name.
func (j *jobs) asked(args []arg) (int, bool) {
	if len(j.byKey) == 0 {
		return 0, false
	}
	for _, a := range args {
		if !strings.Contains(a.name, "id") && !means(a.name, "names") {
			continue
		}
		if i, ok := j.byKey[strings.TrimSpace(a.text)]; ok && a.text != "" {
			return i, true
		}
		for _, s := range jsonspan.Strings(a.raw) {
			if i, ok := j.byKey[s]; ok {
				return i, true
			}
		}
	}
	return 0, false
}

// agentMessage is the Responses API's type for words of another agent.
const agentMessage = "agent_message"

// polled applies a call that names a job: it asks for it, or ends it.
func (j *jobs) polled(i int, c *toolcall.Call) {
	if c.Outcome().End == toolcall.Rejected {
		return
	}
	if inner := jsonspan.Field([]byte(c.Text), "status"); jsonspan.Kind(inner) == '{' { // of several agents
		for m, err := range jsonspan.Object(inner) {
			if err != nil {
				break
			}
			state, result := agentState(m.Raw)
			j.became(Item{ID: m.Name, State: state, Result: result, At: c.Use}, false)
		}
		return
	}
	it := &j.all[i]
	state, result := outcomeIn(c.Text)
	switch {
	case state != "":
	case !c.IsError && plays(c.Name, "stops"):
		state = Stopped
	case c.Name == agentMessage:
		it.Result, it.At = resultIn(c.Text), c.Use
		return
	case c.Kind == toolcall.Other && c.Text != "" && plays(c.Name, "waits"):
		state, result = Done, resultIn(c.Text)
	case startOffset(headOf(c)) >= 0:
		state = Running
	default:
		return
	}
	if it.State.Ended() && state == Running {
		state = it.State // a late answer
	}
	it.State, it.At = state, c.Use
	if state.Ended() && result != "" {
		it.Result = result
	}
}

// agentState parses the state of an agent: {"completed": "…"} or a word.
func agentState(raw []byte) (state State, result string) {
	if word, ok := jsonspan.String(raw); ok {
		return stateOfJob(word), ""
	}
	for _, m := range membersOf(raw) {
		if state := stateOfJob(m.name); state != "" {
			return state, resultIn(m.text)
		}
	}
	return "", ""
}

// outcomeIn returns the state of a job in a result, "" for none, and the job's result.
func outcomeIn(text string) (State, string) {
	const reach = 4000 // bytes from the start to search; the output follows
	head := text[:min(len(text), reach)]
	var state State
	for _, re := range statesSaid {
		if m := re.FindStringSubmatch(head); m != nil && state == "" {
			state = stateOfJob(m[1])
		}
	}
	if m := codes.FindStringSubmatch(head); m != nil && state != Running && state != Stopped {
		state = Done
		if m[1] != "0" {
			state = Failed
		}
	}
	if state == "" {
		return "", ""
	}
	return state, resultIn(text)
}

// resultIn returns the first lines of a job's result.
func resultIn(text string) string {
	if s := harness.Element(text, "result", "task_result", "output", "stdout", "stderr", "error",
		"summary"); s != "" {
		return preview.Quote(s, mostJobResult)
	}
	if _, after, ok := strings.Cut(text, "\nOutput:\n"); ok { // Codex
		text = after
	}
	return preview.Quote(trailer.ReplaceAllString(text[:min(len(text), 10*mostJobResult)], ""), mostJobResult)
}

// idIn returns the first ID of a job in a text; "" for none.
func idIn(text string) string {
	if m := jobIDs.FindStringSubmatch(text); m != nil {
		return strings.TrimRight(m[1], ".-")
	}
	return ""
}

// taskOf describes the task of a job: its command, or the title of its task.
func taskOf(c *toolcall.Call, args []arg) string {
	best, text := 0, ""
	for _, a := range args {
		row, ok := fields().Find(a.name)
		if !ok || strings.TrimSpace(a.text) == "" {
			continue
		}
		rank, _ := strconv.Atoi(row.Get("job"))
		if rank > 0 && (best == 0 || rank < best) {
			best, text = rank, a.text
		}
	}
	return preview.Quote(cmp.Or(c.Line, text), mostJobText)
}

func firstLines(text string, n int) string {
	lines := strings.SplitAfterN(text, "\n", n+1)
	return strings.Join(lines[:min(len(lines), n)], "")
}
