package standing

import (
	"strings"

	"precis"
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
