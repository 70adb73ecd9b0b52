package models

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/precis-dev/precis"
)

// kin is a model's name as relatives are compared: "gpt-6.1-sol" has the words gpt and sol, and the
// version 6, 1.
type kin struct {
	words   []string
	version []int
}

func kinOf(base string) (k kin) {
	for i := 0; i < len(base); {
		c, from := base[i], i
		switch {
		case isDigit(c):
			for i < len(base) && isDigit(base[i]) {
				i++
			}
			if i < len(base) && base[i] == 'b' { // the size of a model: "70b"
				i++
				continue
			}
			n, _ := strconv.Atoi(base[from:i]) // one that overflows is the largest number
			k.version = append(k.version, n)
		case isLetter(c):
			for i < len(base) && isLetter(base[i]) {
				i++
			}
			k.words = append(k.words, base[from:i])
		default:
			i++
		}
	}
	return k
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' }

// relative returns the newest known model of the family of an unknown one: of those that share most
// words with it, the one with the highest version. If the catalog lists the maker of the family,
// only the maker's models count.
func (x *index) relative(id string) (best Model, ok bool) {
	base := Base(id)
	family := Family(base)
	if family == "" {
		return Model{}, false
	}
	of := kinOf(base)
	var bestKin kin
	for i, m := range x.models {
		if m.Family != family || m.Window.Source != precis.SourceCatalog ||
			makers[family] != "" && rank(m) > 1 {
			continue
		}
		k := kinOf(x.names[i].stem)
		if !ok || compareRelatives(of, k, bestKin) > 0 ||
			compareRelatives(of, k, bestKin) == 0 && m.Window.Tokens < best.Window.Tokens {
			best, bestKin, ok = m, k, true
		}
	}
	return best, ok
}

// compareRelatives compares two relatives of a model; it is positive where the first is the closer one.
func compareRelatives(of, a, b kin) int {
	shared := func(k kin) (n int) {
		for _, w := range k.words {
			if slices.Contains(of.words, w) {
				n++
			}
		}
		return n
	}
	return cmp.Or(
		cmp.Compare(shared(a), shared(b)),
		slices.Compare(a.version, b.version),
		cmp.Compare(len(b.words), len(a.words)),
	)
}

// relativeWindow is the window of a relative of a model that is not known.
func relativeWindow(m Model) precis.Window {
	return precis.Window{
		Tokens: m.Window.Tokens, Source: precis.SourceFamily,
		Detail: fmt.Sprintf("the newest known model of its family is %s/%s", m.Provider, m.ID),
	}
}
