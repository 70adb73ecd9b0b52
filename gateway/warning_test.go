package gateway_test

import (
	"context"
	"strconv"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/condense"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/provider/providertest"
)

// Every managed response says how full the window is and how long it lasts, as the verbs
// do, and the turn that crosses the warn level is named once.
func TestResponsesSayHowFullTheWindowIs(t *testing.T) {
	t.Parallel()
	for _, dialect := range dialects(t) {
		t.Run(dialect, func(t *testing.T) {
			s := providertest.New(t, providertest.Options{Window: 20_000})
			turns := make(chan gateway.Turn, 100)
			base, g := start(t, s.URL, func(o *gateway.Options) {
				window(20_000)(o)
				o.OnTurn = func(_ context.Context, turn gateway.Turn) { turns <- turn }
			})
			a := newAgent(dialect, "Read the files one by one.")
			warned, near, reduced := 0, 0, 0
			was := false
			for n := 1; n <= 60; n++ {
				a.read(n, words(30, n))
				res, out := post(t, base+a.path(), a.body(n%2 == 0))
				if res.StatusCode != 200 {
					t.Fatal(out)
				}
				turn, l := <-turns, only(t, g)
				d, err := conversation.Status(t.Context(), g.Home(l.Owner), l.ID)
				if err != nil {
					t.Fatal(err)
				}
				percent, err := strconv.ParseFloat(res.Header.Get("X-Precis-Percent"), 64)
				after, _ := strconv.Atoi(res.Header.Get("X-Precis-Tokens-After"))
				if err != nil || percent < float64(after)/200-0.06 || percent > float64(after)/200+0.06 || turn.Outlook == nil || turn.Outlook.Room.Limit != 15_000 {
					t.Fatalf("turn %d: %q %% with %d tokens, %+v", n, res.Header.Get("X-Precis-Percent"), after, turn.Outlook)
				}
				left, err := strconv.Atoi(res.Header.Get("X-Precis-Turns-Left"))
				if err != nil || left != turn.Outlook.Room.Left/turn.Outlook.Room.Growth {
					t.Errorf("turn %d: %q turns, %+v", n, res.Header.Get("X-Precis-Turns-Left"), turn.Outlook.Room)
				}
				// What was learned about counting since the request was measured is little after
				// some turns.
				if growth, want := d.Room.Growth, turn.Outlook.Room.Growth; d.Room.Turns != turn.Outlook.Room.Turns || n > 10 && (growth < want*9/10 || growth > want*11/10+1) {
					t.Errorf("turn %d: %+v, the verbs say %+v", n, turn.Outlook.Room, d.Room)
				}
				is := float64(after) >= 0.7*20_000
				if turn.Warned != (is && !was) || turn.Outlook.Near != is {
					t.Errorf("turn %d: %d tokens, near %v, warned %v, before %v", n, after, turn.Outlook.Near, turn.Warned, was)
				}
				if was = is; is {
					near++
				}
				if turn.Warned {
					warned++
				}
				if turn.Action == "reduced" {
					reduced++
				}
				if res.Header.Get("X-Precis-Condense-Error") != "" || turn.CondenseError != "" {
					t.Errorf("turn %d: %q", n, turn.CondenseError)
				}
			}
			if warned < 2 || near <= warned || reduced < 2 {
				t.Errorf("warned %d times, near %d times, reduced %d times", warned, near, reduced)
			}
		})
	}
}

