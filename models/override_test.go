package models

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
)

func ptr[T any](v T) *T { return &v }

const overrideFile = `# what we negotiated
models:
  - id: claude-opus-4-6
    window: 1_000_000
    cache_read: 0.25
  - id: my-llm
    window: 32768
    max_output: 4096
    input: 1
    output: 2.5
    long_context:
      threshold: 200000
      input: 2
      tiers: [default, flex]
`

func parse(t testing.TB, text string) []Override {
	t.Helper()
	list, err := ParseOverrides([]byte(text), "models.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestParseOverrides(t *testing.T) {
	want := []Override{
		{ID: "claude-opus-4-6", Window: ptr(1_000_000), CacheRead: ptr(0.25)},
		{
			ID: "my-llm", Window: ptr(32768), MaxOutput: ptr(4096), Input: ptr(1.0), Output: ptr(2.5),
			LongContext: &LongOverride{Threshold: 200_000, Input: 2, Tiers: []string{"default", "flex"}},
		},
	}
	if got := parse(t, overrideFile); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	for _, nothing := range []string{"", "\n# nothing yet\n", "models:\n", "models: []\n", "models:\n  # - id: x\n"} {
		if got := parse(t, nothing); len(got) != 0 {
			t.Errorf("%q: got %+v", nothing, got)
		}
	}
}

func TestParseOverridesIsStrict(t *testing.T) {
	tests := []struct{ text, want string }{
		{"models:\n- id: a\n  windw: 3\n", "f.yaml:3: windw: unknown key"},
		{"model:\n- id: a\n", "f.yaml:1: model: unknown key"},
		{"models:\n- id: a\n  long_context:\n    treshold: 4\n", "f.yaml:4: treshold: unknown key"},
		{"models:\n- id: a\n  window: \"1000\"\n", "f.yaml:3: window: want a whole number, not string"},
		{"models:\n- id: a\n  window: 1.5\n", "f.yaml:3: window: want a whole number, not float"},
		{"models:\n- id: a\n  window: -5\n", "f.yaml:3: window: must be positive, not -5"},
		{"models:\n- id: a\n  window: null\n", "f.yaml:3: window: want a whole number, not null"},
		{"models:\n- id: a\n  input: abc\n", "f.yaml:3: input: want a number, not string"},
		{"models:\n- id: a\n  input: true\n", "f.yaml:3: input: want a number, not bool"},
		{"models:\n- id: a\n  input: .nan\n", "f.yaml:3: input: want a number, not nan"},
		{"models:\n- id: a\n  output: -0.5\n", "f.yaml:3: output: -0.5 is negative"},
		{"models:\n- id: 12\n", "f.yaml:2: id: want a text, not integer"},
		{"models:\n- id: a\n  long_context: {threshold: 4, tiers: [default, 3]}\n", "f.yaml:3: tiers: want a text, not integer"},
		{"models:\n- id: a\n  long_context: {input: 2}\n", "f.yaml:2: models: long_context.threshold must be positive, not 0"},
		{"models:\n- window: 4\n", "f.yaml:2: models: id is missing"},
		{"models:\n- id: a\n\n- id: A\n", `f.yaml:4: models: id "A" has an override already`},
		{"models:\n- id: a\n  id: b\n", "f.yaml:3: mapping key \"id\" already defined"},
		{"models:\n- id: a\n  <<: {window: 3}\n", "f.yaml:3: models: want a key, not mergekey"},
		{"models:\n- id: &x a\n- id: *x\n", "f.yaml:2: id: want a text, not anchor"},
		{"models: 3\n", "f.yaml:1: models: want a list, not integer"},
		{"models:\n- null\n", "f.yaml:2: models: want a mapping, not null"},
		{"- id: a\n", "f.yaml:1: want a mapping, not sequence"},
		{"models:\n- id: [a\n", "f.yaml:2: sequence end token"},
		{"models: []\n---\nmodels: []\n", "f.yaml: there is more than one document"},
		{"models:\n" + strings.Repeat("- ", 501), "f.yaml:2: the line is longer than"},
		{strings.Repeat("[\n", 100), "f.yaml:65: more than 64 brackets are open"},
		{strings.Repeat("#", 1<<20+1), "f.yaml: the file is larger than"},
	}
	for _, tt := range tests {
		list, err := ParseOverrides([]byte(tt.text), "f.yaml")
		if err == nil {
			t.Errorf("%.80q: accepted as %+v", tt.text, list)
		} else if !strings.Contains(err.Error(), "models: "+tt.want) {
			t.Errorf("%.80q: %v, want %s", tt.text, err, tt.want)
		}
	}
}

func TestNewRefusesBadOverrides(t *testing.T) {
	for field, list := range map[string][]Override{
		"id is missing":          {{ID: " "}},
		"has an override":        {{ID: "a"}, {ID: "A "}},
		"window":                 {{ID: "a", Window: ptr(0)}},
		"max_output":             {{ID: "a", MaxOutput: ptr(-1)}},
		"cache_write":            {{ID: "a", CacheWrite: ptr(math.NaN())}},
		"output must be":         {{ID: "a", Output: ptr(math.Inf(1))}},
		"long_context.threshold": {{ID: "a", LongContext: &LongOverride{Input: 2}}},
		"long_context.input":     {{ID: "a", LongContext: &LongOverride{Threshold: 1, Input: -2}}},
	} {
		if _, err := New(Options{Overrides: list}); err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: got error %v", field, err)
		}
	}
}

