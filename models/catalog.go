package models

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/precis-dev/precis"
)

// Options configures a [Catalog]. The zero value means no overrides.
type Options struct {
	// Updates are models of a newer catalog, see [ParseCatalog]. Each replaces the embedded model
	// with its provider and ID, or is added. The slice is copied.
	Updates []Model
	// Overrides correct or extend the embedded data. They are applied in
	// order; the slice is copied.
	Overrides []Override
	// Reported are the context windows, in tokens by model, that agents reported, for models that
	// the catalog lacks. The map must not be changed.
	Reported map[string]int
}

// Catalog looks up the windows, limits and prices of models. The zero Catalog
// is ready to use and has no overrides. All methods may be called concurrently.
// A Catalog must not be copied after first use.
//
// The embedded data is decoded at the first call, not by [New], so that a
// program that makes no call does not pay for it.
type Catalog struct {
	updates   []Model // fixed at creation, as are the overrides
	overrides []Override
	reported  map[string]int

	once sync.Once
	idx  *index // built by once, then read only
}

// New returns a catalog. It fails on an override that [ParseOverrides] would
// refuse: one without an ID, one repeating another's ID, a negative price, a
// window or limit that is not positive.
func New(o Options) (*Catalog, error) {
	if err := checkOverrides(o.Overrides); err != nil {
		return nil, fmt.Errorf("models: %w", err)
	}
	return &Catalog{updates: slices.Clone(o.Updates), overrides: slices.Clone(o.Overrides),
		reported: o.Reported}, nil
}

func (c *Catalog) index() *index {
	c.once.Do(func() { c.idx = buildIndex(c.updates, c.overrides) })
	return c.idx
}

// Find returns the model that id names, and whether it exists.
//
// Case does not matter. In addition to a provider's exact ID these spellings work:
//
//   - provider/id, with the catalog's provider ID or a common alias of it
//     ("google/…", "vertex_ai/…", "x-ai/…");
//   - with or without a date ("-20250929", "-2025-09-29", "@20250929") or "-latest";
//   - dots for dashes ("claude-sonnet-4.5");
//   - Bedrock names ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", ARNs);
//   - OpenRouter variants ("…:free", with prices that are zero and assumed
//     unless the catalog lists the variant, "…:nitro", "…:thinking", …);
//   - endings for the way a model is run ("…-thinking", "gpt-5(high)", "…-FP8",
//     "…:120b-cloud"), and prefixes of services ("databricks-…"), if the whole name is unknown;
//   - Claude Code's "[1m]", which raises the window to a million tokens with
//     source configured, because the user asked for that window.
//
// If several providers serve the model, they are tried in this order. A provider's ID, a slash and
// one of its own IDs always name that entry ("openai/gpt-5" is OpenAI's). Next, an ID with a prefix
// selects a provider that lists exactly this ID ("anthropic/claude-opus-4.6" is OpenRouter's, since
// Anthropic writes dashes), or the provider that the prefix names. Otherwise the order is: a model
// known only from an override; the model's own maker; Bedrock, Vertex AI, Azure; OpenRouter,
// Vercel; all others by provider ID. Within one provider an undated entry precedes a dated one, and
// a newer date an older. A dated id matches an entry of that date at any provider before an undated
// entry of the maker.
func (c *Catalog) Find(id string) (Model, bool) {
	return c.index().find(id)
}

// Window returns the context window of the model that id names. For a model unknown to
// [Catalog.Find], it returns the window of the newest known model of its family, with source
// family; without a known family, [DefaultWindow] with source assumed (a million tokens with source
// configured if id ends in "[1m]").
func (c *Catalog) Window(id string) precis.Window {
	if m, ok := c.Find(id); ok {
		return m.Window
	}
	if n := c.reported[id]; n > 0 {
		return precis.Window{Tokens: n, Source: precis.SourceRecorded, Detail: "an agent reported it"}
	}
	if _, long := cutLong(strings.ToLower(strings.TrimSpace(id))); long {
		return longWindow()
	}
	if m, ok := c.index().relative(id); ok {
		return relativeWindow(m)
	}
	return assumedWindow(id)
}

func assumedWindow(id string) precis.Window {
	return precis.Window{
		Tokens: DefaultWindow,
		Source: precis.SourceAssumed,
		Detail: fmt.Sprintf("no window is known for model %q", id),
	}
}

// List returns every model, sorted by provider, then ID. Models known only
// from an override come first. The slice belongs to the caller.
func (c *Catalog) List() []Model {
	list := slices.Clone(c.index().models)
	slices.SortStableFunc(list, func(a, b Model) int {
		if d := strings.Compare(a.Provider, b.Provider); d != 0 {
			return d
		}
		return strings.Compare(a.ID, b.ID)
	})
	return list
}

// Search returns the models with text in their provider/ID or name, ignoring case, in the order of
// [Catalog.List]. Empty text finds all of them.
func (c *Catalog) Search(text string) []Model {
	text = strings.ToLower(text)
	return slices.DeleteFunc(c.List(), func(m Model) bool {
		return !strings.Contains(strings.ToLower(m.Provider+"/"+m.ID), text) &&
			!strings.Contains(strings.ToLower(m.Name), text)
	})
}
