package roo

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/wire/anthropic"
)

// CanTag reports whether Roo's tags can express the edit: a condensation of
// everything from the beginning, or a truncation. All other edits are stored in
// the sidecar.
func CanTag(e precis.Edit) bool {
	for _, r := range e.Replace {
		if r.Block != nil || r.Restore || len(r.With) > 1 {
			return false
		}
	}
	switch e.Kind {
	case precis.KindTruncation:
		return len(e.Replace) > 0
	case precis.KindCondensation:
		return len(e.Replace) == 1 && e.Replace[0].From == 0 && len(e.Replace[0].With) == 1
	}
	return false
}

// Says reports how the task's own files express an edit so that the editor applies it too: by
// tags and a UI event, or by patches of the history. If neither, only precis applies the edit.
func (t *Task) Says(e precis.Edit) (tags, patches bool) {
	bare, _ := splitTagged(t.Conversation.Transcript, e)
	return t.tags(bare), t.Patch && CanPatch(e)
}

// tags reports whether an edit is written as tags, which Cline does not have.
func (t *Task) tags(e precis.Edit) bool { return !t.IsCline() && CanTag(e) }

// Apply writes an edit into the history as Roo does: hidden messages get a tag, the summary or
// marker becomes a message. Now is the time in milliseconds, for messages without one. The error
// is [precis.CodeInvalid] if tags cannot express the edit, see [CanTag].
func (h *History) Apply(e precis.Edit, now float64) error {
	if !CanTag(e) {
		return precis.Errorf(precis.CodeInvalid, "tag messages",
			"Roo's tags cannot say what edit %s (%s) does", e.ID, e.Kind)
	}
	r, err := h.read(nil)
	if err != nil {
		return err
	}
	if e.Kind == precis.KindCondensation {
		h.condense(r, e, now)
	} else {
		h.truncate(r, e, now)
	}
	h.scan()
	return nil
}

func (h *History) condense(r *reading, e precis.Edit, now float64) {
	at := h.entryAt(r, e.Replace[0].To)
	for i := range at {
		if h.entries[i].condenseParent == "" {
			h.tag(i, "condenseParent", e.ID)
		}
	}
	ts := now + 1
	if at > 0 && h.entries[at-1].hasTS {
		ts = h.entries[at-1].ts + 1
	}
	m := e.Replace[0].With[0]
	raw := object(m.Role, anthropic.AppendContent(nil, m.Content, m.Format), ts)
	h.list.insert(at, setMember(setMember(raw, "isSummary", []byte("true")), "condenseId", quote(e.ID)))
}

// truncate tags the hidden messages and inserts a marker for each span that shows one. A span
// without a marker shares the marker of the next span that has one.
func (h *History) truncate(r *reading, e precis.Edit, now float64) {
	type insertion struct {
		at  int
		raw json.RawMessage
	}
	var inserts []insertion
	ids := markerIDs(e)
	for k, span := range e.Replace {
		from, at := h.entryAt(r, span.From), h.entryAt(r, span.To)
		for i := from; i < at; i++ {
			if h.entries[i].truncationParent == "" {
				h.tag(i, "truncationParent", ids[k])
			}
		}
		if len(span.With) == 0 {
			continue
		}
		ts := now - 1
		if at < len(h.entries) && h.entries[at].hasTS {
			ts = h.entries[at].ts - 1
		}
		m := span.With[0]
		raw := object(m.Role, quote(m.PlainText()), ts)
		raw = setMember(setMember(raw, "isTruncationMarker", []byte("true")), "truncationId", quote(ids[k]))
		inserts = append(inserts, insertion{at, raw})
	}
	for _, in := range slices.Backward(inserts) {
		h.list.insert(in.at, in.raw)
	}
}

// markerIDs returns the marker ID of each span: the edit's ID for the last marker, with a number
// added for earlier ones.
func markerIDs(e precis.Edit) []string {
	ids := make([]string, len(e.Replace))
	id, n := e.ID, 1
	for k := len(ids) - 1; k >= 0; k-- {
		ids[k] = id
		if k > 0 && len(e.Replace[k-1].With) > 0 {
			n++
			id = fmt.Sprintf("%s-%d", e.ID, n)
		}
	}
	return ids
}

