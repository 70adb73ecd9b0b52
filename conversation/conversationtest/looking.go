package conversationtest

import (
	"slices"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
)

func exclude(t *testing.T, s *suite) {
	ctx := t.Context()
	whole := s.view()
	c := must[conversation.Change](s)(conversation.Exclude(ctx, s.Home, s.ID, precis.MessageHandle(2)))
	if c.Edit.Kind != precis.KindExclude || s.message(1).State != conversation.Hidden ||
		s.message(2).State != conversation.Hidden {
		t.Errorf("a call and its result are not hidden together: %+v", c.Edit)
	}
	if strings.Contains(s.view(), "line 3 of file 0:") && strings.Count(whole, "line 3 of file 0:") == 1 {
		t.Error("the view shows what is excluded")
	}
	_, err := conversation.Exclude(ctx, s.Home, s.ID, precis.MessageHandle(2))
	s.wants(precis.CodeNotFound, "excluding it again", err)
	_, err = conversation.Exclude(ctx, s.Home, s.ID, precis.MessageHandle(0))
	s.wants(precis.CodeConflict, "excluding the last user turn", err)
	must[conversation.Change](s)(conversation.Undo(ctx, s.Home, s.ID))
	if s.view() != whole {
		t.Error("undoing does not lead to the transcript")
	}
}

// testPreview previews edits and then makes one.
func testPreview(t *testing.T, s *suite) {
	ctx := t.Context()
	whole := s.view()
	intent := conversation.EditRequest{Verb: conversation.VerbExclude,
		Handles: []precis.Handle{precis.MessageHandle(4)}}
	would := must[conversation.Forecast](s)(conversation.PreviewEdit(ctx, s.Home, s.ID, intent))
	edits := must[conversation.EditList](s)(conversation.Edits(ctx, s.Home, s.ID))
	if s.view() != whole || len(edits.Items) > 0 {
		t.Fatal("asking for the effect changes the conversation")
	}
	did := must[conversation.Change](s)(conversation.Apply(ctx, s.Home, s.ID, intent))
	if would.Before.Tokens <= would.Status.Tokens || did.Status.Tokens != would.Status.Tokens ||
		did.Edit.ID != would.Edit.ID {
		t.Errorf("%d → %d tokens were announced, there are %d", would.Before.Tokens, would.Status.Tokens,
			did.Status.Tokens)
	}
	_, err := conversation.PreviewEdit(ctx, s.Home, s.ID, conversation.EditRequest{Verb: "sing"})
	s.wants(precis.CodeInvalid, "a verb that does not exist", err)
	_, err = conversation.PreviewEdit(ctx, s.Home, s.ID,
		conversation.EditRequest{Verb: conversation.VerbRestore})
	s.wants(precis.CodeInvalid, "restoring nothing", err)
}

func composition(t *testing.T, s *suite) {
	check := func(want ...string) {
		t.Helper()
		c := must[conversation.Composition](s)(conversation.CompositionOf(t.Context(), s.Home, s.ID))
		sum := 0
		for _, k := range c.Kinds {
			sum += k.Tokens
			want = slices.DeleteFunc(want, func(w string) bool { return w == k.Kind && k.Tokens > 0 })
		}
		if sum != c.Used || c.Used+c.Free+c.Reserve.Tokens != c.Window.Tokens && c.Free > 0 ||
			c.Window.Tokens != Window {
			t.Errorf("the parts do not add up: %+v", c)
		}
		if len(want) > 0 || c.Threshold <= 0 || c.Threshold > c.Window.Tokens {
			t.Errorf("missing %v in %+v", want, c)
		}
	}
	check(conversation.KindUser, conversation.KindToolUse, conversation.KindToolResult)
	would := must[conversation.Condensed](s)(conversation.Preview(t.Context(), s.Home, s.ID,
		conversation.CondenseOptions{Target: 3000}))
	then := must[conversation.Composition](s)(conversation.CompositionOf(t.Context(), s.Home, s.ID,
		would.Result.Edits...))
	if then.Used != would.Status.Tokens ||
		!slices.ContainsFunc(then.Kinds,
			func(k conversation.KindTokens) bool { return k.Kind == conversation.KindDigest }) {
		t.Errorf("after what is previewed: %+v, want %d tokens with a digest", then, would.Status.Tokens)
	}
	s.condense(0.4)
	check(conversation.KindDigest, conversation.KindUser)
}

func pieces(t *testing.T, s *suite) {
	ctx := t.Context()
	first := must[conversation.UnitList](s)(conversation.Units(ctx, s.Home, s.ID,
		conversation.UnitQuery{Limit: 10}))
	if len(first.Items) != 10 || first.Next != 10 || first.Prev != 0 || first.Total != 2*reads+1 ||
		first.Items[3].State != conversation.Shown {
		t.Errorf("the first page: %d pieces, next %d", len(first.Items), first.Next)
	}
	i := s.hidden()
	list := must[conversation.UnitList](s)(conversation.Units(ctx, s.Home, s.ID,
		conversation.UnitQuery{From: i, Limit: 1}))
	u := list.Items[0]
	if u.State != conversation.Hidden || u.Handle.From > i || u.Handle.To <= i || u.Before <= u.After {
		t.Errorf("what stands for message %d: %+v", i, u)
	}
	then := must[conversation.ViewInfo](s)(conversation.ViewAt(ctx, s.Home, s.ID, 5))
	if len(then.Units) != 5 || slices.ContainsFunc(then.Units,
		func(u conversation.ViewUnit) bool { return u.State != conversation.Shown }) {
		t.Errorf("at 5 messages, before any edit: %+v", then.Units)
	}
	past := must[conversation.UnitList](s)(conversation.Units(ctx, s.Home, s.ID,
		conversation.UnitQuery{At: 5}))
	if past.Total != 5 || len(past.Items) != 5 || past.Next != 0 ||
		past.Status.Tokens >= first.Status.Tokens {
		t.Errorf("at 5 messages: %+v", past)
	}
	_, err := conversation.ViewAt(ctx, s.Home, s.ID, 1000)
	s.wants(precis.CodeNotFound, "a view that never was", err)
	_, err = conversation.Units(ctx, s.Home, s.ID, conversation.UnitQuery{Limit: -1})
	s.wants(precis.CodeInvalid, "a page of -1", err)
}

func sizes(t *testing.T, s *suite) {
	ctx := t.Context()
	s.condense(0.4)
	d := must[conversation.Details](s)(conversation.Status(ctx, s.Home, s.ID))
	h := must[conversation.Sizes](s)(conversation.SizeHistory(ctx, s.Home, s.ID, 500))
	last := h.Points[len(h.Points)-1]
	if last.Messages != 2*reads+1 || last.Tokens != d.Status.Tokens || last.Unreduced <= last.Tokens ||
		h.Window != Window {
		t.Errorf("the last point is %+v, the view has %d tokens", last, d.Status.Tokens)
	}
	if len(h.Marks) != 1 || h.Marks[0].Messages != 2*reads+1 || h.Marks[0].Before <= h.Marks[0].After ||
		len(h.Marks[0].Kinds) == 0 {
		t.Errorf("marks: %+v", h.Marks)
	}
	_, err := conversation.SizeHistory(ctx, s.Home, s.ID, 0)
	s.wants(precis.CodeInvalid, "no points", err)
}
