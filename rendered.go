package precis

// rendered is the view a [Meter] was asked for last. What was rendered stays as
// it is while messages are only added, so nothing of it is made or counted
// again.
type rendered struct {
	t     *Transcript
	edits []Edit
	n     int // messages of t when it was rendered
	units []Unit
}

// units returns the view in pieces, see [Units]. The slice is not to be changed.
func (m *Meter) units(t *Transcript, edits []Edit) []Unit {
	r := &m.last
	n := t.Len()
	if r.t != t || !sameEdits(r.edits, edits) || r.n > n || reach(edits) > r.n {
		units := Units(t, edits)
		*r = rendered{t: t, edits: edits, n: end(units), units: units}
		return r.units[:len(r.units):len(r.units)]
	}
	msgs := t.Messages()
	n = len(msgs) // another may have added to it
	for i := r.n; i < n; i++ {
		r.units = append(r.units, Unit{From: i, To: i + 1, Messages: msgs[i : i+1 : i+1]})
	}
	r.n = n
	return r.units[:len(r.units):len(r.units)]
}

func sameEdits(a, b []Edit) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].ID != b[i].ID {
			return false
		}
	}
	return true
}

// reach returns the end of the last message that any of the edits replaces.
func reach(edits []Edit) int {
	end := 0
	for _, e := range edits {
		for _, p := range e.Replace {
			end = max(end, p.To)
		}
	}
	return end
}

// settle forgets the counts of views that were only tried, and takes over the
// view that a run led to, if it is that of the conversation now.
func (m *Meter) settle(conv *Conversation, edits []Edit, units []Unit) {
	if !sameEdits(edits, conv.Edits) {
		units = Units(conv.Transcript, conv.Edits)
	}
	was := m.memo
	m.memo = make(map[*Block]int, len(units))
	keep := func(msg Message) {
		if len(msg.Content) == 0 {
			return
		}
		if n, ok := was[&msg.Content[0]]; ok {
			m.memo[&msg.Content[0]] = n
		}
	}
	keep(conv.System)
	for _, msg := range conv.Transcript.Messages() {
		keep(msg)
	}
	for _, u := range units {
		for _, msg := range u.Messages {
			keep(msg)
		}
	}
	m.last = rendered{t: conv.Transcript, edits: conv.Edits, n: end(units), units: units}
}

// end returns the number of messages that units cover.
func end(units []Unit) int {
	if len(units) == 0 {
		return 0
	}
	return units[len(units)-1].To
}
