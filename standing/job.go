package standing

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"precis"
	"precis/internal/jsonspan"
	"precis/internal/lazyregexp"
	"precis/internal/toolcall"
)

// jobs are commands in the background and other agents, by their IDs.
type jobs struct {
	all  []Item
	byID map[string]int // the newest of each ID
}

func newJobs() jobs { return jobs{byID: map[string]int{}} }

func (j *jobs) list() []Item { return append([]Item{}, j.all...) }

// Bounds of what is told of a job.
const (
	mostJobText   = 100 // bytes of what it does
	mostJobResult = 300 // bytes of its result
	jobHead       = 600 // bytes of a result in which a program says that a job was begun
)

var (
	// begun is how programs say that something goes on in the background: Claude Code, Qwen
	// Code, Codex, Gemini CLI, and those that say it likewise. It begins the result, or a line
	// of the short head before it.
	begun = lazyregexp.New(`(?i)^(?:Command\b[^\n]{0,60}\b(?:background|backgrounded)\b|Async agent launched|(?:Background|Detached)\s+(?:shell|task|command|process|agent|job)\b[^\n]{0,40}\b(?:started|launched|running|created)|Process running with session ID|(?:Started|Launched|Running|Spawned)\b[^\n]{0,40}\b(?:background|detached)\b|[^\n]{0,60}\b(?:started|launched|spawned|running|moved)\b[^\n]{0,30}\b(?:in|to) (?:the )?background\b)`)
	// jobIDs is where programs say how a job is called.
	jobIDs = lazyregexp.New(`(?i)(?:\bwith\s+ID|\b(?:agent|task|shell|session|job|bash|process|thread)[ _-]?id|\bpid|\bid)\b["']?\s*[:=#]?\s*["'(]?\s*([A-Za-z0-9][\w.-]{0,63})`)
	// named is an element that says in its head what became of a job: <task id="…" state="…">.
	named = lazyregexp.New(`^\s*<[\w-]+\s[^>\n]*\bid="([^"\n]{1,64})"[^>\n]*\b(?:state|status)="(\w+)"`)
	// states are where results say how far a job is, the first that says anything counts.
	states = lazyregexp.All(`<(?:status|state)>\s*([\w -]+?)\s*</`, `\b(?:state|status)="(\w+)"`, `"(?:status|state)"\s*:\s*"([\w -]+)"`, `(?im)^\s*(?:status|state):\s*([\w-]+)`)
	// codes are where they say with which exit code it ended.
	codes = lazyregexp.New(`(?i)(?:<exit_?code>\s*|"exit_?code"\s*:\s*|\bexit(?:ed)?(?: with)?(?: exit)?(?: |-)(?:code|status):?\s*)(-?\d+)`)
	// trailer is what Claude Code adds to the report of an agent.
	trailer = lazyregexp.New(`(?s)(?:^|\n)agentId:[^\n]*|<usage>.*?</usage>`)
)

// delegates reports whether a call hands work to another agent.
func delegates(c *toolcall.Call, args []arg) bool {
	given, kind := false, false
	for _, a := range args {
		switch folded(a.name) {
		case "prompt", "message", "instructions", "task", "request", "description", "query", "objective":
			given = given || strings.TrimSpace(a.text) != ""
		case "subagenttype", "agenttype", "agent", "agentname", "subagent":
			kind = true
		}
	}
	if !given {
		return false
	}
	switch w := words(c.Name); {
	case kind:
		return true
	case len(w) == 1 && w[0] == "task", len(w) == 2 && w[0] == "new" && w[1] == "task":
		return true
	default:
		return slices.ContainsFunc(w, func(w string) bool {
			return slices.Contains([]string{"agent", "subagent", "subagents", "delegate", "teammate"}, w)
		})
	}
}

// inBackground reports whether a call asks to be run in the background.
func inBackground(args []arg) bool {
	return slices.ContainsFunc(args, func(a arg) bool {
		return strings.Contains(folded(a.name), "background") && (jsonspan.Kind(a.raw) == 't' || a.text == "true")
	})
}

// call takes in an answered call, and reports whether it began a job or asked for one.
func (j *jobs) call(c *toolcall.Call, args []arg) bool {
	if i, ok := j.asked(args); ok {
		j.polled(i, c)
		return true
	}
	agent := delegates(c, args)
	if c.Kind == toolcall.Read || c.Kind == toolcall.Write || !agent && !runs(c) {
		return false
	}
	head := c.Text[:min(len(c.Text), jobHead)]
	goesOn := startOf(head) >= 0
	switch {
	case agent:
		if end := c.Outcome().End; end != toolcall.Rejected {
			j.agent(c, args, goesOn)
		}
		return true
	case c.Kind == toolcall.Command && toolcall.Shows(c.Line) && !inBackground(args) && !ofProgram(head), !goesOn && !inBackground(args):
		return false
	}
	id := idIn(head[max(startOf(head), 0):])
	if id == "" && !goesOn || c.Outcome().End == toolcall.Rejected {
		return false
	}
	j.begin(Item{ID: id, Tool: c.Name, Text: taskOf(c, args), State: Running, Since: c.Use, At: c.Use})
	return true
}

