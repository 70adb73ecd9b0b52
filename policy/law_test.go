package policy_test

import (
	"context"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/inforce"
	"github.com/precis-dev/precis/policy"
)

// saysHeld is a law that holds the same in each conversation.
type saysHeld []inforce.Item

func (l saysHeld) Items(*policy.Situation) []inforce.Item { return l }

// TestTheNoteFollowsTheOrderOfTheLaw: what is too large to be kept and what no block can keep are said in one order,
// what matters most first.
func TestTheNoteFollowsTheOrderOfTheLaw(t *testing.T) {
	user := precis.NewText(precis.RoleUser, strings.Repeat("dig the sluice ", 300))
	answer := precis.NewText(precis.RoleAssistant, strings.Repeat("the sluice is dug ", 300))
	conv := &precis.Conversation{Transcript: precis.NewTranscript(user, answer, user, answer, user, answer, user)}
	law := saysHeld{
		{Key: "a", At: []precis.Handle{precis.BlockHandle(2, 0)}, MaxTokens: 1, Name: "First", Required: []string{"mend the gate"}},
		{Key: "b", At: []precis.Handle{precis.BlockHandle(3, 0)}, Name: "Second", Required: []string{"oil the hinge"}},
	}
	settings := policy.DefaultSettings()
	settings.KeepMessages, settings.KeepShare = 1, 0
	hides := hiding{precis.KindTruncation, precis.RoleUser, [][2]int{{1, 5}}}
	m := manager(t, policy.Options{Settings: settings, ItemSource: law, Strategies: []policy.Strategy{hides}})
	res, err := m.Manage(context.Background(), policy.Request{Conversation: conv, Window: window(8000), TriggeredBy: precis.TriggeredManual, Target: 1000})
	if err != nil && precis.CodeOf(err) != precis.CodeOverBudget {
		t.Fatal(err)
	}
	var view strings.Builder
	for _, msg := range res.View {
		view.WriteString(msg.PlainText() + "\n")
	}
	if want := "First:\n- mend the gate\nSecond:\n- oil the hinge"; !strings.Contains(view.String(), want) {
		t.Errorf("the view does not say %q:\n%.900s", want, view.String())
	}
}
