package policy_test

import (
	"context"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/precistest"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/store/memory"
)

func TestRestoreOfABlockInAHiddenSpanShowsIt(t *testing.T) {
	m := manager(t, policy.Options{})
	conv := &precis.Conversation{Transcript: precistest.Numbered(10), Edits: []precis.Edit{precistest.Span("e", 1, 7, "[hidden]")}}
	if _, err := m.Restore(t.Context(), conv, precis.BlockHandle(3, 0)); err != nil {
		t.Fatal(err)
	}
	if look := precis.ShownBy(conv.Transcript, conv.Edits).Block(3, 0); look.Hidden || look.Changed {
		t.Errorf("the block is shown as %+v", look)
	}
	if _, err := m.Restore(t.Context(), conv, precis.BlockHandle(3, 0)); precis.CodeOf(err) != precis.CodeNotFound {
		t.Errorf("restored again: %v", err)
	}
}

// countingStore counts calls of Append.
type countingStore struct {
	*memory.Store
	appends int
}

func (s *countingStore) Append(ctx context.Context, parent precis.Fingerprint, msgs ...precis.Message) (precis.Fingerprint, error) {
	s.appends++
	return s.Store.Append(ctx, parent, msgs...)
}

func TestRecordStoresTheMessagesOnce(t *testing.T) {
	st := &countingStore{Store: memory.New()}
	m := manager(t, policy.Options{Store: st})
	conv := &precis.Conversation{Transcript: precistest.Numbered(10)}
	var edits []precis.Edit
	for i := range 3 {
		e := precistest.Span("", 2*i, 2*i+2, "[hidden]")
		if err := e.Identify(conv.Transcript); err != nil {
			t.Fatal(err)
		}
		edits = append(edits, e)
	}
	if err := m.Record(t.Context(), conv, edits...); err != nil || len(conv.Edits) != 3 {
		t.Fatalf("%d edits, %v", len(conv.Edits), err)
	}
	if st.appends != 1 {
		t.Errorf("the messages were stored %d times", st.appends)
	}
	back, err := m.Load(t.Context(), conv.Transcript.Fingerprint(10))
	if err != nil || len(back.Edits) != 3 {
		t.Errorf("stored: %v, %v", back, err)
	}
}