// startOf returns where the head of a result says that something goes on in the
// background; -1: nowhere.
func startOf(head string) int {
	const lines = 6
	signs := []string{"background", "Background", "etached", "Async agent", "session ID"}
	from := 0
	for l := range strings.Lines(firstLines(head, lines)) {
		if slices.ContainsFunc(signs, func(s string) bool { return strings.Contains(l, s) }) {
			if at := begun.FindStringIndex(l); at != nil {
				return from + at[0]
			}
		}
		from += len(l)
	}
	return -1
}

// ofProgram reports whether the head of a result in which a command goes on is the program's,
// whatever the command prints: Codex writes it in lines before the output.
func ofProgram(head string) bool {
	head, _, before := strings.Cut(head, "Output:\n")
	if !before {
		return false
	}
	for l := range strings.Lines(head) {
		if name, _, _ := strings.Cut(l, " "); !slices.Contains([]string{"Chunk", "Wall", "Process", "Original", "Total", "\n"}, name) {
			return false
		}
	}
	return true
}

// runs reports whether a tool may begin what goes on in the background.
func runs(c *toolcall.Call) bool {
	return c.Kind == toolcall.Command || slices.ContainsFunc(words(c.Name), func(w string) bool {
		return slices.Contains([]string{"shell", "bash", "exec", "execute", "process", "terminal", "command", "background", "job", "agent", "task", "run", "start", "spawn", "monitor", "workflow"}, w)
	})
}

// agent takes in a call of another agent, with its report or without.
func (j *jobs) agent(c *toolcall.Call, args []arg, goesOn bool) {
	it := Item{ID: idIn(c.Text[:min(len(c.Text), jobHead)]), Tool: c.Name, Text: taskOf(c, args), Since: c.Use, At: c.Use}
	tail := c.Text[max(0, len(c.Text)-jobHead):]
	if at := strings.LastIndex(tail, "agentId:"); at >= 0 {
		it.ID = idIn(tail[at:])
	}
	switch m := named.FindStringSubmatch(c.Text); {
	case m != nil:
		it.ID, it.State = m[1], stateOfJob(m[2])
	case goesOn:
		it.State = Running
	case jsonspan.Kind([]byte(c.Text)) == '{' && it.ID != "" && len(c.Text) < jobHead:
		it.State = Running
		if state, _ := outcomeIn(c.Text); state != "" {
			it.State = state
		}
	}
	if it.State == "" && stateOfLine(c.Text) == Running {
		it.State = Running
		it.ID = cmp.Or(it.ID, nameIn(c.Text, args))
	}
	if it.State == "" {
		it.State = Done
		if c.Outcome().End == toolcall.Failed {
			it.State = Failed
		}
		if !strings.Contains(tail, "agentId:") {
			it.ID = "" // what stands in a report names something else
		}
	}
	if it.State.Ended() {
		it.Result = resultIn(c.Text)
	}
	j.begin(it)
}

// stateOfLine returns the state that a result of one short line ends with: "reviewer started". "" for other results.
func stateOfLine(text string) State {
	const longest = 100
	text = strings.TrimRight(strings.TrimSpace(text), ".!")
	if len(text) > longest || strings.Contains(text, "\n") {
		return ""
	}
	return stateOfJob(text[strings.LastIndexByte(text, ' ')+1:])
}

// nameIn returns the short argument of a call that its result repeats: later calls may name the job so.
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
	it.Kind = Job
	it.Key = it.ID
	if it.ID == "" {
		it.Key = "call " + fmt.Sprint(it.Since)
	} else {
		if i, ok := j.byID[it.ID]; ok && !j.all[i].State.Ended() && j.all[i].Tool == it.Tool {
			j.all[i] = it // it was begun anew under its name
			return
		}
		j.byID[it.ID] = len(j.all)
	}
	j.all = append(j.all, it)
}

// namesOfJobs are arguments that name a job, beside those that name an ID.
var namesOfJobs = strings.Fields("target targets session shell job task agent agentname author pid name to")

// asked returns the job that the arguments of a call name.
func (j *jobs) asked(args []arg) (int, bool) {
	if len(j.byID) == 0 {
		return 0, false
	}
	for _, a := range args {
		name := folded(a.name)
		if !strings.Contains(name, "id") && !slices.Contains(namesOfJobs, name) {
			continue
		}
		if i, ok := j.byID[strings.TrimSpace(a.text)]; ok && a.text != "" {
			return i, true
		}
		for _, s := range jsonspan.Strings(a.raw) {
			if i, ok := j.byID[s]; ok {
				return i, true
			}
		}
	}
	return 0, false
}

