package models

import (
	_ "embed" // catalog.json
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/precis-dev/precis"
)

// catalogFile has a line for each model. lab/modeldata writes it from the tables of
// charm.land/catwalk and of @earendil-works/pi-ai, both under the MIT license.
//
//go:embed catalog.json
var catalogFile []byte

// Entry is a model in a catalog file, in the form of charm.land/catwalk.
type Entry struct {
	ID     string `json:"id"`
	Name   string `json:"name,omitempty"`
	Window int    `json:"context_window"`     // tokens; 0: unknown
	Output int    `json:"default_max_tokens"` // tokens; 0: unknown
	// Prices are in US dollars per million tokens; 0: unknown. Providers use the cached prices
	// differently, see [normalizePrices].
	In        float64 `json:"cost_per_1m_in,omitempty"`
	Out       float64 `json:"cost_per_1m_out,omitempty"`
	InCached  float64 `json:"cost_per_1m_in_cached,omitempty"`
	OutCached float64 `json:"cost_per_1m_out_cached,omitempty"`
	Reasons   bool    `json:"can_reason,omitempty"`
	Images    bool    `json:"supports_attachments,omitempty"`
}

// loadEmbedded decodes the embedded catalog. It takes some milliseconds, nearly all
// of them spent in decoding JSON.
func loadEmbedded() []Model {
	list, err := ParseCatalog(catalogFile, "catwalk")
	if err != nil {
		panic(err) // a test reads it
	}
	known := map[string]bool{}
	for _, m := range list {
		known[m.Provider+"/"+m.ID] = true
	}
	for _, m := range retiredModels() {
		if !known[m.Provider+"/"+m.ID] {
			list = append(list, m)
		}
	}
	return list
}

// updated returns the models of a list with those that newer ones replace or add.
func updated(list, newer []Model) []Model {
	at := make(map[string]int, len(list))
	for i, m := range list {
		at[m.Provider+"/"+m.ID] = i
	}
	for _, m := range newer {
		if i, ok := at[m.Provider+"/"+m.ID]; ok {
			list[i] = m
		} else {
			list = append(list, m)
		}
	}
	return list
}

// MostCatalog is the largest size of a catalog, in bytes.
const MostCatalog = 32 << 20

// NormalCatalog converts a catalog that [ParseCatalog] reads to the form of charm.land/catwalk,
// without unknown fields, and returns the number of its models. It returns the errors of
// ParseCatalog.
func NormalCatalog(data []byte) (normal []byte, n int, err error) {
	list, err := ParseCatalog(data, "")
	if err != nil {
		return nil, 0, err
	}
	providers, err := providersIn(data)
	if err != nil {
		return nil, 0, err
	}
	normal, err = json.Marshal(providers)
	return normal, len(list), err
}

// ParseCatalog reads a catalog of models: the JSON list of providers of charm.land/catwalk, or the
// JSON object of providers of models.dev. It ignores unknown fields. An entry without an ID, a
// repeated entry, a negative or absurdly large window, limit or price, a catalog without models, or
// one over [MostCatalog] bytes is an error, which names the provider and the model. The detail of
// each number begins with source.
func ParseCatalog(data []byte, source string) ([]Model, error) {
	if len(data) > MostCatalog {
		return nil, fmt.Errorf("models: the catalog has %d bytes, at most %d are read", len(data),
			MostCatalog)
	}
	providers, err := providersIn(data)
	if err != nil {
		return nil, fmt.Errorf("models: read catalog: %w", err)
	}
	var list []Model
	known := map[string]bool{}
	for _, p := range providers {
		for _, e := range p.Models {
			place := p.ID + "/" + e.ID
			if known[place] {
				return nil, fmt.Errorf("models: %s is listed twice", place)
			}
			known[place] = true
			if err := e.check(); err != nil {
				return nil, fmt.Errorf("models: %s: %w", place, err)
			}
			list = append(list, e.model(p.ID, source))
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("models: the catalog lists no models")
	}
	return list, nil
}

type listedProvider struct {
	ID     string  `json:"id"`
	Models []Entry `json:"models"`
}

// providersIn reads either form of catalogs.
func providersIn(data []byte) (list []listedProvider, err error) {
	if !strings.HasPrefix(strings.TrimSpace(string(data[:min(len(data), 64)])), "{") {
		err = json.Unmarshal(data, &list)
		return list, err
	}
	var published map[string]struct {
		Models map[string]struct {
			ID, Name   string
			Reasoning  bool
			Limit      struct{ Context, Output int }
			Modalities struct{ Input []string }
			Cost       struct {
				Input, Output float64
				CacheRead     float64 `json:"cache_read"`
				CacheWrite    float64 `json:"cache_write"`
			}
		}
	}
	if err := json.Unmarshal(data, &published); err != nil {
		return nil, err
	}
	for _, id := range slices.Sorted(maps.Keys(published)) {
		p := listedProvider{ID: providerOf(id)}
		for _, key := range slices.Sorted(maps.Keys(published[id].Models)) {
			m := published[id].Models[key]
			p.Models = append(p.Models, Entry{
				ID: m.ID, Name: m.Name, Window: m.Limit.Context, Output: m.Limit.Output, Reasons: m.Reasoning,
				In: m.Cost.Input, Out: m.Cost.Output, InCached: m.Cost.CacheWrite,
				OutCached: m.Cost.CacheRead,
				Images:    slices.Contains(m.Modalities.Input, "image"),
			})
		}
		list = append(list, p)
	}
	return list, nil
}

// check returns an error that names a field that cannot be right.
func (e Entry) check() error {
	const (
		mostTokens = 1_000_000_000
		mostPrice  = 100_000
	)
	if strings.TrimSpace(e.ID) == "" {
		return fmt.Errorf("id is missing")
	}
	if e.Window < 0 || e.Window > mostTokens || e.Output < 0 || e.Output > mostTokens {
		return fmt.Errorf("the window of %d or the output limit of %d tokens cannot be", e.Window, e.Output)
	}
	for _, price := range []float64{e.In, e.Out, e.InCached, e.OutCached} {
		if price < 0 || price > mostPrice || math.IsNaN(price) {
			return fmt.Errorf("the price of %v dollars cannot be", price)
		}
	}
	return nil
}

func (e Entry) model(provider, source string) Model {
	detail := source + " " + provider + "/" + e.ID
	m := Model{
		ID: e.ID, Provider: provider, Name: e.Name, Family: Family(strings.ToLower(e.ID)),
		Window:    assumedWindow(e.ID),
		Prices:    withBand(e.ID, normalizePrices(e.In, e.Out, e.InCached, e.OutCached, namedFree(e.ID))),
		CanReason: e.Reasons, Images: e.Images,
	}
	if e.Window > 0 {
		m.Window = precis.Window{Tokens: e.Window, Source: precis.SourceCatalog, Detail: detail}
	}
	// default_max_tokens is what catwalk's client asks for, and may be below what the model could
	// write.
	if e.Output > 0 {
		m.MaxOutput = Limit{Tokens: e.Output, Source: precis.SourceCatalog, Detail: detail}
	}
	return m
}

// withBand adds the rule for long requests to prices that are known.
func withBand(id string, p Prices) Prices {
	if p.Known() {
		p.Long = bandOf(id)
	}
	return p
}

func namedFree(id string) bool {
	return strings.HasSuffix(id, ":free") || strings.HasSuffix(id, "-free")
}
