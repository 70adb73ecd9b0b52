package gateway_test

import (
	"strings"
	"testing"

	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/preset"
	"github.com/precis-dev/precis/provider/providertest"
)

// The window that a profile sets counts for the requests that ask for it, and the verbs and
// pages of a conversation compute with the profile that its newest request asked for.
func TestAProfileHasItsOwnWindow(t *testing.T) {
	t.Parallel()
	s := providertest.New(t, providertest.Options{Window: 100_000})
	base, g := start(t, s.URL, func(o *gateway.Options) {
		window(60_000)(o)
		o.Profiles = map[string]*policy.Manager{"small": managerOf(t, preset.Frugal, func(s *policy.Settings) { s.Percent = 40 })}
		o.ProfileWindow = func(profile string) int { return map[string]int{"small": 20_000}[profile] }
	})
	a := newAgent("anthropic", "Read the files one by one.")
	for n := 1; n <= 8; n++ {
		a.read(n, words(30, n))
	}
	said := func(header ...string) (string, conversation.Details, conversation.Composition) {
		res, out := post(t, base+a.path(), a.body(false), header...)
		if res.StatusCode != 200 {
			t.Fatal(out)
		}
		l := only(t, g)
		d, err := conversation.Status(t.Context(), g.Home(l.Owner), l.ID)
		if err != nil {
			t.Fatal(err)
		}
		c, err := conversation.CompositionOf(t.Context(), g.Home(l.Owner), l.ID)
		if err != nil {
			t.Fatal(err)
		}
		return res.Header.Get("X-Precis-Window"), d, c
	}
	if h, d, c := said("X-Precis-Profile", "small"); !strings.HasPrefix(h, "20000 ") || d.Window.Tokens != 20_000 || d.Window.Detail != "the profile small" || c.Percent != 40 || c.Window.Tokens != 20_000 {
		t.Errorf("%q, %+v, %+v", h, d.Window, c)
	}
	a.read(9, words(30, 9))
	if h, d, c := said(); !strings.HasPrefix(h, "60000 ") || d.Window.Tokens != 60_000 || c.Percent != 75 {
		t.Errorf("without it: %q, %+v, %+v", h, d.Window, c)
	}
}