// polled takes in a call that names a job: it asks for it, or ends it.
func (j *jobs) polled(i int, c *toolcall.Call) {
	if end := c.Outcome().End; end == toolcall.Rejected {
		return
	}
	it := &j.all[i]
	if inner := jsonspan.Field([]byte(c.Text), "status"); jsonspan.Kind(inner) == '{' { // of several agents
		for m, err := range jsonspan.Object(inner) {
			if err != nil {
				break
			}
			if k, ok := j.byID[m.Name]; ok {
				j.told(k, c.Use, m.Raw)
			}
		}
		return
	}
	state, result := outcomeIn(c.Text)
	switch {
	case state == "" && !c.IsError && slices.ContainsFunc(words(c.Name), func(w string) bool {
		return slices.Contains([]string{"kill", "stop", "cancel", "close", "terminate", "shutdown", "interrupt"}, w)
	}):
		state = Stopped
	case state == "" && c.Name == agentMessage:
		it.Result, it.At = resultIn(c.Text), c.Use
		return
	case state == "" && c.Kind == toolcall.Other && c.Text != "" && slices.Contains(words(c.Name), "wait"):
		state, result = Done, resultIn(c.Text)
	case state == "" && startOf(c.Text[:min(len(c.Text), jobHead)]) >= 0:
		state = Running
	case state == "":
		return
	}
	if it.State.Ended() && state == Running {
		state = it.State // an answer that came late
	}
	it.State, it.At = state, c.Use
	if state.Ended() && result != "" {
		it.Result = result
	}
}

// agentMessage is what the Responses API calls words of another agent.
const agentMessage = "agent_message"

// told takes in what a program says of an agent: {"completed": "…"} or a word.
func (j *jobs) told(i int, at precis.Handle, raw []byte) {
	it := &j.all[i]
	if word, ok := jsonspan.String(raw); ok {
		if state := stateOfJob(word); state != "" {
			it.State, it.At = state, at
		}
		return
	}
	for m, err := range jsonspan.Object(raw) {
		if err != nil {
			return
		}
		state := stateOfJob(m.Name)
		if state == "" {
			continue
		}
		it.State, it.At = state, at
		if words, ok := jsonspan.String(m.Raw); ok {
			it.Result = resultIn(words)
		}
		return
	}
}

// stateOfJob reads a word; "" when it is no state of a job.
func stateOfJob(word string) State {
	switch folded(strings.TrimSpace(word)) {
	case "running", "pending", "inprogress", "started", "active", "queued", "pendinginit", "working", "launched", "asynclaunched":
		return Running
	case "completed", "complete", "success", "succeeded", "done", "finished", "exited", "ended", "ok":
		return Done
	case "failed", "failure", "error", "errored", "crashed", "timedout":
		return Failed
	case "killed", "stopped", "cancelled", "canceled", "interrupted", "shutdown", "terminated", "aborted", "closed":
		return Stopped
	}
	return ""
}

// outcomeIn returns the state that a result gives a job, "" for none, and what came of it.
func outcomeIn(text string) (State, string) {
	const reach = 4000 // bytes from the start in which programs say it, before the output
	head := text[:min(len(text), reach)]
	var state State
	for _, re := range states {
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

// resultIn returns the first lines of what came of a job.
func resultIn(text string) string {
	for _, name := range []string{"result", "task_result", "output", "stdout", "stderr", "error", "summary"} {
		if s := element(text, name); s != "" {
			return line(s, mostJobResult)
		}
	}
	if _, after, ok := strings.Cut(text, "\nOutput:\n"); ok { // Codex
		text = after
	}
	return line(trailer.ReplaceAllString(text[:min(len(text), 10*mostJobResult)], ""), mostJobResult)
}

// element returns what stands in the first element of a name.
func element(text, name string) string {
	_, after, ok := strings.Cut(text, "<"+name+">")
	if !ok {
		return ""
	}
	s, _, _ := strings.Cut(after, "</"+name+">")
	return strings.TrimSpace(s)
}

// idIn returns the first ID that a text gives a job; "" for none.
func idIn(text string) string {
	if m := jobIDs.FindStringSubmatch(text); m != nil {
		return strings.TrimRight(m[1], ".-")
	}
	return ""
}

// taskOf says what a job does: its command, or how its task was called.
func taskOf(c *toolcall.Call, args []arg) string {
	best, text := 10, ""
	for _, a := range args {
		at := slices.Index([]string{"description", "title", "task", "name", "taskname", "prompt", "message", "objective", "instructions"}, folded(a.name))
		if at >= 0 && at < best && strings.TrimSpace(a.text) != "" {
			best, text = at, a.text
		}
	}
	if c.Line != "" {
		text = c.Line
	}
	return line(text, mostJobText)
}

func firstLines(text string, n int) string {
	at := 0
	for range n {
		i := strings.IndexByte(text[at:], '\n')
		if i < 0 {
			return text
		}
		at += i + 1
	}
	return text[:at]
}
