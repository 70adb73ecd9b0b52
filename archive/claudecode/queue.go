package claudecode

import (
	"slices"
	"strings"

	"precis"
)

// queue holds what the user types, and what becomes of tasks, while the agent works. Claude
// Code shows it to the model beside the next results of tools. Newer versions record that
// as an attachment in its place, which is read there; older ones only note that it entered
// and left the queue. What a person typed leaves the queue before what the program notes.
type queue struct {
	waiting []string // still in the queue
	heard   []string // shown to the model with results that have not come yet
	last    *line    // the newest message of the main conversation
}

// operate does what a line says of the queue.
func (q *queue) operate(ln *line) {
	switch ln.queue {
	case "enqueue":
		q.waiting = append(q.waiting, ln.said)
	case "popAll": // back into the editor
		q.waiting = slices.DeleteFunc(q.waiting, func(s string) bool { return !ofProgram(s) })
	case "dequeue": // a message of its own follows
		q.take(ln.said)
	case "remove": // shown to the model on the way
		words := q.take(ln.said)
		if words == "" {
			return
		}
		if q.last != nil && q.last.kind == answer {
			q.last.heard = append(q.last.heard, words)
		} else {
			q.heard = append(q.heard, words)
		}
	}
}

// take takes out of the queue what the line names, else the first that a person typed, else
// the first; "" when it is empty.
func (q *queue) take(named string) string {
	at := -1
	if named != "" {
		at = slices.Index(q.waiting, named)
	}
	if at < 0 {
		at = slices.IndexFunc(q.waiting, func(s string) bool { return !ofProgram(s) })
	}
	if at < 0 {
		if at = 0; len(q.waiting) == 0 {
			return ""
		}
	}
	words := q.waiting[at]
	q.waiting = slices.Delete(q.waiting, at, at+1)
	return words
}

// ofProgram reports whether what was queued is the program's: what became of a task, or its
// record of one.
func ofProgram(words string) bool {
	return strings.HasPrefix(words, taskNotice) || strings.HasPrefix(words, `{"task_id"`)
}

// pass notes a line of the conversation. Results take along what was heard.
func (q *queue) pass(ln *line) {
	if ln.kind < assistant || ln.sidechain {
		return
	}
	q.last = ln
	if ln.kind == answer || ln.kind == prompt {
		ln.heard = append(ln.heard, q.heard...)
		q.heard = nil
	}
}

// rest returns a message of what was heard last, to which no results came; nil when there is
// nothing.
func (q *queue) rest() *line {
	if len(q.heard) == 0 || q.last == nil {
		return nil
	}
	return &line{kind: prompt, uuid: q.last.uuid + "-heard", parent: q.last.uuid, session: q.last.session, at: q.last.at, heard: q.heard,
		msg: precis.Message{Role: precis.RoleUser, Time: q.last.at}}
}

// hear adds to the lines what was heard with them, but what an attachment holds.
func hear(lines []*line) {
	attached := map[string]int{}
	for _, ln := range lines {
		for _, b := range ln.told {
			if t, ok := b.(precis.Text); ok {
				attached[t.Text]++
			}
		}
	}
	for _, ln := range lines {
		for _, words := range ln.heard {
			if attached[words] > 0 {
				attached[words]--
				continue
			}
			said := precis.Said{Program: program, Author: precis.AuthorPerson, Act: precis.ActRequest}
			if ofProgram(words) {
				said.Author, said.Act = precis.AuthorProgram, precis.ActNotice
			}
			ln.tell(told{precis.Text{Text: words, Said: said}})
		}
	}
}
