package models

import (
	"slices"
	"testing"

	"github.com/precis-dev/precis"
)

// TestUnknownModelsTakeTheWindowOfARelative: a name that the catalog lacks has the window of the newest model of its family.
func TestUnknownModelsTakeTheWindowOfARelative(t *testing.T) {
	c := open(t)
	for id, want := range map[string]precis.Window{
		"claude-opus-6":                       {Tokens: 1_000_000, Source: precis.SourceFamily},
		"anthropic/claude-zeta-7":             {Tokens: 1_000_000, Source: precis.SourceFamily},
		"claude-haiku-9-5-20310101":           {Tokens: 1_000_000, Source: precis.SourceFamily},
		"global.anthropic.claude-opus-7-v1:0": {Tokens: 1_000_000, Source: precis.SourceFamily},
		"gpt-6.4-sol":                         {Tokens: 272_000, Source: precis.SourceFamily},
		"gemini-4-krypton":                    {Tokens: 1_048_576, Source: precis.SourceFamily},
		"claude-opus-4-7@default":             {Tokens: 1_000_000, Source: precis.SourceCatalog},
		"claude-opus-6[1m]":                   {Tokens: 1_000_000, Source: precis.SourceConfigured},
		"no-such-model":                       {Tokens: DefaultWindow, Source: precis.SourceAssumed},
		"":                                    {Tokens: DefaultWindow, Source: precis.SourceAssumed},
		"claude":                              {Tokens: 1_000_000, Source: precis.SourceFamily},
		"gpt-99999999999999999999999999":      {Tokens: 272_000, Source: precis.SourceFamily},
	} {
		if got := c.Window(id); got.Tokens != want.Tokens || got.Source != want.Source {
			t.Errorf("%q: %v, want %v", id, got, want)
		}
	}
}

// TestRelativesOfKnownModels takes each model of a maker for unknown, and all that are not older, and compares the window of
// its relative with its own. A newer model may have a larger one, so that not all can agree.
func TestRelativesOfKnownModels(t *testing.T) {
	all := loadEmbedded()
	agree, assumed, n := 0, 0, 0
	near := func(tokens, window int) bool { return 2*tokens < 3*window && 2*window < 3*tokens }
	for i, m := range all {
		if m.Provider != makers[m.Family] || m.Window.Source != precis.SourceCatalog {
			continue
		}
		others := make([]Model, 0, len(all))
		for k, o := range all {
			older := o.Family != m.Family || slices.Compare(kinOf(parseName(o.ID).stem).version, kinOf(parseName(m.ID).stem).version) < 0
			if k != i && older {
				others = append(others, o)
			}
		}
		r, ok := newIndex(others).relative(m.ID)
		if !ok {
			continue // the first of its family
		}
		n++
		if near(DefaultWindow, m.Window.Tokens) {
			assumed++
		}
		if near(r.Window.Tokens, m.Window.Tokens) {
			agree++
		} else {
			t.Logf("%s/%s: %d, its relative %s: %d", m.Provider, m.ID, m.Window.Tokens, r.ID, r.Window.Tokens)
		}
	}
	t.Logf("%d of %d; %d are near the assumed window", agree, n, assumed)
	if agree*10 < 6*n {
		t.Errorf("%d of %d relatives have a window within a factor of 1.5", agree, n)
	}
}
