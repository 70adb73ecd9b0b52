package precis

import (
	"context"
	"fmt"
	"slices"
)

// Undo takes back edits of a conversation: the given IDs, or, when there are
// none, the last run that reduced it. It appends one edit of kind [KindUndo]
// and returns it. The error is [CodeNotFound] when there is nothing to undo.
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

// Restore shows hidden content again, from now on: whole messages with the tool
// uses and results that belong to them, or one block.
func (m *Manager) Restore(ctx context.Context, conv *Conversation, h Handle) (Edit, error) {
	t := conv.Transcript
	if err := checkHandle(t, h); err != nil {
		return Edit{}, err
	}
	e := Edit{Kind: KindRestore, Report: EditReport{Reason: "asked for: " + h.String()}}
	if h.Block >= 0 {
		if !blockHidden(t, Units(t, conv.Edits), h) {
			return Edit{}, Errorf(CodeNotFound, "restore", "%s is shown as it was said", h)
		}
		r := ReplaceBlock(t, h.From, h.Block, nil)
		r.Restore = true
		e.Replace = []Replacement{r}
		return m.add(ctx, conv, e)
	}
	k := Kept{groups: append(Groups(t.Messages()), t.Len())}
	from, _ := k.Group(h.From)
	_, to := k.Group(h.To - 1)
	if !hidden(Units(t, conv.Edits), from, to) {
		return Edit{}, Errorf(CodeNotFound, "restore", "%s is shown as it was said", h)
	}
	e.Replace = []Replacement{{From: from, To: to, Restore: true}}
	return m.add(ctx, conv, e)
}

// hidden reports whether any of messages [from,to) is not shown as it was said.
func hidden(units []Unit, from, to int) bool {
	for _, u := range units {
		if u.To > from && u.From < to && (!u.Original() || u.Changed) {
			return true
		}
	}
	return false
}

// blockHidden reports whether a block is not shown as it was said.
func blockHidden(t *Transcript, units []Unit, h Handle) bool {
	for _, u := range units {
		if h.From < u.From || h.From >= u.To {
			continue
		}
		return !u.Original() || !shownBlocks([]Unit{u})[shownBlock{h.From, HashBlock(t.At(h.From).Content[h.Block])}]
	}
	return true
}

// Pin marks messages or a block as important: no later run hides or cuts them.
// What is hidden already stays so; see [Manager.Restore].
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

// Rewind hides the messages from n on, reversibly: undoing the edit brings them
// back. Edits made after message n are taken back with them. To forget them for
// good use [Rewound].
func (m *Manager) Rewind(ctx context.Context, conv *Conversation, n int) (Edit, error) {
	t := conv.Transcript
	if n < 0 || n > t.Len() {
		return Edit{}, Errorf(CodeNotFound, "rewind", "message %d: the conversation has %d", n, t.Len())
	}
	e := Edit{Kind: KindRewind, Report: EditReport{Reason: fmt.Sprintf("rewound to message %d", n)}}
	changes := n < t.Len()
	gone := undone(conv.Edits)
	for _, later := range conv.Edits {
		if later.Seen > n { // undo edits too: what they took back after message n is in force again
			e.Undoes = append(e.Undoes, later.ID)
			changes = changes || !gone[later.ID]
		}
	}
	if n < t.Len() {
		e.Replace = []Replacement{{From: n, To: t.Len()}}
	}
	if !changes {
		return Edit{}, Errorf(CodeNotFound, "rewind", "the conversation is at message %d already", n)
	}
	return m.add(ctx, conv, e)
}

// Rewound returns the conversation as it was when it had n messages: the first
// n and the edits made at or before that point. Nothing can be orphaned. The
// original is unchanged; n is clamped.
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

// Show returns the original messages a handle names, hidden or not.
func Show(t *Transcript, h Handle) ([]Message, error) {
	if err := checkHandle(t, h); err != nil {
		return nil, err
	}
	if h.Block < 0 {
		return t.Messages()[h.From:h.To:h.To], nil
	}
	m := t.At(h.From)
	m.Content, m.Raw = m.Content[h.Block:h.Block+1:h.Block+1], nil
	return []Message{m}, nil
}

func checkHandle(t *Transcript, h Handle) error {
	if h.From < 0 || h.To <= h.From || h.To > t.Len() {
		return Errorf(CodeNotFound, "find "+h.String(), "the conversation has %d messages", t.Len())
	}
	if n := len(t.At(h.From).Content); h.Block >= n {
		return Errorf(CodeNotFound, "find "+h.String(), "message %d has %d blocks", h.From, n)
	}
	return nil
}

