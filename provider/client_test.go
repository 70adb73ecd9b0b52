package provider

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/model"
	"github.com/precis-dev/precis/models"
	"github.com/precis-dev/precis/provider/providertest"
)

var dialects = []string{"anthropic", "chat", "responses"}

const testKey = "test-key-0123456789"

// dial returns a client of s that does not pause long between attempts.
func dial(t testing.TB, s *providertest.Server, dialect string, change func(*Config)) *Client {
	t.Helper()
	c := Config{
		Dialect: dialect,
		BaseURL: s.BaseURL(dialect),
		Key:     testKey,
		Model:   "model-1",
		Prices:  models.Prices{Input: 4, Output: 16, CacheRead: 0.5, CacheWrite: 8},
		Info:    model.Info{MaxOutput: 16_000},
		Timeout: time.Minute,
		Idle:    time.Minute,
	}
	if change != nil {
		change(&c)
	}
	client, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	client.config.Pause = time.Millisecond
	t.Cleanup(client.config.HTTPClient.CloseIdleConnections)
	return client
}

func ask(text string) model.Request {
	return model.Request{
		System:   precis.NewText(precis.RoleSystem, "Be brief."),
		Messages: []precis.Message{precis.NewText(precis.RoleUser, text)},
	}
}

// fixed is a usage that costs $0.001 · 4 for the input and $0.016 for the output
// in every dialect.
var fixed = precis.Usage{Input: 1000, Output: 1000}

const fixedCost = 0.004 + 0.016

func TestAnswers(t *testing.T) {
	long := strings.Repeat("a summary of what was said, ", 100)
	tests := []struct {
		name  string
		reply providertest.Reply
		want  model.Response
	}{
		{"text", providertest.Text(long), model.Response{Text: long}},
		{"letters of several bytes", providertest.Text("Zusammenfassung: größer, 要約, ✅✅✅✅✅✅✅✅"), model.Response{Text: "Zusammenfassung: größer, 要約, ✅✅✅✅✅✅✅✅"}},
		{"nothing", providertest.Reply{}, model.Response{}},
		{"reasoning and text", providertest.Reply{Reasoning: "hm", Text: "so"}, model.Response{Text: "so", Reasoned: true}},
		{"reasoning only", providertest.Reply{Reasoning: "hm"}, model.Response{Reasoned: true}},
		{"a tool", providertest.Reply{Text: "let me see", Tool: "read_file"}, model.Response{Text: "let me see", ToolCalls: 1}},
		{"a refusal", providertest.Reply{Refused: true}, model.Response{Refused: true}},
		{"truncated", providertest.Reply{Text: "half a", Truncated: true}, model.Response{Text: "half a", Truncated: true}},
		{"slowly", providertest.Drip("drop by drop by drop by drop", time.Millisecond), model.Response{Text: "drop by drop by drop by drop"}},
	}
	for _, tt := range tests {
		for _, dialect := range dialects {
			for _, whole := range []bool{false, true} {
				reply := tt.reply
				reply.Whole, reply.Usage = whole, &fixed
				s := providertest.New(t, providertest.Options{Key: testKey})
				s.Enqueue(reply)
				got, err := dial(t, s, dialect, nil).Generate(context.Background(), ask("Sum up."))
				if err != nil || len(s.Problems()) > 0 {
					t.Errorf("%s/%s: %v %v", dialect, tt.name, err, s.Problems())
					continue
				}
				if got.Took <= 0 || math.Abs(got.CostUSD-fixedCost) > 1e-12 {
					t.Errorf("%s/%s: took %v, cost %v", dialect, tt.name, got.Took, got.CostUSD)
				}
				got.Took, got.CostUSD = 0, 0
				want := tt.want
				want.Model, want.Usage, want.Attempts = "model-1", fixed, 1
				if got != want {
					t.Errorf("%s/%s (whole %v):\n got %+v\nwant %+v", dialect, tt.name, whole, got, want)
				}
			}
		}
	}
}

