package preset_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive/roo"
	"github.com/precis-dev/precis/condense"
	"github.com/precis-dev/precis/digest"
	"github.com/precis-dev/precis/model"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/preset"
	"github.com/precis-dev/precis/tokens"
)

// called is a call and its result.
func called(id, tool, input, result string) []precis.Message {
	return []precis.Message{
		{Role: precis.RoleAssistant, Content: []precis.Block{precis.Text{Text: "Next: " + id}, precis.ToolUse{ID: id, Name: tool, Input: []byte(input)}}},
		{Role: precis.RoleUser, Content: []precis.Block{precis.ToolResult{ToolUseID: id, Content: []precis.Block{precis.Text{Text: result}}}}},
	}
}

// task is a task of Roo Code: a plan with open steps, and reads of the given sizes in lines.
func task(sizes ...int) []precis.Message {
	msgs := []precis.Message{precis.NewText(precis.RoleUser, "<task>\nPort every module. Never touch the folder legacy.\n</task>")}
	msgs = append(msgs, called("plan", "update_todo_list", `{"todos":"[x] read them\n[-] port the lexer\n[ ] port the grammar"}`, "Todo list updated successfully.")...)
	for i, n := range sizes {
		var lines strings.Builder
		for k := range n {
			fmt.Fprintf(&lines, "var v%d_%d = %d // a line\n", i, k, i*k)
		}
		msgs = append(msgs, called(fmt.Sprint("r", i), "read_file", fmt.Sprintf(`{"path":"m%d.go"}`, i), lines.String())...)
	}
	return msgs
}

// inPlace condenses a task as its own files can say it.
func inPlace(t *testing.T, name string, msgs []precis.Message, window int, change func(*preset.Options)) (policy.Result, error) {
	t.Helper()
	s, err := preset.Settings(name)
	if err != nil {
		t.Fatal(err)
	}
	s.Rungs, s.KeepHead, s.MinModelWindow = []string{"condense", "digest", "truncate"}, 0, 0
	o := preset.Options{Settings: s, Estimate: tokens.NameChars4, FromStart: true, ToFit: true}
	if change != nil {
		change(&o)
	}
	m, err := preset.New(o)
	if err != nil {
		t.Fatal(err)
	}
	conv := &precis.Conversation{Transcript: precis.NewTranscript(msgs...)}
	res, err := m.Manage(context.Background(), policy.Request{Conversation: conv, TriggeredBy: precis.TriggeredManual, Window: precis.Window{Tokens: window}})
	for _, e := range res.Edits {
		if !roo.CanTag(e) && e.Kind != precis.KindThinking {
			t.Errorf("%s: tags cannot say the edit of %s: %d messages stand for it", name, e.Report.Rung, len(e.Replace[0].With))
		}
	}
	return res, err
}

// What holds stands in the summary or the marker itself: Roo Code sends nothing that stands beside it.
func TestWhatHoldsStandsInTheSummary(t *testing.T) {
	sizes := slices.Repeat([]int{130}, 40)
	for _, name := range []string{preset.Balanced, preset.Frugal, preset.Roo} {
		for _, rung := range []string{"digest", "truncate"} {
			res, err := inPlace(t, name, task(sizes...), 32_000, func(o *preset.Options) { o.Settings.Rungs, o.ToFit = []string{rung}, false })
			if err != nil || len(res.Edits) == 0 {
				t.Errorf("%s, %s: %v, %+v", name, rung, err, res.Report.Steps)
				continue
			}
			var text strings.Builder
			for _, m := range res.View {
				text.WriteString(m.PlainText() + "\n")
				for _, b := range m.Content {
					if u, ok := b.(precis.ToolUse); ok {
						text.Write(u.Input)
					}
				}
			}
			if before, _, is := strings.Cut(text.String(), "[Tool Use: update_todo_list]"); is && !strings.Contains(before, "Called before, and still in force:") {
				t.Errorf("%s, %s: nobody says that the plan is no call to be made", name, rung)
			}
			if !strings.Contains(text.String(), "port the grammar") {
				t.Errorf("%s, %s: the open step is in no message of the view", name, rung)
			}
		}
	}
}

