package policy_test

import (
	"context"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/precistest"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/store/memory"
	"github.com/precis-dev/precis/store/sqlite"
	"github.com/precis-dev/precis/tokens"
)

func stores(t *testing.T) map[string]precis.Store {
	s, err := sqlite.Open(context.Background(), filepath.Join(t.TempDir(), "p.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return map[string]precis.Store{"memory": memory.New(), "sqlite": s}
}

func TestWhatIsDoneIsStored(t *testing.T) {
	ctx := context.Background()
	for name, st := range stores(t) {
		m := manager(t, policy.Options{Store: st, Calibrator: &tokens.Calibration{}})
		conv := &precis.Conversation{ID: "c", Model: "m", Transcript: work(40)}
		first, err := m.Manage(ctx, policy.Request{Conversation: conv, Window: window(8000)})
		if err != nil || len(first.Edits) == 0 {
			t.Fatalf("%s: %v, %s", name, err, first.Report.Outcome)
		}
		same := func(what string) {
			t.Helper()
			node := conv.Transcript.Fingerprint(conv.Transcript.Len())
			loaded, err := m.Load(ctx, node)
			if err != nil {
				t.Fatalf("%s: %s: %v", name, what, err)
			}
			if got, want := precis.View(loaded.Transcript, loaded.Edits), precis.View(conv.Transcript, conv.Edits); !reflect.DeepEqual(precistest.Texts(got), precistest.Texts(want)) || len(loaded.Edits) != len(conv.Edits) {
				t.Errorf("%s: after %s the store holds another view", name, what)
			}
		}
		same("a run")
		if _, err := m.Pin(ctx, conv, precis.MessageHandle(0)); err != nil {
			t.Fatal(err)
		}
		conv.Transcript.Append(precis.NewText("user", "and now?"))
		if _, err := m.Restore(ctx, conv, precis.MessageHandle(4)); err != nil {
			t.Fatal(err)
		}
		same("pin and restore")
		if _, err := m.Undo(ctx, conv, first.Edits[0].ID); err != nil {
			t.Fatal(err)
		}
		same("undo")
		entries, err := st.(precis.Ledger).Entries(ctx, "c", time.Time{})
		if err != nil || len(entries) != len(conv.Edits) || entries[0].Before <= entries[0].After {
			t.Errorf("%s: ledger %+v, %v", name, entries, err)
		}
		for range 3 {
			if err := m.Observe(ctx, first.Report, 2*first.Report.After.Tokens); err != nil {
				t.Fatal(err)
			}
		}
		later := &tokens.Calibration{}
		if err := manager(t, policy.Options{Store: st, Calibrator: later}).LoadCalibration(ctx); err != nil || later.Factor("m") < 1.9 {
			t.Errorf("%s: calibration %g, %v", name, later.Factor("m"), err)
		}
	}
}

func TestSaveTakesInWhatARecordingHolds(t *testing.T) {
	ctx := context.Background()
	for name, st := range stores(t) {
		conv := &precis.Conversation{Transcript: precistest.Numbered(9)}
		for _, e := range []precis.Edit{precistest.Span("", 0, 3, "A"), precistest.Span("", 0, 7, "B")} {
			if err := e.Identify(conv.Transcript.Prefix(e.Replace[0].To)); err != nil {
				t.Fatal(err)
			}
			conv.Edits = append(conv.Edits, e)
		}
		m := manager(t, policy.Options{Store: st})
		for range 2 { // the second time changes nothing
			node, err := m.Save(ctx, conv)
			if err != nil {
				t.Fatal(name, err)
			}
			loaded, err := m.Load(ctx, node)
			if err != nil || !reflect.DeepEqual(precistest.Texts(precis.View(loaded.Transcript, loaded.Edits)), []string{"B", "7", "8"}) || len(loaded.Edits) != 2 {
				t.Errorf("%s: %v, %v", name, loaded, err)
			}
		}
		if _, err := m.Undo(ctx, conv); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := manager(t, policy.Options{}).Save(ctx, &precis.Conversation{Transcript: precistest.Numbered(1)}); precis.CodeOf(err) != precis.CodeInvalid {
		t.Errorf("without a store: %v", err)
	}
}

func TestTwoReplicasDoNotBothEdit(t *testing.T) {
	ctx := context.Background()
	for name, st := range stores(t) {
		msgs := work(40).Messages()
		one := &precis.Conversation{Transcript: precis.NewTranscript(msgs...)}
		two := &precis.Conversation{Transcript: precis.NewTranscript(msgs...)}
		m := manager(t, policy.Options{Store: st})
		if _, err := m.Pin(ctx, one, precis.MessageHandle(3)); err != nil {
			t.Fatal(err)
		}
		if _, err := m.Pin(ctx, two, precis.MessageHandle(5)); precis.CodeOf(err) != precis.CodeConflict || len(two.Edits) != 0 {
			t.Errorf("%s: the second replica's edit: %v", name, err)
		}
	}
}
