package preset_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/condense"
	"github.com/precis-dev/precis/internal/experiments"
	"github.com/precis-dev/precis/model"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/preset"
)

func TestPresets(t *testing.T) {
	for _, name := range preset.Names() {
		s, err := preset.Settings(name)
		if err != nil || s.Preset != name || s.Validate() != nil {
			t.Errorf("%s: %v, %v", name, err, s.Validate())
		}
		if _, err := preset.New(preset.Options{Settings: s}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := preset.Settings("best"); precis.CodeOf(err) != precis.CodeInvalid {
		t.Errorf("an unknown preset: %v", err)
	}
	if s, _ := preset.Settings(preset.Roo); !s.Auto || s.Percent != 100 {
		t.Errorf("the preset roo: on %v, at %g percent", s.Auto, s.Percent)
	}
	if s, _ := preset.Settings(""); s.Preset != preset.Balanced {
		t.Errorf("the default is %s", s.Preset)
	}
}

func chat(turns int) *precis.Conversation {
	t := &precis.Transcript{}
	for i := range turns {
		t.Append(precis.NewText("user", strings.Repeat(fmt.Sprint("question ", i, " "), 60)), precis.NewText("assistant", "answer"))
	}
	return &precis.Conversation{Transcript: t}
}

func manage(t *testing.T, name string, change func(*policy.Settings), turns int) policy.Result {
	t.Helper()
	s, err := preset.Settings(name)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(&s)
	}
	m, err := preset.New(preset.Options{Settings: s})
	if err != nil {
		t.Fatal(err)
	}
	res, err := m.Manage(context.Background(), policy.Request{Conversation: chat(turns), Window: precis.Window{Tokens: 10_000}, MaxOutput: 1000})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func TestRooHidesHalf(t *testing.T) {
	res := manage(t, preset.Roo, nil, 50)
	if len(res.View) != 100-48+1 || res.View[1].PlainText() != "[Sliding window truncation: 48 messages hidden to reduce context]" {
		t.Errorf("%d messages, second %q", len(res.View), res.View[1].PlainText())
	}
	if s := res.Report.Steps[0]; s.Rung != "condense" || s.Outcome != precis.OutcomeSkipped {
		t.Errorf("the missing model rung is silent: %+v", s)
	}
}

func TestOffChangesNothing(t *testing.T) {
	if res := manage(t, preset.Off, nil, 20); len(res.Edits) != 0 || len(res.View) != 40 {
		t.Errorf("%d edits", len(res.Edits))
	}
}

func TestAutoOffStillFits(t *testing.T) {
	off := func(s *policy.Settings) { s.Auto = false }
	if res := manage(t, preset.Balanced, off, 41); len(res.Edits) != 0 {
		t.Errorf("%s although it fits: %s", res.Report.Decision.Action, res.Report.Arithmetic)
	}
	res := manage(t, preset.Balanced, off, 60)
	if len(res.Edits) != 1 || res.Edits[0].Kind != precis.KindTruncation {
		t.Errorf("%d edits: %s", len(res.Edits), res.Report.Outcome)
	}
}

func TestEveryPresetKeepsPins(t *testing.T) {
	for _, name := range preset.Names() {
		s, err := preset.Settings(name)
		if err != nil {
			t.Fatal(err)
		}
		s.Pin = `question (7|19) `
		m, err := preset.New(preset.Options{Settings: s})
		if err != nil {
			t.Fatal(err)
		}
		conv := chat(90)
		for range 3 {
			res, err := m.Manage(t.Context(), policy.Request{Conversation: conv, Window: precis.Window{Tokens: 10_000}, MaxOutput: 1000, TriggeredBy: map[bool]precis.TriggeredBy{true: precis.TriggeredManual}[name != preset.Off]})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if name != preset.Off && len(conv.Edits) == 0 {
				t.Errorf("%s: nothing was reduced: %s", name, res.Report.Outcome)
			}
			for _, i := range []int{14, 38} {
				want := precis.HashMessage(conv.Transcript.At(i))
				found := false
				for _, m := range res.View {
					found = found || precis.HashMessage(m) == want
				}
				if !found {
					t.Errorf("%s: message %d, which is pinned, is not in the view", name, i)
				}
			}
			conv.Transcript.Append(chat(20).Transcript.Messages()...)
		}
	}
}

func TestABadPinIsNamed(t *testing.T) {
	s, err := preset.Settings(preset.Balanced)
	if err != nil {
		t.Fatal(err)
	}
	s.Pin = "never ("
	if _, err := preset.New(preset.Options{Settings: s}); precis.CodeOf(err) != precis.CodeInvalid || !strings.Contains(err.Error(), "pin") {
		t.Errorf("error %v", err)
	}
	s.Pin = ""
	m, err := preset.New(preset.Options{Settings: s})
	if err != nil {
		t.Fatal(err)
	}
	s.Pin = "*"
	if err := m.SetSettings(s); precis.CodeOf(err) != precis.CodeInvalid || !strings.Contains(err.Error(), "pin") || m.Settings().Pin != "" {
		t.Errorf("error %v, pin %q", err, m.Settings().Pin)
	}
}

func TestPresetsHaveTheGateTheyNeed(t *testing.T) {
	for _, name := range preset.Names() {
		res := manage(t, name, func(s *policy.Settings) { s.Auto, s.Observe = true, false }, 60)
		if r := res.Report.Retention; len(res.Edits) == 0 || (r == nil) != (name == preset.Roo) {
			t.Errorf("%s: %d edits, retention %+v", name, len(res.Edits), r)
		}
	}
}

func TestRungsAreInTheirOrder(t *testing.T) {
	model := &preset.Condensing{Writer: condense.WriterConfig{Model: silentModel{}}}
	for _, tt := range []struct {
		name   string
		preset string
		c      *preset.Condensing
		want   string
	}{
		{"without a model", preset.Balanced, nil, "dedupe fold media digest prune squeeze digest-more truncate clip"},
		{"with one", preset.Balanced, model, "dedupe fold media condense digest prune squeeze digest-more truncate clip"},
		{"frugal calls none", preset.Frugal, model, "dedupe fold media digest prune squeeze digest-more truncate clip"},
		{"selective", preset.Selective, model, strings.Join(preset.Rungs(), " ")},
	} {
		rungs, err := preset.Strategies(preset.Options{Settings: policy.Settings{Preset: tt.preset}, Condensing: tt.c})
		var names []string
		for _, s := range rungs {
			names = append(names, s.Name())
		}
		if got := strings.Join(names, " "); err != nil || got != tt.want {
			t.Errorf("%s: %s, %v", tt.name, got, err)
		}
	}
	if _, err := preset.Strategies(preset.Options{Condensing: &preset.Condensing{}}); precis.CodeOf(err) != precis.CodeInvalid {
		t.Errorf("no model: %v", err)
	}
}

func TestExperimentsStandInTheirRungsPlaces(t *testing.T) {
	model := &preset.Condensing{Writer: condense.WriterConfig{Model: silentModel{}}}
	for _, c := range []*preset.Condensing{nil, model} {
		x, err := experiments.New("trial", experiments.Variant{Name: "control", Strategy: condense.Full{}})
		if err != nil {
			t.Fatal(err)
		}
		reports := 0
		m, err := preset.New(preset.Options{Condensing: c, Instead: []policy.Strategy{x}, OnReport: func(context.Context, policy.Report) { reports++ }})
		if err != nil {
			t.Fatal(err)
		}
		conv := &precis.Conversation{Transcript: precis.NewTranscript(precis.NewText(precis.RoleUser, strings.Repeat("many words ", 9000)))}
		res, _ := m.Manage(t.Context(), policy.Request{Conversation: conv, TriggeredBy: precis.TriggeredManual, DryRun: true, Window: precis.Window{Tokens: 16_000}})
		if reports != 1 {
			t.Errorf("told of %d reports", reports)
		}
		var names []string
		for _, s := range res.Report.Steps {
			names = append(names, s.Rung)
		}
		if got := strings.Join(names[:4], " "); got != "dedupe fold media condense" || res.Report.Steps[3].Code != condense.ReasonNoSummarizer {
			t.Errorf("%s, %+v", got, res.Report.Steps[2])
		}
	}
	odd, err := experiments.New("trial", experiments.Variant{Name: "control", Strategy: named("polish")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := preset.New(preset.Options{First: []policy.Strategy{odd}}); err != nil {
		t.Error(err)
	}
	if _, err := preset.New(preset.Options{First: []policy.Strategy{named("digest")}}); precis.CodeOf(err) != precis.CodeInvalid || !strings.Contains(err.Error(), "digest") {
		t.Errorf("the name of a rung that there is: %v", err)
	}
	if _, err := preset.New(preset.Options{Instead: []policy.Strategy{odd}}); precis.CodeOf(err) != precis.CodeInvalid || !strings.Contains(err.Error(), "polish") {
		t.Errorf("an unknown rung: %v", err)
	}
}

// named is a rung that does nothing.
type named string

func (n named) Name() string { return string(n) }
func (n named) Propose(context.Context, *policy.Situation) (precis.Edit, error) {
	return precis.Edit{}, nil
}

// silentModel is never asked.
type silentModel struct{ model.Model }

func TestModesAreChecked(t *testing.T) {
	_, err := preset.New(preset.Options{Condensing: &preset.Condensing{Writer: condense.WriterConfig{Model: silentModel{}}, Mode: "fresh"}})
	if precis.CodeOf(err) != precis.CodeInvalid || !strings.Contains(err.Error(), "fresh") {
		t.Errorf("%v", err)
	}
}

// A view that cannot hold all rules of the user says so where everybody looks.
func TestLostRulesAreInTheOutcome(t *testing.T) {
	s, err := preset.Settings(preset.Frugal)
	if err != nil {
		t.Fatal(err)
	}
	m, err := preset.New(preset.Options{Settings: s})
	if err != nil {
		t.Fatal(err)
	}
	for _, rules := range []int{2, 900} {
		var said strings.Builder
		for n := range rules {
			fmt.Fprintf(&said, "You must never change the file number_%d of the project.\n", n)
		}
		conv := &precis.Conversation{Transcript: precis.NewTranscript(precis.NewText(precis.RoleUser, said.String()), precis.NewText(precis.RoleAssistant, "I will not."))}
		conv.Transcript.Append(chat(60).Transcript.Messages()...)
		res, err := m.Manage(t.Context(), policy.Request{Conversation: conv, Window: precis.Window{Tokens: 10_000}, MaxOutput: 1000})
		if err != nil {
			t.Fatal(err)
		}
		r := res.Report.Retention
		if r == nil || (len(r.RulesLost) > 0) != (rules > 2) {
			t.Fatalf("of %d rules: %+v", rules, r)
		}
		want := fmt.Sprintf("; %d of %d rules of the user are not in it word for word", len(r.RulesLost), r.Rules)
		if got := strings.Contains(res.Report.Outcome, want); got != (rules > 2) {
			t.Errorf("of %d rules: %s", rules, res.Report.Outcome)
		}
	}
}

// halves counts half of what chat messages have, by a way of its own.
type halves struct{}

func (halves) Name() string { return "halves" }

func (halves) Count(m precis.Message) int { return len(m.PlainText()) / 8 }

// A counter of a user's own changes nothing else: the gate reads, and the calibrator
// learns, from the factor 1 on.
func TestAnOwnCounterKeepsGateAndCalibrator(t *testing.T) {
	m, err := preset.New(preset.Options{Counter: halves{}})
	if err != nil {
		t.Fatal(err)
	}
	conv := chat(400)
	conv.Model = "claude-sonnet-4-5"
	res, err := m.Manage(t.Context(), policy.Request{Conversation: conv, Window: precis.Window{Tokens: 4000}, MaxOutput: 100})
	if err != nil {
		t.Fatal(err)
	}
	r := res.Report
	if r.Counter != "halves" || r.Calibration != 1 || r.Retention == nil || len(res.Edits) == 0 {
		t.Errorf("counter %s, factor %g, retention %v, %d edits", r.Counter, r.Calibration, r.Retention, len(res.Edits))
	}
	if err := m.Observe(t.Context(), r, 2*r.After.Tokens); err != nil {
		t.Fatal(err)
	}
	if res, err = m.Manage(t.Context(), policy.Request{Conversation: conv, Window: precis.Window{Tokens: 40_000}}); err != nil || res.Report.Calibration < 1.9 {
		t.Errorf("nothing was learned: %g %v", res.Report.Calibration, err)
	}
}

// The oldest messages stay as they were said, with what answers their calls, however often
// the rest is reduced.
func TestTheFirstMessagesStay(t *testing.T) {
	s := policy.DefaultSettings()
	s.KeepFirst = 2
	m, err := preset.New(preset.Options{Settings: s})
	if err != nil {
		t.Fatal(err)
	}
	call := func(n int) []precis.Message {
		id := fmt.Sprint("t", n)
		return []precis.Message{
			{Role: precis.RoleAssistant, Content: []precis.Block{precis.ToolUse{ID: id, Name: "read", Input: []byte(`{"path":"a"}`)}}},
			{Role: precis.RoleUser, Content: []precis.Block{precis.ToolResult{ToolUseID: id, Content: []precis.Block{precis.Text{Text: strings.Repeat(fmt.Sprintf("line of file %d\n", n), 150)}}}}},
		}
	}
	conv := &precis.Conversation{Transcript: precis.NewTranscript(precis.NewText(precis.RoleUser, "Read the files."))}
	reduced := 0
	for n := range 60 {
		conv.Transcript.Append(call(n)...)
		res, err := m.Manage(t.Context(), policy.Request{Conversation: conv, Window: precis.Window{Tokens: 12_000}})
		if err != nil {
			t.Fatal(err)
		}
		if len(res.Edits) > 0 {
			reduced++
		}
		for i := range 3 { // the second message calls, the third answers
			if precis.HashMessage(res.View[i]) != precis.HashMessage(conv.Transcript.At(i)) {
				t.Fatalf("turn %d: message %d is not shown as it was said", n, i)
			}
		}
	}
	if reduced < 2 {
		t.Errorf("%d reductions", reduced)
	}
}

// TestASystemPromptThatDoesNotFitAlone: there is no message to cut, in no preset.
func TestASystemPromptThatDoesNotFitAlone(t *testing.T) {
	for _, name := range preset.Names() {
		s, err := preset.Settings(name)
		if err != nil {
			t.Fatal(err)
		}
		m, err := preset.New(preset.Options{Settings: s})
		if err != nil {
			t.Fatal(err)
		}
		for _, manual := range []bool{false, true} {
			conv := &precis.Conversation{Transcript: &precis.Transcript{}, System: precis.NewText(precis.RoleSystem, strings.Repeat("word ", 9000))}
			res, err := m.Manage(t.Context(), policy.Request{Conversation: conv, Window: precis.Window{Tokens: 3000, Source: precis.SourceConfigured}, TriggeredBy: map[bool]precis.TriggeredBy{true: precis.TriggeredManual}[manual]})
			if name == preset.Off && !manual {
				continue // it looks at nothing
			}
			if precis.CodeOf(err) != precis.CodeOverBudget || len(res.View) != 0 {
				t.Errorf("%s, manual %v: %v", name, manual, err)
			}
		}
	}
}
