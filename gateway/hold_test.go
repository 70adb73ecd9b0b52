package gateway_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/provider/providertest"
)

// holding is a gateway with one conversation, whose requests a test holds.
type holding struct {
	t    *testing.T
	s    *providertest.Server
	base string
	g    *gateway.Gateway
	a    *agent
	h    conversation.Home
	id   string
	note chan struct{} // something about holding has changed
}

// hold starts a gateway before which an agent has made one request.
func hold(t *testing.T, dialect string, change func(*gateway.Options)) *holding {
	t.Helper()
	x := &holding{t: t, s: providertest.New(t, providertest.Options{Window: 20_000}), note: make(chan struct{}, 100), a: newAgent(dialect, "Read the files one by one.")}
	x.base, x.g = start(t, x.s.URL, func(o *gateway.Options) {
		window(20_000)(o)
		o.KeepAlive = 20 * time.Millisecond
		o.OnHold = func(string, string) { x.note <- struct{}{} }
		if change != nil {
			change(o)
		}
	})
	for n := range 3 {
		x.a.read(n, words(60, n))
	}
	if res, out := post(t, x.base+x.a.path(), x.a.body(false)); res.StatusCode != 200 {
		t.Fatal(out)
	}
	l := only(t, x.g)
	x.h, x.id = x.g.Home(l.Owner), l.ID
	x.a.read(3, words(60, 3))
	return x
}

// answer is what the client of a held request gets.
type answer struct {
	code int
	body string
}

// ask posts the next request, which is held, and waits until it is.
func (x *holding) ask(ctx context.Context, stream bool) chan answer {
	x.t.Helper()
	out := make(chan answer, 1)
	go func() {
		req, _ := http.NewRequestWithContext(ctx, http.MethodPost, x.base+x.a.path(), strings.NewReader(x.a.body(stream)))
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Anthropic-Version", "2023-06-01")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			out <- answer{}
			return
		}
		defer res.Body.Close()
		body, _ := io.ReadAll(res.Body)
		out <- answer{res.StatusCode, string(body)}
	}()
	x.until(func(h conversation.Holding) bool { return h.Waiting })
	return out
}

// until waits for a state.
func (x *holding) until(is func(conversation.Holding) bool) {
	x.t.Helper()
	for {
		h, err := conversation.HoldingOf(x.t.Context(), x.h, x.id)
		if err != nil {
			x.t.Fatal(err)
		}
		if is(h) {
			return
		}
		select {
		case <-x.note:
		case <-time.After(10 * time.Second):
			x.t.Fatalf("nothing happens: %+v", h)
		}
	}
}

func (x *holding) order(limit time.Duration) {
	x.t.Helper()
	if h, err := conversation.Hold(x.t.Context(), x.h, x.id, limit); err != nil || !h.Ordered || h.Waiting {
		x.t.Fatal(h, err)
	}
}

// A request that is held is sent with what a user has changed meanwhile, and only the next
// one is held.
func TestAHeldRequestIsSentAsTheUserChangedIt(t *testing.T) {
	t.Parallel()
	for _, dialect := range dialects(t) {
		t.Run(dialect, func(t *testing.T) {
			x := hold(t, dialect, nil)
			x.order(time.Minute)
			got := x.ask(t.Context(), true)
			if n := len(x.s.Requests()); n != 1 {
				t.Fatalf("%d requests were sent, one is held", n)
			}
			d, err := conversation.Status(t.Context(), x.h, x.id)
			if err != nil || d.Status.Messages != 9 {
				t.Errorf("the conversation does not show the request that waits: %d messages, %v", d.Status.Messages, err)
			}
			if _, err := conversation.Exclude(t.Context(), x.h, x.id, precis.MessageHandle(2)); err != nil {
				t.Fatal(err)
			}
			if _, err := conversation.ReleaseHold(t.Context(), x.h, x.id, false); err != nil {
				t.Fatal(err)
			}
			a := <-got
			sent := string(x.s.Requests()[1].Body)
			if a.code != 200 || strings.Contains(sent, "f00.txt") || !strings.Contains(sent, "f03.txt") {
				t.Errorf("status %d; what was excluded was sent: %.300s", a.code, sent)
			}
			x.a.read(4, words(60, 4))
			if res, out := post(t, x.base+x.a.path(), x.a.body(false)); res.StatusCode != 200 {
				t.Error(out)
			}
		})
	}
}