// faultTest is a failure and what is expected of it. Replies are in the queue;
// the default one is an answer.
type faultTest struct {
	name     string
	replies  []providertest.Reply
	config   func(*Config)
	fault    model.Fault // "" for an answer in the end
	status   int
	attempts int
	paid     int // attempts that were paid for, where all dialects agree; -1: whatever
	check    func(*testing.T, *model.Error)
}

func again(r providertest.Reply, n int) (out []providertest.Reply) {
	for range n {
		out = append(out, r)
	}
	return out
}

func faultTests() []faultTest {
	limit := func(e *model.Error) bool { return e.Limit == 1000 && e.Used == 2000 }
	html := providertest.Respond(200, "text/html", "<html>Please log in</html>")
	cut := providertest.Cut("half an answer, and then", 10)
	never := func(c *Config) { c.Retries = -1 }
	wait := func(d time.Duration) func(*testing.T, *model.Error) {
		return func(t *testing.T, e *model.Error) {
			if e.RetryAfter != d {
				t.Errorf("asked to wait %v, want %v", e.RetryAfter, d)
			}
		}
	}
	failed := func(f model.Fault) providertest.Reply { return providertest.Reply{Fault: f, InStream: true} }
	return []faultTest{
		{name: "a rate limit that ends", replies: again(providertest.RateLimited(time.Millisecond), 2), attempts: 3, paid: 1},
		{name: "a rate limit that stays", replies: again(providertest.RateLimited(time.Millisecond), 3), fault: model.FaultRateLimited, status: 429, attempts: 3, check: wait(time.Millisecond)},
		{name: "a rate limit longer than we wait", replies: again(providertest.RateLimited(time.Hour), 1), fault: model.FaultRateLimited, status: 429, attempts: 1, check: wait(time.Hour)},
		{name: "no credit", replies: again(providertest.Respond(429, "application/json", `{"error":{"code":"insufficient_quota"}}`), 1), fault: model.FaultAuth, status: 429, attempts: 1},
		{name: "overload that ends", replies: again(providertest.Fail(model.FaultOverloaded), 1), attempts: 2, paid: 1},
		{name: "500", replies: again(providertest.Respond(500, "text/html", "<h1>oops</h1>"), 3), fault: model.FaultOverloaded, status: 500, attempts: 3},
		{name: "500 not to be retried", replies: []providertest.Reply{{Status: 500, Header: http.Header{"X-Should-Retry": {"false"}}}}, fault: model.FaultOverloaded, status: 500, attempts: 1},
		{name: "no retries", config: never, replies: again(providertest.Respond(500, "", "x"), 1), fault: model.FaultOverloaded, status: 500, attempts: 1},
		{name: "408", replies: again(providertest.Fail(model.FaultTimeout), 1), attempts: 2, paid: 1},
		{name: "409", replies: again(providertest.Respond(409, "", "busy"), 1), attempts: 2, paid: 1},
		{name: "401", replies: again(providertest.Fail(model.FaultAuth), 1), fault: model.FaultAuth, status: 401, attempts: 1},
		{name: "403", replies: again(providertest.Respond(403, "", "no"), 1), fault: model.FaultAuth, status: 403, attempts: 1},
		{name: "402", replies: again(providertest.Respond(402, "", "pay"), 1), fault: model.FaultAuth, status: 402, attempts: 1},
		{name: "400", replies: again(providertest.Fail("bad_request"), 1), fault: model.FaultRequest, status: 400, attempts: 1},
		{name: "404", replies: again(providertest.Respond(404, "text/plain", "404 page not found"), 1), fault: model.FaultRequest, status: 404, attempts: 1},
		{name: "422", replies: again(providertest.Respond(422, "application/json", `{"detail":"no"}`), 1), fault: model.FaultRequest, status: 422, attempts: 1},
		{name: "413", replies: again(providertest.Respond(413, "text/html", "<h1>413 Request Entity Too Large</h1>"), 1), fault: model.FaultOverflow, status: 413, attempts: 1},
		{name: "an overflow", replies: again(providertest.Overflow(1000, 2000), 1), fault: model.FaultOverflow, status: 400, attempts: 1,
			check: func(t *testing.T, e *model.Error) {
				if !limit(e) && !strings.Contains(string(e.Body), "exceeds the context window") {
					t.Errorf("limit %d, used %d", e.Limit, e.Used)
				}
			}},
		{name: "an overflow in a stream", replies: []providertest.Reply{{Fault: model.FaultOverflow, InStream: true, Limit: 1000, Used: 2000}}, fault: model.FaultOverflow, status: 200, attempts: 1, paid: -1},
		{name: "an overflow in a whole", replies: []providertest.Reply{{Fault: model.FaultOverflow, Whole: true, Limit: 1000, Used: 2000}}, fault: model.FaultOverflow, status: 200, attempts: 1},
		{name: "overload in a stream", replies: again(failed(model.FaultOverloaded), 3), fault: model.FaultOverloaded, status: 200, attempts: 3, paid: -1},
		{name: "overload after some text", replies: []providertest.Reply{{Text: "half a", Fault: model.FaultOverloaded, InStream: true}}, attempts: 2, paid: -1},
		{name: "a rate limit in a stream", replies: again(failed(model.FaultRateLimited), 3), fault: model.FaultRateLimited, status: 200, attempts: 3, paid: -1},
		{name: "a wrong key in a stream", replies: again(failed(model.FaultAuth), 1), fault: model.FaultAuth, status: 200, attempts: 1, paid: -1},
		{name: "a full window", replies: []providertest.Reply{{Text: "half a", WindowFull: true, Usage: &fixed}}, fault: model.FaultOverflow, attempts: 1, paid: 1, status: -1},
		{name: "HTML", replies: again(html, 3), fault: model.FaultConnection, status: 200, attempts: 3},
		{name: "HTML once", replies: again(html, 1), attempts: 2, paid: 1},
		{name: "an empty body", replies: again(providertest.Respond(200, "text/event-stream", ""), 3), fault: model.FaultConnection, status: 200, attempts: 3},
		{name: "JSON of something else", replies: again(providertest.Respond(200, "application/json", `{"detail":"hello"}`), 3), fault: model.FaultConnection, attempts: 3},
		{name: "half a JSON", replies: again(providertest.Respond(200, "application/json", `{"type":"message",`), 3), fault: model.FaultConnection, attempts: 3},
		{name: "events of something else", replies: again(providertest.Respond(200, "text/event-stream", "event: hello\ndata: {\"a\":1}\n\n"), 3), fault: model.FaultConnection, attempts: 3},
		{name: "events that are no JSON", replies: again(providertest.Respond(200, "text/event-stream", "event: message_start\ndata: secret words\n\n"), 3), fault: model.FaultConnection, attempts: 3},
		{name: "a cut stream", replies: again(cut, 1), attempts: 2, paid: -1},
		{name: "cut before the first word", replies: again(providertest.Cut("", 0), 1), attempts: 2, paid: -1},
		{name: "always cut", replies: again(cut, 3), fault: model.FaultConnection, attempts: 3, paid: -1},
		{name: "no end marker", replies: []providertest.Reply{{Text: "all of it", Ending: providertest.Unended}}, attempts: 2, paid: -1},
		{name: "nothing comes", config: func(c *Config) { c.Idle = 300 * time.Millisecond }, replies: again(providertest.Reply{Ending: providertest.Silent}, 1), attempts: 2, paid: 1},
		{name: "nothing ever comes", config: func(c *Config) { c.Idle = 20 * time.Millisecond }, replies: again(providertest.Reply{Ending: providertest.Silent}, 3), fault: model.FaultTimeout, attempts: 3},
		{name: "nothing more comes", config: func(c *Config) { c.Idle = 50 * time.Millisecond; c.Retries = -1 }, replies: []providertest.Reply{{Text: "half a", Ending: providertest.Stuck}}, fault: model.FaultTimeout, attempts: 1, paid: -1},
		{name: "too slowly", config: func(c *Config) { c.Timeout = 100 * time.Millisecond; c.Retries = -1 }, replies: again(providertest.Drip(strings.Repeat("drop ", 10_000), 5*time.Millisecond), 1), fault: model.FaultTimeout, attempts: 1, paid: -1},
	}
}

