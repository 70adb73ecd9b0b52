package conversation_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/policy"
)

// grown is a conversation of n turns; each adds about the same.
func grown(n, words int) []precis.Message {
	out := []precis.Message{user("Go.")}
	for i := range n {
		out = append(out, call(fmt.Sprint("t", i), "Read", `{"file_path":"f"}`, strings.Repeat("word ", words), false)...)
	}
	return out
}

func TestRoomIsMeasuredByTheGrowthOfTheNewestTurns(t *testing.T) {
	room := func(window int, msgs ...precis.Message) (conversation.Room, policy.Status) {
		d, err := conversation.Status(t.Context(), homeOf(t, window, msgs...), "c1")
		if err != nil {
			t.Fatal(err)
		}
		return d.Room, d.Status
	}
	r, _ := room(100_000, user("Go."))
	if r.Turns != 0 || r.Growth != 0 || r.TurnsLeft != nil || r.Left == 0 {
		t.Errorf("before the first turn: %+v", r)
	}
	r, st := room(100_000, grown(20, 500)...)
	if r.Turns != 10 || r.Growth < 450 || r.Growth > 650 {
		t.Errorf("growth: %+v", r)
	}
	// The manager acts only on overflow: the limit is the budget.
	if want := 100_000*9/10 - 8192 + 1; r.Limit != want || r.Left != want-st.Tokens || *r.TurnsLeft != r.Left/r.Growth {
		t.Errorf("%+v, want a limit of %d with %d tokens used", r, want, st.Tokens)
	}
	r, _ = room(100_000, append(grown(20, 2000), grown(10, 100)[1:]...)...)
	if r.Growth > 200 {
		t.Errorf("old turns are measured: %+v", r)
	}
	r, _ = room(5000, grown(20, 500)...)
	if r.Left != 0 || *r.TurnsLeft != 0 {
		t.Errorf("beyond the limit: %+v", r)
	}
}

func TestRoomEndsAtTheThreshold(t *testing.T) {
	h := homeOf(t, 100_000, grown(20, 500)...)
	err := h.Look(t.Context(), "c1", func(s *conversation.Subject) error {
		settings := s.Manager.Settings()
		settings.Auto, settings.Percent = true, 20
		return s.Manager.SetSettings(settings)
	})
	if err != nil {
		t.Fatal(err)
	}
	d, err := conversation.Status(t.Context(), h, "c1")
	if err != nil || d.Room.Limit != 20_000 {
		t.Errorf("%+v, %v", d.Room, err)
	}
}

// What follows from the report of a pass is what a look at the conversation gives.
func TestOutlookAfterAPassIsThatOfAStatus(t *testing.T) {
	for _, turns := range []int{0, 1, 20, 28, 60} {
		h := homeOf(t, 40_000, grown(turns, 500)...)
		d, err := conversation.Status(t.Context(), h, "c1")
		if err != nil {
			t.Fatal(err)
		}
		err = h.Look(t.Context(), "c1", func(s *conversation.Subject) error {
			settings := s.Manager.Settings()
			settings.Warn = 50
			if err := s.Manager.SetSettings(settings); err != nil {
				return err
			}
			meter := s.Manager.NewMeter()
			res, err := s.Manager.Manage(t.Context(), policy.Request{Conversation: s.Conversation, Window: s.Template.Window, MaxOutput: s.Template.MaxOutput, OutputLimit: s.Template.OutputLimit, Profile: s.Template.Profile, Meter: meter, Watch: true})
			if err != nil {
				return err
			}
			o := conversation.OutlookAfter(s.Conversation, meter, settings, s.Template.Profile, res.Report)
			got, want := o.Room, d.Room
			if (got.TurnsLeft == nil) != (want.TurnsLeft == nil) || got.TurnsLeft != nil && *got.TurnsLeft != *want.TurnsLeft {
				t.Errorf("%d turns: %v, want %v", turns, got.TurnsLeft, want.TurnsLeft)
			}
			got.TurnsLeft, want.TurnsLeft = nil, nil
			if got != want || o.Percent != d.Status.Percent || o.Near != (d.Status.Percent >= 50) {
				t.Errorf("%d turns: %+v, want %+v at %g %%", turns, o, want, d.Status.Percent)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