// A client is kept waiting by signs of life, the limit lets the request go, and with again
// the one after it is held as well.
func TestHoldingEndsByItself(t *testing.T) {
	t.Parallel()
	x := hold(t, "anthropic", nil)
	x.order(time.Second)
	a := <-x.ask(t.Context(), true)
	if a.code != 200 || strings.Count(a.body, "event: ping") < 5 || !strings.Contains(a.body, "message_stop") {
		t.Errorf("%d %.300s", a.code, a.body)
	}
	x.until(func(h conversation.Holding) bool { return !h.Ordered })
	x.order(time.Minute)
	x.a.read(4, words(60, 4))
	got := x.ask(t.Context(), false)
	if _, err := conversation.ReleaseHold(t.Context(), x.h, x.id, true); err != nil {
		t.Fatal(err)
	}
	<-got
	x.until(func(h conversation.Holding) bool { return h.Ordered && !h.Waiting })
	x.a.read(5, words(60, 5))
	got = x.ask(t.Context(), true)
	x.g.ReleaseHolds() // the gateway is about to end
	if a := <-got; a.code != 200 {
		t.Errorf("the last request: %d", a.code)
	}
	if _, err := conversation.Hold(t.Context(), x.h, x.id, 0); precis.CodeOf(err) != precis.CodeConflict {
		t.Errorf("a gateway that ends holds requests: %v", err)
	}
}

// A client that gets no signs of life is not held for longer than it waits, whatever is
// asked for.
func TestASilentClientIsHeldBriefly(t *testing.T) {
	t.Parallel()
	x := hold(t, "chat", nil)
	x.order(10 * time.Minute)
	got := x.ask(t.Context(), false)
	for range 2 {
		h, err := conversation.HoldingOf(t.Context(), x.h, x.id)
		if err != nil || h.Until.Sub(h.Since) > 30*time.Second {
			t.Errorf("it waits for %s, %v", h.Until.Sub(h.Since), err)
		}
		if _, err := conversation.Hold(t.Context(), x.h, x.id, 10*time.Minute); err != nil { // longer
			t.Fatal(err)
		}
	}
	if _, err := conversation.ReleaseHold(t.Context(), x.h, x.id, false); err != nil {
		t.Fatal(err)
	}
	if a := <-got; a.code != 200 {
		t.Errorf("status %d", a.code)
	}
}

// A client that leaves ends the holding, and nothing is sent.
func TestAClientThatLeavesIsNotHeld(t *testing.T) {
	t.Parallel()
	x := hold(t, "chat", nil)
	x.order(time.Minute)
	ctx, leave := context.WithCancel(t.Context())
	got := x.ask(ctx, true)
	leave()
	<-got
	x.until(func(h conversation.Holding) bool { return !h.Ordered })
	if n := len(x.s.Requests()); n != 1 {
		t.Errorf("%d requests were sent", n)
	}
}

// Undoing a condensation while a request is held leaves it undone as long as the view fits,
// and a view that does not fit is reduced before it is sent.
func TestAHeldRequestFits(t *testing.T) {
	t.Parallel()
	x := hold(t, "anthropic", nil)
	if _, err := conversation.Condense(t.Context(), x.h, x.id, conversation.CondenseOptions{Target: 1500}); err != nil {
		t.Fatal(err)
	}
	x.order(time.Minute)
	got := x.ask(t.Context(), true)
	if _, err := conversation.UndoAll(t.Context(), x.h, x.id); err != nil {
		t.Fatal(err)
	}
	if _, err := conversation.ReleaseHold(t.Context(), x.h, x.id, false); err != nil {
		t.Fatal(err)
	}
	if a := <-got; a.code != 200 || !strings.Contains(string(x.s.Requests()[1].Body), "line 30 of file 1:") {
		t.Errorf("status %d, or what was restored is not sent", a.code)
	}
	for n := 4; n < 30; n++ {
		x.a.read(n, words(60, n))
	}
	x.order(time.Minute)
	got = x.ask(t.Context(), true)
	if _, err := conversation.UndoAll(t.Context(), x.h, x.id); err != nil {
		t.Fatal(err)
	}
	if _, err := conversation.ReleaseHold(t.Context(), x.h, x.id, false); err != nil {
		t.Fatal(err)
	}
	if a := <-got; a.code != 200 {
		t.Errorf("a view that does not fit was sent: %d %.300s", a.code, a.body)
	}
}

// Holding is the owner's alone, and bad limits are refused.
func TestHoldingIsTheOwners(t *testing.T) {
	t.Parallel()
	x := hold(t, "anthropic", nil)
	x.order(time.Minute)
	other := x.g.Home("somebody else")
	if _, err := conversation.Hold(t.Context(), other, x.id, 0); precis.CodeOf(err) != precis.CodeNotFound {
		t.Errorf("another owner holds the request: %v", err)
	}
	if _, err := conversation.ReleaseHold(t.Context(), other, x.id, false); precis.CodeOf(err) != precis.CodeNotFound {
		t.Errorf("another owner lets the request go: %v", err)
	}
	if h, err := conversation.HoldingOf(t.Context(), other, x.id); err != nil || h.Ordered {
		t.Errorf("another owner sees %+v, %v", h, err)
	}
	for _, limit := range []time.Duration{-1, time.Millisecond, time.Hour} {
		if _, err := conversation.Hold(t.Context(), x.h, x.id, limit); precis.CodeOf(err) != precis.CodeInvalid {
			t.Errorf("a limit of %s: %v", limit, err)
		}
	}
	if h, err := conversation.ReleaseHold(t.Context(), x.h, x.id, false); err != nil || h.Ordered {
		t.Errorf("an order that is taken back: %+v, %v", h, err)
	}
}
