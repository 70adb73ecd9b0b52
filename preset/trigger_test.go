package preset_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/preset"
	"github.com/precis-dev/precis/tokens"
)

// TestATriggerThatIsReachedReduces: whatever reaches a threshold comes down below it, by what makes a
// reduction worth it.
func TestATriggerThatIsReachedReduces(t *testing.T) {
	talk := func(turns, size int) *precis.Conversation {
		tr := &precis.Transcript{}
		for i := range turns {
			id := fmt.Sprint("t", i)
			tr.Append(precis.NewText(precis.RoleUser, fmt.Sprint("Please look at part ", i)),
				precis.Message{Role: precis.RoleAssistant, Content: []precis.Block{precis.ToolUse{ID: id, Name: "read", Input: fmt.Appendf(nil, `{"path":"f%d.go"}`, i)}}},
				precis.Message{Role: precis.RoleUser, Content: []precis.Block{precis.ToolResult{ToolUseID: id, Content: []precis.Block{precis.Text{Text: strings.Repeat(fmt.Sprintf("value %d of it\n", i*i), size)}}}}},
				precis.NewText(precis.RoleAssistant, fmt.Sprint("Part ", i, " is fine.")))
		}
		tr.Append(precis.NewText(precis.RoleUser, "And now?"))
		return &precis.Conversation{Transcript: tr}
	}
	const window = 100_000
	for _, name := range []string{preset.Roo, preset.Balanced, preset.Frugal, preset.Selective} {
		for _, tt := range []struct {
			name        string
			change      func(*policy.Settings)
			turns, size int
		}{
			{"threshold 5", func(s *policy.Settings) { s.Percent = 5 }, 40, 480},
			{"threshold 20", func(s *policy.Settings) { s.Percent = 20 }, 40, 480},
			{"threshold 40", func(s *policy.Settings) { s.Percent = 40 }, 40, 480},
			{"threshold 60", func(s *policy.Settings) { s.Percent = 60 }, 40, 480},
			{"threshold 70, just reached", func(s *policy.Settings) { s.Percent = 70 }, 40, 480},
			{"threshold of a profile", func(s *policy.Settings) { s.Profiles = map[string]float64{"m": 30} }, 40, 480},
			{"threshold in tokens", func(s *policy.Settings) { s.Tokens = 30_000 }, 40, 480},
		} {
			settings, err := preset.Settings(name)
			if err != nil {
				t.Fatal(err)
			}
			tt.change(&settings)
			m, err := preset.New(preset.Options{Settings: settings, Estimate: tokens.NameChars4})
			if err != nil {
				t.Fatal(err)
			}
			conv := talk(tt.turns, tt.size)
			request := policy.Request{Conversation: conv, Window: precis.Window{Tokens: window}, Profile: "m"}
			res, err := m.Manage(context.Background(), request)
			if err != nil {
				t.Fatalf("%s, %s: %v", name, tt.name, err)
			}
			if res.Report.Decision.Action != policy.ActionReduce || len(res.Edits) == 0 || res.Report.After.Tokens >= res.Report.Before.Tokens {
				t.Errorf("%s, %s: %s: %+v", name, tt.name, res.Report.Outcome, res.Report.Steps)
				continue
			}
			again, err := m.Manage(context.Background(), request)
			if err != nil || again.Report.Decision.Action == policy.ActionReduce || len(again.Edits) > 0 {
				t.Errorf("%s, %s: due again at once: %s, %v", name, tt.name, again.Report.Arithmetic, err)
			}
		}
	}
}

