package precis

import "slices"

// CheckEdit reports whether e can be added to edits on t: every span lies
// inside the transcript and is a union of whole units of the view (edits nest
// and never cross), every block exists, every undone edit is in force. The
// error is [CodeConflict] for crossing spans, [CodeNotFound] or [CodeInvalid]
// otherwise.
func CheckEdit(t *Transcript, edits []Edit, e Edit) error {
	const op = "check edit"
	for _, id := range e.Undoes {
		if e.Kind == KindUndo && !inForce(edits, id) {
			return Errorf(CodeNotFound, op, "edit %s is not in force", id)
		}
	}
	if len(e.Undoes) > 0 {
		edits = append(edits[:len(edits):len(edits)], Edit{Kind: KindUndo, Undoes: e.Undoes})
	}
	if e.ID != "" && slices.ContainsFunc(edits, func(x Edit) bool { return x.ID == e.ID }) {
		return Errorf(CodeConflict, op, "there is an edit %s already", e.ID)
	}
	if err := disjoint(e.Replace); err != nil {
		return err
	}
	units := Units(t, edits)
	for _, r := range e.Replace {
		if r.From < 0 || r.To < r.From || r.To > t.Len() {
			return Errorf(CodeInvalid, op, "span %d to %d lies outside the %d messages", r.From, r.To, t.Len())
		}
		if r.Block != nil {
			if r.To != r.From+1 || findBlock(t.At(r.From), *r.Block) < 0 {
				return Errorf(CodeNotFound, op, "message %d has no such block %d", r.From, r.Block.Index)
			}
			continue
		}
		if _, _, ok := covered(units, r.From, r.To); !ok && !r.Restore {
			return Errorf(CodeConflict, op, "span %s crosses an earlier edit", SpanHandle(r.From, r.To))
		}
	}
	return nil
}

// inForce reports whether the edit (an undo included) exists and is not undone.
func inForce(edits []Edit, id string) bool {
	if undone(edits)[id] {
		return false
	}
	for _, e := range edits {
		if e.ID == id {
			return true
		}
	}
	return false
}

// disjoint returns a conflict when spans of one edit overlap.
func disjoint(list []Replacement) error {
	var spans []Replacement
	for _, r := range list {
		if r.Block == nil {
			spans = append(spans, r)
		}
	}
	slices.SortFunc(spans, func(a, b Replacement) int { return a.From - b.From })
	for i := 1; i < len(spans); i++ {
		if spans[i].From < spans[i-1].To {
			return Errorf(CodeConflict, "check edit", "spans %s and %s of one edit overlap",
				SpanHandle(spans[i-1].From, spans[i-1].To), SpanHandle(spans[i].From, spans[i].To))
		}
	}
	return nil
}
