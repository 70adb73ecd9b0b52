package digest

import (
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strings"

	"precis/internal/harness"
	"precis/internal/jsonspan"
	"precis/internal/toolcall"
	"precis/retain"
)

// story holds the facts about the covered part of a conversation.
type story struct {
	requests []saying
	files    []file
	commands []command
	open     []string
	agents   []string
	todo     []string
	last     []saying // the agent's last texts, newest first
}

type saying struct {
	at   int // message
	text string
}

// file records what happened to one file.
type file struct {
	path                   string
	reads, writes, removed int
	created                bool
	lastWrite, lastTime    int
	failed                 int
	names                  []string // most informative of what was written
}

// command is one command line with the outcome of its last run.
type command struct {
	line    string
	at      int
	runs    int
	failed  bool
	outcome string
	fixed   int // message at which it succeeded after a failure; -1: not
}

// readStory gathers the story of the covered messages.
func readStory(in *input) *story {
	st := &story{}
	for i := range in.x.Texts {
		t := &in.x.Texts[i]
		if !in.covered(t.Handle.From) {
			continue
		}
		switch t.Source {
		case retain.User:
			if words := harness.UserWords(t.Body); words != "" {
				st.requests = append(st.requests, saying{t.Handle.From, indented(words)})
			}
		case retain.Said:
			if words := strings.TrimSpace(t.Body); len(words) > 1 {
				st.last = append(st.last, saying{t.Handle.From, words})
			}
		}
	}
	for i, j := 0, len(st.last)-1; i < j; i, j = i+1, j-1 {
		st.last[i], st.last[j] = st.last[j], st.last[i]
	}
	st.readCalls(in)
	return st
}

// readCalls gathers files, commands, open calls, agents and plans.
func (st *story) readCalls(in *input) {
	files := map[string]*file{}
	commands := map[string]*command{}
	for i := range in.x.Calls {
		c := &in.x.Calls[i]
		if !in.covered(c.Use.From) {
			continue
		}
		if c.Kind == toolcall.Read && c.Path != "" {
			f := fileOf(files, c.Path)
			f.reads++
			f.lastTime = c.Use.From
		}
		for _, e := range c.Effects {
			f := fileOf(files, e.Path)
			f.lastWrite, f.lastTime = c.Use.From, c.Use.From
			switch {
			case c.IsError:
				f.failed++
			case e.Removed:
				f.removed++
			default:
				f.writes++
				f.created = f.created || f.reads == 0 && f.writes == 1 && createsFile(c)
			}
		}
		if c.Kind == toolcall.Command {
			noteCommand(commands, c)
		}
		st.noteOther(in, c)
	}
	touched := touchedBy(in)
	for _, f := range files {
		f.names = touched[f.path]
		st.files = append(st.files, *f)
	}
	sort.Slice(st.files, func(a, b int) bool {
		x, y := st.files[a], st.files[b]
		if (x.lastWrite >= 0) != (y.lastWrite >= 0) {
			return x.lastWrite >= 0
		}
		if x.lastTime != y.lastTime {
			return x.lastTime > y.lastTime
		}
		return x.path < y.path
	})
	for _, c := range commands {
		st.commands = append(st.commands, *c)
	}
	sort.Slice(st.commands, func(a, b int) bool {
		x, y := st.commands[a], st.commands[b]
		if x.failed != y.failed {
			return x.failed
		}
		if x.at != y.at {
			return x.at > y.at
		}
		return x.line < y.line
	})
}

// touchedBy returns, for each file written in a call of its own, the names with
// the most worth in the written text, the newest writes first.
func touchedBy(in *input) map[string][]string {
	const most = 4
	out := map[string][]string{}
	for i := len(in.x.Texts) - 1; i >= 0; i-- {
		t := &in.x.Texts[i]
		if t.Source != retain.Written || !in.covered(t.Handle.From) {
			continue
		}
		path := in.x.Calls[t.Call].Path
		if path == "" || len(out[path]) >= most {
			continue
		}
		for _, f := range in.x.Best(i, in.worth, most) {
			if name := in.x.Facts[f].Name; len(out[path]) < most && !slices.Contains(out[path], name) {
				out[path] = append(out[path], name)
			}
		}
	}
	return out
}

func fileOf(files map[string]*file, path string) *file {
	f := files[path]
	if f == nil {
		f = &file{path: path, lastWrite: -1}
		files[path] = f
	}
	return f
}

// createsFile guesses from the tool's name that a write made a new file.
func createsFile(c *toolcall.Call) bool {
	name := strings.ToLower(c.Name)
	return strings.Contains(name, "write") || strings.Contains(name, "create")
}

// noteCommand keeps the last run of each command line.
func noteCommand(commands map[string]*command, c *toolcall.Call) {
	line := commandLine(c.Line)
	if line == "" || len(c.Results) == 0 {
		return
	}
	k := commands[line]
	if k == nil {
		k = &command{line: line, fixed: -1}
		commands[line] = k
	}
	failed, outcome := outcomeOf(c)
	if k.failed && !failed {
		k.fixed = c.Use.From
	}
	k.runs++
	k.at, k.failed, k.outcome = c.Use.From, failed, outcome
}