// Who watches hears that a client waits for a reduction, before the turn that says what
// came of it, and of no other turn.
func TestAReductionIsToldWhenItBegins(t *testing.T) {
	t.Parallel()
	s := providertest.New(t, providertest.Options{Window: 20_000})
	turns, told := make(chan gateway.Turn, 100), make(chan [2]string, 100)
	base, g := start(t, s.URL, func(o *gateway.Options) {
		window(20_000)(o)
		o.OnTurn = func(_ context.Context, turn gateway.Turn) { turns <- turn }
		o.OnReduce = func(owner, conversation string) { told <- [2]string{owner, conversation} }
	})
	a := newAgent("anthropic", "Read the files one by one.")
	reduced := 0
	for n := 1; n <= 40; n++ {
		a.read(n, words(60, n))
		if res, out := post(t, base+a.path(), a.body(false)); res.StatusCode != 200 {
			t.Fatal(out)
		}
		turn, l := <-turns, only(t, g)
		waited := turn.Action == "reduced" && len(turn.Report.Steps) > 0
		if waited != (len(told) > 0) {
			t.Fatalf("turn %d: %s, told %d times", n, turn.Action, len(told))
		}
		for waited && len(told) > 0 {
			if got := <-told; got != [2]string{l.Owner, l.ID} {
				t.Errorf("turn %d: told of %v, want %s of %q", n, got, l.ID, l.Owner)
			}
			reduced++
		}
	}
	if reduced < 2 {
		t.Errorf("reduced %d times", reduced)
	}
}

func TestResponsesNameACondensationThatFailed(t *testing.T) {
	t.Parallel()
	for reason, want := range map[precis.Reason]string{
		condense.ReasonCallFailed:        "condense_api_failed",
		condense.ReasonTooFewMessages:    "condense_not_enough_messages",
		condense.ReasonCondensedRecently: "condensed_recently",
		condense.ReasonNoSummarizer:      "condense_handler_invalid",
		condense.ReasonEmpty:             "condense_failed",
		policy.ReasonGrew:                "condense_context_grew",
	} {
		s := newScript(t, said("anthropic", true, 1, part{text: "ok"}))
		turns := make(chan gateway.Turn, 100)
		base, g := start(t, s.URL, func(o *gateway.Options) {
			window(20_000)(o)
			withRung(t, modelRung{reason: reason}, false)(o)
			o.OnTurn = func(_ context.Context, turn gateway.Turn) { turns <- turn }
		})
		// It does not fit, so the model is asked at once; the other rungs do without.
		res, out := post(t, base+"/v1/messages", longAgent("anthropic").body(true))
		if got := res.Header.Get("X-Precis-Condense-Error"); res.StatusCode != 200 || got != want || res.Header.Get("X-Precis-Action") != "reduced" {
			t.Errorf("%s: %q, want %q: %d %s", reason, got, want, res.StatusCode, out)
		}
		if turn := <-turns; turn.CondenseError != want || turn.Err != nil {
			t.Errorf("%s: %q %v", reason, turn.CondenseError, turn.Err)
		}
		l := only(t, g)
		if d, err := conversation.Status(t.Context(), g.Home(l.Owner), l.ID); err != nil || d.CondenseError != want {
			t.Errorf("%s: the conversation says %q, %v", reason, d.CondenseError, err)
		}
	}
}

// A summary that failed in the background is named by the turn that would have shown it.
func TestACondensationThatFailedInTheBackgroundIsNamed(t *testing.T) {
	t.Parallel()
	rung := failing{make(chan struct{}, 1000), make(chan struct{})}
	s := newScript(t, said("anthropic", false, 1, part{text: "ok"}))
	turns := make(chan gateway.Turn, 100)
	base, _ := start(t, s.URL, func(o *gateway.Options) {
		window(20_000)(o)
		withRung(t, rung, true)(o)
		o.OnTurn = func(_ context.Context, turn gateway.Turn) { turns <- turn }
	})
	a := halfAgent("anthropic")
	for n := range 2 { // over the threshold, and it fits
		a.read(11+n, words(60, n))
	}
	post(t, base+"/v1/messages", a.body(false))
	if turn := <-turns; turn.CondenseError != "" {
		t.Errorf("before: %q", turn.CondenseError)
	}
	<-rung.asked
	close(rung.goOn)
	for n := range 100 { // the background ends some time
		a.read(100+n, "x")
		res, _ := post(t, base+"/v1/messages", a.body(false))
		if turn := <-turns; turn.CondenseError != "" {
			if turn.CondenseError != "condense_failed" || res.Header.Get("X-Precis-Condense-Error") != "condense_failed" {
				t.Errorf("%q", turn.CondenseError)
			}
			return
		}
	}
	t.Error("it is never named")
}