func TestOverrideChangesOnlyWhatItStates(t *testing.T) {
	before, _ := open(t).Find("claude-sonnet-4-5")
	c := open(t, Override{ID: "claude-sonnet-4-5", Window: ptr(500_000), CacheRead: ptr(0.2)})
	for _, id := range []string{"claude-sonnet-4-5", "claude-sonnet-4-5-20250929", "anthropic/claude-sonnet-4-5"} {
		m, ok := c.Find(id)
		if !ok || m.Window.Tokens != 500_000 || m.Window.Source != precis.SourceConfigured {
			t.Errorf("%s: window %+v", id, m.Window)
		}
		want := before.Prices
		want.CacheRead, want.Sources.CacheRead = 0.2, precis.SourceConfigured
		if m.Prices != want || m.MaxOutput != before.MaxOutput || m.Name != before.Name {
			t.Errorf("%s: got %+v, before %+v", id, m, before)
		}
	}
	if m, _ := c.Find("us.anthropic.claude-sonnet-4-5-20250929-v1:0"); m.Window.Source != precis.SourceCatalog {
		t.Errorf("the override reached another provider: %+v", m.Window)
	}
	if m, _ := open(t).Find("claude-sonnet-4-5"); m != before {
		t.Errorf("the override reached another catalog: %+v", m)
	}
}

func TestOverrideAddsModels(t *testing.T) {
	c := open(t, parse(t, overrideFile)...)
	for _, id := range []string{"my-llm", "MY-LLM", "vllm/my-llm", "my-llm-latest"} {
		m, ok := c.Find(id)
		if !ok || m.ID != "my-llm" || m.Window.Tokens != 32768 || m.MaxOutput.Tokens != 4096 {
			t.Errorf("Find(%q) = %+v, %v", id, m, ok)
		}
		want := PriceSources{precis.SourceConfigured, precis.SourceConfigured, assumed, assumed}
		if p := m.Prices; p.CacheRead != 1 || p.CacheWrite != 1 || p.Sources != want || p.Long == nil {
			t.Errorf("%s: prices %+v", id, p)
		}
	}
	m, _ := open(t, Override{ID: "bare"}).Find("bare")
	if m.Window != assumedWindow("bare") || m.Prices.Known() || m.MaxOutput != (Limit{}) {
		t.Errorf("a model without numbers became %+v", m)
	}
}

func TestOverrideOfALookAlikeIsACopy(t *testing.T) {
	c := open(t,
		Override{ID: "my-server/gpt-5", Window: ptr(64_000)},
		Override{ID: "claude-opus-4-6[1m]", Input: ptr(10.0)},
		Override{ID: "gpt-4o-2031-01-01", Input: ptr(7.0)},
	)
	original := open(t)
	for _, id := range []string{"gpt-5", "claude-opus-4-6", "gpt-4o"} {
		got, _ := c.Find(id)
		if want, _ := original.Find(id); got != want {
			t.Errorf("%s changed to %+v", id, got)
		}
	}
	if m, _ := c.Find("My-Server/gpt-5"); m.Window.Tokens != 64_000 || m.Prices.Output != 10 || m.Provider != "" {
		t.Errorf("copy: %+v", m)
	}
	if m, _ := c.Find("claude-opus-4-6[1m]"); m.Window.Tokens != 1_000_000 || m.Prices.Input != 10 || m.Prices.CacheRead != 0.5 {
		t.Errorf("copy: %+v", m)
	}
	if m, _ := c.Find("gpt-4o-2031-01-01"); m.Prices.Input != 7 {
		t.Errorf("copy: %+v", m)
	}
}

func TestAssumedCachePricesFollowTheInputPrice(t *testing.T) {
	c := open(t, Override{ID: "gpt-5", Input: ptr(9.0)})
	m, _ := c.Find("gpt-5")
	if p := m.Prices; p.CacheWrite != 9 || p.Sources.CacheWrite != assumed || p.CacheRead != 0.125 {
		t.Errorf("prices %+v", p)
	}
}

func FuzzParseOverrides(f *testing.F) {
	f.Add([]byte(overrideFile))
	f.Add([]byte("models:\n- {id: a, window: 1, input: 2.5, long_context: {threshold: 3, tiers: [x]}}\n"))
	f.Add([]byte("a: &a [*a]\n"))
	f.Add([]byte("models:\n- ? id\n  : a\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := ParseOverrides(data, "fuzz.yaml")
		if err != nil {
			if list != nil || !strings.HasPrefix(err.Error(), "models: fuzz.yaml") {
				t.Errorf("list %v with error %v", list, err)
			}
			return
		}
		if _, err := New(Options{Overrides: list}); err != nil {
			t.Errorf("parsed what New refuses: %v", err)
		}
	})
}

func FuzzFind(f *testing.F) {
	for _, id := range []string{"claude-opus-4-6[1m]", "us.anthropic.x-v1:0", "a/b:free", ".", "-latest", "/-20250101"} {
		f.Add(id)
	}
	c := open(f)
	f.Fuzz(func(t *testing.T, id string) {
		m, ok := c.Find(id)
		if w := c.Window(id); w.Tokens <= 0 || w.Source == "" || ok && w != m.Window {
			t.Errorf("Find(%q) = %+v, window %+v", id, m, w)
		}
	})
}
