package models

import (
	"math"
	"testing"

	"github.com/precis-dev/precis"
)

const (
	cat     = precis.SourceCatalog
	assumed = precis.SourceAssumed
)

func TestNormalizePrices(t *testing.T) {
	tests := []struct {
		name                        string
		in, out, inCached, outCahed float64
		free                        bool
		want                        Prices
	}{
		{"write then read, as Anthropic's", 3, 15, 3.75, 0.3, false,
			Prices{Input: 3, Output: 15, CacheWrite: 3.75, CacheRead: 0.3, Sources: PriceSources{cat, cat, cat, cat}}},
		{"read first, as OpenAI's newer ones", 5, 30, 0.5, 0, false,
			Prices{Input: 5, Output: 30, CacheWrite: 5, CacheRead: 0.5, Sources: PriceSources{cat, cat, cat, assumed}}},
		{"read last, as OpenAI's older ones", 2, 8, 0, 0.5, false,
			Prices{Input: 2, Output: 8, CacheWrite: 2, CacheRead: 0.5, Sources: PriceSources{cat, cat, cat, assumed}}},
		{"read in both", 1.25, 10, 0.25, 0.125, false,
			Prices{Input: 1.25, Output: 10, CacheWrite: 1.25, CacheRead: 0.125, Sources: PriceSources{cat, cat, cat, assumed}}},
		{"no cached price", 30, 180, 0, 0, false,
			Prices{Input: 30, Output: 180, CacheWrite: 30, CacheRead: 30, Sources: PriceSources{cat, cat, assumed, assumed}}},
		{"the uncached prices again", 0.29, 1.17, 0.29, 1.17, false,
			Prices{Input: 0.29, Output: 1.17, CacheWrite: 0.29, CacheRead: 0.29, Sources: PriceSources{cat, cat, assumed, assumed}}},
		{"free", 0, 0, 0, 0, true,
			Prices{Sources: PriceSources{cat, cat, assumed, assumed}}},
		{"unknown", 0, 0, 0, 0, false,
			Prices{Sources: PriceSources{assumed, assumed, assumed, assumed}}},
	}
	for _, tt := range tests {
		if got := normalizePrices(tt.in, tt.out, tt.inCached, tt.outCahed, tt.free); got != tt.want {
			t.Errorf("%s: got %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

// TestClaudePrices checks the catalog against Anthropic's published table.
func TestClaudePrices(t *testing.T) {
	c := open(t)
	for id, want := range map[string][2]float64{
		"claude-opus-4-1":   {15, 75},
		"claude-opus-4-5":   {5, 25},
		"claude-opus-4-6":   {5, 25},
		"claude-sonnet-4":   {3, 15},
		"claude-sonnet-4-5": {3, 15},
		"claude-haiku-4-5":  {1, 5},
		"us.anthropic.claude-sonnet-4-5-20250929-v1:0": {3, 15},
		"vertexai/claude-haiku-4-5":                    {1, 5},
		"anthropic/claude-opus-4.5":                    {5, 25},
	} {
		m, ok := c.Find(id)
		p := m.Prices
		if !ok || p.Input != want[0] || p.Output != want[1] {
			t.Errorf("%s: prices %+v, want %v", id, p, want)
		}
		if !near(p.CacheRead, 0.1*p.Input) || !near(p.CacheWrite, 1.25*p.Input) {
			t.Errorf("%s: read %v, write %v at input %v", id, p.CacheRead, p.CacheWrite, p.Input)
		}
		if p.Sources != (PriceSources{cat, cat, cat, cat}) || !p.Known() {
			t.Errorf("%s: sources %+v", id, p.Sources)
		}
	}
}

func TestAllOfAnthropicsOwnPrices(t *testing.T) {
	n := 0
	for _, m := range open(t).List() {
		if m.Provider != "anthropic" {
			continue
		}
		if n++; m.ID == "claude-3-haiku-20240307" {
			continue // its prices are rounded up
		}
		if p := m.Prices; p.CacheRead <= 0 || p.CacheRead > 0.1*p.Input+1e-9 || !near(p.CacheWrite, 1.25*p.Input) {
			t.Errorf("%s: %+v", m.ID, p)
		}
	}
	if n < 10 {
		t.Errorf("only %d models", n)
	}
}

// Models that are served no longer are in recordings and settings, by many names.
func TestRetiredModelsAreKnown(t *testing.T) {
	c := open(t)
	for id, want := range map[string]struct {
		in, out float64
		output  int
	}{
		"claude-3-5-sonnet-20241022": {3, 15, 8192}, "claude-3-5-sonnet-latest": {3, 15, 8192}, "anthropic/claude-3.5-sonnet": {3, 15, 8192},
		"anthropic.claude-3-5-sonnet-20241022-v2:0": {3, 15, 8192}, "claude-3-5-haiku-20241022": {0.80, 4, 8192}, "claude-3-opus-20240229": {15, 75, 4096},
		"claude-3-haiku-20240307": {0.25, 1.25, 4096}, "claude-3-7-sonnet-20250219": {3, 15, 64_000},
	} {
		m, ok := c.Find(id)
		if !ok || m.Window.Tokens != 200_000 || m.Window.Source != cat || m.Prices.Input != want.in || m.Prices.Output != want.out || m.MaxOutput.Tokens != want.output {
			t.Errorf("%s: %+v", id, m)
		}
	}
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

func TestPricesNobodyStatedAreUnknown(t *testing.T) {
	c := open(t)
	for id, known := range map[string]bool{
		"copilot/claude-opus-5":           false, // a subscription
		"openai/gpt-oss-20b:free":         true,  // free by name
		"anthropic/claude-haiku-4.5:free": false, // no such variant is listed
		"gpt-5":                           true,
	} {
		m, ok := c.Find(id)
		if !ok || m.Prices.Known() != known {
			t.Errorf("%s: found %v, prices %+v", id, ok, m.Prices)
		}
	}
	if (Prices{}).Known() {
		t.Error("the zero prices are known")
	}
}
