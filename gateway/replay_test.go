package gateway_test

import (
	"fmt"
	"testing"

	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/provider/providertest"
)

// conversations returns how many there are in a list.
func conversations(t *testing.T, g *gateway.Gateway) int {
	t.Helper()
	list, err := conversation.List(t.Context(), g.Home(gateway.AllOwners), conversation.ListQuery{Limit: 500})
	if err != nil {
		t.Fatal(err)
	}
	return len(list.Items)
}

// A conversation that is said again word for word, as evaluations do, is one more conversation at
// most each time, however many requests it has.
func TestAReplayIsOneBranch(t *testing.T) {
	t.Parallel()
	s := providertest.New(t, providertest.Options{})
	for _, dialect := range dialects(t) {
		base, g := start(t, s.URL, window(6000))
		for round := 1; round <= 4; round++ {
			a := newAgent(dialect, "Read the files.")
			for n := 1; n <= 25; n++ {
				a.read(n, words(8, n))
				post(t, base+a.path(), a.body(n%2 == 0))
			}
			if got := conversations(t, g); got > round {
				t.Errorf("%s, round %d: %d conversations", dialect, round, got)
			}
		}
	}
}

// A note near the end that comes and goes belongs to the environment of its turn: the
// conversation is one.
func TestANoteThatComesAndGoesIsNoBranch(t *testing.T) {
	sequential(t)
	t.Parallel()
	s := providertest.New(t, providertest.Options{})
	for _, dialect := range dialects(t) {
		for _, before := range []bool{false, true} {
			base, g := start(t, s.URL, window(6000))
			a := newAgent(dialect, "Read the files.")
			for n := 1; n <= 40; n++ {
				a.read(n, words(8, n))
				said := a.messages
				if note := fmt.Sprintf(`{"role":"user","content":"<system-reminder>There are %d files open.</system-reminder>"}`, n); n%3 > 0 {
					a.messages = append(append([]string{}, said...), note)
					if last := len(said); before && dialect != "anthropic" { // else the call would be parted from its result
						a.messages = append(append(append([]string{}, said[:last-2]...), note), said[last-2:]...)
					}
				}
				post(t, base+a.path(), a.body(n%2 == 0))
				a.messages = said
			}
			if got := conversations(t, g); got > 1 {
				t.Errorf("%s, before the call %v: %d conversations", dialect, before, got)
			}
		}
	}
}
