package precis

import (
	"iter"
	"sort"
)

// Unit is a piece of a view: the messages shown for messages [From,To) of the
// transcript. Units cover the transcript in order without gaps.
type Unit struct {
	From, To        int
	Messages        []Message // the messages shown; empty when the span is hidden without a marker
	Edit            string    // ID of the edit that replaced the whole span; "" for an original message
	Changed         bool      // one or more blocks of the original message were replaced
	OriginalIndexes []int     // when Changed: the original index of each block shown
}

// Original reports whether the unit shows an original message, its blocks
// possibly shortened.
func (u Unit) Original() bool { return u.Edit == "" }

// Blocks returns the blocks that an original unit shows, each with its index in
// the original message.
func (u Unit) Blocks() iter.Seq2[int, Block] {
	return func(yield func(int, Block) bool) {
		if !u.Original() || len(u.Messages) == 0 {
			return
		}
		for k, block := range u.Messages[0].Content {
			if u.Changed {
				k = u.OriginalIndexes[k]
			}
			if !yield(k, block) {
				return
			}
		}
	}
}

// View returns the messages sent to the model: the transcript with the edits in
// force applied in order. It is a pure function; with no edits it returns the
// transcript's messages. Edits that cross earlier ones have no effect;
// [CheckEdit] refuses them.
func View(t *Transcript, edits []Edit) []Message {
	return messagesOf(Units(t, edits))
}

// Render returns the messages of a view of t, given its units: the transcript's own slice if the view
// shows all of it as it was said. The caller must not change the slice.
func (t *Transcript) Render(units []Unit) []Message {
	msgs := t.Messages()
	if len(units) != len(msgs) {
		return messagesOf(units)
	}
	for i, u := range units {
		if len(u.Messages) != 1 || &u.Messages[0] != &msgs[i] {
			return messagesOf(units)
		}
	}
	return msgs
}

func messagesOf(units []Unit) []Message {
	out := make([]Message, 0, len(units))
	for _, u := range units {
		out = append(out, u.Messages...)
	}
	return out
}

// Units returns the view in pieces, each with its span of the transcript.
func Units(t *Transcript, edits []Edit) []Unit { return render(t, edits).units }

func render(t *Transcript, edits []Edit) *renderer {
	r := newRenderer(t)
	for _, e := range Active(edits) {
		r.applyEdit(e)
	}
	r.show()
	return r
}

// renderer builds the units of a view. blocks holds the replaced blocks of each
// message by index.
type renderer struct {
	t      *Transcript
	msgs   []Message
	units  []Unit
	blocks map[int]map[int]blockChange
}

func newRenderer(t *Transcript) *renderer {
	msgs := t.Messages()
	r := &renderer{t: t, msgs: msgs, units: make([]Unit, len(msgs)), blocks: map[int]map[int]blockChange{}}
	for i := range msgs {
		r.units[i] = Unit{From: i, To: i + 1}
	}
	return r
}

func (r *renderer) applyEdit(e Edit) {
	for _, p := range e.Replace {
		r.apply(e.Name(), p)
	}
}

// blockChange is the replacement of a block and the edit that made it.
type blockChange struct {
	Replacement
	edit string
}

func (r *renderer) apply(edit string, p Replacement) {
	if p.From < 0 || p.To > len(r.msgs) || p.From > p.To || p.Block != nil && p.To != p.From+1 {
		return
	}
	switch {
	case p.Block != nil:
		r.applyBlock(edit, p)
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

func (r *renderer) applyBlock(edit string, p Replacement) {
	b := r.find(p.From, *p.Block)
	if b < 0 {
		return
	}
	m := r.blocks[p.From]
	if m == nil {
		m = map[int]blockChange{}
		r.blocks[p.From] = m
	}
	if p.Restore {
		delete(m, b)
		return
	}
	m[b] = blockChange{p, edit}
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

// passOn moves the marker of a restored span to the first remaining fragment of the same edit
// without one. With none left it drops the marker.
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
		changes := r.blocks[u.From]
		if len(changes) == 0 {
			u.Messages = r.msgs[u.From:u.To:u.To] // shared with the transcript
			continue
		}
		var m Message
		m, u.OriginalIndexes = withBlocks(r.msgs[u.From], changes)
		u.Changed = true
		if len(m.Content) > 0 {
			u.Messages = []Message{m}
		}
	}
}

// withBlocks returns a copy of m with some blocks replaced, and the original
// index of each block left. The copy has no raw bytes as a whole; its unchanged
// blocks keep theirs.
func withBlocks(m Message, changes map[int]blockChange) (Message, []int) {
	content := make([]Block, 0, len(m.Content))
	index := make([]int, 0, len(m.Content))
	for i, b := range m.Content {
		p, ok := changes[i]
		if ok && p.WithBlock == nil {
			continue
		}
		if ok {
			b = inherit(b, p.WithBlock)
		}
		content, index = append(content, b), append(index, i)
	}
	m.Content, m.Raw = content, nil
	return m, index
}

// find returns the index of the block that ref names in message i, or -1.
func (r *renderer) find(i int, ref BlockRef) int {
	n := len(r.msgs[i].Content)
	if ref.Index >= 0 && ref.Index < n && r.t.HashBlock(i, ref.Index) == ref.Hash {
		return ref.Index
	}
	for k := range n {
		if r.t.HashBlock(i, k) == ref.Hash {
			return k
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
	if j == i+1 {
		return units
	}
	return append(units[:i+1], units[j:]...)
}
