package claudecode

import "precis"

// queue holds what the user types while the agent works. Claude Code shows it to the
// model beside the next results of tools and records no message for it, only that it entered and
// left the queue.
type queue struct {
	typed []string // still in the queue
	heard []string // shown to the model with results that have not come yet
	last  *line    // the newest message of the main conversation
}

// operate does what a line says of the queue.
func (q *queue) operate(ln *line) {
	switch ln.queue {
	case "enqueue":
		q.typed = append(q.typed, ln.said)
	case "popAll": // back into the editor
		q.typed = nil
	case "dequeue": // a message of its own follows
		q.typed = q.typed[min(1, len(q.typed)):]
	case "remove": // shown to the model on the way
		if len(q.typed) == 0 || q.typed[0] == "" {
			q.typed = q.typed[min(1, len(q.typed)):]
			return
		}
		words := q.typed[:1:1]
		q.typed = q.typed[1:]
		if q.last != nil && q.last.kind == answer {
			q.last.hear(words)
		} else {
			q.heard = append(q.heard, words...)
		}
	}
}

// pass notes a line of the conversation. Results take along what the user was heard to say.
func (q *queue) pass(ln *line) {
	if ln.kind < assistant || ln.sidechain {
		return
	}
	q.last = ln
	if ln.kind == answer || ln.kind == prompt {
		ln.hear(q.heard)
		q.heard = nil
	}
}

// rest returns a message of what was heard last, to which no results came; nil when there is
// nothing.
func (q *queue) rest() *line {
	if len(q.heard) == 0 || q.last == nil {
		return nil
	}
	ln := &line{kind: prompt, uuid: q.last.uuid + "-heard", parent: q.last.uuid, session: q.last.session, at: q.last.at, msg: precis.Message{Role: precis.RoleUser, Time: q.last.at}}
	ln.hear(q.heard)
	return ln
}
