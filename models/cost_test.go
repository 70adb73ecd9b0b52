package models

import (
	"testing"

	"github.com/precis-dev/precis"
)

func TestCostCountsCachedTokensByProtocol(t *testing.T) {
	prices := Prices{Input: 10, Output: 100, CacheRead: 1, CacheWrite: 12.5}
	u := precis.Usage{Input: 1_000_000, Output: 10_000, CacheRead: 200_000, CacheWrite: 100_000}
	tests := []struct {
		protocol Protocol
		want     Charge
	}{
		{Anthropic, Charge{1_300_000, 10_000, 1.25 + 0.2 + 10 + 1}},
		{OpenAI, Charge{1_000_000, 10_000, 1.25 + 0.2 + 7 + 1}},
		{"", Charge{1_300_000, 10_000, 1.25 + 0.2 + 10 + 1}},
	}
	for _, tt := range tests {
		if got := Cost(tt.protocol, prices, u, ""); got.TotalInput != tt.want.TotalInput || !near(got.USD, tt.want.USD) {
			t.Errorf("%q: got %+v, want %+v", tt.protocol, got, tt.want)
		}
		if b := Itemize(tt.protocol, prices, u, ""); b.USD() != Cost(tt.protocol, prices, u, "").USD {
			t.Errorf("%q: the parts %+v are not the whole", tt.protocol, b)
		}
	}
	if b := Itemize(OpenAI, prices, precis.Usage{Input: 10, CacheRead: 50}, ""); b.BilledInput != 0 || b.Input != 0 {
		t.Errorf("more cached than input: %+v", b)
	}
}

func TestCostOfLongRequests(t *testing.T) {
	long := &LongContext{Threshold: 1000, Input: 2, Output: 1.5, Tiers: []string{"default", "flex"}}
	everyTier := &LongContext{Threshold: 1000, Input: 2}
	noTier := &LongContext{Threshold: 1000, Input: 2, Tiers: []string{}}
	tests := []struct {
		name     string
		protocol Protocol
		rule     *LongContext
		input    int
		tier     string
		long     bool
	}{
		{"at the threshold", OpenAI, long, 1000, "", false},
		{"above it", OpenAI, long, 1001, "", true},
		{"a listed tier", OpenAI, long, 1001, "flex", true},
		{"another tier", OpenAI, long, 1001, "priority", false},
		{"any tier", OpenAI, everyTier, 1001, "priority", true},
		{"no tier", OpenAI, noTier, 1001, "", false},
		{"no rule", OpenAI, nil, 1_000_000, "", false},
		{"not its protocol", Anthropic, long, 1_000_000, "", false},
	}
	for _, tt := range tests {
		b := Itemize(tt.protocol, Prices{Input: 1e6, Output: 1e6, Long: tt.rule}, precis.Usage{Input: tt.input, Output: 1}, tt.tier)
		factor := 1.0
		if tt.long {
			factor = 2
		}
		if b.Long != tt.long || b.Input != factor*float64(tt.input) {
			t.Errorf("%s: %+v", tt.name, b)
		}
		if everyTier == tt.rule && b.Output != 1 {
			t.Errorf("%s: an absent multiplier changed the price: %+v", tt.name, b)
		}
	}
}

func TestMaxOutput(t *testing.T) {
	tests := []struct {
		name string
		q    OutputQuestion
		want int
		ok   bool
	}{
		{"a fifth of the window, rounded up", OutputQuestion{ModelID: "gpt-4o", Window: 8192, MaxTokens: 4096}, 1639, true},
		{"less than that", OutputQuestion{ModelID: "gpt-4o", Window: 128_000, MaxTokens: 4096}, 4096, true},
		{"GPT-5 keeps its limit", OutputQuestion{ModelID: "GPT-5-mini", Window: 8192, MaxTokens: 8192}, 8192, true},
		{"Claude without a limit", OutputQuestion{ModelID: "claude-x", Format: "anthropic"}, 8192, true},
		{"Claude that may think", OutputQuestion{ModelID: "claude-x", Window: 8192, MaxTokens: 64_000, SupportsReasoningBudget: true}, 8192, true},
		{"by dialect alone", OutputQuestion{ModelID: "anthropic/x", Format: "openrouter"}, 8192, true},
		{"another model of that dialect", OutputQuestion{ModelID: "x", Format: "openrouter"}, 8192, false},
		{"nothing known", OutputQuestion{ModelID: "x"}, 8192, true},
		{"must think", OutputQuestion{ModelID: "x", MaxTokens: 5, RequiresReasoningBudget: true}, 16_384, true},
		{"wants to think", OutputQuestion{ModelID: "x", SupportsReasoningBudget: true, EnableReasoning: true, UserMaxTokens: 32_000}, 32_000, true},
		{"cannot think", OutputQuestion{ModelID: "x", Window: 100, MaxTokens: 5, EnableReasoning: true, UserMaxTokens: 32_000}, 5, true},
	}
	for _, tt := range tests {
		got, ok := MaxOutput(tt.q)
		if ok != tt.ok || ok && got != tt.want {
			t.Errorf("%s: got %d, %v, want %d, %v", tt.name, got, ok, tt.want, tt.ok)
		}
	}
}

func TestDistribution(t *testing.T) {
	tests := []struct {
		window, used, max int
		want              Shares
	}{
		{200_000, 50_000, 8192, Shares{25, 4.096, 70.904, 8192, 141_808}},
		{1000, 900, 300, Shares{75, 25, 0, 300, 0}},
		{8192, 0, 8192, Shares{0, 100, 0, 8192, 0}},
		{-1, -1, -1, Shares{0, 100, 0, 8192, 0}},
	}
	for _, tt := range tests {
		if got := Distribution(tt.window, tt.used, tt.max); got != tt.want {
			t.Errorf("Distribution(%d, %d, %d) = %+v, want %+v", tt.window, tt.used, tt.max, got, tt.want)
		}
	}
}
