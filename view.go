package precis

import "sort"

// Unit is a piece of a view: the messages shown for messages [From,To) of the
// transcript. Units cover the transcript in order without gaps.
type Unit struct {
	From, To int
	Messages []Message // what is shown; empty when the span is hidden without a marker
	Edit     string    // ID of the edit that replaced the whole span; "" for an original message
	Changed  bool      // one or more blocks of the original message were replaced
	Index    []int     // when Changed: the original index of each block shown
}

// Original reports whether the unit shows an original message, its blocks
// possibly shortened.
func (u Unit) Original() bool { return u.Edit == "" }

// View returns the messages sent to the model: the transcript with the edits in
// force applied in order. It is a pure function; with no edits it returns the
// transcript's messages. Edits that cross earlier ones have no effect;
// [CheckEdit] refuses them.
func View(t *Transcript, edits []Edit) []Message {
	return messagesOf(Units(t, edits))
}

func messagesOf(units []Unit) []Message {
	out := make([]Message, 0, len(units))
	for _, u := range units {
		out = append(out, u.Messages...)
	}
	return out
}

// Units returns the view in pieces, each with the span it stands for.
func Units(t *Transcript, edits []Edit) []Unit {
	msgs := t.Messages()
	r := renderer{msgs: msgs, units: make([]Unit, len(msgs)), blocks: map[int]map[int]Replacement{}}
	for i := range msgs {
		r.units[i] = Unit{From: i, To: i + 1}
	}
	for _, e := range Active(edits) {
		if e.ID == "" {
			e.ID = "unnamed" // not yet identified: "" means an original unit
		}
		for _, p := range e.Replace {
			r.apply(e.ID, p)
		}
	}
	r.show()
	return r.units
}

// renderer builds the units of a view. blocks holds the replaced blocks of each
// message by index.
type renderer struct {
	msgs   []Message
	units  []Unit
	blocks map[int]map[int]Replacement
}

func (r *renderer) apply(edit string, p Replacement) {
	if p.From < 0 || p.To > len(r.msgs) || p.From > p.To || p.Block != nil && p.To != p.From+1 {
		return
	}
	switch {
	case p.Block != nil:
		r.applyBlock(p)
	case p.Restore:
		r.restore(p.From, p.To)
	default:
		i, j, ok := covered(r.units, p.From, p.To)
		if ok {
			u := Unit{From: p.From, To: p.To, Messages: p.With, Edit: edit}
			r.units = splice(r.units, i, j, u)
		}
	}
}

func (r *renderer) applyBlock(p Replacement) {
	b := findBlock(r.msgs[p.From], *p.Block)
	if b < 0 {
		return
	}
	m := r.blocks[p.From]
	if m == nil {
		m = map[int]Replacement{}
		r.blocks[p.From] = m
	}
	if p.Restore {
		delete(m, b)
		return
	}
	m[b] = p
}

// restore shows the original messages [from,to) again. A replaced span that
// reaches beyond them is split; its marker or summary stays with the first part
// that is still hidden.
func (r *renderer) restore(from, to int) {
	var out []Unit
	for _, u := range r.units {
		if u.To <= from || u.From >= to || u.Original() {
			out = append(out, u)
			continue
		}
		marker := u.Messages
		if u.From < from {
			out = append(out, Unit{From: u.From, To: from, Messages: marker, Edit: u.Edit})
			marker = nil
		}
		for i := max(u.From, from); i < min(u.To, to); i++ {
			out = append(out, Unit{From: i, To: i + 1})
		}
		if u.To > to {
			out = append(out, Unit{From: to, To: u.To, Messages: marker, Edit: u.Edit})
			marker = nil
		}
		if len(marker) > 0 {
			out = r.passOn(out, u.Edit, marker)
		}
	}
	for i := from; i < to; i++ {
		delete(r.blocks, i)
	}
	r.units = out
}

// passOn gives the marker of a span that is shown again to another part of the
// same edit's span that lost its own when it was split off; with none left the
// marker goes.
func (r *renderer) passOn(done []Unit, edit string, marker []Message) []Unit {
	at := done[len(done)-1].To
	for i := range r.units {
		u := &r.units[i]
		if u.From >= at && u.Edit == edit && len(u.Messages) == 0 && u.To > u.From {
			u.Messages = marker
			return done
		}
	}
	return done
}

// show fills in the messages of original units.
func (r *renderer) show() {
	for i := range r.units {
		u := &r.units[i]
		if !u.Original() {
			continue
		}
		m := r.msgs[u.From]
		if changes := r.blocks[u.From]; len(changes) > 0 {
			m, u.Index = withBlocks(m, changes)
			u.Changed = true
		}
		if len(m.Content) > 0 || !u.Changed {
			u.Messages = []Message{m}
		}
	}
}

// withBlocks returns a copy of m with some blocks replaced, and the original
// index of each block left. The copy has no raw bytes as a whole; its unchanged
// blocks keep theirs.
func withBlocks(m Message, changes map[int]Replacement) (Message, []int) {
	content := make([]Block, 0, len(m.Content))
	index := make([]int, 0, len(m.Content))
	for i, b := range m.Content {
		p, ok := changes[i]
		if ok && p.WithBlock == nil {
			continue
		}
		if ok {
			b = p.WithBlock
		}
		content, index = append(content, b), append(index, i)
	}
	m.Content, m.Raw = content, nil
	return m, index
}

// findBlock returns the index of the block that ref names in m, -1 if there is
// none.
func findBlock(m Message, ref BlockRef) int {
	if ref.Index >= 0 && ref.Index < len(m.Content) && HashBlock(m.Content[ref.Index]) == ref.Hash {
		return ref.Index
	}
	for i, b := range m.Content {
		if HashBlock(b) == ref.Hash {
			return i
		}
	}
	return -1
}

// covered returns the range [i,j) of units that together are exactly [from,to).
func covered(units []Unit, from, to int) (i, j int, ok bool) {
	i = sort.Search(len(units), func(k int) bool { return units[k].To > from })
	for i > 0 && units[i-1].From == from && from < units[i-1].To {
		i--
	}
	if i == len(units) || units[i].From != from || from == to {
		return 0, 0, false
	}
	for j = i; j < len(units) && units[j].To <= to; j++ {
		if units[j].To == to && (j+1 == len(units) || units[j+1].To > to) {
			return i, j + 1, true
		}
	}
	return 0, 0, false
}

func splice(units []Unit, i, j int, u Unit) []Unit {
	units[i] = u
	return append(units[:i+1], units[j:]...)
}
