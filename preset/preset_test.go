package preset_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"precis"
	"precis/preset"
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

func manage(t *testing.T, name string, change func(*precis.Settings), turns int) precis.Result {
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
	res, err := m.Manage(context.Background(), precis.Request{Conversation: chat(turns), Window: precis.Window{Tokens: 10_000}, MaxOutput: 1000})
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
	off := func(s *precis.Settings) { s.Auto = false }
	if res := manage(t, preset.Balanced, off, 41); len(res.Edits) != 0 {
		t.Errorf("%s although it fits: %s", res.Report.Decision.Action, res.Report.Arithmetic)
	}
	res := manage(t, preset.Balanced, off, 60)
	if len(res.Edits) != 1 || res.Edits[0].Kind != precis.KindTruncation {
		t.Errorf("%d edits: %s", len(res.Edits), res.Report.Outcome)
	}
}
