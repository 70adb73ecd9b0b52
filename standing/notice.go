package standing

import (
	"strings"

	"precis"
	"precis/internal/harness"
	"precis/internal/jsonspan"
	"precis/internal/lazyregexp"
)

// notices are elements by which programs say what became of a job.
var notices = lazyregexp.New(`<((?:task|agent|subagent|job|shell|process|background)[_-](?:task[_-])?notification)>`)

// mostNotices bounds the notices of one text.
const mostNotices = 100

// text takes in the notices of a text, wherever it stands. Where it is not the program's
// own, only jobs that were begun are known: a file or a page may hold a notice, too.
func (j *jobs) text(at precis.Handle, text string, program bool) {
	if program {
		j.bracketed(at, text)
	}
	if !strings.Contains(text, "notification>") {
		return
	}
	for range mostNotices {
		m := notices.FindStringSubmatch(text)
		if m == nil {
			return
		}
		_, after, _ := strings.Cut(text, m[0])
		body, rest, closed := strings.Cut(after, "</"+m[1]+">")
		if !closed {
			return
		}
		j.notice(at, strings.TrimSpace(body), program)
		text = rest
	}
}

// inBrackets is what Hermes says of a process, see [harness.Background]: "ID completed (exit code 0).", and lines with the command and its
// output.
var inBrackets = lazyregexp.New(`^(\S+) (?:has |was )?(completed|finished|exited|failed|killed|terminated|crashed)\b`)

// exitIn is where it says with which exit code.
var exitIn = lazyregexp.New(`\bexit[_ ]code[ =:]+(-?\d+)`)

// bracketed takes in a notice in brackets, which is the whole of a text of the program.
func (j *jobs) bracketed(at precis.Handle, text string) {
	text, is := harness.Background(text)
	if !is {
		return
	}
	m := inBrackets.FindStringSubmatch(text)
	if m == nil {
		return
	}
	i, known := j.byID[m[1]]
	if !known {
		i = len(j.all)
		j.byID[m[1]] = i
		j.all = append(j.all, Item{Kind: Job, Key: m[1], ID: m[1], Since: at})
	}
	it := &j.all[i]
	it.State, it.At = stateOfJob(m[2]), at
	head, _, _ := strings.Cut(text, "\n")
	if code := exitIn.FindStringSubmatch(head); it.State == Done && code != nil && code[1] != "0" {
		it.State = Failed
	}
	_, rest, _ := strings.Cut(text, "\nCommand: ")
	what, _, _ := strings.Cut(rest, "\n")
	if it.Text == "" {
		it.Text = line(what, mostJobText)
	}
	if _, output, ok := strings.Cut(text, "\nOutput:\n"); ok {
		it.Result = line(strings.TrimSuffix(strings.TrimSpace(output), "]"), mostJobResult)
	}
}

func (j *jobs) notice(at precis.Handle, body string, program bool) {
	id, state, result, what := noticeOf(body)
	if id == "" || state == "" {
		return
	}
	i, known := j.byID[id]
	if !known {
		if !program {
			return
		}
		i = len(j.all)
		j.byID[id] = i
		j.all = append(j.all, Item{Kind: Job, Key: id, ID: id, Text: what, Since: at})
	}
	it := &j.all[i]
	it.State, it.At = state, at
	if result != "" {
		it.Result = result
	}
}

// noticeOf reads a notice, in elements or in JSON.
func noticeOf(body string) (id string, state State, result, what string) {
	raw := []byte(body)
	if jsonspan.Kind(raw) == '{' {
		for _, name := range []string{"agent_id", "agent_path", "task_id", "job_id", "thread_id", "id"} {
			if s := scalar(jsonspan.Field(raw, name)); s != "" && id == "" {
				id = s
			}
		}
		one := jobs{all: make([]Item, 1)}
		one.told(0, precis.Handle{}, jsonspan.Field(raw, "status"))
		return id, one.all[0].State, one.all[0].Result, ""
	}
	for _, name := range []string{"task-id", "task_id", "agent-id", "agent_id", "job-id", "job_id", "shell-id", "shell_id", "id"} {
		if s := element(body, name); s != "" {
			id = s
			break
		}
	}
	state, result = outcomeIn(body)
	return id, state, result, line(element(body, "summary"), mostJobText)
}
