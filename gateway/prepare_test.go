package gateway_test

import (
	"context"
	"testing"

	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/provider/providertest"
)

// reducer sends turns of a conversation and says by whom its view was reduced.
type reducer struct {
	t     *testing.T
	base  string
	g     *gateway.Gateway
	a     *agent
	turns chan gateway.Turn
	seen  int // edits
}

func newReducer(t *testing.T, change func(*gateway.Options)) *reducer {
	s := providertest.New(t, providertest.Options{Window: 20_000})
	r := &reducer{t: t, a: newAgent("anthropic", "Read the files one by one. Never touch legacy.go."), turns: make(chan gateway.Turn, 200)}
	r.base, r.g = start(t, s.URL, func(o *gateway.Options) {
		window(20_000)(o)
		o.OnTurn = func(_ context.Context, turn gateway.Turn) { r.turns <- turn }
		if change != nil {
			change(o)
		}
	})
	return r
}

// turn reads a file of so many lines. It returns how the turn was triggered that reduced the view, "" when none
// did, and the tokens of the view.
func (r *reducer) turn(n, lines int) (by string, tokens int) {
	r.t.Helper()
	r.a.read(n, words(lines, n))
	if res, out := post(r.t, r.base+r.a.path(), r.a.body(false)); res.StatusCode != 200 {
		r.t.Fatal(out)
	}
	turn, l := <-r.turns, only(r.t, r.g)
	list, err := conversation.Edits(r.t.Context(), r.g.Home(l.Owner), l.ID)
	if err != nil {
		r.t.Fatal(err)
	}
	if len(list.Items) > r.seen {
		by = list.Items[len(list.Items)-1].Report.Trigger
	}
	r.seen = len(list.Items)
	return by, turn.Report.After.Tokens
}

// TestReductionsWithoutAModelArePrepared: what a conversation needs that grows steadily is made while
// the answer before it streams, and leaves the view near the target.
func TestReductionsWithoutAModelArePrepared(t *testing.T) {
	t.Parallel()
	r := newReducer(t, nil)
	by := map[string]int{}
	for n := 1; n <= 160; n++ {
		how, tokens := r.turn(n, 15)
		if how != "" {
			by[how]++
			if tokens > 12_000 {
				t.Errorf("turn %d: %d tokens after a reduction", n, tokens)
			}
		}
		if tokens > 15_000 {
			t.Errorf("turn %d: %d tokens", n, tokens)
		}
	}
	if by["background"] < 3 || by["automatic"] > by["background"]/2 {
		t.Errorf("reductions: %v", by)
	}
}

// TestAPreparedReductionThatIsTooLittleIsNotUsed: the turn that needs it brings more than was foreseen.
func TestAPreparedReductionThatIsTooLittleIsNotUsed(t *testing.T) {
	t.Parallel()
	r := newReducer(t, nil)
	n := 1
	for ; ; n++ {
		how, tokens := r.turn(n, 15)
		if how != "" {
			t.Fatalf("turn %d is reduced before the view is at %d tokens", n, tokens)
		}
		if tokens > 14_600 { // the next turn is over the threshold of 15,000
			break
		}
	}
	how, tokens := r.turn(n+1, 200)
	if how != "automatic" || tokens > 11_000 {
		t.Errorf("reduced by %q to %d tokens", how, tokens)
	}
	if how, _ := r.turn(n+2, 15); how != "" {
		t.Errorf("reduced again by %q", how)
	}
}
