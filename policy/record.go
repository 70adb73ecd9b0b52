package policy

import (
	"context"
	"log/slog"
	"slices"

	"github.com/precis-dev/precis"
)

// recorder records edits: in a store and a ledger, when there are any, and in the
// conversation.
type recorder struct {
	store  precis.Store
	ledger precis.Ledger
	logger *slog.Logger
	onEdit func(context.Context, precis.Edit)
}

func (m *Manager) recorder() recorder {
	if m.silent {
		return recorder{}
	}
	return recorder{m.o.Store, m.ledger(), m.o.Logger, m.o.OnEdit}
}

// record records edits of one decision, in order. When one fails, the edits before it stay
// recorded; each leaves a valid view.
func (r recorder) record(ctx context.Context, conv *precis.Conversation, edits ...precis.Edit) error {
	if err := r.messages(ctx, conv); err != nil {
		return err
	}
	for _, e := range edits {
		if err := r.edit(ctx, conv, e); err != nil {
			return err
		}
	}
	return nil
}

// messages puts the messages into the store.
func (r recorder) messages(ctx context.Context, conv *precis.Conversation) error {
	if r.store == nil {
		return nil
	}
	_, err := r.store.Append(ctx, precis.Fingerprint{}, conv.Transcript.Messages()...)
	return err
}

// edit records an edit on messages that the store has.
func (r recorder) edit(ctx context.Context, conv *precis.Conversation, e precis.Edit) error {
	if r.store != nil {
		if err := r.store.AddEdit(ctx, lastID(conv.Edits), e); err != nil {
			return err
		}
	}
	conv.Edits = append(conv.Edits, e)
	r.book(ctx, conv, e)
	if r.onEdit != nil {
		r.onEdit(ctx, e)
	}
	return nil
}

// book adds a recorded edit to the ledger; its model calls are recorded when they end. The edit is
// valid even if the ledger fails; the failure is logged.
func (r recorder) book(ctx context.Context, conv *precis.Conversation, e precis.Edit) {
	if r.ledger == nil {
		return
	}
	err := r.ledger.Book(ctx, precis.LedgerEntry{
		Time: e.Time, Conversation: conv.ID, Model: conv.Model, Kind: string(e.Kind), EditID: e.ID,
		TriggeredBy: precis.TriggeredBy(e.Report.Trigger), Before: e.Report.TokensBefore,
		After: e.Report.TokensAfter,
	})
	if err != nil {
		r.logger.ErrorContext(ctx, "an edit is not in the ledger", "edit", e.ID, "error", err)
	}
}

func lastID(edits []precis.Edit) string {
	if len(edits) == 0 {
		return ""
	}
	return edits[len(edits)-1].ID
}

// Record records edits that a call of [Manager.Manage] made with [Request.Unrecorded], on the same
// conversation or an earlier state of it. The error is [precis.CodeConflict] when an edit crosses a later
// one, or when the store has an edit that the conversation lacks; edits before it stay recorded.
func (m *Manager) Record(ctx context.Context, conv *precis.Conversation, edits ...precis.Edit) error {
	to := m.recorder()
	for i, e := range edits {
		if e.Seen > conv.Transcript.Len() || conv.Transcript.Fingerprint(e.Seen) != e.At {
			return precis.Errorf(precis.CodeConflict, "record edit", "it was made on another conversation")
		}
		if err := precis.CheckEdit(conv.Transcript, conv.Edits, e); err != nil {
			return err
		}
		if i == 0 {
			if err := to.messages(ctx, conv); err != nil {
				return err
			}
		}
		if err := to.edit(ctx, conv, e); err != nil {
			return err
		}
	}
	return nil
}

