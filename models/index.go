package models

import (
	"cmp"
	"slices"
	"strings"

	"github.com/precis-dev/precis"
)

// index finds models by the parts of their names. Each list of positions is in order of preference.
// An index is read-only once it is built.
type index struct {
	models   []Model
	names    []name
	exact    map[string][]int
	spelling map[string][]int
	stem     map[string][]int
}

// match is the confidence that a model is the one a name means.
type match int

const (
	noMatch match = iota
	loose         // another provider's entry of what looks like the same model
	sure          // the entry itself: by exact ID, by named provider, or the maker's
)

func buildIndex(updates []Model, overrides []Override) *index {
	x := newIndex(updated(loadEmbedded(), updates))
	for _, o := range overrides {
		x.apply(o)
	}
	return x
}

func newIndex(list []Model) *index {
	slices.SortStableFunc(list, preferred)
	x := &index{
		models:   list,
		names:    make([]name, len(list)),
		exact:    make(map[string][]int, len(list)),
		spelling: make(map[string][]int, len(list)),
		stem:     make(map[string][]int, len(list)),
	}
	for i, m := range list {
		n := parseName(m.ID)
		x.names[i] = n
		x.exact[n.exact] = append(x.exact[n.exact], i)
		x.spelling[n.spelling] = append(x.spelling[n.spelling], i)
		x.stem[n.stem] = append(x.stem[n.stem], i)
	}
	return x
}

// preferred compares two models by the order that Find documents.
func preferred(a, b Model) int {
	return cmp.Or(
		cmp.Compare(rank(a), rank(b)),
		strings.Compare(a.Provider, b.Provider),
		cmp.Compare(len(a.ID), len(b.ID)),
		strings.Compare(b.ID, a.ID),
	)
}

func (x *index) find(id string) (Model, bool) {
	whole := strings.ToLower(strings.TrimSpace(id))
	if at := x.exact[whole]; len(at) > 0 && x.models[at[0]].Provider == "" {
		return x.models[at[0]], true
	}
	n := parseName(whole)
	i, how := x.locate(n)
	for plain, ok := n.withoutEnding(); how == noMatch && ok; plain, ok = plain.withoutEnding() {
		i, how = x.locate(plain)
		how = min(how, loose)
	}
	if how == noMatch {
		return Model{}, false
	}
	return x.asWritten(i, n), true
}

// asWritten returns a copy of model i with the properties that the spelling of
// its name adds.
func (x *index) asWritten(i int, n name) Model {
	m := x.models[i]
	if w := longWindow(); n.long && m.Window.Tokens < w.Tokens {
		m.Window = w
	}
	if (n.variant == "free") != (x.names[i].variant == "free") {
		m.Prices = normalizePrices(0, 0, 0, 0, false)
	}
	return m
}

// longWindow returns the window that "[1m]" requests.
func longWindow() precis.Window {
	return precis.Window{
		Tokens: 1_000_000,
		Source: precis.SourceConfigured,
		Detail: `the "[1m]" in the model's name asks for a window of a million tokens`,
	}
}

// locate returns the position of the model n means, the preferred one first.
func (x *index) locate(n name) (int, match) {
	if n.prefix == "" {
		return x.bySpelling(n)
	}
	if i, ok := x.qualified(n); ok {
		return i, sure
	}
	for _, exact := range []string{n.exact, strings.TrimSuffix(n.exact, ":"+n.variant)} {
		if at := x.exact[exact]; len(at) > 0 {
			return at[0], sure
		}
	}
	if i, ok := x.inScope(n); ok {
		return i, sure
	}
	i, how := x.bySpelling(n)
	// "my-server/gpt-5" is the same model as OpenAI's entry, but not the entry itself.
	return i, min(how, loose)
}

// qualified looks up an entry by its provider ID and ID, joined by a slash. It finds every entry
// except overrides.
func (x *index) qualified(n name) (int, bool) {
	provider, id, _ := strings.Cut(n.exact, "/")
	for _, i := range x.exact[id] {
		if x.models[i].Provider == provider {
			return i, true
		}
	}
	return 0, false
}

// inScope searches the models of the provider that n's prefix names.
func (x *index) inScope(n name) (int, bool) {
	for _, at := range [][]int{x.spelling[n.spelling], x.stem[n.stem]} {
		for _, i := range at {
			if x.models[i].Provider == n.scope {
				return i, true
			}
		}
	}
	return 0, false
}

// bySpelling searches all providers. The maker's entry wins, except over another provider's entry
// with exactly the requested date.
func (x *index) bySpelling(n name) (int, match) {
	exact, spelling, stem := x.exact[n.exact], x.spelling[n.spelling], x.stem[n.stem]
	switch {
	case x.makerFirst(exact):
		return exact[0], sure
	case x.makerFirst(spelling):
		return spelling[0], sure
	case n.dated() && len(exact) > 0:
		return exact[0], sure
	case n.dated() && len(spelling) > 0:
		return spelling[0], loose
	case n.dated() && x.makerFirst(stem):
		return stem[0], loose
	case x.makerFirst(stem):
		return stem[0], sure
	case len(exact) > 0:
		return exact[0], sure
	case len(spelling) > 0:
		return spelling[0], loose
	case len(stem) > 0:
		return stem[0], loose
	}
	return 0, noMatch
}

// makerFirst reports whether the preferred one of these models is its maker's own, or known only
// from an override.
func (x *index) makerFirst(at []int) bool {
	return len(at) > 0 && rank(x.models[at[0]]) <= 1
}
