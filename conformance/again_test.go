package conformance

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/preset"
)

// TestCondensingAgain condenses recordings again and again, into smaller windows, and
// with something pinned that was hidden. What is left is compared with one condensation
// of the whole recording.
func TestCondensingAgain(t *testing.T) {
	m := newManager(t, preset.Frugal)
	for _, path := range sampledRecordings(t, 0, 20) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			rec := readRecording(t, path)
			if rec == nil {
				return // TestTranscripts reads them all
			}
			for _, pins := range []bool{false, true} {
				if testing.Short() && !pins {
					continue
				}
				a := again{t: t, m: m, original: rec.Conversation.Transcript, pins: pins}
				for _, window := range []int{128_000, 64_000, 32_000, 16_000} {
					a.round(window)
				}
			}
		})
	}
}

// again is a recording that is condensed again and again.
type again struct {
	t        *testing.T
	m        *policy.Manager
	original *precis.Transcript
	pins     bool
	edits    []precis.Edit
	pinned   []precis.Handle
}

func (a *again) condense(window int, edits []precis.Edit) (*precis.Conversation, policy.Result, error) {
	conv := &precis.Conversation{Transcript: a.original, Edits: slices.Clone(edits)}
	res, err := a.m.Manage(a.t.Context(), policy.Request{Conversation: conv, Window: precis.Window{Tokens: window}, MaxOutput: window / 8, TriggeredBy: precis.TriggeredManual})
	return conv, res, err
}

func (a *again) round(window int) {
	t := a.t
	var pins []precis.Edit
	if len(a.pinned) > 0 {
		pins = []precis.Edit{{ID: "pinned", Kind: precis.KindPin, Pins: a.pinned}}
	}
	_, once, err := a.condense(window, pins)
	if precis.CodeOf(err) == precis.CodeOverBudget {
		return // it does not fit at all
	}
	if err != nil {
		t.Fatal(err)
	}
	conv, res, err := a.condense(window, a.edits)
	name := fmt.Sprintf("%d tokens, pins %v", window, a.pins)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	a.undone(conv, name)
	a.edits = conv.Edits
	if len(res.Edits) == 0 || once.Report.Retention == nil {
		return
	}
	is, want := res.Report.Retention, once.Report.Retention
	if is.Share < want.Share-.02 || len(is.RulesLost) > len(want.RulesLost) {
		t.Errorf("%s: keeps %.3f and loses %d rules, at once %.3f and %d\n%+v", name, is.Share, len(is.RulesLost), want.Share, len(want.RulesLost), res.Report.Steps)
	}
	if after := res.Report.After.Tokens; after*2 < min(once.Report.After.Tokens, res.Report.Decision.Target) {
		t.Errorf("%s: %d tokens are left, at once %d\n%+v", name, after, once.Report.After.Tokens, res.Report.Steps)
	}
	a.pin(conv, window)
}

// undone takes the round back, which must bring the view before it.
func (a *again) undone(conv *precis.Conversation, name string) {
	if len(conv.Edits) == len(a.edits) {
		return
	}
	back := *conv
	back.Edits = slices.Clone(conv.Edits)
	if _, err := a.m.Undo(a.t.Context(), &back); err != nil {
		a.t.Errorf("%s: undo: %v", name, err)
		return
	}
	if !bytes.Equal(encode(precis.View(back.Transcript, back.Edits)), encode(precis.View(conv.Transcript, a.edits))) {
		a.t.Errorf("%s: undo does not give the view back", name)
	}
}

// pin pins a small hidden message in the middle.
func (a *again) pin(conv *precis.Conversation, window int) {
	if !a.pins || len(a.pinned) > 0 {
		return
	}
	shown := precis.ShownBy(conv.Transcript, conv.Edits)
	for i := conv.Transcript.Len() / 2; i < conv.Transcript.Len(); i++ {
		if m := conv.Transcript.At(i); len(m.PlainText()) < window/100 && !shown.Message(i).Unit.Original() {
			e, err := a.m.Pin(a.t.Context(), conv, precis.MessageHandle(i))
			if err != nil {
				a.t.Fatal(err)
			}
			a.edits, a.pinned = conv.Edits, e.Pins
			return
		}
	}
}
