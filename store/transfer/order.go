package transfer

import "github.com/precis-dev/precis"

// editOrder sorts the edits of a scope into an order for recording them again. Each path has its
// edits in order, and shared edits have the same order on all paths, so a common order exists.
type editOrder struct {
	all   []*orderedEdit // in order of first occurrence
	known map[editKey]*orderedEdit
}

type editKey struct {
	at precis.Fingerprint
	id string
}

type orderedEdit struct {
	editLine
	next    []*orderedEdit // on some path
	waiting int            // number of edits that must come before it
}

// addPath adds the edits of a path, given as a transcript.
func (o *editOrder) addPath(t *precis.Transcript, edits []precis.Edit) {
	if len(edits) == 0 {
		return
	}
	depth := make(map[precis.Fingerprint]int, t.Len())
	for i := range t.Len() {
		depth[t.Fingerprint(i+1)] = i + 1
	}
	var last *orderedEdit
	for i, e := range edits {
		key := editKey{e.At, e.ID}
		this := o.known[key]
		if this == nil {
			this = &orderedEdit{editLine: editLine{After: newestBefore(depth, edits[:i], e), Edit: e}}
			o.known[key] = this
			o.all = append(o.all, this)
		}
		if last != nil {
			last.next = append(last.next, this)
			this.waiting++
		}
		last = this
	}
}

// newestBefore returns the ID of the last edit before e on the path to it.
func newestBefore(depth map[precis.Fingerprint]int, before []precis.Edit, e precis.Edit) string {
	for i := len(before) - 1; i >= 0; i-- {
		if depth[before[i].At] <= depth[e.At] {
			return before[i].ID
		}
	}
	return ""
}

// sorted returns all edits, each after the edits that precede it on any path.
func (o *editOrder) sorted() []editLine {
	var ready []*orderedEdit
	for _, e := range o.all {
		if e.waiting == 0 {
			ready = append(ready, e)
		}
	}
	var out []editLine
	for len(ready) > 0 {
		e := ready[0]
		ready = ready[1:]
		out = append(out, e.editLine)
		for _, n := range e.next {
			if n.waiting--; n.waiting == 0 {
				ready = append(ready, n)
			}
		}
	}
	return out
}
