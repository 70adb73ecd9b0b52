package models

import (
	"strings"

	"github.com/precis-dev/precis"
)

// apply changes the model that o names, or adds it.
func (x *index) apply(o Override) {
	n := parseName(o.ID)
	i, how := x.locate(n)
	switch {
	case how == noMatch:
		m := Model{ID: o.ID, Family: Family(n.exact), Window: assumedWindow(o.ID)}
		o.patch(&m)
		at := x.add(m, n)
		x.spelling[n.spelling] = prepend(x.spelling[n.spelling], at)
		x.stem[n.stem] = prepend(x.stem[n.stem], at)
	case how == loose || n.long || n.variant != x.names[i].variant:
		m := x.asWritten(i, n)
		m.ID, m.Provider = o.ID, ""
		o.patch(&m)
		x.add(m, n)
	default:
		o.patch(&x.models[i])
	}
}

// add appends a model that only overrides define, which is found by its whole
// name.
func (x *index) add(m Model, n name) int {
	at := len(x.models)
	x.models = append(x.models, m)
	x.names = append(x.names, n)
	whole := strings.ToLower(strings.TrimSpace(m.ID))
	x.exact[whole] = prepend(x.exact[whole], at)
	return at
}

func prepend(list []int, i int) []int {
	return append([]int{i}, list...)
}

// patch sets the numbers that o states and leaves the others.
func (o Override) patch(m *Model) {
	const why = "set in the configuration"
	if o.Window != nil {
		m.Window = precis.Window{Tokens: *o.Window, Source: precis.SourceConfigured, Detail: why}
	}
	if o.MaxOutput != nil {
		m.MaxOutput = Limit{Tokens: *o.MaxOutput, Source: precis.SourceConfigured, Detail: why}
	}
	p := &m.Prices
	set(&p.Input, &p.Sources.Input, o.Input)
	set(&p.Output, &p.Sources.Output, o.Output)
	set(&p.CacheRead, &p.Sources.CacheRead, o.CacheRead)
	set(&p.CacheWrite, &p.Sources.CacheWrite, o.CacheWrite)
	if o.Input != nil || p.Sources.Input != "" {
		p.assumeCached()
	}
	if o.LongContext != nil {
		p.Long = o.LongContext.rule()
	}
}

func set(price *float64, source *precis.Source, to *float64) {
	if to != nil {
		*price, *source = *to, precis.SourceConfigured
	}
}
