package dashboard_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/conversation/recording"
	"github.com/precis-dev/precis/dashboard"
)

// holder is a recording behind which requests seem to pass.
type holder struct {
	*recording.Home
	mu    sync.Mutex
	state conversation.Holding
	again bool
}

func (h *holder) Hold(_ context.Context, _ string, limit time.Duration) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.state.Ordered, h.state.Limit = true, int(limit.Seconds())
	return nil
}

func (h *holder) LetGo(_ context.Context, _ string, again bool) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.state, h.again = conversation.Holding{}, again
	return nil
}

func (h *holder) Holding(context.Context, string) (conversation.Holding, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.state, nil
}

// wait has a request wait.
func (h *holder) wait() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.state.Waiting, h.state.Until = true, time.Unix(1_760_003_660, 0)
}

// serveHeld starts a dashboard over a holder.
func serveHeld(t *testing.T, change func(*dashboard.Options)) (*place, *holder) {
	t.Helper()
	h := &holder{Home: home(t, window, messages(20))}
	return serve(t, h.Home, func(o *dashboard.Options) {
		o.Home = func(*http.Request) (conversation.Home, error) { return h, nil }
		if change != nil {
			change(o)
		}
	}), h
}

// failedHome is a recording whose newest condensation by a model failed.
type failedHome struct {
	*recording.Home
	name string
}

func (h failedHome) Look(ctx context.Context, id string, f func(*conversation.Subject) error) error {
	return h.Home.Look(ctx, id, func(s *conversation.Subject) error {
		s.CondenseError = h.name
		return f(s)
	})
}

func TestAFailedCondensationIsSaid(t *testing.T) {
	for name, want := range map[string]string{"condense_api_failed": "API did not answer", "no_such_name": "no summary that can be used", "": `<b data-fig="window">40,000</b>`} {
		h := home(t, window, messages(3))
		p := serve(t, h, func(o *dashboard.Options) {
			o.Home = func(*http.Request) (conversation.Home, error) { return failedHome{h, name}, nil }
		})
		page := p.get(200, p.one)
		p.wants(page, want, name)
		if said := strings.Contains(page, "condensation by a model failed"); said != (name != "") {
			t.Errorf("%q: a failure is said: %v", name, said)
		}
	}
}

func TestRequestsAreHeld(t *testing.T) {
	p, h := serveHeld(t, nil)
	p.wants(p.submit(200, p.one, p.one+"/hold", url.Values{"seconds": {"300"}}), "for 300 seconds at most", "Do not hold it")
	h.wait()
	page := p.get(200, p.one+"/edits")
	p.wants(page, "A request waits to be sent.", `data-until="1760003660000"`, "Send it, hold the next one", "Hold it longer")
	p.wants(p.get(200, ""), "a request waits")
	p.wants(p.get(200, p.one+"/row?part=1"), "a request waits")
	p.wants(p.get(200, p.one+"/head?part=1"), "A request waits to be sent.", `name="token" value="`+token(p).Get("token"))
	p.wants(p.submit(200, p.one, p.one+"/let-go", url.Values{"again": {"on"}}), "Hold the next request")
	if !h.again {
		t.Error("the next one is not held")
	}
	for _, seconds := range []string{"x", "-5", "601", "99999999999999999999"} {
		p.post(400, p.one+"/hold", url.Values{"token": token(p)["token"], "seconds": {seconds}})
	}
	p.post(403, p.one+"/hold", url.Values{"token": {"of another site"}})
	p, _ = serveHeld(t, func(o *dashboard.Options) { o.Edits = false })
	p.post(403, p.one+"/hold", token(p))
	p.post(403, p.one+"/let-go", token(p))
	p = serve(t, home(t, window, messages(3)), nil)
	p.post(400, p.one+"/hold", token(p)) // no requests pass
}
