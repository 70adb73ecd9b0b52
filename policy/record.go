package policy

import (
	"context"
	"log/slog"

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
