package policy_test

import (
	"fmt"
	"strings"
	"testing"

	"precis"
	"precis/policy"
	"precis/preset"
)

// A reduction leaves out the reasoning of old turns first, and no more where that is
// enough.
func TestOldReasoningIsLeftOutFirst(t *testing.T) {
	conv := func() *precis.Conversation {
		c := &precis.Conversation{Transcript: &precis.Transcript{}}
		for n := range 20 {
			c.Transcript.Append(precis.NewText(precis.RoleUser, fmt.Sprintf("Step %d, please.", n)))
			c.Transcript.Append(precis.Message{Role: precis.RoleAssistant, Content: []precis.Block{
				precis.Thinking{Text: strings.Repeat(fmt.Sprintf("I wonder about %d. ", n), 60)}, precis.Text{Text: fmt.Sprintf("Done %d.", n)}}})
		}
		c.Transcript.Append(precis.NewText(precis.RoleUser, "And now?"))
		return c
	}
	for _, keep := range []int{0, 3, 10} {
		s, err := preset.Settings(preset.Frugal)
		if err != nil {
			t.Fatal(err)
		}
		s.KeepThinking, s.KeepShare = keep, 0
		m, err := preset.New(preset.Options{Settings: s})
		if err != nil {
			t.Fatal(err)
		}
		c := conv()
		res, err := m.Manage(t.Context(), policy.Request{Conversation: c, Window: window(10_000), TriggeredBy: precis.TriggeredManual, Target: 4000})
		if err != nil {
			t.Fatal(err)
		}
		left, words := 0, 0
		for _, msg := range res.View {
			for _, b := range msg.Content {
				switch b := b.(type) {
				case precis.Thinking:
					left++
				case precis.Text:
					if strings.HasPrefix(b.Text, "Done") {
						words++
					}
				}
			}
		}
		first := res.Report.Steps[0]
		switch {
		case keep == 0 && first.Rung == "thinking":
			t.Error("reasoning is left out, and nobody asked for that")
		case keep > 0 && (left != keep || words != 20 || first.Rung != "thinking" || first.Outcome != precis.OutcomeAccepted || len(res.Edits) != 1):
			t.Errorf("keep %d: %d blocks of reasoning and %d answers are left, %d edits, first %+v", keep, left, words, len(res.Edits), first)
		}
		if _, err := m.Undo(t.Context(), c); err != nil || len(precis.View(c.Transcript, c.Edits)) != 41 {
			t.Errorf("keep %d: undone: %v", keep, err)
		}
	}
}
