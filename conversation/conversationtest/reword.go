package conversationtest

import (
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
)

// reword replaces a summary's text and undoes that.
func reword(t *testing.T, s *suite) {
	ctx := t.Context()
	did := must[conversation.Condensed](s)(conversation.Condense(ctx, s.Home, s.ID, conversation.CondenseOptions{Target: 3000, Summarizer: conversation.ByDigest}))
	var id string
	for _, e := range did.Result.Edits {
		if e.Kind == precis.KindCondensation {
			id = e.ID
		}
	}
	if id == "" {
		t.Fatalf("no digest was written: %s", did.Report.Outcome)
	}
	before := s.view()
	c := must[conversation.Change](s)(conversation.Reword(ctx, s.Home, s.ID, id, "What I remember of it: the files were read."))
	now := s.view()
	if c.Edit.Kind != precis.KindCondensation || !strings.Contains(now, "What I remember of it") || now == before {
		t.Errorf("the view does not show the new text: %+v", c.Edit)
	}
	if !strings.Contains(now, "Never write to the disk") {
		t.Error("the gate has not added the user's rule")
	}
	_, err := conversation.Reword(ctx, s.Home, s.ID, "no-such-edit", "text")
	s.wants(precis.CodeNotFound, "an edit that does not exist", err)
	for what, text := range map[string]string{"an empty text": " \n", "a text that is no UTF-8": "\xff", "a text that is too large": strings.Repeat("every word of it ", 40_000)} {
		_, err := conversation.Reword(ctx, s.Home, s.ID, id, text)
		s.wants(precis.CodeInvalid, what, err)
	}
	if s.view() != now {
		t.Error("an error has changed the view")
	}
	must[conversation.Change](s)(conversation.Undo(ctx, s.Home, s.ID))
	if s.view() != before {
		t.Error("undoing does not bring the former text back")
	}
}