// Save puts a conversation that came from elsewhere into the store: its
// messages, and the edits it already has. It returns the node it ends at, for
// [Manager.Load]. Saving again stores only new ones. Without a store the
// error is [precis.CodeInvalid].
func (m *Manager) Save(ctx context.Context, conv *precis.Conversation) (precis.Fingerprint, error) {
	st := m.o.Store
	if st == nil {
		return precis.Fingerprint{}, precis.Errorf(precis.CodeInvalid, "save conversation",
			"the manager has no store")
	}
	node, err := st.Append(ctx, precis.Fingerprint{}, conv.Transcript.Messages()...)
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
// [precis.CodeNotFound] for an unknown node, [precis.CodeInvalid] without a store.
func (m *Manager) Load(ctx context.Context, node precis.Fingerprint) (*precis.Conversation, error) {
	if m.o.Store == nil {
		return nil, precis.Errorf(precis.CodeInvalid, "load conversation", "the manager has no store")
	}
	t, edits, err := m.o.Store.Load(ctx, node)
	if err != nil {
		return nil, err
	}
	return &precis.Conversation{Transcript: t, Edits: edits}, nil
}

// Progress is the part of a conversation that a store is known to hold. The zero value is an empty
// part. It is a hint: [Reconcile] detects a store that another process has purged.
type Progress struct {
	Messages int // leading messages of the transcript
	Edits    int // leading edits of the conversation
}

// Reconcile brings a conversation in memory and a store together and returns the edits that are in
// force afterwards:
//
//   - the store lacks messages or edits: they are added to it;
//   - the store is ahead: its edits are returned;
//   - both have new edits: the edits of the store are returned, and
//     those that only memory has are dropped.
//
// Progress is updated as far as the store got, also when there is an error; the edits returned with
// an error are the given ones. Only the part after progress is compared, so a fully stored
// conversation costs no call. Concurrent calls for one conversation are safe with a Progress of
// their own.
func Reconcile(ctx context.Context, st precis.Store, t *precis.Transcript, edits []precis.Edit,
	p *Progress) ([]precis.Edit, error) {
	const attempts = 4 // each but the first follows a write by another process
	var err error
	for range attempts {
		if err = p.store(ctx, st, t, edits); err == nil {
			return edits, nil
		}
		if code := precis.CodeOf(err); code != precis.CodeConflict && code != precis.CodeNotFound {
			return edits, err
		}
		there, loadErr := StoredEdits(ctx, st, t.Fingerprint(t.Len()))
		switch precis.CodeOf(loadErr) {
		case "":
			edits, p.Edits = MergeEdits(edits, there)
		case precis.CodeNotFound: // purged by another process
			*p = Progress{}
		default:
			return edits, loadErr
		}
	}
	return edits, err
}

// store writes the part that the store is not known to hold. Messages are written a piece at a
// time, so that one long conversation does not keep others waiting, and written pieces stay when a
// later piece fails.
func (p *Progress) store(ctx context.Context, st precis.Store, t *precis.Transcript,
	edits []precis.Edit) error {
	msgs := t.Messages()
	for p.Messages < len(msgs) {
		next := p.Messages + piece(msgs[p.Messages:])
		if _, err := st.Append(ctx, t.Fingerprint(p.Messages), msgs[p.Messages:next]...); err != nil {
			return err
		}
		p.Messages = next
	}
	for p.Edits < len(edits) {
		if err := st.AddEdit(ctx, lastID(edits[:p.Edits]), edits[p.Edits]); err != nil {
			return err
		}
		p.Edits++
	}
	return nil
}

// piece returns how many of messages are stored in one call.
func piece(msgs []precis.Message) int {
	const (
		most  = 256
		bytes = 512 << 10 // of raw bytes; messages without them are small or few
	)
	n, size := 0, 0
	for n < len(msgs) && n < most && (n == 0 || size+len(msgs[n].Raw) <= bytes) {
		size += len(msgs[n].Raw)
		n++
	}
	return n
}

// MergeEdits decides between the edits of a conversation in memory and those a
// store has for it. When the stored ones are the beginning of those in memory,
// memory is kept; in every other case the store is. Stored is how many of the
// returned edits are in the store.
func MergeEdits(memory, there []precis.Edit) (now []precis.Edit, stored int) {
	if len(there) <= len(memory) && slices.EqualFunc(there, memory[:len(there)],
		func(a, b precis.Edit) bool { return a.ID == b.ID }) {
		return memory, len(there)
	}
	return there, len(there)
}

// StoredEdits returns the edits in force at a node of a store, without reading
// its messages where the store can. The error is [precis.CodeNotFound] for an unknown
// node.
func StoredEdits(ctx context.Context, st precis.Store, node precis.Fingerprint) ([]precis.Edit, error) {
	if l, ok := st.(interface {
		Edits(context.Context, precis.Fingerprint) ([]precis.Edit, error)
	}); ok {
		return l.Edits(ctx, node)
	}
	_, edits, err := st.Load(ctx, node)
	return edits, err
}
