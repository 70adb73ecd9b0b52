package models

import "github.com/precis-dev/precis"

// retiredModels are models that occur in recordings and settings but are no longer in the catalog:
// windows, output limits and prices as published by their makers.
func retiredModels() []Model {
	const detail = "Anthropic's models overview and pricing, while they were served"
	claude := func(id, name string, output int, in, out, write, read float64) Model {
		return Model{
			ID: id, Provider: "anthropic", Name: name, Family: "claude",
			Window:    precis.Window{Tokens: 200_000, Source: precis.SourceCatalog, Detail: detail},
			MaxOutput: Limit{Tokens: output, Source: precis.SourceCatalog, Detail: detail},
			Prices:    normalizePrices(in, out, write, read, false),
			Images:    true,
		}
	}
	return []Model{
		claude("claude-3-7-sonnet-20250219", "Claude Sonnet 3.7", 64_000, 3, 15, 3.75, 0.30),
		claude("claude-3-5-sonnet-20241022", "Claude Sonnet 3.5", 8192, 3, 15, 3.75, 0.30),
		claude("claude-3-5-sonnet-20240620", "Claude Sonnet 3.5 (June)", 8192, 3, 15, 3.75, 0.30),
		claude("claude-3-5-haiku-20241022", "Claude Haiku 3.5", 8192, 0.80, 4, 1, 0.08),
		claude("claude-3-opus-20240229", "Claude Opus 3", 4096, 15, 75, 18.75, 1.50),
		claude("claude-3-sonnet-20240229", "Claude Sonnet 3", 4096, 3, 15, 3.75, 0.30),
		claude("claude-3-haiku-20240307", "Claude Haiku 3", 4096, 0.25, 1.25, 0.30, 0.03),
	}
}
