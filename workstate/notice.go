package workstate

import (
	"cmp"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/harness"
	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/internal/lazyregexp"
	"github.com/precis-dev/precis/internal/preview"
)

// notices match elements that report the outcome of a job.
var notices = lazyregexp.New(`<((?:task|agent|subagent|job|shell|process|background)[_-](?:task[_-])?notification)>`)

// mostNotices bounds the notices of one text.
const mostNotices = 100

// text applies the notices in a text, at any place. If the program did not write the text, only
// known jobs are updated: a file or a page may contain a notice, too.
func (j *jobs) text(at precis.Handle, text string, program bool) {
	if notice, is := harness.Background(text); is && program {
		j.became(bracketed(notice, at), true)
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
		j.became(noticeOf(strings.TrimSpace(body), at), program)
		text = rest
	}
}

// became applies the outcome of a job. An unknown job is added only if the program itself reports
// it.
func (j *jobs) became(now Item, program bool) {
	i, known := j.byKey[now.ID]
	if now.ID == "" || now.State == "" || !known && !program {
		return
	}
	if !known {
		i = j.add(Item{Kind: Job, Key: now.ID, ID: now.ID, Since: now.At})
	}
	it := &j.all[i]
	it.State, it.At = now.State, now.At
	it.Text, it.Result = cmp.Or(it.Text, now.Text), cmp.Or(now.Result, it.Result)
}

// inBrackets is Hermes's text about a process, see [harness.Background]: "ID completed (exit code
// 0).", and lines with the command and its output.
var inBrackets = lazyregexp.New(`^(\S+) (?:has |was )?([a-z]+)\b`)

// bracketed parses a notice in brackets, which is the whole of a text of the program.
func bracketed(text string, at precis.Handle) Item {
	m := inBrackets.FindStringSubmatch(text)
	if m == nil {
		return Item{}
	}
	it := Item{ID: m[1], State: stateOfJob(m[2]), At: at}
	head, _, _ := strings.Cut(text, "\n")
	if state, _ := outcomeIn(head); it.State == Done && state == Failed {
		it.State = Failed
	}
	_, rest, _ := strings.Cut(text, "\nCommand: ")
	what, _, _ := strings.Cut(rest, "\n")
	_, output, _ := strings.Cut(text, "\nOutput:\n")
	it.Text = preview.Quote(what, mostJobText)
	it.Result = preview.Quote(strings.TrimSuffix(strings.TrimSpace(output), "]"), mostJobResult)
	return it
}

// noticeOf parses a notice, in elements or in JSON.
func noticeOf(body string, at precis.Handle) Item {
	ids := []string{"task_id", "agent_id", "agent_path", "job_id", "shell_id", "thread_id", "id"}
	it := Item{At: at}
	if raw := []byte(body); jsonspan.Kind(raw) == '{' {
		for _, name := range ids {
			it.ID = cmp.Or(it.ID, argOf(name, jsonspan.Field(raw, name)).scalar())
		}
		it.State, it.Result = agentState(jsonspan.Field(raw, "status"))
		return it
	}
	for _, name := range ids {
		it.ID = cmp.Or(it.ID, harness.Element(body, strings.ReplaceAll(name, "_", "-"), name))
	}
	it.State, it.Result = outcomeIn(body)
	summary := harness.Element(body, "summary")
	it.Text = preview.Quote(summary, mostJobText)
	if said, result := outcomeIn(summary); said == Done && it.Result == result {
		it.Result = "" // it only says that the job is done
	}
	return it
}
