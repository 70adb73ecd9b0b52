package provider

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/model"
	"github.com/precis-dev/precis/provider/providertest"
)

func TestBreaker(t *testing.T) {
	fail := providertest.Fail(model.FaultOverloaded)
	auth := providertest.Fail(model.FaultAuth)
	tests := []struct {
		name     string
		failures int
		replies  []providertest.Reply
		open     bool
	}{
		{"failures in a row", 3, []providertest.Reply{fail, auth, fail}, true},
		{"too few", 3, []providertest.Reply{fail, fail}, false},
		{"a success between", 3, []providertest.Reply{fail, fail, providertest.Text("a"), fail, fail}, false},
		{"an overflow between", 3, []providertest.Reply{fail, fail, providertest.Overflow(1, 2), fail}, false},
		{"bad requests", 1, again(providertest.Fail("bad_request"), 5), false},
		{"overflows", 1, again(providertest.Overflow(1, 2), 5), false},
		{"turned off", -1, again(fail, 10), false},
	}
	for _, tt := range tests {
		s := providertest.New(t, providertest.Options{})
		s.Enqueue(tt.replies...)
		c := dial(t, s, "anthropic", func(c *Config) {
			c.Retries = -1
			c.Breaker = Breaker{Failures: tt.failures, Cooldown: time.Hour}
		})
		for range tt.replies {
			_, _ = c.Generate(context.Background(), ask("a")) // the outcomes are scripted
		}
		got, err := c.Generate(context.Background(), ask("a"))
		if open := isFault(err, model.FaultBreaker); open != tt.open || open && (got.Attempts > 0 || len(s.Requests()) > len(tt.replies)) {
			t.Errorf("%s: %v after %d requests", tt.name, err, len(s.Requests()))
		}
	}
}

func TestBreakerClosesAgain(t *testing.T) {
	s := providertest.New(t, providertest.Options{})
	s.Enqueue(providertest.Fail(model.FaultOverloaded))
	c := dial(t, s, "chat", func(c *Config) {
		c.Retries = -1
		c.Breaker = Breaker{Failures: 1, Cooldown: time.Nanosecond}
	})
	if _, err := c.Generate(context.Background(), ask("a")); !isFault(err, model.FaultOverloaded) {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := c.Generate(context.Background(), ask("a")); err != nil {
			t.Errorf("after the pause: %v", err)
		}
	}
}

func TestCanceledRequestsDoNotCount(t *testing.T) {
	s := providertest.New(t, providertest.Options{})
	c := dial(t, s, "chat", func(c *Config) { c.Breaker.Failures = 1 })
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for range 3 {
		if _, err := c.Generate(ctx, ask("a")); precis.CodeOf(err) != precis.CodeCanceled {
			t.Errorf("%v", err)
		}
	}
	if _, err := c.Generate(context.Background(), ask("a")); err != nil {
		t.Error(err)
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	tests := []struct {
		ms, after string
		want      time.Duration
	}{
		{"", "", 0},
		{"", "3", 3 * time.Second},
		{"", " 1.5 ", 1500 * time.Millisecond},
		{"20", "3", 20 * time.Millisecond},
		{"soon", "3", 3 * time.Second},
		{"", "Sun, 01 Nov 2026 12:00:07 GMT", 7 * time.Second},
		{"", "Sun, 01 Nov 2026 11:00:00 GMT", 0},
		{"", "-5", 0},
		{"", "NaN", 0},
		{"", "1e300", 365 * 24 * time.Hour},
		{"", "tomorrow", 0},
	}
	for _, tt := range tests {
		h := http.Header{}
		h.Set("Retry-After-Ms", tt.ms)
		h.Set("Retry-After", tt.after)
		if got := retryAfter(h, now); got != tt.want {
			t.Errorf("%q, %q: %v, want %v", tt.ms, tt.after, got, tt.want)
		}
	}
}