func object(role precis.Role, content []byte, ts float64) json.RawMessage {
	raw := jsonspan.AppendStringField([]byte{'{'}, "role", string(role))
	raw = append(jsonspan.AppendField(raw, "content"), content...)
	raw = append(jsonspan.AppendField(raw, "ts"), strconv.FormatFloat(ts, 'f', -1, 64)...)
	return append(raw, '}')
}

// entryAt returns the index of the stored message for transcript message n, after any summaries
// and markers before it; the end for n = Len.
func (h *History) entryAt(r *reading, n int) int {
	if n < len(r.entryOf) {
		return r.entryOf[n]
	}
	return len(h.entries)
}

func (h *History) tag(i int, name, id string) {
	h.list.items[i].raw = setMember(h.list.items[i].raw, name, quote(id))
}

// Remove undoes an edit: it removes its summary or markers and the tags that name them, and
// reports whether it found any. Applying and removing an edit restores the former bytes. A
// summary without an ID is named by its position (see unnamed), so when removing several edits,
// remove these summaries first, from the last to the first.
func (h *History) Remove(id string) bool {
	names := func(s string) bool { return s == id || isNumbered(s, id) }
	found := false
	h.list.keep(func(i int) bool {
		e := h.entries[i]
		gone := e.summary && names(e.condenseID) || e.marker && names(e.truncationID) ||
			e.strict && id == unnamed(i) && e.condenseID == ""
		found = found || gone
		return !gone
	})
	if found {
		h.scan()
		h.untag(func(e entry) bool { return names(e.condenseParent) },
			func(e entry) bool { return names(e.truncationParent) })
	}
	return found
}

// byPlace sorts the IDs of edits for removal, see [History.Remove].
func (h *History) byPlace(ids []string) []string {
	var places, others []string
	for i := len(h.entries) - 1; i >= 0; i-- {
		if name := unnamed(i); h.entries[i].strict && h.entries[i].condenseID == "" && slices.Contains(ids,
			name) {
			places = append(places, name)
		}
	}
	for _, id := range ids {
		if !slices.Contains(places, id) {
			others = append(others, id)
		}
	}
	return append(places, others...)
}

// isNumbered reports whether s is id with "-" and a number: another marker of the same edit.
func isNumbered(s, id string) bool {
	if len(s) <= len(id)+1 || s[:len(id)] != id || s[len(id)] != '-' {
		return false
	}
	_, err := strconv.Atoi(s[len(id)+1:])
	return err == nil
}

func (h *History) untag(condense, truncate func(entry) bool) {
	for i, e := range h.entries {
		if e.condenseParent != "" && condense(e) {
			h.list.items[i].raw = dropMember(h.list.items[i].raw, "condenseParent")
		}
		if e.truncationParent != "" && truncate(e) {
			h.list.items[i].raw = dropMember(h.list.items[i].raw, "truncationParent")
		}
	}
	h.scan()
}

// Orphaned returns the transcript messages with a truncation tag for a missing marker: they are
// shown, but hiding them would overwrite the tag.
func (h *History) Orphaned() ([]int, error) {
	r, err := h.read(nil)
	if err != nil {
		return nil, err
	}
	markers := map[string]bool{}
	for _, e := range h.entries {
		if e.marker {
			markers[e.truncationID] = true
		}
	}
	var out []int
	for i, k := range r.entryOf {
		if tag := h.entries[k].truncationParent; tag != "" && !markers[tag] {
			out = append(out, i)
		}
	}
	return out, nil
}

// Clean removes the tags that name a missing summary or marker.
func (h *History) Clean() {
	summaries, markers := map[string]bool{}, map[string]bool{}
	for _, e := range h.entries {
		if e.summary && e.condenseID != "" {
			summaries[e.condenseID] = true
		}
		if e.marker && e.truncationID != "" {
			markers[e.truncationID] = true
		}
	}
	h.untag(func(e entry) bool { return !summaries[e.condenseParent] },
		func(e entry) bool { return !markers[e.truncationParent] })
}
