package conversation_test

import (
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
)

func TestTypedWordsArePinned(t *testing.T) {
	const id = "c1"
	h := homeOf(t, 50_000,
		precis.NewText(precis.RoleUser, "Paint the shed.\nNever touch  the roof.\nYou may open the door."),
		precis.NewText(precis.RoleAssistant, "I must not touch the door."),
		precis.NewText(precis.RoleUser, "Go on."))
	all, err := conversation.SuggestPins(t.Context(), h, id)
	if err != nil || len(all) != 2 || all[0].Text != "Never touch  the roof." {
		t.Fatalf("%+v, %v", all, err)
	}
	if _, err := conversation.FindTyped(t.Context(), h, id, "not touch the door"); precis.CodeOf(err) != precis.CodeNotFound {
		t.Errorf("the agent's words: %v", err)
	}
	if _, err := conversation.FindTyped(t.Context(), h, id, " x "); precis.CodeOf(err) != precis.CodeInvalid {
		t.Errorf("a letter: %v", err)
	}
	at, err := conversation.FindTyped(t.Context(), h, id, "never touch the roof.")
	if precis.CodeOf(err) != precis.CodeNotFound {
		t.Errorf("in other letters: %v, %v", at, err)
	}
	at, err = conversation.FindTyped(t.Context(), h, id, "Never touch the roof.")
	if err != nil || at.From != 0 {
		t.Fatalf("%v, %v", at, err)
	}
	if _, err := conversation.Pin(t.Context(), h, id, at); err != nil {
		t.Fatal(err)
	}
	if all, err = conversation.SuggestPins(t.Context(), h, id); err != nil || len(all) != 0 {
		t.Errorf("pinned: %+v, %v", all, err)
	}
}
