package policy_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/precistest"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/reduce"
)

// A run keeps with its first edit what became of each rung, whoever records it.
func TestTheFirstEditOfARunKeepsItsSteps(t *testing.T) {
	settings := policy.DefaultSettings()
	settings.KeepShare, settings.MinSaving = 0, 0
	m := manager(t, policy.Options{Settings: settings, Strategies: []policy.Strategy{
		failing{"fails", precis.Edit{}, errors.New("no luck: " + strings.Repeat("é", policy.MaxStepReason))},
		failing{"nothing", precis.Edit{}, nil}, reduce.Truncate{}, reduce.Clip{},
	}})
	for _, unrecorded := range []bool{false, true} {
		conv := &precis.Conversation{Transcript: precistest.Numbered(40)}
		res, err := m.Manage(t.Context(), policy.Request{Conversation: conv, Window: window(1000), Target: 20, TriggeredBy: precis.TriggeredManual, Unrecorded: unrecorded})
		if err != nil || len(res.Edits) < 2 {
			t.Fatalf("%d edits, want a run of several: %v", len(res.Edits), err)
		}
		if unrecorded {
			if err := m.Record(t.Context(), conv, res.Edits...); err != nil {
				t.Fatal(err)
			}
		}
		first := conv.Edits[0]
		var got []string
		for _, s := range first.Report.Steps {
			got = append(got, s.Rung+" "+string(s.Outcome))
		}
		if s := strings.Join(got, ", "); s != "fails failed, nothing nothing, truncate accepted, clip accepted" {
			t.Errorf("steps %s", s)
		}
		if r := first.Report.Steps[0].Reason; len(r) > policy.MaxStepReason || !strings.HasPrefix(r, "no luck") || !strings.HasSuffix(r, "é…") || !utf8.ValidString(r) {
			t.Errorf("reason of %d bytes: %q", len(r), r)
		}
		if r := res.Report.Steps[0].Reason; len(r) <= policy.MaxStepReason {
			t.Errorf("the reason is cut in the report of the pass too: %q", r)
		}
		for _, e := range conv.Edits[1:] {
			if e.Run != first.ID || e.Report.Steps != nil {
				t.Errorf("%s of run %s has %d steps", e.ID, e.Run, len(e.Report.Steps))
			}
		}
		var read precis.Edit
		raw, err := json.Marshal(first)
		if err == nil {
			err = json.Unmarshal(raw, &read)
		}
		if err != nil || !reflect.DeepEqual(read.Report, first.Report) {
			t.Errorf("written and read again: %+v, %v", read.Report, err)
		}
	}
}

// However many rungs there are, a run keeps the newest steps alone, and identifies its
// edits without them.
func TestStepsOfARunAreBounded(t *testing.T) {
	settings := policy.DefaultSettings()
	settings.KeepShare, settings.MinSaving = 0, 0
	ids := map[string]bool{}
	for _, n := range []int{0, 3 * policy.MaxSteps} {
		var rungs []policy.Strategy
		for i := range n {
			rungs = append(rungs, failing{fmt.Sprint("r", i), precis.Edit{}, errors.New(strings.Repeat("why ", 1000))})
		}
		m := manager(t, policy.Options{Settings: settings, Strategies: append(rungs, reduce.Truncate{}, reduce.Clip{})})
		conv := &precis.Conversation{Transcript: precistest.Numbered(40)}
		if _, err := m.Manage(t.Context(), policy.Request{Conversation: conv, Window: window(1000), Target: 20, TriggeredBy: precis.TriggeredManual}); err != nil {
			t.Fatal(err)
		}
		steps := conv.Edits[0].Report.Steps
		if len(steps) != min(n+2, policy.MaxSteps) || steps[len(steps)-1].Rung != "clip" {
			t.Errorf("%d rungs: %d steps, the last of %q", n+2, len(steps), steps[len(steps)-1].Rung)
		}
		raw, err := json.Marshal(steps)
		if most := policy.MaxSteps * (policy.MaxStepReason + 200); err != nil || len(raw) > most {
			t.Errorf("%d bytes, want at most %d: %v", len(raw), most, err)
		}
		ids[conv.Edits[0].ID] = true
	}
	if len(ids) != 1 {
		t.Errorf("the same edit has %d IDs", len(ids))
	}
}

// What the model calls of a rung cost stands once in an edit: of an accepted rung with the
// edit itself, of others with their steps.
func TestStepsOfAcceptedRungsLeaveTheirCallsToTheEdit(t *testing.T) {
	settings := policy.DefaultSettings()
	settings.KeepShare, settings.MinSaving = 0, 0
	report := precis.EditReport{Call: &precis.CallReport{Model: "m", Calls: 1, CostUSD: 0.5}}
	m := manager(t, policy.Options{Settings: settings, Strategies: []policy.Strategy{
		failing{"idle", precis.Edit{Report: report}, nil},
		failing{"hides", precis.Edit{Kind: precis.KindTruncation, Replace: []precis.Replacement{{From: 1, To: 9, With: []precis.Message{precis.NewText("user", "x")}}}, Report: report}, nil},
	}})
	conv := &precis.Conversation{Transcript: precistest.Numbered(40)}
	if _, err := m.Manage(t.Context(), policy.Request{Conversation: conv, Window: window(1000), Target: 20, TriggeredBy: precis.TriggeredManual}); len(conv.Edits) != 1 {
		t.Fatalf("%d edits: %v", len(conv.Edits), err)
	}
	first := conv.Edits[0].Report
	if len(first.Steps) != 2 || first.Steps[0].Call == nil || first.Steps[1].Call != nil || first.Call == nil {
		t.Errorf("the edit has %+v, its steps %+v", first.Call, first.Steps)
	}
}
