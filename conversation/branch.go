package conversation

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/store"
)

// Branch makes a new conversation from the first n messages of another one and from the edits made
// by then. Stored messages are shared. Until a client sends those messages and continues
// differently, the branch can be viewed and previewed but not edited. Branch needs a store.
func Branch(ctx context.Context, h Home, id string, n int) (store.Record, error) {
	s, err := look(ctx, h, id, func(s *Subject) (Subject, error) { return *s, nil })
	if err != nil {
		return store.Record{}, err
	}
	const op = "branch conversation"
	var st precis.Store
	if home, ok := h.(Stored); ok {
		if st, err = home.Store(ctx, s.Owner); err != nil {
			return store.Record{}, err
		}
	}
	cat, ok := st.(store.Lister)
	if !ok {
		return store.Record{}, precis.Errorf(precis.CodeInvalid, op,
			"branches need a store that lists conversations")
	}
	if n < 1 || n > s.Conversation.Transcript.Len() {
		return store.Record{}, precis.Errorf(precis.CodeNotFound, op, "message %d: the conversation has %d",
			n, s.Conversation.Transcript.Len())
	}
	s.Conversation, _ = precis.BranchedAt(s.Conversation, n)
	s.Template.Meter = nil
	if _, err := store.Reconcile(ctx, st, s.Conversation.Transcript, s.Conversation.Edits,
		&store.Progress{}); err != nil {
		return store.Record{}, err
	}
	status, err := s.status()
	if err != nil {
		return store.Record{}, err
	}
	now := time.Now()
	rec := store.Record{
		ID: branchID(), Title: s.Record.Title, Dialect: s.Record.Dialect, Model: s.Record.Model,
		Head: s.Conversation.Transcript.Fingerprint(n), Messages: n,
		Tokens: status.Tokens, Window: status.Window, Created: now, Updated: now, Branched: s.Record.ID,
	}
	return rec, cat.PutConversation(ctx, rec)
}

func branchID() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return "b" + hex.EncodeToString(b[:])
}
