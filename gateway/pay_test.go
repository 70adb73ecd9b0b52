package gateway_test

import (
	"context"
	"testing"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/conversation/ledger"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/provider/providertest"
	"github.com/precis-dev/precis/store/memory"
)

// No model is paid for an edit that cannot be recorded: what the store has of the
// conversation, and memory lacks, is asked for before.
func TestNoModelIsPaidForAnEditThatIsRefused(t *testing.T) {
	t.Parallel()
	s := providertest.New(t, providertest.Options{})
	st := memory.New()
	slow := newSlowWriter()
	close(slow.goOn)
	m := slow.manager(t)
	gateways := make([]*gateway.Gateway, 2)
	ids := make([]string, 2)
	_, a := full("anthropic")
	for i := range gateways {
		base, g := start(t, s.URL, func(o *gateway.Options) {
			window(200_000)(o)
			o.Manager, o.Store = m, st
		})
		res, _ := post(t, base+a.path(), a.body(false))
		gateways[i], ids[i] = g, res.Header.Get("X-Precis-Conversation")
	}
	if ids[0] != ids[1] {
		t.Fatalf("conversations %q", ids)
	}
	condense := func(g *gateway.Gateway) error {
		_, err := conversation.Condense(t.Context(), g.Home(gateway.AllOwners), ids[0], conversation.CondenseOptions{Target: 3000})
		return err
	}
	if err := condense(gateways[0]); err != nil || slow.calls != 1 {
		t.Fatalf("the first: %v, %d calls", err, slow.calls)
	}
	before := slow.calls
	if err := condense(gateways[1]); precis.CodeOf(err) == precis.CodeConflict && slow.calls > before {
		t.Errorf("after %d calls: %v", slow.calls-before, err)
	}
	edits, err := conversation.Edits(t.Context(), gateways[1].Home(gateway.AllOwners), ids[0])
	if err != nil || len(edits.Items) == 0 {
		t.Errorf("the edits of the store are not in force: %+v %v", edits, err)
	}
}

// A turn costs what its provider states, and by the gateway's prices where it states nothing; what was not
// sent is estimated either way. The ledger books the same.
func TestATurnCostsWhatItsProviderStates(t *testing.T) {
	t.Parallel()
	const answer = `{"id":"a","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}],"usage":{"prompt_tokens":100,"completion_tokens":2,"total_tokens":102`
	s := providertest.New(t, providertest.Options{})
	s.Enqueue(providertest.Respond(200, "application/json", answer+`,"cost":0.25}}`), providertest.Respond(200, "application/json", answer+`}}`))
	turns := make(chan gateway.Turn, 2)
	base, g := start(t, s.URL, func(o *gateway.Options) {
		window(200_000)(o)
		o.Store = memory.New()
		o.OnTurn = func(_ context.Context, turn gateway.Turn) { turns <- turn }
		o.Cost = func(_, _ string, u precis.Usage) float64 { return float64(u.Input) }
	})
	a := newAgent("chat", "Read the files.")
	for _, want := range []float64{0.25, 100} {
		if res, out := post(t, base+a.path(), a.body(false)); res.StatusCode != 200 {
			t.Fatal(out)
		}
		if turn := <-turns; turn.CostUSD != want {
			t.Errorf("the turn cost %v, want %v", turn.CostUSD, want)
		}
		a.read(1, "ok")
	}
	booked, err := ledger.Since(t.Context(), g.Home(gateway.AllOwners), "", time.Time{})
	if err != nil || booked.Total.CostUSD != 100.25 {
		t.Errorf("the ledger: %+v %v", booked, err)
	}
}
