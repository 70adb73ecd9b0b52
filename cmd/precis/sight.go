package main

import "precis"

// How a view shows a block.
const (
	isShown   = "shown"   // as it was said
	isPreview = "preview" // something shorter stands in its place
	isHidden  = "hidden"
)

// sight tells how the view shows each block, and by which kind of edit.
type sight struct {
	units  []precis.Unit // by message
	kinds  map[string]precis.EditKind
	blocks map[precis.Handle]precis.EditKind
	t      *precis.Transcript
}

func newSight(t *precis.Transcript, edits []precis.Edit) *sight {
	s := &sight{units: make([]precis.Unit, t.Len()), kinds: map[string]precis.EditKind{}, blocks: map[precis.Handle]precis.EditKind{}, t: t}
	for _, u := range precis.Units(t, edits) {
		for i := u.From; i < u.To; i++ {
			s.units[i] = u
		}
	}
	for _, e := range precis.Active(edits) {
		s.kinds[e.ID] = e.Kind
		for _, r := range e.Replace {
			if r.Block != nil {
				s.blocks[precis.BlockHandle(r.From, r.Block.Index)] = e.Kind
			}
		}
	}
	return s
}

// of says how the view shows a block. The kind is empty for what is shown.
func (s *sight) of(h precis.Handle) (state string, by precis.EditKind) {
	u := s.units[h.From]
	if !u.Original() {
		return isHidden, s.kinds[u.Edit]
	}
	now, ok := blockOf(u, h.Block)
	switch {
	case !ok:
		return isHidden, s.blocks[h]
	case u.Changed && precis.HashBlock(now) != precis.HashBlock(s.t.At(h.From).Content[h.Block]):
		return isPreview, s.blocks[h]
	}
	return isShown, ""
}

// blockOf returns what an original unit shows for block b of its message.
func blockOf(u precis.Unit, b int) (precis.Block, bool) {
	if len(u.Messages) == 0 {
		return nil, false
	}
	content := u.Messages[0].Content
	if !u.Changed {
		if b >= len(content) {
			return nil, false
		}
		return content[b], true
	}
	for k, was := range u.Index {
		if was == b {
			return content[k], true
		}
	}
	return nil, false
}