func TestFaults(t *testing.T) {
	for _, tt := range faultTests() {
		for _, dialect := range dialects {
			t.Run(tt.name+"/"+dialect, func(t *testing.T) {
				t.Parallel()
				s := providertest.New(t, providertest.Options{})
				s.SetDefault(providertest.Reply{Text: "an answer", Usage: &fixed})
				s.Enqueue(tt.replies...)
				got, err := dial(t, s, dialect, tt.config).Generate(context.Background(), ask("secret words"))
				tt.verify(t, got, err)
				// A request that is given up early may not be recorded.
				if n := len(s.Requests()); n > tt.attempts || n < tt.attempts && tt.config == nil || len(s.Problems()) > 0 {
					t.Errorf("%d requests, want %d; %v", n, tt.attempts, s.Problems())
				}
			})
		}
	}
}

func (tt faultTest) verify(t *testing.T, got model.Response, err error) {
	t.Helper()
	if got.Attempts != tt.attempts {
		t.Errorf("%d attempts, want %d (%v)", got.Attempts, tt.attempts, err)
	}
	if tt.paid >= 0 && math.Abs(got.CostUSD-float64(tt.paid)*fixedCost) > 1e-9 {
		t.Errorf("cost %v for %+v, want %d times %v", got.CostUSD, got.Usage, tt.paid, fixedCost)
	}
	if tt.fault == "" {
		if err != nil || got.Text != "an answer" {
			t.Errorf("got %q, %v", got.Text, err)
		}
		return
	}
	var e *model.Error
	if !errors.As(err, &e) || e.Fault != tt.fault {
		t.Fatalf("got %q, %v, want %s", got.Text, err, tt.fault)
	}
	if tt.status >= 0 && e.Status != tt.status {
		t.Errorf("status %d, want %d", e.Status, tt.status)
	}
	if got.Text != "" {
		t.Errorf("half an answer beside an error: %q", got.Text)
	}
	for _, secret := range []string{testKey, "secret words", "half an"} {
		if strings.Contains(err.Error(), secret) {
			t.Errorf("the error quotes %q: %v", secret, err)
		}
	}
	if tt.check != nil {
		tt.check(t, e)
	}
}

