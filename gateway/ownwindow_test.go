package gateway_test

import (
	"context"
	"sync"
	"testing"

	"github.com/precis-dev/precis/condense"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/model"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/preset"
)

// A model that is asked for the summary of its own conversation is told the window of the request.
func TestOwnModelIsToldTheWindow(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var told []int
	own := func(_ context.Context, l *policy.LiveRequest) model.Model {
		mu.Lock()
		defer mu.Unlock()
		told = append(told, l.Window)
		return nil // no model is there: a digest is made
	}
	settings, err := preset.Settings(preset.Balanced)
	if err != nil {
		t.Fatal(err)
	}
	m, err := preset.New(preset.Options{Settings: settings, Condensing: &preset.Condensing{Writer: condense.WriterConfig{Own: own}}})
	if err != nil {
		t.Fatal(err)
	}
	r := newReducer(t, func(o *gateway.Options) { o.Manager = m })
	for i := 0; i < 60 && r.seen == 0; i++ {
		r.turn(i, 100)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(told) == 0 {
		t.Fatal("no summary was asked for")
	}
	for _, w := range told {
		if w != 20_000 {
			t.Errorf("the window is %d", w)
		}
	}
}
