package reduce_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/preset"
	"github.com/precis-dev/precis/reduce"
)

// turns are a task, and then answers and further words of the program, of 100 characters each.
func turns(n int) []precis.Message {
	var out []precis.Message
	for i := range n {
		out = append(out, text([]precis.Role{precis.RoleUser, precis.RoleAssistant}[i%2], fmt.Sprintf("%-100d", i)))
	}
	return out
}

func TestRangeHidesNoMoreThanTheTargetTakes(t *testing.T) {
	for _, tt := range []struct {
		target, keep int
		pin          int // 0: none
		from, to     int // of the conversation, exactly; 0: any
		want         string
	}{
		{1900, 3, 0, 0, 0, "2-4"},
		{1700, 3, 0, 0, 0, "2-6"},
		{100, 3, 0, 0, 0, "2-16"}, // the newest are kept
		{1700, 3, 5, 0, 0, "2-4"}, // a pin ends it
		{1700, 3, 2, 0, 0, ""},
		{1999, 3, 0, 2, 12, "2-12"},
		{1999, 3, 0, 4, 12, ""}, // it begins at 2
		{1999, 3, 0, 2, 11, ""}, // and ends before the user's
	} {
		s := situation(tt.target, tt.keep, turns(20)...)
		s.From, s.To = tt.from, tt.to
		if s.To > 0 {
			s.Kept = policy.Keep(s.Transcript, nil, s.Meter, 1, 0)
		}
		if tt.pin > 0 {
			pin := precis.Edit{ID: "p", Kind: precis.KindPin, Pins: []precis.Handle{precis.MessageHandle(tt.pin)}}
			s.Kept = policy.Keep(s.Transcript, []precis.Edit{pin}, s.Meter, tt.keep, 0)
		}
		e, err := reduce.Range{From: 2, Ends: []int{4, 6, 8, 10, 12, 14, 16, 18}}.Propose(context.Background(), s)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, r := range e.Replace {
			got += fmt.Sprintf("%d-%d", r.From, r.To)
			if len(r.With) > 0 || e.Kind != precis.KindTruncation {
				t.Errorf("%+v: %+v", tt, e)
			}
		}
		if tt.want == "" && tt.to > 0 && !strings.HasSuffix(e.Report.Reason, ", such as m2-m11") {
			t.Errorf("%+v: nobody says what can be hidden: %q", tt, e.Report.Reason)
		}
		if got != tt.want || e.Report.Reason == "" {
			t.Errorf("%+v: %q is hidden, %q", tt, got, e.Report.Reason)
		}
	}
}

// What an earlier edit hides is hidden with it, and is no saving.
func TestRangeTakesInWhatIsHidden(t *testing.T) {
	s := situation(1300, 3, turns(20)...)
	s.Edits = []precis.Edit{{ID: "a", Kind: precis.KindTruncation, Replace: []precis.Replacement{{From: 2, To: 7}}}}
	s.Units = precis.Units(s.Transcript, s.Edits)
	s.Used = 1500
	rung := reduce.Range{From: 2, Ends: []int{4, 6, 8, 10, 12}}
	e, err := rung.Propose(context.Background(), s)
	if err != nil || len(e.Replace) != 1 || e.Replace[0].To != 10 || e.Report.Reason != "the oldest 3 messages hidden" {
		t.Errorf("%+v, %v", e, err)
	}
	s.Edits[0].Kind, s.Edits[0].Replace[0].With = precis.KindCondensation, turns(1)
	s.Units, s.Used, s.Target = precis.Units(s.Transcript, s.Edits), 1400, 1350
	if e, err = rung.Propose(context.Background(), s); err != nil || len(e.Replace) != 1 || e.Replace[0].To != 8 {
		t.Errorf("a summary is parted: %+v, %v", e, err)
	}
}

// talker is a gate that has something to say of every edit.
type talker struct{}

func (talker) Admit(_ context.Context, _ *policy.Situation, e precis.Edit) (precis.Edit, error) {
	e.Replace[0].With = []precis.Message{text(precis.RoleUser, "a word")}
	return e, nil
}

// Nothing is said in the place of a range, by the gate, by what is in force or by a hook; and calls may be parted
// from their results.
func TestNothingIsSaidInPlaceOfARange(t *testing.T) {
	msgs := []precis.Message{text("user", "Never touch main.go. Do the work.")}
	for i := range 40 {
		msgs = append(msgs, call(fmt.Sprint("c", i), "read_file", `{"path":"a.go"}`, strings.Repeat(fmt.Sprintf("never forget line %d; ", i), 60))...)
	}
	msgs = slices.Insert(msgs, 3, text(precis.RoleSystem, "kestrels come first"))
	settings, err := preset.Settings(preset.Balanced)
	if err != nil {
		t.Fatal(err)
	}
	settings.Rungs, settings.KeepHead = []string{"truncate"}, 0
	var ends []int
	for i := 4; i < len(msgs); i++ {
		if msgs[i].Role == precis.RoleUser {
			ends = append(ends, i)
		}
	}
	m, err := preset.New(preset.Options{Settings: settings, Counter: counter{}, Gate: talker{}, Instead: []policy.Strategy{reduce.Range{From: 2, Ends: ends}},
		Hooks: policy.Hooks{After: func(context.Context, policy.RungEvent) (string, error) { return "a word", nil }}})
	if err != nil {
		t.Fatal(err)
	}
	conv := &precis.Conversation{ID: "c", Transcript: precis.NewTranscript(msgs...)}
	window := precis.Window{Tokens: 40_000, Source: precis.SourceConfigured}
	res, err := m.Manage(t.Context(), policy.Request{Conversation: conv, Window: window, TriggeredBy: precis.TriggeredManual, Target: 20_000})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Edits) != 1 || len(res.Edits[0].Replace) != 1 || len(res.Edits[0].Replace[0].With) != 0 || res.Edits[0].Replace[0].From != 2 {
		t.Fatalf("%d edits, %+v; %+v", len(res.Edits), res.Edits, res.Report.Steps)
	}
	if b := precis.Check(res.View); len(b) > 0 {
		t.Errorf("the view is invalid: %v", b)
	}
	if res.Report.After.Tokens > 20_000 {
		t.Errorf("%d tokens are left", res.Report.After.Tokens)
	}
}