// commandLine returns a command without the change of directory that agents put
// before it.
func commandLine(line string) string {
	line = strings.TrimSpace(line)
	for _, shell := range []string{"bash -lc ", "bash -c ", "sh -c "} {
		line = strings.TrimPrefix(line, shell)
	}
	if rest, ok := strings.CutPrefix(line, "cd "); ok {
		if _, after, found := strings.Cut(rest, "&& "); found {
			line = strings.TrimSpace(after)
		}
	}
	return line
}

// outcomeOf returns whether a command failed, and the line of output that
// states the failure.
func outcomeOf(c *toolcall.Call) (failed bool, line string) {
	failed = c.IsError
	best := 0
	for l := range strings.Lines(c.Text) {
		rank := errorRank(l)
		if rank > best {
			best, line = rank, strings.TrimSpace(l)
		}
		if rank == surely {
			break
		}
	}
	return failed || best >= exited, line
}

// Ranks of lines of output: how certainly a line reports a failure, and how
// much it says about it.
const (
	byTheWay = 1 + iota
	exited   // but it does not say why
	likely
	surely
)

// errorRank returns how certainly a line of output reports a failure; 0 means
// it does not.
func errorRank(l string) int {
	if len(l) > 400 {
		l = l[:400]
	}
	t := strings.TrimSpace(l)
	low := strings.ToLower(t)
	switch {
	case t == "":
		return 0
	case hasStatus(low):
		return exited
	case strings.HasPrefix(t, "--- FAIL"), strings.HasPrefix(t, "FAILED"), strings.HasPrefix(low, "panic:"), strings.HasPrefix(low, "error:"),
		strings.HasPrefix(low, "fatal:"), strings.HasPrefix(t, "error["), strings.HasPrefix(low, "traceback"), strings.HasPrefix(t, "npm ERR!"),
		strings.Contains(low, "command not found"), strings.Contains(low, "no such file or directory"), strings.HasPrefix(t, "✗"), strings.HasPrefix(t, "✘"):
		return surely
	case strings.Contains(low, "exit status 0"), strings.Contains(low, "exit code 0"):
		return 0
	case strings.Contains(t, "Error:"), strings.Contains(t, "Exception:"), strings.Contains(low, ": error"), strings.Contains(low, "exit code 1"),
		strings.Contains(low, "exit status"), strings.HasPrefix(t, "FAIL"):
		return likely
	case strings.Contains(low, "failed"), strings.Contains(low, "error"):
		if strings.Contains(low, "0 failed") || strings.Contains(low, "0 error") || strings.Contains(low, "no error") {
			return 0
		}
		return byTheWay
	}
	return 0
}

// hasStatus reports whether a line holds only an exit status other than 0.
func hasStatus(low string) bool {
	low = strings.TrimPrefix(low, "error: ")
	for _, head := range []string{"exit code", "exit status"} {
		if status, ok := strings.CutPrefix(low, head); ok {
			status = strings.Trim(status, ": .")
			return status != "" && status != "0" && strings.Trim(status, "0123456789") == ""
		}
	}
	return false
}

// noteOther records open calls, agents and plans.
func (st *story) noteOther(in *input, c *toolcall.Call) {
	name := strings.ToLower(c.Name)
	switch {
	case len(c.Results) == 0:
		st.open = append(st.open, fmt.Sprintf("- %s %s has no result yet", in.handle(c.Use.From), c.Title()))
	case strings.Contains(name, "todo") || name == "update_plan":
		if items := planItems(toolInput(in.messages, c.Use)); len(items) > 0 {
			st.todo = items
		}
	case isAgent(name, c.Text):
		st.agents = append(st.agents, fmt.Sprintf("- %s %s: %s", in.handle(c.Use.From), c.Title(), quoted(c.Text, 220)))
	}
}

// isAgent recognizes calls that start or ask other agents and background work.
func isAgent(name, result string) bool {
	switch name {
	case "task", "agent", "dispatch_agent", "new_task", "spawn_agent", "taskoutput", "bashoutput", "killshell":
		return true
	}
	head := result[:min(len(result), 300)]
	return strings.Contains(head, "running in background with ID") || strings.Contains(head, "agentId:") || strings.Contains(head, "Async agent launched")
}

// planItems reads a list of steps with their states, whatever the names of the
// fields.
func planItems(raw json.RawMessage) []string {
	var items []string
	text, state := "", ""
	flush := func() {
		if text != "" {
			items = append(items, fmt.Sprintf("- [%s] %s", mark(state), quoted(text, 160)))
		}
		text, state = "", ""
	}
	for name, v := range jsonspan.Strings(raw) {
		switch name {
		case "content", "step", "text", "title", "task", "subject":
			if text != "" {
				flush()
			}
			text = v
		case "status", "state":
			if state != "" {
				flush()
			}
			state = v
		case "todos":
			for l := range strings.Lines(v) {
				if l = strings.TrimSpace(l); strings.HasPrefix(l, "[") || strings.HasPrefix(l, "- [") {
					items = append(items, "- "+quoted(strings.TrimPrefix(l, "- "), 160))
				}
			}
		}
	}
	flush()
	return items
}

func mark(state string) string {
	switch strings.ToLower(state) {
	case "completed", "done", "complete":
		return "x"
	case "in_progress", "active":
		return ">"
	}
	return " "
}
