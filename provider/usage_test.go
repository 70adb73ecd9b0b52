package provider

import (
	"context"
	"math"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/model"
	"github.com/precis-dev/precis/models"
	"github.com/precis-dev/precis/provider/providertest"
)

func TestUsageIsPricedAsTheDialectCounts(t *testing.T) {
	told := precis.Usage{Input: 1000, Output: 100, CacheRead: 400, CacheWrite: 200}
	prices := models.Prices{Input: 4, Output: 16, CacheRead: 0.5, CacheWrite: 8}
	for _, dialect := range dialects {
		s := providertest.New(t, providertest.Options{})
		s.Enqueue(providertest.Reply{Text: "a", Usage: &told}, providertest.Reply{Text: "a", NoUsage: true})
		c := dial(t, s, dialect, func(c *Config) { c.Prices = prices })
		got, err := c.Generate(context.Background(), ask("a"))
		if err != nil || got.Usage != told {
			t.Errorf("%s: usage %+v, %v", dialect, got.Usage, err)
		}
		fresh := 1000.0
		if dialect != "anthropic" {
			fresh = 400
		}
		want := (fresh*4 + 100*16 + 400*0.5 + 200*8) / 1e6
		if math.Abs(got.CostUSD-want) > 1e-12 {
			t.Errorf("%s: cost %v, want %v", dialect, got.CostUSD, want)
		}
		if got, err := c.Generate(context.Background(), ask("a")); err != nil || got.Usage != (precis.Usage{}) || got.CostUSD != 0 {
			t.Errorf("%s: usage %+v that nobody told, %v", dialect, got.Usage, err)
		}
	}
}

func TestUsageOfServersOfTheirOwn(t *testing.T) {
	const end = "data: [DONE]\n\n"
	tests := []struct{ name, dialect, stream string }{
		{"Moonshot", "chat", `data: {"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop","usage":{"prompt_tokens":90,"completion_tokens":7,"cached_tokens":40}}]}` + "\n\n" + end},
		{"DeepSeek", "chat", `data: {"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}],"usage":{"prompt_tokens":90,"completion_tokens":7,"prompt_cache_hit_tokens":40,"prompt_cache_miss_tokens":50}}` + "\n\n" + end},
		{"in every chunk", "chat", `data: {"choices":[{"index":0,"delta":{"content":"a"}}],"usage":{"prompt_tokens":90,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":40}}}` + "\n\n" +
			`data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":90,"completion_tokens":7}}` + "\n\n" + end},
		{"null until the end", "chat", `data: {"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}],"usage":null}` + "\n\n" +
			`data: {"choices":[],"usage":{"prompt_tokens":90,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":40}}}` + "\n\n" + end},
		{"at the end only", "anthropic", "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":0,\"output_tokens\":0}}}\n\n" +
			"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"a\"}}\n\n" +
			"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"input_tokens\":90,\"cache_read_input_tokens\":40,\"output_tokens\":7}}\n\n" +
			"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"},
	}
	want := precis.Usage{Input: 90, Output: 7, CacheRead: 40}
	for _, tt := range tests {
		s := providertest.New(t, providertest.Options{})
		s.Enqueue(providertest.Respond(200, "text/event-stream", tt.stream))
		got, err := dial(t, s, tt.dialect, nil).Generate(context.Background(), ask("a"))
		if err != nil || got.Usage != want || got.Text != "a" {
			t.Errorf("%s: %q %+v, %v", tt.name, got.Text, got.Usage, err)
		}
	}
}

// An answer costs what the provider states.
func TestAStatedCostIsTheCost(t *testing.T) {
	s := providertest.New(t, providertest.Options{})
	s.Enqueue(providertest.Respond(200, "text/event-stream", `data: {"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}],"usage":{"prompt_tokens":90,"completion_tokens":7,"cost":0.25}}`+"\n\ndata: [DONE]\n\n"))
	if got, err := dial(t, s, "chat", nil).Generate(context.Background(), ask("a")); err != nil || got.CostUSD != 0.25 {
		t.Errorf("%+v, %v", got, err)
	}
}

// What was paid for before a stream broke off is in the sum.
func TestUsageOfBrokenStreams(t *testing.T) {
	for _, dialect := range dialects {
		s := providertest.New(t, providertest.Options{})
		broken := providertest.Reply{Text: "half a", Ending: providertest.Torn, Usage: &precis.Usage{Input: 500, CacheRead: 30, Output: 9}}
		s.Enqueue(broken, broken, providertest.Reply{Text: "all", Usage: &fixed})
		c := dial(t, s, dialect, nil)
		got, err := c.Generate(context.Background(), ask("a"))
		want := fixed
		if dialect == "anthropic" { // the only one that tells the usage at the start
			want = precis.Usage{Input: 2000, CacheRead: 60, Output: 1002}
		}
		if err != nil || got.Usage != want || math.Abs(got.CostUSD-c.Price(want)) > 1e-12 || got.Attempts != 3 {
			t.Errorf("%s: %+v, %v", dialect, got, err)
		}
	}
}

// Prices of long requests hold for each attempt, not for the sum.
func TestCostIsThatOfEachAttempt(t *testing.T) {
	s := providertest.New(t, providertest.Options{})
	most := providertest.Reply{Text: "half", Usage: &fixed, Fault: model.FaultOverloaded, InStream: true}
	s.Enqueue(most, providertest.Reply{Text: "all", Usage: &fixed})
	c := dial(t, s, "responses", func(c *Config) {
		c.Prices.Long = &models.LongContext{Threshold: 1500, Input: 2, Output: 2}
	})
	got, err := c.Generate(context.Background(), ask("a"))
	if err != nil || got.Usage.Input != 2000 || math.Abs(got.CostUSD-2*fixedCost) > 1e-12 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestEndings(t *testing.T) {
	delta := func(text string) string {
		return `data: {"choices":[{"index":0,"delta":{"content":"` + text + `"}}]}` + "\n\n"
	}
	finish := `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n"
	tests := []struct {
		name, stream string
		whole        bool
	}{
		{"a finish without a marker", delta("all") + finish, true},
		{"a marker without a finish", delta("all") + "data: [DONE]\n\n", true},
		{"a marker without a line break", delta("all") + "data: [DONE]", true},
		{"a marker after a comment", ": hello\n\n" + delta("all") + "data:[DONE]\n\n", true},
		{"line breaks of two characters", "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"all\"},\"finish_reason\":\"stop\"}]}\r\n\r\ndata: [DONE]\r\n\r\n", true},
		{"another choice", `data: {"choices":[{"index":1,"delta":{"content":"no"},"finish_reason":"stop"}]}` + "\n\n" + delta("all") + finish, true},
		{"an error after the finish", delta("all") + finish + "data: {\"error\":{\"message\":\"no usage\"}}\n\n", true},
		{"neither", delta("all"), false},
		{"words that look like it", delta(`\ndata: [DONE]`), false},
		{"an error as a finish", delta("all") + `data: {"choices":[{"index":0,"delta":{},"finish_reason":"error"}]}` + "\n\n", false},
	}
	for _, tt := range tests {
		s := providertest.New(t, providertest.Options{})
		s.Enqueue(providertest.Respond(200, "text/plain", tt.stream))
		got, err := dial(t, s, "chat", func(c *Config) { c.Retries = -1 }).Generate(context.Background(), ask("a"))
		if tt.whole != (err == nil) || tt.whole && got.Text != "all" {
			t.Errorf("%s: %q, %v", tt.name, got.Text, err)
		}
	}
}