// streamed is a piece of text as each dialect streams it, with %s for the text.
var streamed = map[string]string{
	"anthropic": "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"%s\"}}\n\n",
	"chat":      "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"%s\"}}]}\n\n",
	"responses": "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"delta\":\"%s\"}\n\n",
}

func TestFloodIsStopped(t *testing.T) {
	for _, dialect := range dialects {
		piece := strings.ReplaceAll(streamed[dialect], "%s", strings.Repeat("again and again ", 4096))
		s := providertest.New(t, providertest.Options{})
		s.Enqueue(providertest.Respond(200, "text/event-stream", strings.Repeat(piece, maxText/65536+1)))
		got, err := dial(t, s, dialect, nil).Generate(context.Background(), ask("Sum up."))
		if !errors.Is(err, errTooLong) || got.Attempts != 1 || got.Text != "" {
			t.Errorf("%s: %d attempts, %d bytes, %v", dialect, got.Attempts, len(got.Text), err)
		}
		s.Enqueue(again(providertest.Respond(200, "text/event-stream", strings.Replace(piece, "again", strings.Repeat("x", 40<<20), 1)), 3)...)
		if _, err := dial(t, s, dialect, nil).Generate(context.Background(), ask("Sum up.")); !isFault(err, model.FaultConnection) {
			t.Errorf("%s: an endless line: %v", dialect, err)
		}
	}
}

func TestWholeFloodIsStopped(t *testing.T) {
	s := providertest.New(t, providertest.Options{})
	s.Enqueue(providertest.Respond(200, "application/json", `{"type":"`+strings.Repeat("x", maxWhole)+`"}`))
	got, err := dial(t, s, "chat", nil).Generate(context.Background(), ask("Sum up."))
	if !errors.Is(err, errTooLong) || got.Attempts != 1 {
		t.Errorf("%d attempts, %v", got.Attempts, err)
	}
}

func isFault(err error, f model.Fault) bool {
	var e *model.Error
	return errors.As(err, &e) && e.Fault == f
}
