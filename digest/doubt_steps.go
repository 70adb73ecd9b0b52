package digest

import (
	"slices"
	"strconv"

	"precis"
	"precis/internal/lazyregexp"
)

// steps doubts how many steps a list of tasks has, when no list had so many.
func (d *doubter) steps(s statement) bool {
	m := listLength.FindStringSubmatch(s.text)
	known := d.in.standing().Lengths
	if m == nil || len(known) == 0 {
		return false
	}
	n, err := strconv.Atoi(m[1] + m[2])
	if err != nil || slices.Contains(known, n) {
		return false
	}
	var at *precis.Handle
	if all := d.in.standing().Steps; len(all) > 0 {
		h := all[0].Since
		h.From, h.To = h.From+d.in.offset, h.To+d.in.offset
		at = &h
	}
	d.doubt(d.shown(s), doubtNumber, "no list of the agent had "+strconv.Itoa(n)+" steps, but "+strconv.Itoa(known[len(known)-1]), at)
	return true
}

// listLength says how many steps a list has that the agent wrote.
var listLength = lazyregexp.New(`(?i)\b(?:task|todo|to-do)s?(?: list| tracking| tracker| items)?\b[^.;,]{0,20} with (\d{1,3}) (?:items?|tasks?|steps?|todos?|entries)\b|\b(?:created|wrote|set up|made|added) (\d{1,3}) (?:tasks|todos|to-dos|todo items|task items)\b`)
