package conversationtest

import (
	"errors"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
)

// guard requests edits that would hide nearly all of the view and the last user turn: every verb
// refuses them without a change, a preview reports the loss, and force applies them.
func guard(t *testing.T, s *suite) {
	ctx, before := t.Context(), s.view()
	rule := precis.MessageHandle(0)
	refused := func(what string, err error) {
		t.Helper()
		s.wants(precis.CodeWouldLose, what, err)
		loss, ok := errors.AsType[*conversation.LossError](err)
		switch {
		case !ok || loss.Empty():
			t.Errorf("%s: nothing is listed: %v", what, err)
		case !strings.Contains(loss.Quoted(), "Never write to the disk") ||
			strings.Contains(err.Error(), "Never write"):
			t.Errorf("%s: %q, as an error %q", what, loss.Quoted(), err)
		}
		if s.view() != before {
			t.Errorf("%s: it is refused, and the view is another one", what)
		}
	}
	tiny := conversation.CondenseOptions{Target: 20}
	would := must[conversation.Condensed](s)(conversation.Preview(ctx, s.Home, s.ID, tiny))
	if would.Loses == nil || len(would.Loses.Rules) != 1 || would.Loses.Rules[0].Handle.From != rule.From ||
		would.Report.Loss == nil {
		t.Errorf("the preview does not say what would be lost: %+v, %s", would.Loses, would.Report.Outcome)
	}
	for what, o := range map[string]conversation.CondenseOptions{"a target of 20 tokens": tiny,
		"a share of a thousandth": {Share: .001},
		"without a model":         {Target: 20, Summarizer: conversation.ByDigest}} {
		_, err := conversation.Condense(ctx, s.Home, s.ID, o)
		refused(what, err)
	}
	var d conversation.Drafts
	made := must[conversation.Draft](s)(d.Make(ctx, s.Home, s.ID, tiny))
	if made.Loses == nil {
		t.Error("the draft does not say what would be lost")
	}
	_, err := d.Apply(ctx, s.Home, s.ID, made.ID, nil)
	refused("the draft", err)

	// A target that loses no content needs no force.
	if fine := must[conversation.Condensed](s)(conversation.Preview(ctx, s.Home, s.ID,
		conversation.CondenseOptions{Share: .2})); fine.Loses != nil || fine.Report.Loss != nil ||
		!fine.Changed {
		t.Errorf("a fifth of the window: %+v, %s", fine.Loses, fine.Report.Outcome)
	}
	must[conversation.Condensed](s)(d.ApplyForced(ctx, s.Home, s.ID, made.ID, nil))
	if strings.Contains(s.view(), "Never write to the disk") {
		t.Error("a forced run keeps what it was forced to lose")
	}
	must[conversation.Change](s)(conversation.Undo(ctx, s.Home, s.ID))
	tiny.Force = true
	if done := must[conversation.Condensed](s)(conversation.Condense(ctx, s.Home, s.ID,
		tiny)); done.Report.Loss == nil || !strings.Contains(done.Report.Outcome, "breach") {
		t.Errorf("a forced run is reported as any other: %s", done.Report.Outcome)
	}
	must[conversation.Change](s)(conversation.Undo(ctx, s.Home, s.ID))
	if s.view() != before {
		t.Error("undo does not bring everything back")
	}
}

// guardExclude excludes units with a rule, which the preview lists, and units without one.
func guardExclude(t *testing.T, s *suite) {
	ctx := t.Context()
	s.condense(0.4) // the first message is no longer the last user turn
	before := s.view()
	list := must[conversation.UnitList](s)(conversation.Units(ctx, s.Home, s.ID,
		conversation.UnitQuery{Limit: 500}))
	for _, u := range list.Items {
		i := conversation.EditRequest{Verb: conversation.VerbExclude, Handles: []precis.Handle{u.Handle}}
		holds := strings.Contains(textsOf(u), "Never write to the disk")
		would, err := conversation.PreviewEdit(ctx, s.Home, s.ID, i)
		if code := precis.CodeOf(err); err != nil && code != precis.CodeConflict {
			t.Fatal(err)
		}
		if err == nil && (would.Loses != nil && len(would.Loses.Rules) > 0) != holds {
			t.Errorf("%s holds a rule: %v, the preview says %+v", u.Handle, holds, would.Loses)
		}
		refuses := would.Loses != nil && would.Loses.Refuses()
		_, err = conversation.Apply(ctx, s.Home, s.ID, i)
		if refuses != (precis.CodeOf(err) == precis.CodeWouldLose) {
			t.Errorf("%s: refused: %v, the preview says %+v", u.Handle, err, would.Loses)
		}
		if err == nil {
			must[conversation.Change](s)(conversation.Undo(ctx, s.Home, s.ID))
		}
		if s.view() != before {
			t.Fatalf("%s: the view is another one", u.Handle)
		}
	}
}

func textsOf(u conversation.UnitInfo) string {
	var out strings.Builder
	for _, m := range u.Messages {
		for _, b := range m.Blocks {
			out.WriteString(b.Text)
		}
	}
	return out.String()
}
