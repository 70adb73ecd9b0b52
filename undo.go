package precis

import (
	"context"
	"fmt"
	"slices"
)

// Undo undoes edits of a conversation: the given IDs, or, without IDs, the last run that reduced
// it. It appends one edit of kind [KindUndo] and returns it. The error is [CodeNotFound] when there
// is no edit to undo.
func (m *Manager) Undo(ctx context.Context, conv *Conversation, ids ...string) (Edit, error) {
	if conv == nil || conv.Transcript == nil {
		return Edit{}, Errorf(CodeInvalid, "undo", "the conversation has no transcript")
	}
	if len(ids) == 0 {
		ids = LastRun(conv.Edits)
	}
	if len(ids) == 0 {
		return Edit{}, Errorf(CodeNotFound, "undo", "no edit is in force")
	}
	return m.add(ctx, conv, Edit{Kind: KindUndo, Undoes: ids})
}

// Restore shows hidden content again, from now on: whole messages with the tool uses and results
// that belong to them, or one block. A block of a message that is hidden as a whole comes back with
// its message. The error is [CodeNotFound] when all of it is shown unchanged.
func (m *Manager) Restore(ctx context.Context, conv *Conversation, h Handle) (Edit, error) {
	t := conv.Transcript
	if err := checkHandle(t, h); err != nil {
		return Edit{}, err
	}
	e := Edit{Kind: KindRestore, Report: EditReport{Reason: "asked for: " + h.String()}}
	shown := ShownBy(t, conv.Edits)
	r := Replacement{From: h.From, To: h.To, Restore: true}
	hidden := false
	if h.Block >= 0 && shown.Message(h.From).Unit.Original() {
		r.Block = ReplaceBlock(t, h.From, h.Block, nil).Block
		hidden = !shown.Whole([]Handle{h})
	} else {
		k := Kept{groups: append(Groups(t.Messages()), t.Len())}
		r.From, _ = k.Group(h.From)
		_, r.To = k.Group(h.To - 1)
		hidden = slices.ContainsFunc(shown.Units, func(u Unit) bool { return u.To > r.From && u.From < r.To && (!u.Original() || u.Changed) })
	}
	if !hidden {
		return Edit{}, Errorf(CodeNotFound, "restore", "%s is shown as it was said", h)
	}
	e.Replace = []Replacement{r}
	return m.add(ctx, conv, e)
}

// Pin marks messages or a block as important: no later run hides or cuts them. Content that is
// hidden already comes back with the next run that reduces the view, or at once with
// [Manager.Restore].
func (m *Manager) Pin(ctx context.Context, conv *Conversation, handles ...Handle) (Edit, error) {
	if len(handles) == 0 {
		return Edit{}, Errorf(CodeInvalid, "pin", "no handle is given")
	}
	for _, h := range handles {
		if err := checkHandle(conv.Transcript, h); err != nil {
			return Edit{}, err
		}
	}
	return m.add(ctx, conv, Edit{Kind: KindPin, Pins: handles})
}

// Rewind hides the messages from n on, reversibly: undoing the edit brings them back. A call and
// its results stay together: if n lies between them, the call is hidden, too, and the edit's reason
// says so. Edits made after message n are undone, but for pins, exclusions and restores of messages
// that stay; the edit's notes name the orders that are lost. To drop the messages for good use
// [BranchedAt].
func (m *Manager) Rewind(ctx context.Context, conv *Conversation, n int) (Edit, error) {
	t := conv.Transcript
	if n < 0 || n > t.Len() {
		return Edit{}, Errorf(CodeNotFound, "rewind", "message %d: the conversation has %d", n, t.Len())
	}
	e := Edit{Kind: KindRewind}
	asked := n
	if n = boundary(t.Messages(), n); n == asked {
		e.Report.Reason = fmt.Sprintf("rewound to message %d", n)
	} else {
		e.Report.Reason = fmt.Sprintf("rewound to message %d: a call and its results go together, and %s to %s are one", n, MessageHandle(n), MessageHandle(asked))
	}
	changes := n < t.Len()
	gone, o := Undone(conv.Edits), ordersBefore(conv.Edits, n)
	for _, later := range conv.Edits {
		if later.Seen > n && !o.stays[later.ID] { // undo edits too: edits that they undid after message n are in force again
			e.Undoes = append(e.Undoes, later.ID)
			_, undone := gone[later.ID]
			changes = changes || !undone
		}
	}
	e.Report.Notes = o.notes()
	if n < t.Len() {
		e.Replace = []Replacement{{From: n, To: t.Len()}}
	}
	if !changes {
		return Edit{}, Errorf(CodeNotFound, "rewind", "the conversation is at message %d already", n)
	}
	return m.add(ctx, conv, e)
}

// boundary returns the last place at or before n where the messages may be cut without separating a
// call from its results.
func boundary(msgs []Message, n int) int {
	if n >= len(msgs) {
		return n
	}
	at := 0
	for _, g := range Groups(msgs) {
		if g > n {
			break
		}
		at = g
	}
	return at
}

// Rewound returns the conversation as it was when it had n messages: the first n and the edits made
// at or before that point. Its edits are always valid. The original is unchanged; n is clamped. To
// continue from there use [BranchedAt].
func Rewound(conv *Conversation, n int) *Conversation {
	out := *conv
	out.Transcript = conv.Transcript.Prefix(n)
	out.Edits = nil
	for _, e := range conv.Edits {
		if e.Seen <= n {
			out.Edits = append(out.Edits, e)
		}
	}
	return &out
}

// LastRun returns the IDs of the newest run in force that can be undone.
func LastRun(edits []Edit) []string {
	active := Active(edits)
	if len(active) == 0 {
		return nil
	}
	last := active[len(active)-1]
	if last.Run == "" {
		return []string{last.ID}
	}
	gone := Undone(edits)
	var ids []string
	for _, e := range edits { // including the edits that undo others
		if _, undone := gone[e.ID]; !undone && e.Run == last.Run {
			ids = append(ids, e.ID)
		}
	}
	return ids
}

// add checks, identifies and records an edit.
func (m *Manager) add(ctx context.Context, conv *Conversation, e Edit) (Edit, error) {
	e.Time = m.o.Now()
	e.Report.Trigger = string(TriggeredManual)
	if err := e.Identify(conv.Transcript); err != nil {
		return Edit{}, err
	}
	e.ID = unused(conv.Edits, e.ID)
	if err := CheckEdit(conv.Transcript, conv.Edits, e); err != nil {
		return Edit{}, err
	}
	e.Report.count(e)
	if err := m.recorder().record(ctx, conv, e); err != nil {
		return Edit{}, err
	}
	return e, nil
}

// unused returns id, or id with a number when an edit, undone since, has it.
func unused(edits []Edit, id string) string {
	name := id
	for n := 2; slices.ContainsFunc(edits, func(e Edit) bool { return e.ID == name }); n++ {
		name = fmt.Sprintf("%s-%d", id, n)
	}
	return name
}
