package conversationtest

import (
	"strings"
	"testing"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
)

// draft makes a condensation, edits its text, and applies it.
func draft(t *testing.T, s *suite) {
	ctx, now := t.Context(), time.Unix(1_760_000_000, 0)
	d := conversation.Drafts{Now: func() time.Time { return now }}
	before := s.view()
	o := conversation.CondenseOptions{Target: 3000, Summarizer: conversation.ByDigest}
	made := must[conversation.Draft](s)(d.Make(ctx, s.Home, s.ID, o))
	if made.ID == "" || len(made.Texts) == 0 || !strings.Contains(made.Texts[0].Text, "Digest of messages") {
		t.Fatalf("no digest was drafted: %s", made.Report.Outcome)
	}
	if s.view() != before {
		t.Error("a draft is in force")
	}
	if again := must[conversation.Draft](s)(d.Read(ctx, s.Home, s.ID, made.ID)); again.Texts[0] != made.Texts[0] {
		t.Error("a draft is read as another one")
	}
	edit := made.Texts[0].Edit
	apply := func(text string) (conversation.Condensed, error) {
		return d.Apply(ctx, s.Home, s.ID, made.ID, map[string]string{edit: text})
	}
	for what, text := range map[string]string{"an empty text": " \n", "a text that is no UTF-8": "\xff", "a text that is too large": strings.Repeat("every word of it ", 40_000)} {
		_, err := apply(text)
		s.wants(precis.CodeInvalid, what, err)
	}
	_, err := d.Apply(ctx, s.Home, "another", made.ID, nil)
	s.wants(precis.CodeNotFound, "a draft of another conversation", err)
	if s.view() != before {
		t.Error("an error has changed the view")
	}
	done := must[conversation.Condensed](s)(apply("What I remember of it: the files were read."))
	after := s.view()
	if !strings.Contains(after, "What I remember of it") || strings.Contains(after, "Digest of messages") || !strings.Contains(after, "Never write to the disk") {
		t.Errorf("the view does not show the new text with what the gate adds:\n%.600s", after)
	}
	if st := must[conversation.Details](s)(conversation.Status(ctx, s.Home, s.ID)); st.Status.Tokens != done.Status.Tokens {
		t.Errorf("the view has %d tokens, the answer said %d", st.Status.Tokens, done.Status.Tokens)
	}
	_, err = apply("again")
	s.wants(precis.CodeNotFound, "a draft that was applied", err)
	must[conversation.Change](s)(conversation.Undo(ctx, s.Home, s.ID))
	if s.view() != before {
		t.Error("one undo does not take the run back")
	}
	made = must[conversation.Draft](s)(d.Make(ctx, s.Home, s.ID, o))
	now = now.Add(2 * time.Hour)
	_, err = d.Apply(ctx, s.Home, s.ID, made.ID, nil)
	s.wants(precis.CodeNotFound, "a draft of two hours ago", err)
	made = must[conversation.Draft](s)(d.Make(ctx, s.Home, s.ID, o))
	must[conversation.Condensed](s)(conversation.Condense(ctx, s.Home, s.ID, o))
	_, err = d.Apply(ctx, s.Home, s.ID, made.ID, nil)
	s.wants(precis.CodeConflict, "a draft of what was condensed meanwhile", err)
}
