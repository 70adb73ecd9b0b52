package models

import (
	"strings"
	"sync"
	"testing"

	"github.com/precis-dev/precis"
)

func open(t testing.TB, overrides ...Override) *Catalog {
	t.Helper()
	c, err := New(Options{Overrides: overrides})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestFindUnderstandsNames(t *testing.T) {
	tests := []struct{ id, want string }{
		{"claude-sonnet-4-5-20250929", "anthropic claude-sonnet-4-5-20250929"},
		{"  Claude-Sonnet-4-5  ", "anthropic claude-sonnet-4-5-20250929"},
		{"claude-sonnet-4.5", "anthropic claude-sonnet-4-5-20250929"},
		{"claude-sonnet-4-5-latest", "anthropic claude-sonnet-4-5-20250929"},
		{"claude-sonnet-4-5@20250929", "anthropic claude-sonnet-4-5-20250929"},
		{"claude-opus-4-6-20310101", "anthropic claude-opus-4-6"},
		{"anthropic/claude-sonnet-4-5", "anthropic claude-sonnet-4-5-20250929"},
		{"claude-opus-4-6[1m]", "anthropic claude-opus-4-6"},
		// An ID that is somebody's own goes to them.
		{"anthropic/claude-sonnet-4.5", "openrouter anthropic/claude-sonnet-4.5"},
		{"openai/gpt-5", "openai gpt-5"},
		{"google/gemini-2.5-pro", "openrouter google/gemini-2.5-pro"},
		{"google/gemini-3.6-flash-20310101", "gemini gemini-3.6-flash"},
		{"openrouter/anthropic/claude-sonnet-4.5", "openrouter anthropic/claude-sonnet-4.5"},
		{"anthropic/claude-opus-4.6:nitro", "openrouter anthropic/claude-opus-4.6"},
		{"openai/gpt-oss-20b:free", "openrouter openai/gpt-oss-20b:free"},
		{"vercel/anthropic/claude-opus-4.6", "vercel anthropic/claude-opus-4.6"},
		// Bedrock.
		{"us.anthropic.claude-sonnet-4-5-20250929-v1:0", "bedrock us.anthropic.claude-sonnet-4-5-20250929-v1:0"},
		{"global.anthropic.claude-sonnet-4-5-20250929-v1:0", "bedrock us.anthropic.claude-sonnet-4-5-20250929-v1:0"},
		{"anthropic.claude-opus-4-6-v1:0", "bedrock us.anthropic.claude-opus-4-6-v1"},
		{"eu.anthropic.claude-sonnet-4-6-v1:0", "bedrock-europe eu.anthropic.claude-sonnet-4-6"},
		{"arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-opus-4-6-v1", "bedrock us.anthropic.claude-opus-4-6-v1"},
		// Makers before resellers, whatever the reseller's spelling.
		{"gpt-5", "openai gpt-5"},
		{"gemini-2.5-pro", "gemini gemini-2.5-pro"},
		{"glm-4.7", "zai glm-4.7"},
		{"azure/gpt-5", "azure gpt-5"},
		{"vertex_ai/claude-sonnet-4-5@20250929", "vertexai claude-sonnet-4-5-20250929"},
		{"my-server/gpt-5", "openai gpt-5"},
		// The date that was asked for before the maker's undated entry.
		{"gpt-4o-2024-05-13", "openai gpt-4o-2024-05-13"},
		{"gpt-4o-2031-01-01", "openai gpt-4o"},
		// A version number is not a date, an Ollama tag not a variant.
		{"qwen3:32b", ""},
		{"no-such-model", ""},
		{"anthropic/", ""},
		{"/", ""},
		{"[1m]", ""},
		{"", ""},
	}
	c := open(t)
	for _, tt := range tests {
		m, ok := c.Find(tt.id)
		if got := strings.TrimSpace(m.Provider + " " + m.ID); got != tt.want || ok != (tt.want != "") {
			t.Errorf("Find(%q) = %q, %v, want %q", tt.id, got, ok, tt.want)
		}
	}
}

func TestEveryModelIsFoundByItsOwnID(t *testing.T) {
	c := open(t)
	for _, m := range c.List() {
		got, ok := c.Find(m.Provider + "/" + m.ID)
		if !ok || got.Provider != m.Provider || got.ID != m.ID {
			t.Errorf("Find(%s/%s) = %s/%s, %v", m.Provider, m.ID, got.Provider, got.ID, ok)
		}
		if _, ok := c.Find(m.ID); !ok {
			t.Errorf("Find(%s) found nothing", m.ID)
		}
	}
}

func TestEveryNumberHasASource(t *testing.T) {
	list := open(t).List()
	if len(list) < 1000 {
		t.Fatalf("only %d models", len(list))
	}
	for _, m := range list {
		s := m.Prices.Sources
		if m.Window.Tokens <= 0 || m.Window.Source == "" || m.MaxOutput.Tokens > 0 && m.MaxOutput.Source == "" {
			t.Errorf("%s/%s: window %+v, output %+v", m.Provider, m.ID, m.Window, m.MaxOutput)
		}
		if s.Input == "" || s.Output == "" || s.CacheRead == "" || s.CacheWrite == "" {
			t.Errorf("%s/%s: price sources %+v", m.Provider, m.ID, s)
		}
	}
}

func TestWindow(t *testing.T) {
	c := open(t)
	tests := []struct {
		id     string
		tokens int
		source precis.Source
		detail string
	}{
		{"claude-opus-4-5", 200_000, precis.SourceCatalog, "anthropic/claude-opus-4-5"},
		{"claude-opus-4-6", 1_000_000, precis.SourceCatalog, "anthropic/claude-opus-4-6"},
		{"claude-opus-4-5[1m]", 1_000_000, precis.SourceConfigured, "[1m]"},
		{"Claude-Opus-4-5[1M]", 1_000_000, precis.SourceConfigured, "[1m]"},
		{"claude-unheard-of[1m]", 1_000_000, precis.SourceConfigured, "[1m]"},
		{"gpt-5.5[1m]", 1_050_000, precis.SourceCatalog, "openai/gpt-5.5"},
		{"my-llm", DefaultWindow, precis.SourceAssumed, `"my-llm"`},
	}
	for _, tt := range tests {
		w := c.Window(tt.id)
		if w.Tokens != tt.tokens || w.Source != tt.source || !strings.Contains(w.Detail, tt.detail) {
			t.Errorf("Window(%q) = %+v, want %d %s %s", tt.id, w, tt.tokens, tt.source, tt.detail)
		}
	}
}

func TestFamilies(t *testing.T) {
	for id, want := range map[string]string{
		"us.anthropic.claude-opus-4-6-v1": "claude",
		"openai/gpt-oss-120b":             "gpt-oss",
		"o3-mini":                         "gpt",
		"accounts/fireworks/models/glm-5": "glm",
		"qwen3.5-27b":                     "qwen",
		"meta-llama/llama-3.3-70b":        "llama",
		"claudette":                       "",
		"":                                "",
	} {
		if got := Family(id); got != want {
			t.Errorf("Family(%q) = %q, want %q", id, got, want)
		}
	}
}

func TestListAndSearch(t *testing.T) {
	c := open(t, Override{ID: "zzz-local"})
	list := c.List()
	for i := 1; i < len(list); i++ {
		a, b := list[i-1], list[i]
		if a.Provider > b.Provider || a.Provider == b.Provider && a.ID > b.ID {
			t.Fatalf("%s/%s is before %s/%s", a.Provider, a.ID, b.Provider, b.ID)
		}
	}
	if got := len(c.Search("")); got != len(list) {
		t.Errorf("an empty search found %d of %d", got, len(list))
	}
	found := c.Search("ANTHROPIC/claude-opus-4-6")
	if len(found) != 1 || found[0].ID != "claude-opus-4-6" {
		t.Errorf("search found %+v", found)
	}
	if got := c.Search("zzz-LOCAL"); len(got) != 1 {
		t.Errorf("search found %+v", got)
	}
	list[0].ID = "changed"
	if c.List()[0].ID == "changed" {
		t.Error("List returned the catalog's own slice")
	}
}

func TestCatalogIsSafeForConcurrentUse(t *testing.T) {
	var c Catalog // the zero value works, too
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if _, ok := c.Find("claude-opus-4-6[1m]"); !ok {
				t.Error("not found")
			}
			c.Search("gpt")
		})
	}
	wg.Wait()
}

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		open(b)
	}
}

func BenchmarkFirstFind(b *testing.B) {
	for b.Loop() {
		open(b).Find("gpt-5")
	}
}

func BenchmarkFind(b *testing.B) {
	c := open(b)
	for _, id := range []string{"claude-opus-4-6", "us.anthropic.claude-sonnet-4-5-20250929-v1:0", "no-such-model"} {
		b.Run(id, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.Find(id)
			}
		})
	}
}
