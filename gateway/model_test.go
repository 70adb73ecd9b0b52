package gateway_test

import (
	"context"
	"errors"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/provider/providertest"
	"github.com/precis-dev/precis/tokens"
)

// failing is a rung that asks a model, which fails once it is let go.
type failing struct {
	asked chan struct{}
	goOn  chan struct{}
}

func (failing) Name() string          { return "condense" }
func (failing) Traits() policy.Traits { return policy.Traits{UsesModel: true} }

func (f failing) Propose(ctx context.Context, _ *policy.Situation) (precis.Edit, error) {
	f.asked <- struct{}{}
	select {
	case <-f.goOn:
	case <-ctx.Done():
	}
	return precis.Edit{}, errors.New("the model failed")
}

// A turn that fits does not wait for a model, also not after the model has failed
// in the background.
func TestAFittingTurnNeverWaitsForAModel(t *testing.T) {
	t.Parallel()
	rung := failing{make(chan struct{}, 10), make(chan struct{}, 10)}
	counter, err := tokens.New(tokens.Options{})
	if err != nil {
		t.Fatal(err)
	}
	settings := policy.DefaultSettings()
	settings.MinModelWindow, settings.Prepare = 0, 0
	m, err := policy.NewManager(policy.Options{Counter: counter, Settings: settings, Strategies: []policy.Strategy{rung}})
	if err != nil {
		t.Fatal(err)
	}
	s := providertest.New(t, providertest.Options{})
	base, _ := start(t, s.URL, func(o *gateway.Options) { window(20_000)(o); o.Manager = m })
	a := newAgent("anthropic", "Read.")
	for n := range 27 {
		a.read(n, words(30, n))
	}
	post(t, base+"/v1/messages", a.body(false)) // over the threshold, and it fits
	<-rung.asked
	rung.goOn <- struct{}{} // the model fails in the background
	for n := range 20 {
		a.read(100+n, "short")
		post(t, base+"/v1/messages", a.body(false)) // returns, although no model is let go any more
	}
	close(rung.goOn)
}
