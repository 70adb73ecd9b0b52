package claudecode

import (
	"slices"
	"strings"

	"github.com/precis-dev/precis"
)

// queue holds user input and outcomes of tasks that arrive while the agent works. Claude Code shows
// them to the model with the next tool results. Newer versions record that as an attachment; older
// ones only record when text entered and left the queue. Input by a person leaves the queue before
// notes by the program.
type queue struct {
	waiting []string // still in the queue
	heard   []string // shown to the model with results that have not been read yet
	last    *line    // the newest message of the main conversation
}

// operate applies a queue operation.
func (q *queue) operate(ln *line) {
	switch ln.queue {
	case "enqueue":
		q.waiting = append(q.waiting, ln.queuedInput)
	case "popAll": // moved back into the editor
		q.waiting = slices.DeleteFunc(q.waiting, func(s string) bool { return !ofProgram(s) })
	case "dequeue": // recorded again as a message
		q.take(ln.queuedInput)
	case "remove": // shown to the model with results
		words := q.take(ln.queuedInput)
		if words == "" {
			return
		}
		if q.last != nil && q.last.kind == answer {
			q.last.queuedTexts = append(q.last.queuedTexts, words)
		} else {
			q.heard = append(q.heard, words)
		}
	}
}

// take removes and returns the text that the line names, else the first by a person, else the
// first; "" if the queue is empty.
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

// ofProgram reports whether queued text is by the program: a task's outcome or record.
func ofProgram(words string) bool {
	return strings.HasPrefix(words, taskNotice) || strings.HasPrefix(words, `{"task_id"`)
}

// passMessage notes a message of the main conversation. One in the user's role takes the texts heard so
// far.
func (q *queue) passMessage(ln *line) {
	if ln.kind < assistant || ln.sidechain {
		return
	}
	q.last = ln
	if ln.kind == answer || ln.kind == prompt {
		ln.queuedTexts = append(ln.queuedTexts, q.heard...)
		q.heard = nil
	}
}

// restMessage returns a message with the text heard after the last results; nil if there is no such text.
func (q *queue) restMessage() *line {
	if len(q.heard) == 0 || q.last == nil {
		return nil
	}
	return &line{kind: prompt, uuid: q.last.uuid + "-heard", parent: q.last.uuid, session: q.last.session,
		at: q.last.at, queuedTexts: q.heard,
		msg: precis.Message{Role: precis.RoleUser, Time: q.last.at}}
}

// addHeardText adds to each line the input that the agent received with it, except text that an
// attachment holds.
func addHeardText(lines []*line) {
	attached := map[string]int{}
	for _, ln := range lines {
		for _, b := range ln.notes {
			if t, ok := b.(precis.Text); ok {
				attached[t.Text]++
			}
		}
	}
	for _, ln := range lines {
		for _, words := range ln.queuedTexts {
			if attached[words] > 0 {
				attached[words]--
				continue
			}
			said := precis.Attribution{Program: program, Author: precis.AuthorPerson, Act: precis.ActRequest}
			if ofProgram(words) {
				said.Author, said.Act = precis.AuthorProgram, precis.ActNotice
			}
			ln.addNote(noteBlocks{precis.Text{Text: words, Attribution: said}})
		}
	}
}
