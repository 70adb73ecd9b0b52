package store

import (
	"context"
	"slices"

	"github.com/precis-dev/precis"
)

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
		after := "" // the edit before it
		if p.Edits > 0 {
			after = edits[p.Edits-1].ID
		}
		if err := st.AddEdit(ctx, after, edits[p.Edits]); err != nil {
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
