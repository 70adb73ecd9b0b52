package gateway_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/conversation/ledger"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/preset"
	"github.com/precis-dev/precis/provider/providertest"
)

// With the preset off nothing is changed, and what would have been is in the headers, in the
// report of the conversation and in the ledger.
func TestOffSaysWhatWouldHaveBeenDone(t *testing.T) {
	t.Parallel()
	s := providertest.New(t, providertest.Options{Window: 100_000})
	base, g := start(t, s.URL, func(o *gateway.Options) {
		window(20_000)(o)
		o.Manager = managerOf(t, preset.Off, nil)
	})
	a := newAgent("anthropic", "Read the files one by one.")
	runs := 0
	for n := 1; n <= 45; n++ {
		a.read(n, words(30, n))
		res, out := post(t, base+a.path(), a.body(false))
		if res.StatusCode != 200 || res.Header.Get("X-Precis-Action") != "none" {
			t.Fatal(res.Header, out)
		}
		h := res.Header.Get("X-Precis-Shadow")
		if h == "" {
			continue
		}
		runs++
		was, is, _ := strings.Cut(h, " ")
		before, err := strconv.Atoi(was)
		if after, err2 := strconv.Atoi(is); err != nil || err2 != nil || before < 15_000 || after >= before*9/10 {
			t.Errorf("turn %d: %q", n, h)
		}
	}
	l := only(t, g)
	d, err := conversation.Status(t.Context(), g.Home(l.Owner), l.ID)
	if err != nil || runs == 0 || d.Last == nil || d.Last.Shadow == nil || d.Last.Shadow.After >= d.Status.Tokens || d.Edits.Total > 0 {
		t.Errorf("%d runs; %+v, %v", runs, d.Last, err)
	}
	sums, err := ledger.Since(t.Context(), g.Home(l.Owner), l.ID, precis.LedgerEntry{}.Time)
	if err != nil || sums.Total.Edits > 0 {
		t.Errorf("%+v, %v", sums.Total, err)
	}
}
