package models

import (
	"strings"

	"charm.land/catwalk/pkg/catwalk"
	"charm.land/catwalk/pkg/embedded"

	"precis"
)

// loadEmbedded decodes catwalk's data. It takes some milliseconds, nearly all
// of them spent in decoding JSON.
func loadEmbedded() []Model {
	var list []Model
	known := map[string]bool{}
	for _, p := range embedded.GetAll() {
		for _, m := range p.Models {
			list = append(list, fromCatwalk(string(p.ID), m))
			known[string(p.ID)+"/"+m.ID] = true
		}
	}
	for _, m := range retired() {
		if !known[m.Provider+"/"+m.ID] {
			list = append(list, m)
		}
	}
	return list
}

func fromCatwalk(provider string, m catwalk.Model) Model {
	detail := "catwalk " + provider + "/" + m.ID
	return Model{
		ID:        m.ID,
		Provider:  provider,
		Name:      m.Name,
		Family:    Family(strings.ToLower(m.ID)),
		Window:    catalogWindow(m, detail),
		MaxOutput: catalogLimit(m, detail),
		Prices:    withBand(m.ID, normalizePrices(m.CostPer1MIn, m.CostPer1MOut, m.CostPer1MInCached, m.CostPer1MOutCached, namedFree(m.ID))),
		CanReason: m.CanReason,
		Images:    m.SupportsImages,
	}
}

// withBand adds the rule for long requests to prices that are known.
func withBand(id string, p Prices) Prices {
	if p.Known() {
		p.Long = bandOf(id)
	}
	return p
}

func catalogWindow(m catwalk.Model, detail string) precis.Window {
	if m.ContextWindow <= 0 {
		return assumedWindow(m.ID)
	}
	return precis.Window{Tokens: int(m.ContextWindow), Source: precis.SourceCatalog, Detail: detail}
}

// catalogLimit takes catwalk's default_max_tokens, which is what its client
// asks for and may be below what the model could write.
func catalogLimit(m catwalk.Model, detail string) Limit {
	if m.DefaultMaxTokens <= 0 {
		return Limit{}
	}
	return Limit{Tokens: int(m.DefaultMaxTokens), Source: precis.SourceCatalog, Detail: detail}
}

func namedFree(id string) bool {
	return strings.HasSuffix(id, ":free") || strings.HasSuffix(id, "-free")
}