// LastRun returns the IDs of the newest run in force that can be taken back.
func LastRun(edits []Edit) []string {
	active := Active(edits)
	if len(active) == 0 {
		return nil
	}
	last := active[len(active)-1]
	if last.Run == "" {
		return []string{last.ID}
	}
	var ids []string
	for _, e := range active {
		if e.Run == last.Run {
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
	if err := m.keep(ctx, conv, e); err != nil {
		return Edit{}, err
	}
	return e, nil
}

// keep records edits of one decision, in order: in the store and its ledger, if
// there is one, and in the conversation. When one cannot be recorded those
// before it stand; each leaves a valid view.
func (m *Manager) keep(ctx context.Context, conv *Conversation, edits ...Edit) error {
	return m.keepAs(ctx, conv, false, edits...)
}

// keepAs is keep; paid says that what the edits cost is in the ledger already.
func (m *Manager) keepAs(ctx context.Context, conv *Conversation, paid bool, edits ...Edit) error {
	if m.o.Store != nil {
		if _, err := m.o.Store.Append(ctx, Fingerprint{}, conv.Transcript.Messages()...); err != nil {
			return err
		}
	}
	for _, e := range edits {
		if m.o.Store != nil {
			if err := m.o.Store.AddEdit(ctx, lastID(conv.Edits), e); err != nil {
				return err
			}
		}
		conv.Edits = append(conv.Edits, e)
		m.book(ctx, conv, e, paid)
	}
	return nil
}

// book adds a recorded edit to the ledger, if there is one. The edit stands even
// when it cannot be booked; that is logged.
func (m *Manager) book(ctx context.Context, conv *Conversation, e Edit, paid bool) {
	cost := e.Report.CostUSD
	if paid {
		cost = 0
	}
	m.purse.add(conv, m.o.Now(), cost, true)
	ledger := m.ledger()
	if ledger == nil {
		return
	}
	var usage Usage
	if e.Report.Call != nil && !paid {
		usage = e.Report.Call.Usage
	}
	err := ledger.Book(ctx, LedgerEntry{
		Usage: usage, Time: e.Time, Conversation: conv.ID, Model: conv.Model, Kind: string(e.Kind), EditID: e.ID,
		TriggeredBy: TriggeredBy(e.Report.Trigger), Before: e.Report.TokensBefore, After: e.Report.TokensAfter, CostUSD: cost,
	})
	if err != nil {
		m.o.Logger.ErrorContext(ctx, "an edit is not in the ledger", "edit", e.ID, "error", err)
	}
}

func lastID(edits []Edit) string {
	if len(edits) == 0 {
		return ""
	}
	return edits[len(edits)-1].ID
}

// Record records edits that a call of [Manager.Manage] made with
// [Request.Unrecorded], on the same conversation or an earlier state of it. The
// error is [CodeConflict] when one crosses what was recorded since, or when the
// store knows of an edit that the conversation does not; edits before it stand.
func (m *Manager) Record(ctx context.Context, conv *Conversation, edits ...Edit) error {
	for _, e := range edits {
		if e.Seen > conv.Transcript.Len() || conv.Transcript.Fingerprint(e.Seen) != e.At {
			return Errorf(CodeConflict, "record edit", "it was made on another conversation")
		}
		if err := CheckEdit(conv.Transcript, conv.Edits, e); err != nil {
			return err
		}
		if err := m.keepAs(ctx, conv, true, e); err != nil {
			return err
		}
	}
	return nil
}

// Save puts a conversation that came from elsewhere into the store: its
// messages, and the edits it already has. It returns the node it ends at, for
// [Manager.Load]. Saving again stores only what is new. Without a store the
// error is [CodeInvalid].
func (m *Manager) Save(ctx context.Context, conv *Conversation) (Fingerprint, error) {
	st := m.o.Store
	if st == nil {
		return Fingerprint{}, Errorf(CodeInvalid, "save conversation", "the manager has no store")
	}
	node, err := st.Append(ctx, Fingerprint{}, conv.Transcript.Messages()...)
	if err != nil {
		return node, err
	}
	_, stored, err := st.Load(ctx, node)
	if err != nil {
		return node, err
	}
	for i, e := range conv.Edits {
		if i < len(stored) && stored[i].ID == e.ID {
			continue
		}
		if err := st.AddEdit(ctx, lastID(conv.Edits[:i]), e); err != nil {
			return node, err
		}
	}
	return node, nil
}

// Load returns the conversation that ends at a node of the store, with the edits
// in force there. Only its transcript and edits are kept by stores. The error is
// [CodeNotFound] for an unknown node, [CodeInvalid] without a store.
func (m *Manager) Load(ctx context.Context, node Fingerprint) (*Conversation, error) {
	if m.o.Store == nil {
		return nil, Errorf(CodeInvalid, "load conversation", "the manager has no store")
	}
	t, edits, err := m.o.Store.Load(ctx, node)
	if err != nil {
		return nil, err
	}
	return &Conversation{Transcript: t, Edits: edits}, nil
}

// unused returns id, or id with a number when an edit, undone since, has it.
func unused(edits []Edit, id string) string {
	name := id
	for n := 2; slices.ContainsFunc(edits, func(e Edit) bool { return e.ID == name }); n++ {
		name = fmt.Sprintf("%s-%d", id, n)
	}
	return name
}
