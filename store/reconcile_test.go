package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/store"
	"github.com/precis-dev/precis/store/memory"
)

func pinAt(t *precis.Transcript, n int, name string) precis.Edit {
	return precis.Edit{ID: name, Kind: "pin", At: t.Fingerprint(n), Seen: n, Pins: []precis.Handle{precis.MessageHandle(0)}}
}

func idsOf(edits []precis.Edit) (ids []string) {
	for _, e := range edits {
		ids = append(ids, e.ID)
	}
	return ids
}

func storedIDs(t interface{ Fatal(...any) }, st precis.Store, tr *precis.Transcript) []string {
	edits, err := store.StoredEdits(context.Background(), st, tr.Fingerprint(tr.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return idsOf(edits)
}

func TestReconcile(t *testing.T) {
	for name, c := range map[string]struct {
		memory, there, want []string
		purged              bool
	}{
		"nothing":                {},
		"the store is empty":     {memory: []string{"a", "b"}, want: []string{"a", "b"}},
		"the store is behind":    {memory: []string{"a", "b", "c"}, there: []string{"a"}, want: []string{"a", "b", "c"}},
		"the store is ahead":     {memory: []string{"a"}, there: []string{"a", "b"}, want: []string{"a", "b"}},
		"both went on":           {memory: []string{"a", "b"}, there: []string{"a", "x"}, want: []string{"a", "x"}},
		"both went on, we more":  {memory: []string{"a", "b", "c", "d"}, there: []string{"a", "x"}, want: []string{"a", "x"}},
		"they began differently": {memory: []string{"a", "b"}, there: []string{"x"}, want: []string{"x"}},
		"purged by another":      {memory: []string{"a", "b"}, want: []string{"a", "b"}, purged: true},
	} {
		t.Run(name, func(t *testing.T) {
			st, ctx := memory.New(), t.Context()
			tr := precis.NewTranscript(precis.NewText(precis.RoleUser, "one"), precis.NewText(precis.RoleAssistant, "two"))
			var edits []precis.Edit
			for _, id := range c.memory {
				edits = append(edits, pinAt(tr, 2, id))
			}
			if len(c.there) > 0 {
				if _, err := st.Append(ctx, precis.Fingerprint{}, tr.Messages()...); err != nil {
					t.Fatal(err)
				}
				after := ""
				for _, id := range c.there {
					if err := st.AddEdit(ctx, after, pinAt(tr, 2, id)); err != nil {
						t.Fatal(err)
					}
					after = id
				}
			}
			p := store.Progress{}
			if c.purged { // what memory believes to be stored is not, and there is something new
				p = store.Progress{Messages: 2, Edits: 1}
			}
			now, err := store.Reconcile(ctx, st, tr, edits, &p)
			if !slices.Equal(idsOf(now), c.want) && len(c.want) > 0 && len(c.memory) > 0 || err != nil {
				t.Errorf("in force are %v, %v; want %v", idsOf(now), err, c.want)
			}
			if got := storedIDs(t, st, tr); len(c.memory) > 0 && (!slices.Equal(got, c.want) || p.Edits != len(c.want) || p.Messages != 2) {
				t.Errorf("the store has %v, progress %+v; want %v", got, p, c.want)
			}
		})
	}
}

var errDown = errors.New("down")

// flaky is a store whose calls fail now and then.
type flaky struct {
	*memory.Store
	fail func() bool
}

func (f flaky) Append(ctx context.Context, parent precis.Fingerprint, msgs ...precis.Message) (precis.Fingerprint, error) {
	if f.fail() {
		return precis.Fingerprint{}, precis.Errorf(precis.CodeInternal, "append", "%w", errDown)
	}
	return f.Store.Append(ctx, parent, msgs...)
}

func (f flaky) AddEdit(ctx context.Context, after string, e precis.Edit) error {
	if f.fail() {
		return precis.Errorf(precis.CodeInternal, "add edit", "%w", errDown)
	}
	err := f.Store.AddEdit(ctx, after, e)
	if f.fail() { // written, and the answer is lost
		return precis.Errorf(precis.CodeInternal, "add edit", "%w", errDown)
	}
	return err
}

// TestReconciledProcessesConverge has processes append messages and edits to one
// conversation, each with its own memory, while the store fails at random. Once
// it works and each has reconciled twice, all agree with the store; what a process
// was told is stored never disappears.
func TestReconciledProcessesConverge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		down := false
		st := flaky{memory.New(), func() bool { return down && rapid.Bool().Draw(t, "fails") }}
		type process struct {
			edits []precis.Edit
			p     store.Progress
		}
		tr := precis.NewTranscript(precis.NewText(precis.RoleUser, "one"))
		procs := make([]process, rapid.IntRange(1, 3).Draw(t, "processes"))
		stored := map[string]bool{}
		reconcile := func(x *process) {
			now, err := store.Reconcile(t.Context(), st, tr, x.edits, &x.p)
			x.edits = now
			if err == nil {
				for _, e := range now {
					stored[e.ID] = true
				}
			} else if !errors.Is(err, errDown) {
				t.Fatal(err)
			}
		}
		for n := range rapid.IntRange(1, 30).Draw(t, "steps") {
			x := &procs[rapid.IntRange(0, len(procs)-1).Draw(t, "process")]
			switch rapid.IntRange(0, 4).Draw(t, "step") {
			case 0:
				tr.Append(precis.NewText(precis.RoleUser, fmt.Sprint("message ", n)))
			case 1, 2:
				x.edits = append(slices.Clip(x.edits), pinAt(tr, tr.Len(), fmt.Sprint("e", n)))
			case 3:
				reconcile(x)
			case 4:
				down = !down
			}
		}
		down = false
		for i := range procs {
			reconcile(&procs[i])
		}
		want := storedIDs(t, st.Store, tr)
		for i := range procs {
			there, err := store.StoredEdits(t.Context(), st, tr.Fingerprint(tr.Len()))
			if err != nil {
				t.Fatal(err)
			}
			now, in := store.MergeEdits(procs[i].edits, there) // before its next turn
			if !slices.Equal(idsOf(now), want) || in != len(want) {
				t.Fatalf("process %d has %v, the store %v", i, idsOf(now), want)
			}
		}
		for id := range stored {
			if !slices.Contains(want, id) {
				t.Fatalf("%s was stored and is gone: %v", id, want)
			}
		}
	})
}