// TestNothingIsCutForLittle: a run that saves less than what makes it worth a new prompt cache
// is not carried out, whatever began it, also where it reaches its target; the report says so.
// What a user asks for, and what does not fit otherwise, is done all the same.
func TestNothingIsCutForLittle(t *testing.T) {
	for _, tt := range []struct {
		name   string
		window int
		ask    policy.Request
		done   bool
	}{
		{name: "the threshold", window: 110_000},
		{name: "in the background", window: 110_000, ask: policy.Request{TriggeredBy: precis.TriggeredBackground}},
		{name: "the model asks", window: 110_000, ask: policy.Request{TriggeredBy: precis.TriggeredModel}},
		{name: "a user asks", window: 110_000, ask: policy.Request{TriggeredBy: precis.TriggeredManual}, done: true},
		{name: "after an overflow", window: 110_000, ask: policy.Request{TriggeredBy: precis.TriggeredForced}, done: true},
		{name: "it does not fit", window: 80_000, done: true},
	} {
		tr := precis.NewTranscript(precis.NewText(precis.RoleUser, "Look at every part."))
		for i := range 60 {
			id := fmt.Sprint("t", i)
			tr.Append(precis.Message{Role: precis.RoleAssistant, Content: []precis.Block{precis.ToolUse{ID: id, Name: "read", Input: fmt.Appendf(nil, `{"path":"f%d.go"}`, i)}}},
				precis.Message{Role: precis.RoleUser, Content: []precis.Block{precis.ToolResult{ToolUseID: id, Content: []precis.Block{precis.Text{Text: strings.Repeat(fmt.Sprintf("value %d of it\n", i*i), 350)}}}}})
		}
		settings, err := preset.Settings(preset.Frugal)
		if err != nil {
			t.Fatal(err)
		}
		settings.Rungs, settings.RungSettings.Truncate = []string{"truncate"}, 0 // hides no more than the target requires
		m, err := preset.New(preset.Options{Settings: settings, Estimate: tokens.NameChars4})
		if err != nil {
			t.Fatal(err)
		}
		tt.ask.Conversation, tt.ask.Window = &precis.Conversation{Transcript: tr}, precis.Window{Tokens: tt.window}
		used, err := m.Status(tt.ask)
		if err != nil || used.Percent < settings.Percent {
			t.Fatalf("%s: %.0f %%, %v", tt.name, used.Percent, err)
		}
		if tt.window == 110_000 {
			tt.ask.Target = policy.Tokens(used.Tokens * 9 / 10)
		}
		res, err := m.Manage(context.Background(), tt.ask)
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if done := len(res.Edits) > 0; done != tt.done || !done && res.Report.Ended != policy.EndedWorthless {
			t.Errorf("%s: %s (%s), %d edits", tt.name, res.Report.Outcome, res.Report.Ended, len(res.Edits))
		}
	}
}

func TestRooCondensesWhenAskedHoweverFull(t *testing.T) {
	for fill, conv := range map[string]int{"a tenth": 10, "half": 50} {
		tr := &precis.Transcript{}
		for i := range conv {
			tr.Append(precis.NewText(precis.RoleUser, fmt.Sprint("part ", i)), precis.NewText(precis.RoleAssistant, strings.Repeat("It is done. ", 350)))
		}
		tr.Append(precis.NewText(precis.RoleUser, "And now?"))
		res, err := held(t, preset.Roo).Manage(context.Background(), policy.Request{Conversation: &precis.Conversation{Transcript: tr}, Window: precis.Window{Tokens: 100_000}, TriggeredBy: precis.TriggeredManual})
		if err != nil || len(res.Edits) == 0 {
			t.Errorf("%s: %s, %v", fill, res.Report.Outcome, err)
		}
	}
}

// TestAThresholdBelowItsTargetIsWarnedOf says so in each report, once.
func TestAThresholdBelowItsTargetIsWarnedOf(t *testing.T) {
	for percent, want := range map[float64]bool{30: true, 50: true, 51: false, 75: false} {
		s, err := preset.Settings(preset.Balanced)
		if err != nil {
			t.Fatal(err)
		}
		s.Percent = percent
		d := policy.Plan(policy.Load{Used: 1000}, s.Budget(precis.Window{Tokens: 100_000}, 0, 0, 0), s, "")
		if got := strings.Contains(strings.Join(d.Warnings, "\n"), "is not above the target"); got != want {
			t.Errorf("threshold %g: %v", percent, d.Warnings)
		}
	}
}
