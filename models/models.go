// Package models provides the context windows, output limits and prices of models, and computes
// costs.
//
// Use [New] to get a [Catalog] and [Catalog.Find] to look a model up by any name that a client
// sends: a plain ID, a dated one, a Bedrock or OpenRouter spelling. [Catalog.Window] always returns
// a window, and states when it is assumed. [Cost] prices one request, [MaxOutput] returns how many
// tokens a model may write, [Distribution] divides a window for a progress bar.
//
// The data is catalog.json, compiled into the program: the tables of charm.land/catwalk and of
// pi-ai. Newer catalogs (see [ParseCatalog]) and the user's overrides (see [ParseOverrides])
// correct it. The package does not use the network, the clock or the environment, and every number
// has a [precis.Source].
package models

import "github.com/precis-dev/precis"

// DefaultWindow is the context window, in tokens, assumed for an unknown model. It is the smallest
// window that is common among models in use today; the first overflow error reveals the real one.
const DefaultWindow = 128_000

// Model is one model as one provider serves it. Two providers that serve the
// same model are two Models, often with different windows and prices.
//
// A Model is a copy that belongs to the caller, except that Prices.Long is
// shared with the catalog and must not be modified.
type Model struct {
	// ID is the provider's own spelling, case kept.
	ID string `json:"id"`
	// Provider is the catalog's ID of the provider ("anthropic", "bedrock", "openrouter"); empty
	// for a model known only from an override.
	Provider string `json:"provider,omitempty"`
	// Name is for display; it may be empty.
	Name string `json:"name,omitempty"`
	// Family is the model line, which shares a tokenizer and habits ("claude", "gpt", "gemini",
	// "qwen"); empty when unknown.
	Family string `json:"family,omitempty"`
	// Window is the context window.
	Window precis.Window `json:"window"`
	// MaxOutput is the output limit to request for one reply.
	MaxOutput Limit `json:"max_output"`
	// Prices are in US dollars per million tokens.
	Prices Prices `json:"prices"`
	// CanReason states that the model can think before it answers.
	CanReason bool `json:"can_reason"`
	// Images states that the model accepts images.
	Images bool `json:"images"`
}

// Limit is a number of tokens with its source.
type Limit struct {
	// Tokens is the limit; zero means unknown.
	Tokens int `json:"tokens"`
	// Source is empty when Tokens is unknown.
	Source precis.Source `json:"source,omitempty"`
	// Detail describes the source for display; it may be empty.
	Detail string `json:"detail,omitempty"`
}
