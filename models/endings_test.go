package models_test

import (
	"testing"

	"github.com/precis-dev/precis/models"
)

func TestNamesThatSayHowAModelIsRun(t *testing.T) {
	var c models.Catalog
	for id, base := range map[string]string{
		"claude-sonnet-4-5-thinking":           "claude-sonnet-4-5",
		"claude-sonnet-4-5-20250929-thinking":  "claude-sonnet-4-5",
		"gpt-5(high)":                          "gpt-5",
		"gpt-5 (high)":                         "gpt-5",
		"openai/gpt-5(minimal)":                "gpt-5",
		"claude-sonnet-4-5(16384)":             "claude-sonnet-4-5",
		"databricks-claude-sonnet-4-5":         "claude-sonnet-4-5",
		"databricks-gpt-5":                     "gpt-5",
		"openai/gpt-oss-120b-FP8":              "openai/gpt-oss-120b",
		"my-server/gpt-oss-120b-NVFP4":         "gpt-oss-120b",
		"unsloth/gpt-oss-120b-GGUF":            "gpt-oss-120b",
		"gpt-oss-120b-Q4_K_M":                  "gpt-oss-120b",
		"unsloth/gpt-oss-120b-UD-Q4_K_XL":      "gpt-oss-120b",
		"anthropic/claude-sonnet-4.5-thinking": "anthropic/claude-sonnet-4.5",
		"gpt-5:high":                           "gpt-5",
		"gpt-oss:120b-cloud":                   "gpt-oss-120b",
		"kimi-k2-0905-preview":                 "kimi-k2-0905",
	} {
		t.Run(id, func(t *testing.T) {
			want, ok := c.Find(base)
			if !ok {
				t.Fatalf("%s is not in the catalog", base)
			}
			got, ok := c.Find(id)
			if !ok || got.Window.Tokens != want.Window.Tokens {
				t.Errorf("found %v with %v, want that of %s, %v", ok, got.Window, base, want.Window)
			}
		})
	}
}

func TestOtherModelsKeepTheirNames(t *testing.T) {
	var c models.Catalog
	for _, id := range []string{"kimi-k2-thinking", "gpt-5-mini", "gpt-5-codex"} {
		if m, ok := c.Find(id); !ok || models.Base(m.ID) == models.Base("gpt-5") {
			t.Errorf("%s is %s (%v)", id, m.ID, ok)
		}
	}
	for _, id := range []string{"unheard-of", "unheard-of-thinking", "-thinking", "(high)", "llama-unheard:70b", "gpt-oss:120b", "gpt-oss-cloud", "q4_k_m", ""} {
		if m, ok := c.Find(id); ok {
			t.Errorf("%q is %s", id, m.ID)
		}
	}
}