// Where no rung shortens results the newest messages stay by their size, not by their number.
func TestHugeNewestResultsAreCondensed(t *testing.T) {
	sizes := append(slices.Repeat([]int{100}, 20), 4000, 4000)
	msgs := append(task(sizes...), precis.Message{Role: precis.RoleAssistant, Content: []precis.Block{precis.Text{Text: "Both are read."}}})
	for _, name := range []string{preset.Balanced, preset.Frugal, preset.Roo} {
		if res, err := inPlace(t, name, msgs, 32_000, nil); err != nil || len(res.Edits) != 1 || res.Edits[0].Kind != precis.KindCondensation {
			t.Errorf("%s: %v, %+v", name, err, res.Report.Steps)
		}
	}
}

// A digest is no longer than what fits beside a long last turn.
func TestADigestLeavesRoomForALongLastTurn(t *testing.T) {
	msgs := append(task(slices.Repeat([]int{200}, 30)...), precis.NewText(precis.RoleAssistant, "What now?"),
		precis.NewText(precis.RoleUser, "<feedback>\n"+strings.Repeat("Look at this line of the log, and mend what it says.\n", 1300)+"</feedback>"))
	for _, name := range []string{preset.Balanced, preset.Roo} {
		if res, err := inPlace(t, name, msgs, 32_000, nil); err != nil || len(res.Edits) != 1 {
			t.Errorf("%s: %v, %+v", name, err, res.Report.Steps)
		}
	}
}

// playedModel gives one answer to everything.
type playedModel string

func (m playedModel) Generate(context.Context, model.Request) (model.Response, error) {
	return model.Response{Attempts: 1, Text: string(m), Usage: precis.Usage{Input: 1000, Output: 100}}, nil
}

func (playedModel) Info() model.Info { return model.Info{ID: "played"} }

// padding is a gate that adds to what a model writes.
type padding struct{ digest.Gate }

func (g padding) Admit(ctx context.Context, s *policy.Situation, e precis.Edit) (precis.Edit, error) {
	if e.Report.Call == nil {
		return g.Gate.Admit(ctx, s, e)
	}
	with := &e.Replace[0].With[0]
	with.Content = append(slices.Clone(with.Content), precis.Text{Text: strings.Repeat("A fact that the summary lacks. ", 600)})
	return e, nil
}

// What a model wrote is not thrown away for a digest that comes nearer to the target.
func TestNoDigestInThePlaceOfASummary(t *testing.T) {
	const brief = "1. Goal: port it.\n2. State: half done.\n3. Rules: none.\n4. Files: m1.go.\n5. Next: go on."
	res, err := inPlace(t, preset.Balanced, task(slices.Repeat([]int{200}, 30)...), 32_000, func(o *preset.Options) {
		o.Settings.Target, o.Gate = 40, padding{}
		o.Condensing = &preset.Condensing{Writer: condense.WriterConfig{Model: playedModel(brief), Prompt: condense.Prompt{Template: "brief"}}}
	})
	if err != nil || len(res.Edits) != 1 || res.Edits[0].Report.Rung != "condense" {
		t.Errorf("%v, %+v", err, res.Report.Steps)
	}
}

// Elsewhere what holds stands beside the summary as it was said.
func TestWhatHoldsStaysApartElsewhere(t *testing.T) {
	s, err := preset.Settings(preset.Balanced)
	if err != nil {
		t.Fatal(err)
	}
	m, err := preset.New(preset.Options{Settings: s, Estimate: tokens.NameChars4})
	if err != nil {
		t.Fatal(err)
	}
	said := task(slices.Repeat([]int{200}, 40)...)
	rule := precis.NewText(precis.RoleSystem, "Kestrels come first.")
	said = slices.Insert(said, 5, rule)
	res, err := m.Manage(context.Background(), policy.Request{Conversation: &precis.Conversation{Transcript: precis.NewTranscript(said...)}, TriggeredBy: precis.TriggeredManual, Window: precis.Window{Tokens: 32_000}})
	if err != nil || len(res.Edits) == 0 {
		t.Fatal(err, res.Report.Steps)
	}
	shown := func(want precis.Message) bool {
		return slices.ContainsFunc(res.View, func(m precis.Message) bool { return precis.HashMessage(m) == precis.HashMessage(want) })
	}
	if !shown(rule) || !slices.ContainsFunc(res.View, func(m precis.Message) bool {
		return slices.ContainsFunc(m.Content, func(b precis.Block) bool { u, ok := b.(precis.ToolUse); return ok && u.ID == "plan" })
	}) {
		t.Errorf("the system message or the plan is not shown as it was said: %+v", res.Report.Steps)
	}
}
