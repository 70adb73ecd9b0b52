package precis

import "slices"

// Shown answers how a view shows each message and block of a transcript, and by
// which edit. It is a snapshot: make a new one after another edit.
type Shown struct {
	Units []Unit // the view in pieces, see [Units]; not to be changed

	t         *Transcript
	unitIndex []int // index in Units by message
	blocks    map[int]map[int]blockChange
	edits     []Edit // in force
	kinds     map[string]EditKind
	rewound   []bool // messages that a rewind hides; nil: none
}

// Appearance is how one message or block is shown. With neither Hidden nor Changed it is shown unchanged.
type Appearance struct {
	Hidden  bool     // not shown; the messages of Unit, if any, replace it
	Changed bool     // shown in another form: a message with some blocks replaced, or a replaced block
	Edit    string   // ID of the edit that did it, the newest of several; "" when unchanged
	Kind    EditKind // of Edit
	Unit    Unit     // the piece of the view that represents the message
	Block   Block    // of a block: the block shown for it; nil when hidden
}

// ShownBy computes how the edits show t.
func ShownBy(t *Transcript, edits []Edit) *Shown {
	r := render(t, edits)
	s := &Shown{Units: r.units, t: t, unitIndex: make([]int, len(r.msgs)), blocks: r.blocks,
		edits: Active(edits), kinds: map[string]EditKind{}}
	for n, u := range s.Units {
		for i := u.From; i < u.To; i++ {
			s.unitIndex[i] = n
		}
	}
	for _, e := range s.edits {
		s.kinds[e.Name()] = e.Kind
	}
	s.rewinds()
	return s
}

// rewinds finds the messages that a rewind hides, whatever other edits do to them.
func (s *Shown) rewinds() {
	if !slices.ContainsFunc(s.edits, func(e Edit) bool { return e.Kind == KindRewind }) {
		return
	}
	var edits []Edit
	for _, e := range s.edits {
		if e.Kind == KindRewind || e.Kind == KindRestore {
			edits = append(edits, e)
		}
	}
	s.rewound = make([]bool, len(s.unitIndex))
	for _, u := range Units(s.t, edits) {
		for i := u.From; i < u.To; i++ {
			s.rewound[i] = !u.Original()
		}
	}
}

// Message returns how message i is shown. It panics when i is out of range.
func (s *Shown) Message(i int) Appearance {
	u := s.Units[s.unitIndex[i]]
	if !u.Original() {
		return Appearance{Hidden: true, Edit: u.Edit, Kind: s.kinds[u.Edit], Unit: u}
	}
	look := Appearance{Unit: u}
	if !u.Changed {
		return look
	}
	look.Hidden = len(u.Messages) == 0
	look.Changed = !look.Hidden
	for _, e := range slices.Backward(s.edits) {
		for _, c := range s.blocks[i] {
			if c.edit == e.Name() {
				look.Edit, look.Kind = c.edit, e.Kind
				return look
			}
		}
	}
	return look
}

// Block returns how block b of message i is shown. A replacement that is the same
// as the original counts as none.
func (s *Shown) Block(i, b int) Appearance {
	u := s.Units[s.unitIndex[i]]
	if !u.Original() {
		return s.Message(i)
	}
	said := s.t.At(i).Content[b]
	c, replaced := s.blocks[i][b]
	switch {
	case !replaced:
		return Appearance{Unit: u, Block: said}
	case c.WithBlock == nil:
		return Appearance{Hidden: true, Edit: c.edit, Kind: s.kinds[c.edit], Unit: u}
	case EqualBlocks(c.WithBlock, said):
		return Appearance{Unit: u, Block: c.WithBlock}
	}
	return Appearance{Changed: true, Edit: c.edit, Kind: s.kinds[c.edit], Unit: u, Block: c.WithBlock}
}

// Whole reports whether every block that the handles name is shown unchanged.
func (s *Shown) Whole(blocks []Handle) bool {
	for _, h := range blocks {
		if look := s.Block(h.From, h.Block); look.Hidden || look.Changed {
			return false
		}
	}
	return true
}

// Rewound reports whether a rewind hides message i, whatever other edits do to
// it.
func (s *Shown) Rewound(i int) bool { return s.rewound != nil && s.rewound[i] }

// Kind returns the kind of the edit in force with the ID, or "".
func (s *Shown) Kind(id string) EditKind { return s.kinds[id] }

// Undone returns the edits that are not in force, by ID, each with the edit that undoes it: of kind
// [KindUndo] or [KindRewind]. An undoing edit may itself be undone, so later ones decide first.
func Undone(edits []Edit) map[string]Edit {
	gone := map[string]Edit{}
	for _, e := range slices.Backward(edits) {
		if _, undone := gone[e.ID]; undone {
			continue
		}
		for _, id := range e.Undoes {
			gone[id] = e
		}
	}
	return gone
}
